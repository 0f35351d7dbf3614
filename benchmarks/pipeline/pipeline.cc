// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How much time a link of MacePipeline saves.
//
//   pipeline first.pb first.data second.pb second.data output input [rounds]
//
// Runs two models in three ways, in turns:
//
// pipeline  as a MacePipeline, with a link from `output` to `input`
// copies    with buffers that no engine uses in place, as every handover was
//           before there were such: two copies in each model, of its input and
//           of its output
// in place  one engine after the other, with buffers of AllocateInPlace
//
// Prints the minimum and the copies of each, and the ratio to the first.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/pipeline/mace_pipeline.h"
#include "mace/public/mace.h"
#include "mace/public/mace_buffers.h"

namespace {

using mace::MaceStatus;
using Tensors = std::map<std::string, mace::MaceTensor>;

void Require(const MaceStatus &status) {
  if (status == MaceStatus::MACE_SUCCESS) return;
  std::fprintf(stderr, "%s\n", status.information().c_str());
  std::exit(1);
}

struct Model {
  std::vector<unsigned char> graph;
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> weights;
};

Model Read(const char *graph, const char *weights) {
  Model model;
  std::ifstream file(graph, std::ios::binary);
  model.graph.assign(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
  Require(mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
      weights, &model.weights));
  return model;
}

void Add(const std::string &stage,
         const Model &model,
         mace::MacePipeline *pipeline) {
  Require(pipeline->AddModel(
      stage, model.graph.data(), model.graph.size(),
      static_cast<const unsigned char *>(model.weights->data()),
      static_cast<size_t>(model.weights->length()), mace::MaceEngineConfig()));
}

// The same tensors at addresses that are too little aligned to be used.
Tensors Unaligned(const Tensors &tensors) {
  Tensors result;
  for (const auto &entry : tensors) {
    const mace::MaceTensor &tensor = entry.second;
    const int64_t bytes = mace::DenseBytes(tensor.shape(), tensor.data_type());
    const auto room =
        std::make_shared<std::vector<char>>(static_cast<size_t>(bytes) + 64);
    const std::shared_ptr<void> data(room, room->data() + 4);
    result[entry.first] = mace::MaceTensor(
        tensor.shape(), data, tensor.data_format(), tensor.data_type());
  }
  return result;
}

// The second model's inputs, where the one that is linked is the output.
Tensors With(Tensors inputs,
             const std::string &name,
             const mace::MaceTensor &value) {
  inputs[name] = value;
  return inputs;
}

struct Way {
  const char *name;
  std::function<void(std::vector<mace::RunMetadata> *)> run;
  double best_us = std::numeric_limits<double>::max();
};

void Measure(int rounds, std::vector<Way> *ways) {
  for (int round = 0; round < rounds; ++round) {
    for (Way &way : *ways) {
      const auto start = std::chrono::steady_clock::now();
      way.run(nullptr);
      const std::chrono::duration<double, std::micro> time =
          std::chrono::steady_clock::now() - start;
      way.best_us = std::min(way.best_us, time.count());
    }
  }
  for (Way &way : *ways) {
    std::vector<mace::RunMetadata> metadata;
    way.run(&metadata);
    size_t copies = 0;
    int64_t bytes = 0;
    for (const mace::RunMetadata &stage : metadata) {
      copies += stage.border_copies.size();
      for (const auto &copy : stage.border_copies) bytes += copy.bytes;
    }
    std::printf("%-8s  %10.1f us  %zu copies  %9lld bytes  ratio %.3f\n",
                way.name, way.best_us, copies, static_cast<long long>(bytes),
                way.best_us / ways->front().best_us);
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 7 && argc != 8) {
    std::fprintf(stderr,
                 "usage: %s first.pb first.data second.pb second.data "
                 "output input [rounds]\n",
                 argv[0]);
    return 2;
  }
  const Model models[] = {Read(argv[1], argv[2]), Read(argv[3], argv[4])};
  const std::string output = argv[5];
  const std::string input = argv[6];
  const int rounds = argc == 8 ? std::max(1, std::atoi(argv[7])) : 200;

  mace::MacePipeline joined;
  Add("first", models[0], &joined);
  Add("second", models[1], &joined);
  Require(joined.Connect("first", output, "second", input));

  Tensors in[2];
  Tensors out[2];
  const std::string stages[] = {"first", "second"};
  std::shared_ptr<mace::MaceEngine> engines[2];
  for (int i = 0; i < 2; ++i) {
    engines[i] = joined.engine(stages[i]);
    Require(engines[i]->Describe(&in[i], &out[i]));
    Require(mace::AllocateInPlace(&in[i]));
    Require(mace::AllocateInPlace(&out[i]));
  }
  if (out[0].count(output) == 0) {
    std::fprintf(stderr, "'%s' is no output of the first model\n",
                 output.c_str());
    return 2;
  }
  // Values do not matter, but must be the same, and no subnormal numbers.
  for (const auto &entry : in[0]) {
    const mace::MaceTensor &tensor = entry.second;
    char *data = tensor.data<char>().get();
    std::fill(data, data + mace::DenseBytes(tensor.shape(), tensor.data_type()),
              '\x3f');
  }

  const auto one_by_one = [&](const Tensors *inputs, Tensors *outputs,
                              std::vector<mace::RunMetadata> *metadata) {
    if (metadata != nullptr) metadata->resize(2);
    Require(engines[0]->Run(inputs[0], &outputs[0],
                            metadata == nullptr ? nullptr : &(*metadata)[0]));
    Require(engines[1]->Run(With(inputs[1], input, outputs[0][output]),
                            &outputs[1],
                            metadata == nullptr ? nullptr : &(*metadata)[1]));
  };
  Tensors given;
  Tensors wanted;
  for (const auto &entry : in[0]) given["first/" + entry.first] = entry.second;
  for (const auto &entry : in[1]) {
    if (entry.first != input) given["second/" + entry.first] = entry.second;
  }
  for (const auto &entry : out[1]) {
    wanted["second/" + entry.first] = entry.second;
  }
  const Tensors in_copied[] = {Unaligned(in[0]), Unaligned(in[1])};
  Tensors out_copied[] = {Unaligned(out[0]), Unaligned(out[1])};
  std::vector<Way> ways = {
      {"pipeline",
       [&](std::vector<mace::RunMetadata> *metadata) {
         Require(joined.Run(given, &wanted, metadata));
       }},
      {"copies",
       [&](std::vector<mace::RunMetadata> *metadata) {
         one_by_one(in_copied, out_copied, metadata);
       }},
      {"in place",
       [&](std::vector<mace::RunMetadata> *metadata) {
         one_by_one(in, out, metadata);
       }},
  };
  Measure(rounds, &ways);
  return 0;
}

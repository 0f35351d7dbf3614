// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two models joined without a copy: one halves a picture, the other says which
// digit is on it. Runs them once in this thread and once in another.
//
//   pipeline halve.pb halve.data digits.pb digits.data

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/pipeline/mace_pipeline.h"
#include "mace/public/mace.h"
#include "mace/public/mace_async.h"
#include "mace/public/mace_buffers.h"

namespace {

using Tensors = std::map<std::string, mace::MaceTensor>;

// The files of a model. The weights must outlive the pipeline.
struct ModelFiles {
  std::vector<unsigned char> graph;
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> weights;
};

int Fail(const mace::MaceStatus &status) {
  // An application would fall back to another strategy here.
  std::fprintf(stderr, "%s\n", status.information().c_str());
  return 1;
}

mace::MaceStatus Add(const std::string &stage,
                     const char *graph,
                     const char *weights,
                     ModelFiles *files,
                     mace::MacePipeline *pipeline) {
  std::ifstream file(graph, std::ios::binary);
  files->graph.assign(std::istreambuf_iterator<char>(file),
                      std::istreambuf_iterator<char>());
  mace::MaceStatus status =
      mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(weights,
                                                             &files->weights);
  if (status != mace::MaceStatus::MACE_SUCCESS) return status;
  return pipeline->AddModel(
      stage, files->graph.data(), files->graph.size(),
      static_cast<const unsigned char *>(files->weights->data()),
      static_cast<size_t>(files->weights->length()), mace::MaceEngineConfig());
}

// A vertical stroke: the digit 1.
void Draw(const mace::MaceTensor &photo) {
  float *pixels = photo.data().get();
  std::fill(pixels, pixels + 16 * 16, 0.0f);
  for (int y = 2; y < 14; ++y) {
    for (int x = 7; x < 10; ++x) pixels[16 * y + x] = 1;
  }
}

int Digit(const Tensors &outputs) {
  const float *values = outputs.at("probability").data().get();
  return static_cast<int>(std::max_element(values, values + 10) - values);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "usage: %s halve.pb halve.data digits.pb digits.data\n",
                 argv[0]);
    return 2;
  }

  // 1. The stages, which share their intermediate memory, and the link.
  ModelFiles halve;
  ModelFiles digits;
  const auto pipeline = std::make_shared<mace::MacePipeline>();
  mace::MaceStatus status =
      Add("halve", argv[1], argv[2], &halve, pipeline.get());
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  status = Add("digits", argv[3], argv[4], &digits, pipeline.get());
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  status = pipeline->Connect("halve", "small", "digits", "image");
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);

  // 2. Buffers that the engines use in place.
  Tensors inputs;
  Tensors outputs;
  Tensors unused;
  status = pipeline->engine("halve")->Describe(&inputs, nullptr);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  status = pipeline->engine("digits")->Describe(&unused, &outputs);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  for (Tensors *tensors : {&inputs, &outputs}) {
    status = mace::AllocateInPlace(tensors);
    if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  }
  Draw(inputs.at("photo"));

  // 3. A run that counts what it copies.
  std::vector<mace::RunMetadata> metadata;
  status = pipeline->Run(inputs, &outputs, &metadata);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  std::printf("%s", pipeline->Explain().c_str());
  const int digit = Digit(outputs);

  // 4. The same beside this thread. The buffers are the run's until Wait.
  mace::MaceRunQueue queue;
  const mace::MaceFence fence = queue.RunAsync(pipeline, inputs, outputs);
  status = fence.Wait(&outputs);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);
  std::printf("digit: %d, and in another thread: %d\n", digit, Digit(outputs));
  return digit == Digit(outputs) ? 0 : 1;
}

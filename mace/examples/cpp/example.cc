// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shortest complete application: loads a converted model, feeds it one
// input of zeros and prints the largest element of its output.
//
//   example model.pb model.data input 1,224,224,3 output 1,1000

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace {

// "1,224,224,3" -> {1, 224, 224, 3}
std::vector<int64_t> ParseShape(const char *text) {
  std::vector<int64_t> shape;
  for (char *end = nullptr; *text != '\0'; text = *end == ',' ? end + 1 : end) {
    shape.push_back(std::strtoll(text, &end, 10));
    if (end == text) return {};
  }
  return shape;
}

// A tensor of zeros that owns its memory.
mace::MaceTensor MakeTensor(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::shared_ptr<float> data(new float[count](),
                              std::default_delete<float[]>());
  return mace::MaceTensor(shape, data, mace::DataFormat::NHWC);
}

int Fail(const mace::MaceStatus &status) {
  // An application would fall back to another strategy here.
  std::fprintf(stderr, "%s\n", status.information().c_str());
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: %s model.pb model.data input 1,224,224,3 "
                 "output 1,1000\n",
                 argv[0]);
    return 2;
  }
  const std::string input_name = argv[3];
  const std::string output_name = argv[5];

  // 1. The model: the graph in memory, the weights mapped. Both must outlive
  //    the engine.
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<unsigned char> graph((std::istreambuf_iterator<char>(file)),
                                         std::istreambuf_iterator<char>());
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> weights;
  mace::MaceStatus status =
      mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(argv[2], &weights);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);

  // 2. How it runs: one thread per big core.
  mace::MaceEngineConfig config;
  status =
      config.SetCPUThreadPolicy(-1, mace::CPUAffinityPolicy::AFFINITY_BIG_ONLY);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);

  // 3. The engine.
  std::shared_ptr<mace::MaceEngine> engine;
  status = mace::CreateMaceEngineFromProto(
      graph.data(), graph.size(),
      static_cast<const unsigned char *>(weights->data()),
      static_cast<size_t>(weights->length()), {input_name}, {output_name},
      config, &engine);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);

  // 4. Inputs and outputs; the same buffers serve every run.
  std::map<std::string, mace::MaceTensor> inputs;
  std::map<std::string, mace::MaceTensor> outputs;
  inputs[input_name] = MakeTensor(ParseShape(argv[4]));
  outputs[output_name] = MakeTensor(ParseShape(argv[6]));

  // 5. Run.
  status = engine->Run(inputs, &outputs);
  if (status != mace::MaceStatus::MACE_SUCCESS) return Fail(status);

  const mace::MaceTensor &output = outputs[output_name];
  int64_t count = 1;
  for (int64_t dim : output.shape()) count *= dim;
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (output.data().get()[i] > output.data().get()[best]) best = i;
  }
  if (count > 0) {
    std::printf("largest of %lld elements: [%lld] = %g\n",
                static_cast<long long>(count), static_cast<long long>(best),
                static_cast<double>(output.data().get()[best]));
  }
  return 0;
}

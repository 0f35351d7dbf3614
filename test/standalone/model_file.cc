// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// model_file GRAPH WEIGHTS OUTPUT: an application built without Bazel, which
// runs the MobileNet of link_test.sh on an image of stripes and writes its
// probabilities.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace {

std::vector<char> ReadFile(const char *path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream),
          std::istreambuf_iterator<char>()};
}

const unsigned char *Bytes(const std::vector<char> &file) {
  return reinterpret_cast<const unsigned char *>(file.data());
}

mace::MaceTensor Floats(const std::vector<int64_t> &shape, int64_t count) {
  const auto data =
      std::shared_ptr<float>(new float[count], [](float *p) { delete[] p; });
  for (int64_t i = 0; i < count; ++i) {
    data.get()[i] = static_cast<float>(i % 17) / 17;
  }
  return mace::MaceTensor(shape, data);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const std::vector<char> graph = ReadFile(argv[1]);
  const std::vector<char> weights = ReadFile(argv[2]);
  const mace::MaceEngineConfig config;
  std::shared_ptr<mace::MaceEngine> engine;
  mace::MaceStatus status = mace::CreateMaceEngineFromProto(
      Bytes(graph), graph.size(), Bytes(weights), weights.size(), {"image"},
      {"probability"}, config, &engine);
  constexpr int64_t kSide = 64;
  constexpr int64_t kClasses = 1000;
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["image"] = Floats({1, kSide, kSide, 3}, kSide * kSide * 3);
  outputs["probability"] = Floats({1, kClasses}, kClasses);
  if (status == mace::MaceStatus::MACE_SUCCESS) {
    status = engine->Run(inputs, &outputs);
  }
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    std::fprintf(stderr, "%s\n", status.information().c_str());
    return 1;
  }
  const float *probability = outputs["probability"].data().get();
  double sum = 0;
  for (int64_t i = 0; i < kClasses; ++i) sum += probability[i];
  std::printf("probabilities sum to %g\n", sum);
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char *>(probability),
             kClasses * sizeof(float));
  return std::fabs(sum - 1) < 1e-3 ? 0 : 1;
}

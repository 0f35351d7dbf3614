// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the digit classifier from a sealed model, on an image of zeros:
//
//   sealed_example digits.sealed model.key
//
// An application does not keep its key in a file beside the model; see the
// documentation, "Protecting a model".

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "sealed_model.h"

namespace {

bool ReadKey(const char *path, unsigned char (&key)[sealed::kKeyBytes]) {
  std::FILE *file = std::fopen(path, "rb");
  if (file == nullptr) return false;
  const size_t count = std::fread(key, 1, sizeof(key), file);
  const bool whole = count == sizeof(key) && std::fgetc(file) == EOF;
  std::fclose(file);
  return whole;
}

mace::MaceTensor Zeros(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  return mace::MaceTensor(
      shape, std::shared_ptr<float>(new float[count](),
                                    std::default_delete<float[]>()));
}

}  // namespace

int main(int argc, char **argv) {
  unsigned char key[sealed::kKeyBytes];
  if (argc != 3 || !ReadKey(argv[2], key)) {
    std::fprintf(stderr,
                 "usage: %s digits.sealed model.key, a file of 32 bytes\n",
                 argv[0]);
    return 2;
  }
  // Declared before the engine, which reads it.
  sealed::Model model;
  std::shared_ptr<mace::MaceEngine> engine;
  mace::MaceStatus status =
      sealed::CreateEngine(argv[1], key, {"image"}, {"probability"},
                           mace::MaceEngineConfig(), &model, &engine);
  sealed::Forget(key);
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["image"] = Zeros({1, 8, 8, 1});
  outputs["probability"] = Zeros({1, 10});
  if (status == mace::MaceStatus::MACE_SUCCESS) {
    status = engine->Run(inputs, &outputs);
  }
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    std::fprintf(stderr, "%s\n", status.information().c_str());
    return 1;
  }
  const float *probability = outputs["probability"].data().get();
  const float *best = std::max_element(probability, probability + 10);
  std::printf("digit %d, probability %g\n",
              static_cast<int>(best - probability), *best);
  return 0;
}

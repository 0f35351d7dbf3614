// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs each model that is part of this program: how it is called, and what it
// makes of inputs of zeros. Needs no file.

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/digits.h"
#include "mace/public/mace.h"

namespace digits = mace::models::digits;

namespace {

mace::MaceTensor Zeros(const std::vector<int64_t> &shape) {
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  return mace::MaceTensor(
      shape, std::shared_ptr<float>(new float[count](),
                                    std::default_delete<float[]>()));
}

}  // namespace

int main() {
  std::shared_ptr<mace::MaceEngine> engine;
  mace::MaceStatus status = mace::CreateMaceEngineFromCode(
      digits::ModelName(), nullptr, 0, digits::InputNames(),
      digits::OutputNames(), mace::MaceEngineConfig(), &engine);
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs[digits::InputNames()[0]] = Zeros(digits::InputShapes()[0]);
  outputs[digits::OutputNames()[0]] = Zeros(digits::OutputShapes()[0]);
  if (status == mace::MaceStatus::MACE_SUCCESS) {
    status = engine->Run(inputs, &outputs);
  }
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    std::fprintf(stderr, "%s\n", status.information().c_str());
    return 1;
  }
  const float *probability = outputs.begin()->second.data().get();
  std::printf("probability of 0: %g\n", probability[0]);
  return 0;
}

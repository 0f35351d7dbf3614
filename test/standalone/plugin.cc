// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A shared library that contains libmace.a and a model, and shows one function
// of its own: PLUGIN, the probability of an image of zeros to show a 0, or -1.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/digits.h"

extern "C" __attribute__((visibility("default"))) float PLUGIN() {
  namespace digits = mace::models::digits;
  std::shared_ptr<mace::MaceEngine> engine;
  if (mace::LinkedModelNames() != std::vector<std::string>({"digits"}) ||
      mace::CreateMaceEngineFromCode(
          digits::ModelName(), "", digits::InputNames(), digits::OutputNames(),
          mace::MaceEngineConfig(),
          &engine) != mace::MaceStatus::MACE_SUCCESS) {
    return -1;
  }
  const auto buffer = [](size_t count) {
    return std::shared_ptr<float>(new float[count](),
                                  std::default_delete<float[]>());
  };
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["image"] = mace::MaceTensor({1, 8, 8, 1}, buffer(64));
  outputs["probability"] = mace::MaceTensor({1, 10}, buffer(10));
  if (engine->Run(inputs, &outputs) != mace::MaceStatus::MACE_SUCCESS) {
    return -1;
  }
  return outputs["probability"].data().get()[0];
}

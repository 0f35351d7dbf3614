// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Feeds bytes to the reader of model files and on to the creation of an
// engine with all operators: checks, Init and, if the model declares its input
// shapes, Reshape and the values known before a run. Nothing may crash, leak
// or report success without an engine. See run_fuzzers.sh.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "mace/core/logging.h"
#include "mace/core/model_reader.h"
#include "mace/public/mace.h"

namespace {

// Weights of models whose data is no larger: any content must do.
constexpr size_t kMaxWeights = 1 << 16;

const unsigned char *Weights() {
  static void *weights = [] {
    void *memory = std::aligned_alloc(64, kMaxWeights);
    auto *bytes = static_cast<unsigned char *>(memory);
    for (size_t i = 0; i < kMaxWeights; ++i) {
      bytes[i] = static_cast<unsigned char>(i * 37 >> 3);
    }
    return memory;
  }();
  return static_cast<const unsigned char *>(weights);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  mace::SetMinLogLevel(mace::LogLevel::kFatal);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const mace::Result<mace::Model> model = mace::ReadModel(data, size);
  // The size of the data is the model's to say, so that checks beyond the
  // comparison of the two are reached.
  size_t weights_size = 0;
  if (model.ok() && model.value().data_size <= kMaxWeights) {
    weights_size = static_cast<size_t>(model.value().data_size);
  }
  mace::MaceEngineConfig config;
  if (config.SetCPUThreadPolicy(1, mace::AFFINITY_NONE).code() != 0) return 0;
  std::shared_ptr<mace::MaceEngine> engine;
  const mace::MaceStatus status = mace::CreateMaceEngineFromProto(
      data, size, Weights(), weights_size, {}, {}, config, &engine);
  const bool success = status == mace::MaceStatus::MACE_SUCCESS;
  if (success != (engine != nullptr)) __builtin_trap();
  if (!model.ok() && success) __builtin_trap();
  if (!success && status.information().empty()) __builtin_trap();
  if (success && engine->Explain().empty()) __builtin_trap();
  return 0;
}

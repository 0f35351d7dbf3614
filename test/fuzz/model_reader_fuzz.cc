// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Feeds bytes to the reader of model files, on to the creation of an engine
// with all operators (checks, Init and, if the model declares its input shapes,
// InferShapes and the values known before a run), and through two runs of what
// is small. Nothing may crash, leak, report success without an engine or give
// two answers. See run_fuzzers.sh.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "mace/core/base/logging.h"
#include "mace/core/model/model.h"
#include "mace/public/mace.h"

namespace {

// Bytes of weights, and of an input. Any content must do.
constexpr size_t kMaxBytes = 1 << 16;
// More than this is not run: that takes long and shows nothing new.
constexpr size_t kMaxArena = 1 << 20;

const unsigned char *Content() {
  static void *content = [] {
    void *memory = std::aligned_alloc(64, kMaxBytes);
    auto *bytes = static_cast<unsigned char *>(memory);
    for (size_t i = 0; i < kMaxBytes; ++i) {
      bytes[i] = static_cast<unsigned char>(i * 37 >> 3);
    }
    return memory;
  }();
  return static_cast<const unsigned char *>(content);
}

using Tensors = std::map<std::string, mace::MaceTensor>;

std::shared_ptr<void> Buffer() {
  void *memory = std::aligned_alloc(64, kMaxBytes);
  std::memcpy(memory, Content(), kMaxBytes);
  return std::shared_ptr<void>(memory, std::free);
}

// A tensor with the declared shape; false if that is open or large.
bool MakeInput(const mace::ValueInfo &info, Tensors *inputs) {
  int64_t bytes = 8;  // of the largest element
  for (const int64_t dim : info.shape) {
    if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes)) return false;
  }
  if (bytes > static_cast<int64_t>(kMaxBytes)) return false;
  (*inputs)[info.name] =
      mace::MaceTensor({info.shape.begin(), info.shape.end()}, Buffer(),
                       info.data_format, mace::IDataType::IDT_NOT_SET);
  return true;
}

// A model's outputs after a run; none if it failed.
Tensors RunOnce(const mace::Model &model, mace::MaceEngine *engine) {
  Tensors inputs;
  for (const mace::ValueInfo &info : model.inputs) {
    if (!MakeInput(info, &inputs)) return {};
  }
  Tensors outputs;
  for (const mace::ValueInfo &info : model.outputs) {
    outputs[info.name] =
        mace::MaceTensor({static_cast<int64_t>(kMaxBytes) / 8}, Buffer(),
                         info.data_format, mace::IDataType::IDT_NOT_SET);
  }
  const mace::MaceStatus status = engine->Run(inputs, &outputs);
  if (status == mace::MaceStatus::MACE_SUCCESS) return outputs;
  if (status.information().empty()) __builtin_trap();
  return {};
}

void RunTwice(const mace::Model &model, mace::MaceEngine *engine) {
  const Tensors first = RunOnce(model, engine);
  const Tensors second = RunOnce(model, engine);
  if (first.size() != second.size()) __builtin_trap();
  for (const auto &[name, tensor] : first) {
    const mace::MaceTensor &again = second.at(name);
    if (tensor.shape() != again.shape() ||
        std::memcmp(tensor.raw_data().get(), again.raw_data().get(),
                    kMaxBytes) != 0) {
      __builtin_trap();
    }
  }
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
  if (model.ok() && model.value().data_size <= kMaxBytes) {
    weights_size = static_cast<size_t>(model.value().data_size);
  }
  mace::MaceEngineConfig config;
  if (config.SetCPUThreadPolicy(1, mace::AFFINITY_NONE).code() != 0) return 0;
  std::shared_ptr<mace::MaceEngine> engine;
  const mace::MaceStatus status = mace::CreateMaceEngineFromProto(
      data, size, Content(), weights_size, {}, {}, config, &engine);
  const bool success = status == mace::MaceStatus::MACE_SUCCESS;
  if (success != (engine != nullptr)) __builtin_trap();
  if (!model.ok() && success) __builtin_trap();
  if (!success && status.information().empty()) __builtin_trap();
  if (!success) return 0;
  if (engine->Explain().empty()) __builtin_trap();
  if (engine->GetStats().arena_bytes <= kMaxArena) {
    RunTwice(model.value(), engine.get());
  }
  return 0;
}

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What runtimes can do on this machine, found out by running a small model.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/data_type.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

// A message of mace.proto as it is written to a file: fields in any order, each
// a number or bytes of its own.
class Message {
 public:
  Message &Number(int field, uint64_t value) {
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(value);
    return *this;
  }
  Message &Bytes(int field, const std::string &value) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(value.size());
    bytes += value;
    return *this;
  }
  Message &Numbers(int field, std::initializer_list<int64_t> values) {
    Message packed;
    for (int64_t value : values) packed.Raw(static_cast<uint64_t>(value));
    return Bytes(field, packed.bytes);
  }

  std::string bytes;

 private:
  void Raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes += static_cast<char>(value | 0x80);
    }
    bytes += static_cast<char>(value);
  }
};

// A block of MobileNet v2: wider by 1x1, 3x3 each channel on its own, narrower
// by 1x1. 21 million multiply-accumulates.
constexpr int64_t kSize = 28;
constexpr int64_t kNarrow = 64;
constexpr int64_t kWide = 192;

class Workload {
 public:
  Workload() {
    model_.Number(1, 1).Bytes(2, "capability");
    Message input;
    input.Bytes(1, "0").Numbers(2, {1, kSize, kSize, kNarrow});
    input.Number(3, static_cast<uint64_t>(DataType::kFloat32)).Number(4, 1);
    model_.Bytes(4, input.bytes);
    Add("Conv2D", "0", "1", {kWide, 1, 1, kNarrow}, ConstantLayout::kPackedO16);
    Add("DepthwiseConv2d", "1", "2", {3, 3, kWide, 1}, ConstantLayout::kPlain);
    Add("Conv2D", "2", "3", {kNarrow, 1, 1, kWide}, ConstantLayout::kPackedO16);
    model_.Bytes(5, Message().Bytes(1, "3").Number(4, 1).bytes);
    model_.Number(8, data_size_);
  }

  const std::string &model() const { return model_.bytes; }
  uint64_t data_size() const { return data_size_; }

 private:
  void Add(const char *type,
           const std::string &input,
           const std::string &output,
           std::initializer_list<int64_t> filter,
           ConstantLayout layout) {
    Message def;
    def.Bytes(1, output).Bytes(2, type).Bytes(3, input).Bytes(3, output + "w");
    def.Bytes(4, output);
    def.Bytes(5, Message().Bytes(1, "padding").Bytes(4, "SAME").bytes);
    model_.Bytes(6, def.bytes);
    uint64_t bytes = sizeof(float);
    for (int64_t dim : filter) bytes *= static_cast<uint64_t>(dim);
    Message constant;
    constant.Bytes(1, output + "w").Numbers(2, filter);
    constant.Number(3, static_cast<uint64_t>(DataType::kFloat32));
    constant.Number(4, static_cast<uint64_t>(layout));
    constant.Number(5, layout == ConstantLayout::kPlain ? 0 : 1);
    constant.Number(6, data_size_).Number(7, bytes);
    model_.Bytes(7, constant.bytes);
    data_size_ += AlignUp(bytes);
  }

  Message model_;
  uint64_t data_size_ = 0;
};

// Least time of a run in milliseconds. MACE_RUNTIME_ERROR if the runtime does
// not run all of it.
Result<float> Measure(RuntimeType runtime) {
  const Workload workload;
  // Zeros: how long a product takes does not depend on its factors.
  AlignedMemory weights;
  const size_t elements = static_cast<size_t>(kSize * kSize * kNarrow);
  const auto activations = std::make_shared<std::vector<float>>(2 * elements);
  if (!weights.Allocate(workload.data_size())) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
  }
  std::fill_n(static_cast<char *>(weights.data()), workload.data_size(), 0);

  MaceEngineConfig config;
  MACE_RETURN_IF_ERROR(config.SetRuntimeType(runtime));
  std::shared_ptr<MaceEngine> engine;
  MACE_RETURN_IF_ERROR(CreateMaceEngineFromProto(
      reinterpret_cast<const unsigned char *>(workload.model().data()),
      workload.model().size(),
      static_cast<const unsigned char *>(weights.data()), workload.data_size(),
      {"0"}, {"3"}, config, &engine));
  for (const OperatorPlacement &place : engine->GetPlacement().operators) {
    if (place.device != static_cast<DeviceType>(runtime)) {
      return RuntimeError(place.type, " does not run there");
    }
  }

  const std::vector<int64_t> shape = {1, kSize, kSize, kNarrow};
  const auto tensor = [&](size_t first) {
    return MaceTensor(shape, std::shared_ptr<float>(
                                 activations, activations->data() + first));
  };
  std::map<std::string, MaceTensor> inputs = {{"0", tensor(0)}};
  std::map<std::string, MaceTensor> outputs = {{"3", tensor(elements)}};
  float least = 0;
  constexpr int kRuns = 6;  // the first prepares
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    MACE_RETURN_IF_ERROR(engine->Run(inputs, &outputs));
    const std::chrono::duration<float, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (i <= 1 || took.count() < least) least = took.count();
  }
  return least;
}

}  // namespace

MaceStatus GetRuntimeTypes(std::vector<RuntimeType> *runtime_types) {
  try {
    if (runtime_types == nullptr) {
      return InvalidArgs("`runtime_types` is null");
    }
    runtime_types->clear();
    for (const DeviceRegistration *entry = DeviceRegistration::first();
         entry != nullptr; entry = entry->next()) {
      if (DeviceRegistration::Create(entry->type(), EngineOptions()).ok()) {
        runtime_types->push_back(static_cast<RuntimeType>(entry->type()));
      }
    }
    std::sort(runtime_types->begin(), runtime_types->end());
    return MaceStatus();
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

Capability GetCapability(RuntimeType runtime_type,
                         float cpu_float32_exec_time) {
  Capability capability;
  try {
    const auto device = static_cast<DeviceType>(runtime_type);
    capability.supported =
        DeviceRegistration::Create(device, EngineOptions()).ok();
    if (!capability.supported) return capability;
    const Result<float> millis = Measure(runtime_type);
    if (millis.ok()) {
      capability.float32_performance.exec_time =
          millis.value() / cpu_float32_exec_time;
    }
  } catch (...) {
    // No memory to find out.
  }
  return capability;
}

}  // namespace mace

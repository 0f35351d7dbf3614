// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the runtimes of this machine by running a small model.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/data_type.h"
#include "mace/core/base/heap_sort.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/model/field_numbers.h"
#include "mace/core/model/tensor.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

// Writes a model in the format of mace.proto. All its messages are at most 127
// bytes long, and only this model is written; therefore no library is used,
// which would add several KB.
class ModelWriter {
 public:
  void Number(int field, uint64_t value) {
    Byte(field << 3);
    Varint(value);
  }
  void Text(int field, const char *text) {
    const size_t begin = Begin(field);
    for (; *text != '\0'; ++text) Byte(*text);
    End(begin);
  }
  // Fields that are written before the matching end belong to the message.
  size_t Begin(int field) {
    Byte(field << 3 | 2);
    Byte(0);
    return size_;
  }
  void End(size_t begin) {
    bytes_[begin - 1] = static_cast<unsigned char>(size_ - begin);
  }
  void Dims(int field, const int64_t (&dims)[4]) {
    const size_t begin = Begin(field);
    for (int64_t dim : dims) Varint(static_cast<uint64_t>(dim));
    End(begin);
  }

  const unsigned char *bytes() const { return bytes_; }
  size_t size() const { return size_; }

 private:
  void Byte(int value) {
    if (size_ < sizeof(bytes_)) {
      bytes_[size_++] = static_cast<unsigned char>(value);
    }
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Byte(static_cast<int>(value | 0x80));
    Byte(static_cast<int>(value));
  }

  unsigned char bytes_[512];
  size_t size_ = 0;
};

// A block of MobileNet v2: a 1x1 convolution to more channels, a 3x3 depthwise
// convolution, a 1x1 convolution to fewer channels. 21 million
// multiply-accumulates.
constexpr int64_t kSize = 28;
constexpr int64_t kNarrow = 64;
constexpr int64_t kWide = 192;

class Workload {
 public:
  Workload() {
    model_.Number(ModelField::kFormatVersion, 1);
    model_.Text(ModelField::kName, "capability");
    const size_t input = model_.Begin(ModelField::kInputs);
    model_.Text(ValueInfoField::kName, "0");
    model_.Dims(ValueInfoField::kShape, {1, kSize, kSize, kNarrow});
    model_.Number(ValueInfoField::kDataType,
                  static_cast<uint64_t>(DataType::kFloat32));
    model_.Number(ValueInfoField::kDataFormat,
                  static_cast<uint64_t>(DataFormat::NHWC));
    model_.End(input);
    Add("Conv2D", {"0", "a", "1"}, {kWide, 1, 1, kNarrow});
    Add("DepthwiseConv2d", {"1", "b", "2"}, {3, 3, kWide, 1});
    Add("Conv2D", {"2", "c", "3"}, {kNarrow, 1, 1, kWide});
    const size_t output = model_.Begin(ModelField::kOutputs);
    model_.Text(ValueInfoField::kName, "3");
    model_.Number(ValueInfoField::kDataFormat,
                  static_cast<uint64_t>(DataFormat::NHWC));
    model_.End(output);
    model_.Number(ModelField::kDataSize, data_size_);
  }

  const ModelWriter &model() const { return model_; }
  uint64_t data_size() const { return data_size_; }

 private:
  // `names`: input, filter and output.
  void Add(const char *type,
           const char *const (&names)[3],
           const int64_t (&filter)[4]) {
    const size_t def = model_.Begin(ModelField::kOperators);
    model_.Text(OperatorField::kName, names[2]);
    model_.Text(OperatorField::kType, type);
    model_.Text(OperatorField::kInputs, names[0]);
    model_.Text(OperatorField::kInputs, names[1]);
    model_.Text(OperatorField::kOutputs, names[2]);
    const size_t attribute = model_.Begin(OperatorField::kAttributes);
    model_.Text(AttributeField::kName, "padding");
    model_.Text(AttributeField::kS, "SAME");
    model_.End(attribute);
    model_.End(def);
    uint64_t bytes = sizeof(float);
    for (int64_t dim : filter) bytes *= static_cast<uint64_t>(dim);
    const bool packed = type[0] == 'C';
    const size_t constant = model_.Begin(ModelField::kConstants);
    model_.Text(ConstantField::kName, names[1]);
    model_.Dims(ConstantField::kDims, filter);
    model_.Number(ConstantField::kDataType,
                  static_cast<uint64_t>(DataType::kFloat32));
    model_.Number(ConstantField::kLayout,
                  static_cast<uint64_t>(packed ? ConstantLayout::kPackedO16
                                               : ConstantLayout::kPlain));
    model_.Number(ConstantField::kGroups, packed ? 1 : 0);
    model_.Number(ConstantField::kOffset, data_size_);
    model_.Number(ConstantField::kSize, bytes);
    model_.End(constant);
    data_size_ += AlignUp(bytes);
  }

  ModelWriter model_;
  uint64_t data_size_ = 0;
};

bool HasStarted(const EnginePlacement &placement, DeviceType device) {
  for (const DeviceRefusal &refusal : placement.left_out) {
    if (refusal.device == device) return false;
  }
  return true;
}

bool RunsAll(const EnginePlacement &placement, DeviceType device) {
  for (const OperatorPlacement &place : placement.operators) {
    if (place.device != device) return false;
  }
  return true;
}

// Sets whether the runtime is supported, and if it runs all operators, the
// least time of a run in milliseconds. Fails if the operators do not run at
// all, which says nothing about the runtime.
MaceStatus Measure(RuntimeType runtime, Capability *capability) {
  const Workload workload;
  // Zeros: the time of a product does not depend on its factors. First the
  // weights, then the input and output tensors.
  constexpr size_t kTensorBytes = kSize * kSize * kNarrow * sizeof(float);
  const auto data_size = static_cast<size_t>(workload.data_size());
  AlignedMemory memory;
  if (!memory.Allocate(data_size + 2 * kTensorBytes)) {
    return MaceStatus::MACE_OUT_OF_RESOURCES;
  }
  auto *data = static_cast<unsigned char *>(memory.data());
  std::memset(data, 0, memory.bytes());

  MaceEngineConfig config;
  MACE_RETURN_IF_ERROR(config.SetRuntimeTypes({runtime, RT_CPU}));
  std::shared_ptr<MaceEngine> engine;
  MACE_RETURN_IF_ERROR(CreateMaceEngineFromProto(
      workload.model().bytes(), workload.model().size(), data, data_size, {},
      {}, config, &engine));
  const EnginePlacement placement = engine->GetPlacement();
  const auto device = static_cast<DeviceType>(runtime);
  capability->supported = HasStarted(placement, device);
  if (!capability->supported || !RunsAll(placement, device)) {
    return MaceStatus();
  }

  std::map<std::string, MaceTensor> tensors[2];
  for (size_t i = 0; i < 2; ++i) {
    tensors[i].emplace(
        i == 0 ? "0" : "3",
        MaceTensor({1, kSize, kSize, kNarrow},
                   std::shared_ptr<void>(std::shared_ptr<void>(),
                                         data + data_size + i * kTensorBytes)));
  }
  float *least = &capability->float32_performance.exec_time;
  constexpr int kRuns = 6;  // the first prepares
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    MACE_RETURN_IF_ERROR(engine->Run(tensors[0], &tensors[1]));
    const std::chrono::duration<float, std::milli> took =
        std::chrono::steady_clock::now() - start;
    if (i <= 1 || took.count() < *least) *least = took.count();
  }
  return MaceStatus::MACE_SUCCESS;
}

bool IsThere(DeviceType type) {
  EngineOptions options;
  options.opens_driver = true;
  return DeviceRegistration::Create(type, options).ok();
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
      if (IsThere(entry->type())) {
        runtime_types->push_back(static_cast<RuntimeType>(entry->type()));
      }
    }
    HeapSort(runtime_types->begin(), runtime_types->end());
    return MaceStatus();
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

Capability GetCapability(RuntimeType runtime_type,
                         float cpu_float32_exec_time) {
  Capability capability;
  const auto device = static_cast<DeviceType>(runtime_type);
  if (DeviceRegistration::Find(device) == nullptr) return capability;
  try {
    float *time = &capability.float32_performance.exec_time;
    if (IsOk(Measure(runtime_type, &capability))) {
      if (*time > 0) *time /= cpu_float32_exec_time;
    } else {
      *time = -1;
      capability.supported = IsThere(device);
    }
  } catch (...) {
    return Capability();  // no memory for the measurement
  }
  return capability;
}

}  // namespace mace

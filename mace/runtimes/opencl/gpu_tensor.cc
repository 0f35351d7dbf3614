// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/gpu_tensor.h"

namespace mace {
namespace {

struct StorageEntry {
  const char *code;
  const char *text;
  DataType element;
};

constexpr StorageEntry kEntries[] = {
    {"BF", "buffer of float", DataType::kFloat32},
    {"BH", "buffer of half", DataType::kFloat16},
    {"BI", "buffer of int", DataType::kInt32},
    {"IM", "image of float", DataType::kFloat32},
    {"IM", "image of half", DataType::kFloat16},
    {"DF", "dense buffer of float", DataType::kFloat32},
    {"DH", "dense buffer of half", DataType::kFloat16},
    {"DI", "dense buffer of int", DataType::kInt32},
    {"NF", "dense buffer of float, NCHW", DataType::kFloat32},
};

const StorageEntry &EntryOf(GpuStorage storage) {
  return kEntries[static_cast<size_t>(storage)];
}

}  // namespace

const char *StorageCode(GpuStorage storage) { return EntryOf(storage).code; }

const char *StorageText(GpuStorage storage) { return EntryOf(storage).text; }

GpuStorage PaddedOf(DataType element) {
  return element == DataType::kInt32     ? GpuStorage::kBufferInt
         : element == DataType::kFloat16 ? GpuStorage::kBufferHalf
                                         : GpuStorage::kBufferFloat;
}

GpuStorage DenseOf(DataType element) {
  return element == DataType::kInt32     ? GpuStorage::kDenseInt
         : element == DataType::kFloat16 ? GpuStorage::kDenseHalf
                                         : GpuStorage::kDenseFloat;
}

DataType StorageElement(GpuStorage storage) { return EntryOf(storage).element; }

size_t GpuTensor::Bytes() const {
  const int64_t channels = IsPadded(storage) ? 4 * dims.blocks() : dims.c;
  return static_cast<size_t>(dims.pixels() * channels) *
         DataTypeSize(StorageElement(storage));
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/gpu_tensor.h"

#include <iterator>

namespace mace {
namespace {

struct StorageEntry {
  const char *code;
  const char *text;
  GpuLayout layout;
  DataType element;
};

// In the order of GpuStorage.
constexpr StorageEntry kEntries[] = {
    {"BF", "buffer of float", GpuLayout::kPadded, DataType::kFloat32},
    {"BH", "buffer of half", GpuLayout::kPadded, DataType::kFloat16},
    {"BI", "buffer of int", GpuLayout::kPadded, DataType::kInt32},
    {"BS", "buffer of int8", GpuLayout::kPadded, DataType::kInt8},
    {"BU", "buffer of uint8", GpuLayout::kPadded, DataType::kUint8},
    {"BU", "buffer of bool", GpuLayout::kPadded, DataType::kBool},
    {"IM", "image of float", GpuLayout::kImage, DataType::kFloat32},
    {"IM", "image of half", GpuLayout::kImage, DataType::kFloat16},
    {"DF", "dense buffer of float", GpuLayout::kDense, DataType::kFloat32},
    {"DH", "dense buffer of half", GpuLayout::kDense, DataType::kFloat16},
    {"DI", "dense buffer of int", GpuLayout::kDense, DataType::kInt32},
    {"DS", "dense buffer of int8", GpuLayout::kDense, DataType::kInt8},
    {"DU", "dense buffer of uint8", GpuLayout::kDense, DataType::kUint8},
    {"DU", "dense buffer of bool", GpuLayout::kDense, DataType::kBool},
    {"NF", "dense buffer of float, NCHW", GpuLayout::kNchw, DataType::kFloat32},
    {"C8", "packed weights of 8 bits", GpuLayout::kPacked, DataType::kInt8},
};
static_assert(std::size(kEntries) ==
              static_cast<size_t>(GpuStorage::kScaledInt8) + 1);

const StorageEntry &EntryOf(GpuStorage storage) {
  return kEntries[static_cast<size_t>(storage)];
}

}  // namespace

const char *StorageCode(GpuStorage storage) { return EntryOf(storage).code; }

const char *StorageText(GpuStorage storage) { return EntryOf(storage).text; }

GpuLayout StorageLayout(GpuStorage storage) { return EntryOf(storage).layout; }

DataType StorageElement(GpuStorage storage) { return EntryOf(storage).element; }

Result<GpuStorage> StorageOf(GpuLayout layout, DataType element) {
  for (size_t i = 0; i < std::size(kEntries); ++i) {
    if (kEntries[i].layout == layout && kEntries[i].element == element) {
      return static_cast<GpuStorage>(i);
    }
  }
  return Unsupported("GPUs store no elements of ", DataTypeName(element));
}

size_t GpuTensor::Bytes() const {
  const bool in_blocks = IsPadded(storage) || IsImage(storage);
  const int64_t channels = in_blocks ? 4 * dims.blocks() : dims.c;
  const int64_t pixels = dims.pixels();
  int64_t elements = pixels * channels;
  if (!IsImage(storage) && pixels > 0) {
    elements =
        (pixels - 1) * Place().y * (IsPadded(storage) ? 4 : 1) + channels;
  }
  return static_cast<size_t>(elements) * DataTypeSize(StorageElement(storage));
}

GpuPlace GpuTensor::Place() const {
  if (IsImage(storage)) {
    const int64_t row = first_pixel == 0 ? 0 : first_pixel / dims.w;
    return {first_channel / 4 * dims.w, row};
  }
  const int64_t channels = joined_channels == 0 ? dims.c : joined_channels;
  const int64_t unit = IsPadded(storage) ? 4 : 1;
  const int64_t pitch = (channels + unit - 1) / unit;
  return {first_pixel * pitch + first_channel / unit, pitch};
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/tensor_copy.h"

#include <cstring>

#include "mace/core/base/half.h"

namespace mace {
namespace {

struct ImageRegion {
  explicit ImageRegion(const StoredTensor &tensor)
      : origin{static_cast<size_t>(tensor.place.x),
               static_cast<size_t>(tensor.place.y), 0},
        size{static_cast<size_t>(tensor.dims.blocks() * tensor.dims.w),
             static_cast<size_t>(tensor.dims.rows()), 1} {}
  size_t origin[3];
  size_t size[3];
};

// What is before a part of the memory and after it is not copied; what is
// between its pixels is.
MaceStatus ReadStored(const ClApi &api,
                      cl_command_queue queue,
                      const StoredTensor &tensor,
                      std::vector<uint8_t> *stored) {
  if (IsImage(tensor.storage)) {
    const ImageRegion region(tensor);
    MACE_CL_CHECK("clEnqueueReadImage", "",
                  api.clEnqueueReadImage(queue, tensor.memory, CL_TRUE,
                                         region.origin, region.size, 0, 0,
                                         stored->data(), 0, nullptr, nullptr));
    return MaceStatus();
  }
  MACE_CL_CHECK("clEnqueueReadBuffer", "",
                api.clEnqueueReadBuffer(queue, tensor.memory, CL_TRUE,
                                        tensor.offset, stored->size(),
                                        stored->data(), 0, nullptr, nullptr));
  return MaceStatus();
}

// Calls visit(host, stored) with the indices of every element.
template <typename Visit>
void ForEachElement(const StoredTensor &tensor, Visit visit) {
  const GpuDims &d = tensor.dims;
  const GpuLayout layout = StorageLayout(tensor.storage);
  const int64_t pixels = d.pixels();
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    const int64_t row = pixel / d.w;
    const int64_t x = pixel % d.w;
    for (int64_t c = 0; c < d.c; ++c) {
      int64_t stored = pixel * tensor.place.y + c;
      if (layout == GpuLayout::kPadded) {
        stored = pixel * tensor.place.y * 4 + c;
      } else if (layout == GpuLayout::kImage) {
        stored = (row * d.blocks() * d.w + c / 4 * d.w + x) * 4 + c % 4;
      } else if (layout == GpuLayout::kNchw) {
        stored = ((row / d.h * d.c + c) * d.h + row % d.h) * d.w + x;
      }
      visit(static_cast<size_t>(pixel * d.c + c), static_cast<size_t>(stored));
    }
  }
}

}  // namespace

DataType HostElement(GpuStorage storage) {
  const DataType element = StorageElement(storage);
  return element == DataType::kFloat16 ? DataType::kFloat32 : element;
}

MaceStatus ReadTensor(const ClApi &api,
                      cl_command_queue queue,
                      const StoredTensor &tensor,
                      std::vector<uint8_t> *values) {
  std::vector<uint8_t> stored(tensor.bytes);
  if (stored.empty()) {
    values->clear();
    return MaceStatus();
  }
  MACE_RETURN_IF_ERROR(ReadStored(api, queue, tensor, &stored));
  const size_t bytes = DataTypeSize(HostElement(tensor.storage));
  values->resize(static_cast<size_t>(tensor.dims.pixels() * tensor.dims.c) *
                 bytes);
  const bool half = StorageElement(tensor.storage) == DataType::kFloat16;
  ForEachElement(tensor, [&](size_t to, size_t from) {
    if (!half) {
      std::memcpy(&(*values)[to * bytes], &stored[from * bytes], bytes);
      return;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, &stored[from * sizeof(bits)], sizeof(bits));
    const float value = HalfToFloat(bits);
    std::memcpy(&(*values)[to * bytes], &value, bytes);
  });
  return MaceStatus();
}

MaceStatus WriteTensor(const ClApi &api,
                       cl_command_queue queue,
                       const StoredTensor &tensor,
                       const std::vector<uint8_t> &values) {
  std::vector<uint8_t> stored(tensor.bytes);
  if (stored.empty()) return MaceStatus();
  // Other tensors are between the pixels of a part.
  const int64_t own =
      IsPadded(tensor.storage) ? tensor.dims.blocks() : tensor.dims.c;
  if (!IsImage(tensor.storage) && tensor.place.y != own) {
    MACE_RETURN_IF_ERROR(ReadStored(api, queue, tensor, &stored));
  }
  const size_t bytes = DataTypeSize(HostElement(tensor.storage));
  const bool half = StorageElement(tensor.storage) == DataType::kFloat16;
  ForEachElement(tensor, [&](size_t from, size_t to) {
    if (!half) {
      std::memcpy(&stored[to * bytes], &values[from * bytes], bytes);
      return;
    }
    float value = 0;
    std::memcpy(&value, &values[from * bytes], bytes);
    const uint16_t bits = FloatToHalf(value);
    std::memcpy(&stored[to * sizeof(bits)], &bits, sizeof(bits));
  });
  if (IsImage(tensor.storage)) {
    const ImageRegion region(tensor);
    MACE_CL_CHECK("clEnqueueWriteImage", "",
                  api.clEnqueueWriteImage(queue, tensor.memory, CL_TRUE,
                                          region.origin, region.size, 0, 0,
                                          stored.data(), 0, nullptr, nullptr));
    return MaceStatus();
  }
  MACE_CL_CHECK("clEnqueueWriteBuffer", "",
                api.clEnqueueWriteBuffer(queue, tensor.memory, CL_TRUE,
                                         tensor.offset, stored.size(),
                                         stored.data(), 0, nullptr, nullptr));
  return MaceStatus();
}

}  // namespace mace

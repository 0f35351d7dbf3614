// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/quantized_tensor.h"

#include "mace/core/model/quantization.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace {

constexpr int32_t kHalfRange = 128;
constexpr uint8_t kSign = 0x80;

void Flip(const uint8_t *from, uint8_t *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<uint8_t>(from[i] ^ kSign);
  }
}

}  // namespace

QuantizedSide KernelSide(const Tensor &tensor) {
  const bool is_unsigned = tensor.data_type == DataType::kUint8;
  QuantizedSide side;
  const Quantization &q = *tensor.quantization;
  side.zero =
      q.zero_points.empty() ? 0 : static_cast<int32_t>(q.zero_points[0]);
  if (IsInt16(tensor)) {
    side.least = INT16_MIN;
    side.most = INT16_MAX;
    return side;
  }
  side.flipped = is_unsigned != kUnsignedBytes;
  if (side.flipped) side.zero += is_unsigned ? -kHalfRange : kHalfRange;
  side.least = kUnsignedBytes ? 0 : -kHalfRange;
  side.most = side.least + 2 * kHalfRange - 1;
  return side;
}

MaceStatus CheckWidths(std::initializer_list<const Tensor *> tensors) {
  const Tensor &first = **tensors.begin();
  for (const Tensor *tensor : tensors) {
    if (IsInt16(*tensor) != IsInt16(first)) {
      return InvalidArgs("quantized, its tensors have 8 bits or 16, but '",
                         first.name, "' is ", DataTypeName(first.data_type),
                         " and '", tensor->name, "' ",
                         DataTypeName(tensor->data_type));
    }
  }
  return MaceStatus();
}

void FlipSigns(const uint8_t *from,
               uint8_t *to,
               int64_t count,
               ThreadPool *pool) {
  pool->ParallelFor(count, kElementGrain,
                    [=](int64_t begin, int64_t end, int /*thread*/) {
                      Flip(from + begin, to + begin, end - begin);
                    });
}

void FlipRows(const Tensor &tensor, ThreadPool *pool) {
  const int64_t length = tensor.row_length();
  if (length == 0) return;
  const int64_t stride = tensor.RowStride();
  auto *data = static_cast<uint8_t *>(tensor.data);
  pool->ParallelFor(tensor.elements() / length, RowGrain(length),
                    [=](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t row = begin; row < end; ++row) {
                        uint8_t *at = data + row * stride;
                        Flip(at, at, length);
                      }
                    });
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/resize/nearest.h"

#include <cstring>

namespace mace {

namespace {

// Copies pixels of kBytes bytes; 0 stands for `bytes`.
template <size_t kBytes>
void PickPixels(const uint8_t *input,
                size_t stride,
                const std::vector<int32_t> &from,
                size_t bytes,
                size_t out_stride,
                uint8_t *out) {
  for (const int32_t x : from) {
    std::memcpy(out, input + static_cast<size_t>(x) * stride,
                kBytes == 0 ? bytes : kBytes);
    out += out_stride;
  }
}

void CopyRow(const ResizeTaps &columns,
             const Tensor &input,
             int64_t from,
             int64_t row,
             Tensor *output) {
  const auto element = static_cast<int64_t>(DataTypeSize(input.data_type));
  const int64_t stride = input.RowStride() * element;
  const int64_t out_stride = output->RowStride() * element;
  const auto bytes = static_cast<size_t>(output->shape[3] * element);
  const auto *source = input.As<uint8_t>() + from * input.shape[2] * stride;
  uint8_t *out =
      output->MutableAs<uint8_t>() + row * output->shape[2] * out_stride;
  const auto pick = [&](auto copy) {
    copy(source, static_cast<size_t>(stride), columns.first, bytes,
         static_cast<size_t>(out_stride), out);
  };
  switch (bytes) {
    case 2:
      return pick(PickPixels<2>);
    case 4:
      return pick(PickPixels<4>);
    case 8:
      return pick(PickPixels<8>);
    case 12:
      return pick(PickPixels<12>);
    case 16:
      return pick(PickPixels<16>);
    default:
      return pick(PickPixels<0>);
  }
}

}  // namespace

void CopyNearestRows(const ResizeTaps &rows,
                     const ResizeTaps &columns,
                     const Tensor &input,
                     int64_t begin,
                     int64_t end,
                     Tensor *output) {
  const bool dense = output->RowStride() == output->shape[3];
  const int64_t bytes = output->shape[2] * output->shape[3] *
                        static_cast<int64_t>(DataTypeSize(output->data_type));
  int64_t last = -1;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t from =
        row / output->shape[1] * input.shape[1] +
        rows.first[static_cast<size_t>(row % output->shape[1])];
    if (dense && from == last) {  // the previous row again
      uint8_t *out = output->MutableAs<uint8_t>() + row * bytes;
      std::memcpy(out, out - bytes, static_cast<size_t>(bytes));
    } else {
      CopyRow(columns, input, from, row, output);
    }
    last = from;
  }
}

}  // namespace mace

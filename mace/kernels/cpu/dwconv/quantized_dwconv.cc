// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/quantized_dwconv.h"

#include <cstring>

#include "mace/kernels/cpu/dwconv/quantized_filter.h"
#include "mace/kernels/cpu/isa_table.h"

namespace mace::dwconv {
namespace {

template <ptrdiff_t kTimes>
void Repeat(const uint8_t *__restrict from,
            ptrdiff_t count,
            uint8_t *__restrict to) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    for (ptrdiff_t j = 0; j < kTimes; ++j) to[i * kTimes + j] = from[i];
  }
}

}  // namespace

MACE_DECLARE_TABLES(INT8_OR_BASE, QuantizedKernels, kQuantizedKernels)

const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa) {
  return MACE_FIND_TABLE(INT8_OR_BASE, isa, kQuantizedKernels);
}

size_t PackedFilterBytes(const conv::Shape &shape,
                         const QuantizedKernels &kernels) {
  const QuantizedFilter f = FilterOf(shape, kernels.block, kernels.widened);
  return static_cast<size_t>(f.blocks * f.block_bytes);
}

size_t QuantizedScratchBytes(const conv::Shape &shape,
                             const QuantizedKernels &kernels) {
  const QuantizedFilter f = FilterOf(shape, kernels.block, kernels.widened);
  if (f.by_columns) return static_cast<size_t>(shape.in_w * shape.in_c);
  return static_cast<size_t>(f.head_bytes + (f.window + 1) * f.slot_bytes);
}

void PackQuantizedFilter(const conv::Shape &shape,
                         const DepthwiseFilter &filter,
                         const QuantizedKernels &kernels,
                         int8_t *to) {
  const ptrdiff_t block = kernels.block;
  const QuantizedFilter f = FilterOf(shape, block, kernels.widened);
  const ptrdiff_t lanes = block / 4;
  for (ptrdiff_t b = 0; b < f.blocks; ++b) {
    const ptrdiff_t first = BlockBegin(shape, block, b);
    // Of a filter by_columns, which is square, this is the column.
    for (ptrdiff_t ky = 0; ky < shape.kernel_h; ++ky) {
      for (ptrdiff_t four = 0; four < f.fours; ++four) {
        for (ptrdiff_t j = 0; j < f.outputs; ++j) {
          for (ptrdiff_t i = 0; i < block; ++i) {
            const ptrdiff_t vector = i / lanes;
            const ptrdiff_t lane = i % lanes;
            const ptrdiff_t column = lane / 4 * 16 + vector * 4 + lane % 4;
            const ptrdiff_t c = f.pixels > 1 && column < f.pixels * shape.in_c
                                    ? column % shape.in_c
                                    : first + column;
            for (ptrdiff_t t = 0; t < 4; ++t) {
              const ptrdiff_t kx = 4 * four + t - j;
              const bool exists =
                  kx >= 0 && kx < shape.kernel_w && c < shape.in_c;
              const ptrdiff_t tap = f.by_columns ? kx * shape.kernel_w + ky
                                                 : ky * shape.kernel_w + kx;
              const int8_t weight =
                  exists ? filter.weights[tap * filter.tap_stride +
                                          c * filter.channel_stride]
                         : int8_t{0};
              if (kUnsignedBytes && kernels.widened) {
                const auto wide = int16_t{weight};
                const ptrdiff_t at =
                    (vector * 2 + t % 2) * lanes * 2 + lane * 2 + t / 2;
                std::memcpy(to + at * 2, &wide, sizeof(wide));
              } else {
                to[i * 4 + t] = weight;
              }
            }
          }
          to += block * (kernels.widened ? 8 : 4);
        }
      }
    }
  }
}

void RepeatElements(const uint8_t *from,
                    ptrdiff_t count,
                    ptrdiff_t times,
                    uint8_t *to) {
  switch (times) {
    case 2:
      return Repeat<2>(from, count, to);
    case 3:
      return Repeat<3>(from, count, to);
    case 4:
      return Repeat<4>(from, count, to);
    default:
      for (ptrdiff_t i = 0; i < count; ++i, to += times) {
        for (ptrdiff_t j = 0; j < times; ++j) to[j] = from[i];
      }
  }
}

}  // namespace mace::dwconv

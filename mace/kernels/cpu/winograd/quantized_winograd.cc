// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/quantized_winograd.h"

#include <cstring>

// Filters are transformed once, when a model is loaded: one copy of small code,
// for no instruction set.
#define MACE_NO_UNROLL _Pragma("clang loop unroll(disable)")

namespace mace::winograd {
namespace {

constexpr size_t kEdge = 6;
constexpr size_t kPanel = gemm::kPanelColumns;

// Columns at a time: wider vectors than the lowest instruction set has would
// have constants that the linker cannot merge with others.
constexpr size_t kColumns = 8;
typedef int8_t Bytes __attribute__((vector_size(kColumns)));
typedef int16_t Weights __attribute__((vector_size(2 * kColumns)));

// G * g; g and the results are `stride` apart.
void FilterPoints(const Weights *g, Weights *to, size_t stride) {
  const Weights even = g[0] + g[2 * stride];
  const Weights far = g[0] + g[2 * stride] * 4;
  const Weights twice = g[stride] * 2;
  to[0] = g[0] * 6;
  to[stride] = (even + g[stride]) * -4;
  to[2 * stride] = (even - g[stride]) * -4;
  to[3 * stride] = far + twice;
  to[4 * stride] = far - twice;
  to[5 * stride] = g[2 * stride] * 6;
}

// The 36 points of channel k and eight columns from `column`.
__attribute__((noinline)) void PointsOf(const QuantizedFilter &args,
                                        size_t k,
                                        size_t column,
                                        Weights (&to)[kQuantizedPoints]) {
  const int8_t *from = args.from + k / 4 * args.four_stride + k % 4;
  const size_t end =
      args.columns < column + kColumns ? args.columns : column + kColumns;
  Weights g[3 * kEdge];  // rows of kEdge
  Weights rows[kQuantizedPoints];
  MACE_NO_UNROLL for (size_t tap = 0; tap < 9; ++tap) {
    int8_t elements[kColumns] = {};
    const int8_t *element = from + tap * args.tap_stride;
    MACE_NO_UNROLL for (size_t n = column; n < end; ++n) {
      elements[n - column] = element[n * args.column_stride];
    }
    Bytes bytes;
    std::memcpy(&bytes, elements, sizeof(bytes));
    g[tap / 3 * kEdge + tap % 3] = __builtin_convertvector(bytes, Weights);
  }
  MACE_NO_UNROLL for (size_t j = 0; j < 3; ++j) {
    FilterPoints(g + j, rows + j, kEdge);
  }
  MACE_NO_UNROLL for (size_t i = 0; i < kEdge; ++i) {
    FilterPoints(rows + i * kEdge, to + i * kEdge, 1);
  }
}

}  // namespace

void TransformFilter(const QuantizedKernels &kernels,
                     const QuantizedFilter &args) {
  const size_t wide = kernels.tile_columns;
  // From a channel to the next, of the same columns.
  const size_t channel = kernels.pairs_channels ? kColumns : wide;
  MACE_NO_UNROLL for (size_t i = 0; i < args.channels; i += 2) {
    MACE_NO_UNROLL for (size_t n = 0; n < kPanel; n += kColumns) {
      Weights points[2][kQuantizedPoints];
      PointsOf(args, i, n, points[0]);
      PointsOf(args, i + 1, n, points[1]);
      int16_t *to = args.to + n / wide * wide * args.channels + i * wide +
                    n % wide * (kernels.pairs_channels ? 2 : 1);
      MACE_NO_UNROLL for (size_t point = 0; point < kQuantizedPoints; ++point) {
        Weights first = points[0][point];
        Weights second = points[1][point];
        if (kernels.pairs_channels) {
          const Weights both = second;
          second =
              __builtin_shufflevector(first, both, 4, 12, 5, 13, 6, 14, 7, 15);
          first =
              __builtin_shufflevector(first, both, 0, 8, 1, 9, 2, 10, 3, 11);
        }
        std::memcpy(to, &first, sizeof(first));
        std::memcpy(to + channel, &second, sizeof(second));
        to += args.channels * kPanel;
      }
    }
  }
}

}  // namespace mace::winograd

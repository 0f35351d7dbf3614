// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The transforms and products of Winograd convolution F(4x4, 3x3) in exact
// integers, for images of 8-bit integers: results are those of the direct
// product (quantized_gemm.h), to the bit.
//
// Points are 0, +-1, +-2, infinity. B' has integers; G and A are scaled so that
// they have integers, too:
//
//   B' =  4  0 -5  0  1  0    G =  6  0  0    A' = 1  1  1  1  1  0
//         0 -4 -4  1  1  0        -4 -4 -4         0  1 -1  2 -2  0
//         0  4 -4 -1  1  0        -4  4 -4         0  1  1  4  4  0
//         0 -2 -1  2  1  0         1  2  4         0  1 -1  8 -8  4
//         0  2 -1 -2  1  0         1 -2  4
//         0  4  0 -5  0  1         0  0  6
//
// which makes 24 * 24 = 576 times the result. Transformed weights are at most
// 12 * 12 * 128 and transformed inputs at most 10 * 10 * 128, or, of uint8, (2
// * 2 + 8 * 8) * 255, which the second row of B' makes: all are int16.
// Their products are added in int32, modulo 2^32, and so is everything that
// follows. 576 is 9 * 64: multiplied by the inverse of 9 modulo 2^32, the sum
// is 64 times the result, modulo 2^32. So a result of at least -2^25 and below
// 2^25 is known exactly. Whoever calls has to prove that from the weights.
//
// 36 products of int16 replace 16 * 9 of int8. NEON without the extension for
// dot products needs about 2.1 instructions for eight of the latter, and 1.1
// for four of the former; x86 without VNNI about 3.5 for 32 and 2 for 16.
// Processors with instructions for dot products of int8 have no such kernels.

#ifndef MACE_KERNELS_CPU_WINOGRAD_QUANTIZED_WINOGRAD_H_
#define MACE_KERNELS_CPU_WINOGRAD_QUANTIZED_WINOGRAD_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::winograd {

inline constexpr int kQuantizedTile = 4;
inline constexpr size_t kQuantizedPoints = 36;
// The sums of a tile's results begin with this multiple of the bias, at the
// point (1, 1), whose coefficients in A' are 1.
inline constexpr uint32_t kQuantizedScale = 576;
inline constexpr size_t kBiasPoint = 7;
// Results must be at least -kQuantizedRange and below kQuantizedRange.
inline constexpr int64_t kQuantizedRange = int64_t{1} << 25;
// Tiles that are multiplied at a time, and channels side by side.
inline constexpr size_t kTilesTogether = 4;
inline constexpr size_t kChannelsTogether = 8;
// Four tiles of products of a panel: [36][4][16].
inline constexpr size_t kPointSums = kTilesTogether * gemm::kPanelColumns;
inline constexpr size_t kBlockSums = kQuantizedPoints * kPointSums;

// A panel of 16 outputs of a filter of int8: weight (column n, tap t, channel
// k) is at from[n * column_stride + t * tap_stride + k / 4 * four_stride + k %
// 4].
struct QuantizedFilter {
  const int8_t *from = nullptr;
  size_t column_stride = 0;
  size_t tap_stride = 0;
  size_t four_stride = 0;
  size_t channels = 0;    // a multiple of kChannelsTogether
  size_t columns = 0;     // at most 16; the others become 0
  int16_t *to = nullptr;  // [36][channels * 16], in the order of the kernels
};

// One tile of the image.
struct QuantizedInput {
  const void *const *pixels = nullptr;  // 36, row by row: `channels` each
  size_t channels = 0;
  // Element (point, channel k) is at to[point * to_stride + k / 8 * 32 + k %
  // 8]: four tiles side by side.
  int16_t *to = nullptr;
  size_t to_stride = 0;
};

// The products of one point and one panel.
struct QuantizedProduct {
  const int16_t *a = nullptr;  // [blocks][channels / 8][4 tiles][8]
  const int16_t *w = nullptr;
  const int16_t *next_w = nullptr;  // of the product that follows, or null
  const int32_t *start = nullptr;   // [16]
  int32_t *c = nullptr;             // [blocks] of kBlockSums: [4][16]
  size_t blocks = 0;                // of four tiles
  size_t channels = 0;
};

// One tile of products of one panel back to pixels.
struct QuantizedOutput {
  const int32_t *from = nullptr;  // of point 0: [16]; kPointSums to the next
  size_t columns = 0;             // at most 16
  size_t rows = 0;                // of the tile, inside the output
  size_t cols = 0;
  void *to = nullptr;  // 8-bit integers
  size_t row_stride = 0;
  size_t pixel_stride = 0;
  const float *scale = nullptr;                          // [16]
  const gemm::Requantization *requantization = nullptr;  // of the whole product
};

struct QuantizedKernels {
  // Transformed filters are [16 / tile_columns][channels][tile_columns], of
  // which two channels are in turns, column by column, if pairs_channels.
  size_t tile_columns;
  bool pairs_channels;
  void (*input)(const QuantizedInput &args);
  void (*multiply)(const QuantizedProduct &args);
  void (*output)(const QuantizedOutput &args);
};

// Transforms a panel of a filter for these kernels.
void TransformFilter(const QuantizedKernels &kernels,
                     const QuantizedFilter &args);

// Null where direct products are faster.
const QuantizedKernels *QuantizedKernelsFor(CpuIsa isa);

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_QUANTIZED_WINOGRAD_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The transforms of Winograd convolution, F(2x2, 3x3) and F(4x4, 3x3).
//
// A tile of m x m outputs of a 3x3 convolution needs t x t inputs, t = m + 2:
//
//   Y = A' [ sum over channels of (G g G') * (B' d B) ] A
//
// with an elementwise product in the middle: t * t multiplications for m * m
// outputs instead of 9 * m * m, which is 2.25 times fewer for m = 2 and 4 times
// fewer for m = 4. The sums over channels are t * t matrix products
// (conv_winograd.h). This file has the three transforms; vectors run over
// channels.
//
// Points. m = 2: 0, 1, -1, infinity. m = 4: 0, +-3/4, +-3/2, infinity: every
// constant of B' and A' is then exact in float. With random data in [-1, 1] and
// 256 channels the mean error is 3.0e-8 of the sum of absolute products; the
// usual points 0, +-1, +-2 give 4.9e-8, and none of twelve other pairs less
// than 2.96e-8. Measured against the direct product in float, over layers of 16
// to 512 channels, no output differed by more than 2.3e-5 of the outputs' root
// mean square (m = 2: 1.5e-5).
//
// Images are float, fp16 or bf16. Transformed values are float, but fp16 for
// fp16 images; bf16 would lose too much accuracy. Filters are always
// transformed in float.
//
// Every value is computed by a fixed order of operations, so that results do
// not depend on how tiles are divided among calls.

#ifndef MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_H_
#define MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::winograd {

inline constexpr int kMaxPoints = 36;

// Rows of a tile's t * t points: all of them, or half. For m = 4, the rows of a
// pair +-p, which share their arithmetic, are in the same half.
enum Rows { kAllRows, kFirstRows, kLastRows };
inline constexpr int kRowChoices = 3;

constexpr int RowBegin(int t, Rows rows) {
  return rows == kLastRows ? t / 2 : 0;
}
constexpr int RowEnd(int t, Rows rows) {
  return rows == kFirstRows ? t / 2 : t;
}

// Some panels of a filter, PACKED_O16: [panels][9][channels][16], to
// [rows * t][panel_end - panel_begin][channels][16] elements.
struct FilterArgs {
  const void *from = nullptr;  // panel 0
  gemm::WeightType type = gemm::WeightType::kF32;
  size_t channels = 0;
  size_t panel_begin = 0;
  size_t panel_end = 0;
  void *to = nullptr;    // of the first point and panel_begin
  size_t to_stride = 0;  // values from one point to the next, by PointStride
};

// Values from one point to the next if each point has `rows` rows of 16: an odd
// number of rows, so that the t * t streams of a transform use all sets of the
// cache. With AVX-512 on Zen 5, a distance that is a power of two takes three
// times as long.
constexpr size_t PointStride(size_t rows) {
  return (rows | 1) * gemm::kPanelColumns;
}

// One tile of the image.
struct InputArgs {
  const void *const *pixels = nullptr;  // t * t, row by row: `channels` each
  size_t channels = 0;
  void *to = nullptr;    // of the first point; whole sixteens of channels
  size_t to_stride = 0;  // values from one point to the next
};

// One tile of products back to pixels.
struct OutputArgs {
  const void *from = nullptr;  // of point 0; columns rounded up to 16 are read
  size_t from_stride = 0;      // values from one point to the next
  size_t columns = 0;
  int rows = 0;  // of the tile's m rows, those inside the output
  int cols = 0;
  void *to = nullptr;
  size_t row_stride = 0;           // elements from an output row to the next
  size_t pixel_stride = 0;         // elements from pixel to pixel
  const float *bias = nullptr;     // one per column, or null for 0
  const void *residual = nullptr;  // as `to`; may equal it; null for 0
  size_t residual_row_stride = 0;
  size_t residual_pixel_stride = 0;
  bool clamp = false;
  float low = 0.0f;
  float high = 0.0f;
};

struct Transforms {
  // Indexed by Rows. The kernels for halves, which give the same bits, are null
  // for ISAs with narrow vectors.
  void (*filter[kRowChoices])(const FilterArgs &args);
  void (*input[kRowChoices])(const InputArgs &args);
  void (*output)(const OutputArgs &args);
};

struct Kernels {
  Transforms tile2;
  Transforms tile4;
  int lanes;  // floats in a vector
};

// For images of float, fp16 or bf16. Null for CpuIsa::kNone, for an ISA without
// arithmetic of that type, and if the kernels were not linked
// (optional_kernels.h).
const Kernels *KernelsFor(CpuIsa isa, gemm::Element image);

// The functions that half_transforms.cc registers, for fp16 and bf16 images.
struct HalfPart {
  const Kernels *(*kernels_for)(CpuIsa isa, gemm::Element image);
};

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_WINOGRAD_H_

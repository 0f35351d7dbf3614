// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/quantized_winograd.h"

#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_memory.h"
#include "mace/kernels/cpu/simd_quantized.h"
#if defined(__SSE4_1__)
#include "mace/kernels/cpu/winograd/x86_quantized_tile.h"
#else
#include "mace/kernels/cpu/winograd/neon_quantized_tile.h"
#endif

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::winograd::MACE_ISA {
namespace {

constexpr size_t kEdge = 6;
constexpr size_t kTile = 4;
constexpr size_t kPanel = gemm::kPanelColumns;
constexpr size_t kTileColumns = static_cast<size_t>(kTileVectors) * sv::kLanes;
constexpr size_t kPixels = kTile * kTile;
static_assert(kTileRows == kTilesTogether);

using Element = sv::QuantizedElement;

// Channels of a vector.
template <size_t kChannels>
struct Of {
  typedef int16_t Shorts __attribute__((vector_size(2 * kChannels)));
  typedef Element Bytes __attribute__((vector_size(kChannels)));
};

// ---- input ------------------------------------------------------------------

// B' * d.
template <typename Shorts>
MACE_SIMD_INLINE void InputPoints(const Shorts (&d)[kEdge],
                                  Shorts (&to)[kEdge]) {
  const Shorts a = d[4] - d[2] * 4;
  const Shorts b = d[3] - d[1] * 4;
  const Shorts c = d[4] - d[2];
  const Shorts e = d[3] - d[1];
  const Shorts twice = e + e;
  to[0] = c + (d[0] - d[2]) * 4;
  to[1] = a + b;
  to[2] = a - b;
  to[3] = c + twice;
  to[4] = c - twice;
  to[5] = (d[5] - d[3]) - e * 4;
}

// kChannels of them, from `k`.
template <size_t kChannels>
MACE_SIMD_INLINE void InputOfChannels(const QuantizedInput &args,
                                      size_t k,
                                      int16_t *to) {
  using Shorts = typename Of<kChannels>::Shorts;
  Shorts columns[kEdge][kEdge];
  MACE_UNROLL for (size_t j = 0; j < kEdge; ++j) {
    Shorts d[kEdge];
    MACE_UNROLL for (size_t i = 0; i < kEdge; ++i) {
      typename Of<kChannels>::Bytes bytes;
      __builtin_memcpy(
          &bytes, static_cast<const Element *>(args.pixels[i * kEdge + j]) + k,
          sizeof(bytes));
      d[i] = __builtin_convertvector(bytes, Shorts);
    }
    Shorts points[kEdge];
    InputPoints(d, points);
    MACE_UNROLL for (size_t i = 0; i < kEdge; ++i) columns[i][j] = points[i];
  }
  int16_t *point = to;
  MACE_UNROLL for (size_t i = 0; i < kEdge; ++i) {
    Shorts points[kEdge];
    InputPoints(columns[i], points);
    MACE_UNROLL for (size_t j = 0; j < kEdge; ++j) {
      int16_t all[kChannels];
      __builtin_memcpy(all, &points[j], sizeof(all));
      MACE_UNROLL for (size_t n = 0; n < kChannels; n += kChannelsTogether) {
        __builtin_memcpy(point + n * kTilesTogether, all + n,
                         kChannelsTogether * sizeof(int16_t));
      }
      point += args.to_stride;
    }
  }
}

void TransformInput(const QuantizedInput &args) {
  int16_t *to = args.to;
  size_t k = 0;
#if defined(__AVX2__)
  constexpr size_t kTwice = 2 * kChannelsTogether;
  for (; k + kTwice <= args.channels; k += kTwice) {
    InputOfChannels<kTwice>(args, k, to);
    to += kTilesTogether * kTwice;
  }
#endif
  for (; k < args.channels; k += kChannelsTogether) {
    InputOfChannels<kChannelsTogether>(args, k, to);
    to += kTilesTogether * kChannelsTogether;
  }
}

// ---- products ---------------------------------------------------------------

void Multiply(const QuantizedProduct &args) {
  const size_t steps = args.channels / kChannelsTogether;
  // The filter is many times as large as the caches: its points are read one
  // after the other, each by all blocks.
  sv::Ahead ahead(
      args.next_w, args.channels * kPanel * sizeof(int16_t),
      args.next_w == nullptr ? 0 : args.blocks * (kPanel / kTileColumns));
  for (size_t column = 0; column < kPanel; column += kTileColumns) {
    const int16_t *w = args.w + column * args.channels;
    const int16_t *a = args.a;
    int32_t *c = args.c + column;
    sv::VI start[kTileVectors];
    __builtin_memcpy(start, args.start + column, sizeof(start));
    for (size_t block = 0; block < args.blocks; ++block, c += kBlockSums) {
      ahead.Prefetch();
      sv::VI sums[kTileRows][kTileVectors];
      MACE_UNROLL for (int r = 0; r < kTileRows; ++r) {
        MACE_UNROLL for (int v = 0; v < kTileVectors; ++v) {
          sums[r][v] = start[v];
        }
      }
      AddChannels(a, w, steps, sums);
      MACE_UNROLL for (int r = 0; r < kTileRows; ++r) {
        __builtin_memcpy(c + r * kPanel, sums[r], sizeof(sums[r]));
      }
    }
  }
}

// ---- output -----------------------------------------------------------------

typedef uint32_t Sums __attribute__((vector_size(4 * sv::kLanes)));

// A' * m.
MACE_SIMD_INLINE void OutputPoints(const Sums (&m)[kEdge], Sums (&to)[kTile]) {
  const Sums even = m[1] + m[2];
  const Sums odd = m[1] - m[2];
  const Sums far_even = m[3] + m[4];
  const Sums far_odd = m[3] - m[4];
  const Sums twice = far_odd + far_odd;
  to[0] = m[0] + even + far_even;
  to[1] = odd + twice;
  to[2] = even + (far_even << 2);
  to[3] = odd + ((twice + m[5]) << 2);
}

// The rounded results of a vector of columns, without zero point, as int16.
MACE_SIMD_INLINE void StepsOfTile(const QuantizedOutput &args,
                                  size_t column,
                                  int16_t *to) {
  constexpr uint32_t kInverseOf9 = 954437177;
  static_assert(9 * kInverseOf9 == 1u);
  constexpr float kInverseOf64 = 0x1p-6f;
  const int32_t *from = args.from + column;
  Sums rows[kTile][kEdge];
  MACE_UNROLL for (size_t i = 0; i < kEdge; ++i) {
    Sums m[kEdge];
    MACE_UNROLL for (size_t j = 0; j < kEdge; ++j, from += kPointSums) {
      __builtin_memcpy(&m[j], from, sizeof(m[j]));
    }
    Sums pixels[kTile];
    OutputPoints(m, pixels);
    MACE_UNROLL for (size_t j = 0; j < kTile; ++j) rows[j][i] = pixels[j];
  }
  // A power of two: the products are the same as those of sums / 64.
  sv::V scale;
  __builtin_memcpy(&scale, args.scale + column, sizeof(scale));
  scale *= sv::Set(kInverseOf64);
  MACE_UNROLL for (size_t j = 0; j < kTile; ++j) {
    if (j >= args.cols) continue;
    Sums pixels[kTile];
    OutputPoints(rows[j], pixels);
    MACE_UNROLL for (size_t i = 0; i < kTile; ++i) {
      const sv::VI sum = reinterpret_cast<sv::VI>(pixels[i] * kInverseOf9);
      sv::StoreSteps(to + (i * kTile + j) * kPanel, sv::StepsOf(sum, scale));
    }
  }
}

void TransformOutput(const QuantizedOutput &args) {
  int16_t steps[kPixels * kPanel];
  for (size_t column = 0; column < kPanel; column += sv::kLanes) {
    StepsOfTile(args, column, steps + column);
  }
  const sv::PanelRequantizer to =
      sv::MakePanelRequantizer(*args.requantization);
  for (size_t i = 0; i < args.rows; ++i) {
    Element *pixel = static_cast<Element *>(args.to) + i * args.row_stride;
    const int16_t *from = steps + i * kTile * kPanel;
    for (size_t j = 0; j < args.cols;
         ++j, pixel += args.pixel_stride, from += kPanel) {
      const sv::PanelElements bytes = sv::NarrowStored(to, from);
      if (args.columns >= kPanel) {
        __builtin_memcpy(pixel, &bytes, sizeof(bytes));
      } else {
        __builtin_memcpy(pixel, &bytes, args.columns);
      }
    }
  }
}

}  // namespace

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {
    kTileColumns, kPairsChannels, &TransformInput, &Multiply, &TransformOutput};

}  // namespace mace::winograd::MACE_ISA

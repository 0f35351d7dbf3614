// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of fp16 numbers: eight products per instruction, summed
// in fp16 over a stretch of K, and stretches summed in float.

#include "mace/kernels/cpu/gemm/gemm_stretch.h"
#include "mace/kernels/cpu/gemm/half_gemm.h"
#include "mace/kernels/cpu/simd_fp16.h"

namespace mace::gemm::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

// 16 sums + 8 row vectors (eight k each) + the weights of two k: 28 of 32
// registers, and 128 of 143 instructions of the loop multiply.
constexpr int kMaxRows = 8;
constexpr size_t kDepthBlock = 256;

struct Fp16Tile {
  const uint16_t *const *rows;  // row r of tap t: rows[t * tap_stride + r]
  size_t tap_stride;
  size_t taps;
  size_t k_begin;
  size_t depth;
  const uint16_t *w;  // [taps * depth][16]
  float *c;
  size_t c_stride;
  const float *init;      // 16 values to start from; null: from c
  const float *residual;  // added at the end; null: nothing
  size_t residual_stride;
  bool clamp;
  float low;
  float high;
  size_t count;  // of tiles below each other, with rows after rows
};

template <int kLane, int kRows>
MACE_SIMD_INLINE void Step(sv::VF16 (&acc)[kRows][2],
                           const sv::VF16 (&x)[kRows],
                           const sv::VF16 *w) {
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    acc[r][0] = sv::FmaLaneF16<kLane>(acc[r][0], w[0], x[r]);
    acc[r][1] = sv::FmaLaneF16<kLane>(acc[r][1], w[1], x[r]);
  }
}

// Lanes kLane and kLane + 1.
template <int kLane, int kRows>
MACE_SIMD_INLINE const uint16_t *StepTwo(sv::VF16 (&acc)[kRows][2],
                                         const sv::VF16 (&x)[kRows],
                                         const uint16_t *w) {
  sv::VF16 wv[4];
  sv::LoadFourF16(w, wv);
  Step<kLane>(acc, x, wv);
  Step<kLane + 1>(acc, x, wv + 2);
  return sv::Advance(w, 2 * kPanelColumns);
}

template <int kRows>
MACE_SIMD_INLINE const uint16_t *RunTap(sv::VF16 (&acc)[kRows][2],
                                        const uint16_t *const (&rows)[kRows],
                                        size_t depth,
                                        const uint16_t *w) {
  const uint16_t *a[kRows];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) a[r] = sv::Advance(rows[r], 0);
#pragma clang loop unroll(disable)
  for (; depth >= 8; depth -= 8) {
    sv::VF16 x[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      x[r] = sv::LoadVF16(a[r]);
      a[r] = sv::Advance(a[r], 8);
    }
    w = StepTwo<0>(acc, x, w);
    w = StepTwo<2>(acc, x, w);
    w = StepTwo<4>(acc, x, w);
    w = StepTwo<6>(acc, x, w);
  }
#pragma clang loop unroll(disable)
  for (size_t k = 0; k < depth; ++k, w += kPanelColumns) {
    const sv::VF16 w0 = sv::LoadVF16(w);
    const sv::VF16 w1 = sv::LoadVF16(w + 8);
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      const sv::VF16 x = sv::SetVF16(a[r] + k);
      acc[r][0] = sv::FmaF16(acc[r][0], w0, x);
      acc[r][1] = sv::FmaF16(acc[r][1], w1, x);
    }
  }
  return w;
}

template <int kRows>
MACE_SIMD_INLINE void Finish(const sv::VF16 (&acc)[kRows][2],
                             const Fp16Tile &t) {
  const sv::V low = sv::Set(t.low);
  const sv::V high = sv::Set(t.high);
  const float *from = t.init != nullptr ? t.init : t.c;
  const size_t from_stride = t.init != nullptr ? 0 : t.c_stride;
  const float *residual = t.residual;
  float *c = t.c;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    sv::V sum[4];
    sv::LoadFour(from, sum);
    sum[0] += sv::WidenLow(acc[r][0]);
    sum[1] += sv::WidenHigh(acc[r][0]);
    sum[2] += sv::WidenLow(acc[r][1]);
    sum[3] += sv::WidenHigh(acc[r][1]);
    if (residual != nullptr) {
      MACE_UNROLL for (int v = 0; v < 4; ++v) {
        sum[v] += sv::Load(residual + v * sv::kLanes);
      }
      residual += t.residual_stride;
    }
    if (t.clamp) {
      MACE_UNROLL for (int v = 0; v < 4; ++v) {
        sum[v] = sv::Clamp(sum[v], low, high);
      }
    }
    MACE_UNROLL for (int v = 0; v < 4; ++v) {
      sv::Store(c + v * sv::kLanes, sum[v]);
    }
    from += from_stride;
    c += t.c_stride;
  }
}

template <int kRows>
MACE_SIMD_INLINE void RunOne(const Fp16Tile &t) {
  sv::VF16 acc[kRows][2] = {};
  const uint16_t *w = t.w;
  const uint16_t *const *rows = t.rows;
  for (size_t tap = 0; tap < t.taps; ++tap, rows += t.tap_stride) {
    const uint16_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) a[r] = rows[r] + t.k_begin;
    w = RunTap(acc, a, t.depth, w);
  }
  Finish(acc, t);
}

template <int kRows>
void RunTiles(const Fp16Tile &tiles) {
  Fp16Tile t = tiles;
  for (; t.count != 0; --t.count) {
    RunOne<kRows>(t);
    t.rows += kRows;
    t.c += kRows * t.c_stride;
    if (t.residual != nullptr) t.residual += kRows * t.residual_stride;
  }
}

using TileFunction = void (*)(const Fp16Tile &);
constexpr TileFunction kTiles[kMaxRows] = {
    &RunTiles<1>, &RunTiles<2>, &RunTiles<3>, &RunTiles<4>,
    &RunTiles<5>, &RunTiles<6>, &RunTiles<7>, &RunTiles<8>,
};

// A tile of a panel that has only `columns` columns, by way of a copy of its
// output.
void RunPartial(TileFunction run, Fp16Tile t, size_t rows, size_t columns) {
  float sums[kMaxRows * kPanelColumns] = {};
  float residual[kMaxRows * kPanelColumns] = {};
  const size_t bytes = columns * sizeof(float);
  float *c = t.c;
  const size_t stride = t.c_stride;
  for (size_t r = 0; r < rows; ++r) {
    if (t.init == nullptr) {
      __builtin_memcpy(sums + r * kPanelColumns, c + r * stride, bytes);
    }
    if (t.residual != nullptr) {
      __builtin_memcpy(residual + r * kPanelColumns,
                       t.residual + r * t.residual_stride, bytes);
    }
  }
  t.c = sums;
  t.c_stride = kPanelColumns;
  if (t.residual != nullptr) t.residual = residual;
  t.residual_stride = kPanelColumns;
  run(t);
  for (size_t r = 0; r < rows; ++r) {
    __builtin_memcpy(c + r * stride, sums + r * kPanelColumns, bytes);
  }
}

void RunStretch(const HalfBlock &b,
                const Extent &extent,
                size_t panel,
                const Stretch &s,
                const float *bias) {
  const size_t column = panel * kPanelColumns;
  const size_t left = b.columns - column;
  const bool first = s.tap == 0 && s.k_begin == 0;
  const bool last = IsLast(extent, s);
  Fp16Tile t;
  t.tap_stride = b.rows;
  t.taps = s.taps;
  t.k_begin = s.k_begin;
  t.depth = s.depth;
  t.w = b.w + panel * b.taps * b.depth * kPanelColumns +
        (s.tap * b.depth + s.k_begin) * kPanelColumns;
  t.c_stride = b.c_stride;
  t.init = first ? bias : nullptr;
  t.residual_stride = b.epilogue.residual_stride;
  t.clamp = last && b.epilogue.clamp;
  t.low = b.epilogue.low;
  t.high = b.epilogue.high;
  for (size_t m = 0; m < b.rows;) {
    const Heights next = NextTiles(b.rows - m, kMaxRows);
    const TileFunction run = kTiles[next.rows - 1];
    t.rows = b.a + s.tap * b.rows + m;
    t.c = b.c + m * b.c_stride + column;
    t.residual =
        last && b.epilogue.residual != nullptr
            ? b.epilogue.residual + m * b.epilogue.residual_stride + column
            : nullptr;
    if (left < kPanelColumns) {
      t.count = 1;
      RunPartial(run, t, next.rows, left);
      m += next.rows;
    } else {
      t.count = next.count;
      run(t);
      m += next.rows * next.count;
    }
  }
}

void Run(const HalfBlock &b) {
  const Extent extent = {b.taps, b.depth, kDepthBlock};
  float bias[kPanelColumns];
  for (size_t panel = b.panel_begin; panel < b.panel_end; ++panel) {
    const size_t column = panel * kPanelColumns;
    for (size_t i = 0; i < kPanelColumns; ++i) {
      const bool some = b.epilogue.bias != nullptr && column + i < b.columns;
      bias[i] = some ? b.epilogue.bias[column + i] : 0.0f;
    }
    for (Stretch s = FirstStretch(extent); s.taps > 0;
         s = StretchAfter(extent, s)) {
      RunStretch(b, extent, panel, s, bias);
    }
  }
}

void Narrow(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    sv::StoreVF16(to + i, sv::NarrowTwo(sv::Load(from + i),
                                        sv::Load(from + i + sv::kLanes)));
  }
  for (; i < count; ++i) to[i] = sv::NarrowOneF16(from[i]);
}

}  // namespace

extern const HalfKernels kFp16Kernels;
const HalfKernels kFp16Kernels = {&Run, &Narrow, kMaxRows, kDepthBlock, "fp16"};

}  // namespace mace::gemm::MACE_ISA

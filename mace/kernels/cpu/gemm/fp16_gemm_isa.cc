// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks of a product of fp16 numbers: eight products per instruction. They are
// summed in fp16, in chains, within a K-block; K-blocks are summed in float.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/k_blocks.h"
#include "mace/kernels/cpu/simd_fp16.h"

namespace mace::gemm::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

// A depth of up to about twice this in one tap is divided into two equal
// halves.
constexpr size_t kFp16DepthBlock = 512;

// 16 sums + 8 row vectors (eight k each) + the weights of two k: 28 of 32
// registers, and 128 of 143 instructions of the loop multiply.
constexpr int kMaxRows = 8;

// Where a part of K reads its initial sums and writes its results.
enum class Part { kOnly, kFirst, kMiddle, kLast };

struct Fp16Tile {
  const void *const *rows;  // row r of tap t: rows[t * tap_stride + r]
  size_t tap_stride;
  size_t taps;
  size_t k_begin;
  size_t depth;
  size_t chain;
  const uint16_t *w;  // [taps * depth][16]
  Part part;
  uint16_t *c;  // written by the only and the last part
  size_t c_stride;
  float *sums;               // [rows][16]: of the parts before this one
  const uint16_t *bias;      // 16 values that the first part starts from
  const uint16_t *residual;  // added at the end; null: nothing
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

// Adds `depth` products and advances the pointers to rows and weights.
template <int kRows>
MACE_SIMD_INLINE const uint16_t *RunPiece(sv::VF16 (&acc)[kRows][2],
                                          const uint16_t *(&a)[kRows],
                                          size_t depth,
                                          const uint16_t *w) {
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

// Ends a chain: adds it to the earlier chains, if there are any, and starts a
// new one.
template <int kRows>
MACE_SIMD_INLINE void EndChain(sv::VF16 (&acc)[kRows][2],
                               bool first,
                               uint16_t *chains) {
  MACE_UNROLL for (int r = 0; r < kRows; ++r, chains += kPanelColumns) {
    if (!first) {
      acc[r][0] += sv::LoadVF16(chains);
      acc[r][1] += sv::LoadVF16(chains + sv::kF16Lanes);
    }
    sv::StoreVF16(chains, acc[r][0]);
    sv::StoreVF16(chains + sv::kF16Lanes, acc[r][1]);
    acc[r][0] = sv::VF16{};
    acc[r][1] = sv::VF16{};
  }
}

template <int kRows>
MACE_SIMD_INLINE void AddSums(const sv::VF16 (&acc)[kRows][2],
                              const float *from,
                              float *to) {
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    sv::V sum[4] = {};
    if (from != nullptr) {
      sv::LoadFour(from, sum);
      from += kPanelColumns;
    }
    sum[0] += sv::WidenLow(acc[r][0]);
    sum[1] += sv::WidenHigh(acc[r][0]);
    sum[2] += sv::WidenLow(acc[r][1]);
    sum[3] += sv::WidenHigh(acc[r][1]);
    MACE_UNROLL for (int v = 0; v < 4; ++v, to += sv::kLanes) {
      sv::Store(to, sum[v]);
    }
  }
}

template <int kRows>
MACE_SIMD_INLINE void Finish(sv::VF16 (&acc)[kRows][2], const Fp16Tile &t) {
  if (t.part == Part::kLast) {
    const float *sums = t.sums;
    MACE_UNROLL for (int r = 0; r < kRows; ++r, sums += kPanelColumns) {
      sv::V sum[4];
      sv::LoadFour(sums, sum);
      MACE_UNROLL for (int half = 0; half < 2; ++half) {
        sum[2 * half] += sv::WidenLow(acc[r][half]);
        sum[2 * half + 1] += sv::WidenHigh(acc[r][half]);
        acc[r][half] = sv::NarrowTwo(sum[2 * half], sum[2 * half + 1]);
      }
    }
  }
  if (t.residual != nullptr) {
    const uint16_t *residual = t.residual;
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][0] += sv::LoadVF16(residual);
      acc[r][1] += sv::LoadVF16(residual + sv::kF16Lanes);
      residual += t.residual_stride;
    }
  }
  if (t.clamp) {
    const sv::VF16 low = sv::SetF16(t.low);
    const sv::VF16 high = sv::SetF16(t.high);
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][0] = sv::ClampF16(acc[r][0], low, high);
      acc[r][1] = sv::ClampF16(acc[r][1], low, high);
    }
  }
  uint16_t *c = t.c;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    sv::StoreVF16(c, acc[r][0]);
    sv::StoreVF16(c + sv::kF16Lanes, acc[r][1]);
    c += t.c_stride;
  }
}

template <int kRows>
MACE_SIMD_INLINE void RunOne(const Fp16Tile &t) {
  sv::VF16 acc[kRows][2] = {};
  if (t.part == Part::kOnly || t.part == Part::kFirst) {
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][0] = sv::LoadVF16(t.bias);
      acc[r][1] = sv::LoadVF16(t.bias + sv::kF16Lanes);
    }
  }
  const uint16_t *w = t.w;
  const void *const *rows = t.rows;
  uint16_t chains[kRows * kPanelColumns];
  bool first = true;
  size_t room = t.chain;  // for products in this chain
  for (size_t tap = 0; tap < t.taps; ++tap, rows += t.tap_stride) {
    const uint16_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = sv::Advance(static_cast<const uint16_t *>(rows[r]), t.k_begin);
    }
    // A chain consists of whole taps if they fit.
    for (size_t left = t.depth; left != 0;) {
      const size_t piece = left < t.chain ? left : t.chain;
      if (piece > room) {
        EndChain(acc, first, chains);
        first = false;
        room = t.chain;
      }
      w = RunPiece(acc, a, piece, w);
      room -= piece;
      left -= piece;
    }
  }
  if (!first) {
    const uint16_t *before = chains;
    MACE_UNROLL for (int r = 0; r < kRows; ++r, before += kPanelColumns) {
      acc[r][0] += sv::LoadVF16(before);
      acc[r][1] += sv::LoadVF16(before + sv::kF16Lanes);
    }
  }
  if (t.part == Part::kOnly || t.part == Part::kLast) {
    Finish(acc, t);
  } else {
    AddSums(acc, t.part == Part::kFirst ? nullptr : t.sums, t.sums);
  }
}

template <int kRows>
void RunTiles(const Fp16Tile &tiles) {
  Fp16Tile t = tiles;
  for (; t.count != 0; --t.count) {
    RunOne<kRows>(t);
    t.rows += kRows;
    t.c += kRows * t.c_stride;
    t.sums += kRows * kPanelColumns;
    if (t.residual != nullptr) t.residual += kRows * t.residual_stride;
  }
}

using TileFunction = void (*)(const Fp16Tile &);
constexpr TileFunction kTiles[kMaxRows] = {
    &RunTiles<1>, &RunTiles<2>, &RunTiles<3>, &RunTiles<4>,
    &RunTiles<5>, &RunTiles<6>, &RunTiles<7>, &RunTiles<8>,
};

// A tile of a panel with only `columns` columns, computed in a copy of its
// output.
void RunPartial(TileFunction run, Fp16Tile t, size_t rows, size_t columns) {
  uint16_t results[kMaxRows * kPanelColumns] = {};
  uint16_t residual[kMaxRows * kPanelColumns] = {};
  const size_t bytes = columns * sizeof(uint16_t);
  uint16_t *c = t.c;
  const size_t stride = t.c_stride;
  if (t.residual != nullptr) {
    for (size_t r = 0; r < rows; ++r) {
      __builtin_memcpy(residual + r * kPanelColumns,
                       t.residual + r * t.residual_stride, bytes);
    }
    t.residual = residual;
    t.residual_stride = kPanelColumns;
  }
  t.c = results;
  t.c_stride = kPanelColumns;
  run(t);
  for (size_t r = 0; r < rows; ++r) {
    __builtin_memcpy(c + r * stride, results + r * kPanelColumns, bytes);
  }
}

Part PartOf(const KBlockRows &rows) {
  if (rows.last) return rows.first ? Part::kOnly : Part::kLast;
  return rows.first ? Part::kFirst : Part::kMiddle;
}

// Multiplies rows by one K-block of a panel.
void RunRows(const Block &b,
             size_t panel,
             const KBlock &k,
             const KBlockRows &range,
             const uint16_t *bias) {
  const size_t column = panel * kPanelColumns;
  const size_t left = b.columns - column;
  auto *c = static_cast<uint16_t *>(b.c);
  const auto *residual = static_cast<const uint16_t *>(b.epilogue.residual);
  Fp16Tile t;
  t.tap_stride = b.rows;
  t.taps = k.taps;
  t.k_begin = k.k_begin;
  t.depth = k.depth;
  t.chain = b.chain;
  t.w =
      static_cast<const uint16_t *>(b.w) +
      (panel * b.taps * b.depth + k.tap * b.depth + k.k_begin) * kPanelColumns;
  t.part = PartOf(range);
  t.c_stride = b.c_stride;
  t.bias = bias;
  t.residual_stride = b.epilogue.residual_stride;
  t.clamp = b.epilogue.clamp;
  t.low = b.epilogue.low;
  t.high = b.epilogue.high;
  for (size_t m = range.begin; m < range.end;) {
    const Heights next = NextTiles(range.end - m, kMaxRows);
    const TileFunction run = kTiles[next.rows - 1];
    t.rows = b.a + k.tap * b.rows + m;
    t.c = c + m * b.c_stride + column;
    t.sums = b.scratch + m * kPanelColumns;
    t.residual = residual != nullptr
                     ? residual + m * b.epilogue.residual_stride + column
                     : nullptr;
    if (range.last && left < kPanelColumns) {
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

void Run(const Block &b) {
  const KExtent extent = ExtentOf(b.tap_runs, b.taps, b.depth, kFp16DepthBlock);
  for (size_t panel = b.panel_begin; panel < b.panel_end; ++panel) {
    const size_t column = panel * kPanelColumns;
    uint16_t bias[kPanelColumns] = {};
    for (size_t i = 0; i < kPanelColumns; ++i) {
      if (b.epilogue.bias != nullptr && column + i < b.columns) {
        bias[i] = sv::NarrowOneF16(b.epilogue.bias[column + i]);
      }
    }
    for (KBlock k = FirstKBlock(extent); k.taps > 0;
         k = KBlockAfter(extent, k)) {
      ForRowsThatRead(
          b.tap_runs, b.rows, extent, k,
          [&](const KBlockRows &rows) { RunRows(b, panel, k, rows, bias); });
    }
  }
}

}  // namespace

extern const Arithmetic kFp16Arithmetic;
const Arithmetic kFp16Arithmetic = {"fp16",          Element::kF16, &Run,
                                    nullptr,         nullptr,       kMaxRows,
                                    kFp16DepthBlock, kPanelColumns};

}  // namespace mace::gemm::MACE_ISA

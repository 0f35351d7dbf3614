// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/int16_gemm.h"

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/simd_int16.h"

namespace mace::gemm::MACE_ISA {
namespace {

constexpr size_t kFour = sv::kDotFour;
constexpr int kVectors = sv::kInt16Vectors;
static_assert(kVectors * sv::kLanes == static_cast<int>(kPanelColumns));

// Rows of a tile of one panel.
#if defined(__AVX512F__)
constexpr int kTileRows = 12;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr int kTileRows = 4;
#else
constexpr int kTileRows = 2;
#endif

// Fours whose sum fits int32.
constexpr size_t kMostFours = sv::kMostInt16Products / kFour;

// The elements of K of a row from `k`, of which there are fewer than four.
MACE_SIMD_INLINE sv::Int16Four LoadRest(const int16_t *x, size_t depth) {
  if (depth >= kFour) return sv::LoadInt16Four(x + depth - kFour);
  int16_t few[kFour] = {};
  for (size_t i = 0; i < depth; ++i) few[i] = x[i];
  return sv::LoadInt16Four(few);
}

// Adds the sums of int32 to those of float64, and begins new ones.
template <int kRows>
MACE_SIMD_INLINE void Flush(sv::VI (&acc)[kRows][kVectors],
                            sv::VD (&sums)[kRows][kVectors]) {
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      sums[r][v] += sv::IntToDouble(acc[r][v]);
      acc[r][v] = sv::VI{};
    }
  }
}

// Makes results of the sums. A function of its own, so that loops keep their
// registers.
__attribute__((noinline)) void Finish(const Block &b,
                                      const DotTile &t,
                                      const sv::VD (*sums)[kVectors],
                                      int rows) {
  const Requantization16 &p = *b.epilogue.requantization16;
  const sv::Int16Results to = sv::MakeInt16Results(p);
  auto *c = static_cast<int16_t *>(b.c) + t.row * b.c_stride + t.column;
  for (int r = 0; r < rows; ++r, c += b.c_stride) {
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = static_cast<size_t>(v) * sv::kLanes;
      if (t.column + at >= b.columns) break;
      sv::VD scale;
      __builtin_memcpy(&scale, p.scale + t.column + at, sizeof(scale));
      sv::StoreInt16N(c + at, sv::ToInt16(to, sums[r][v] * scale),
                      b.columns - t.column - at);
    }
  }
}

struct Kernel {
  template <int kRows, int kPanelVectors>
  static void RunTile(const Block &b, const DotTile &t) {
    static_assert(kPanelVectors == kVectors);
    sv::VI acc[kRows][kVectors] = {};
    sv::VD sums[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
      __builtin_memcpy(sums[r], b.epilogue.requantization16->bias + t.column,
                       sizeof(sums[r]));
    }
    const int8_t *w = DotWeightsAt(b, t.column);
    const size_t whole = b.depth / kFour * kFour;
    size_t left = kMostFours;
#pragma clang loop unroll(disable)
    for (size_t tap = 0; tap < b.taps; ++tap) {
      const int16_t *a[kRows];
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        a[r] = static_cast<const int16_t *>(
            b.a[tap * b.rows + t.row + static_cast<size_t>(r)]);
      }
#pragma clang loop unroll(disable)
      for (size_t k = 0; k < b.depth;) {
        if (left == 0) {
          Flush<kRows>(acc, sums);
          left = kMostFours;
        }
        if (k == whole) {
          const sv::Int16Weights weights = sv::LoadInt16Weights(w);
          MACE_UNROLL for (int r = 0; r < kRows; ++r) {
            sv::AddInt16Four(LoadRest(a[r], b.depth), weights, acc[r]);
          }
          w += kPanelStep;
          --left;
          break;
        }
        size_t count = (whole - k) / kFour;
        if (count > left) count = left;
        left -= count;
#pragma clang loop unroll(disable)
        for (; count > 0; --count, k += kFour, w += kPanelStep) {
          const sv::Int16Weights weights = sv::LoadInt16Weights(w);
          MACE_UNROLL for (int r = 0; r < kRows; ++r) {
            sv::AddInt16Four(sv::LoadInt16Four(a[r] + k), weights, acc[r]);
          }
        }
      }
    }
    Flush<kRows>(acc, sums);
    Finish(b, t, sums, kRows);
  }
};

void Run(const Block &b) {
  DotTile t = {0, b.panel_begin * kPanelColumns};
  RunDotColumns<Kernel, kTileRows, kVectors>(b, b.panel_end * kPanelColumns,
                                             &t);
}

}  // namespace

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define MACE_INT16_NAME "int16 by vnni"
#else
#define MACE_INT16_NAME "int16"
#endif

// All of K is one K-block.
extern const Arithmetic kInt16Arithmetic;
const Arithmetic kInt16Arithmetic = {
    MACE_INT16_NAME,          Element::kI16, &Run,
    /*run_vector=*/nullptr,
    /*widen=*/nullptr,        kTileRows,
    /*depth_block=*/SIZE_MAX,
    /*sum_columns=*/0,
};

}  // namespace mace::gemm::MACE_ISA

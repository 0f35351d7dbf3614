// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The products of a tile with weights in steps (step_panels.h). Included only
// by quantized_gemm_isa.cc.

#ifndef MACE_KERNELS_CPU_GEMM_STEP_TILE_H_
#define MACE_KERNELS_CPU_GEMM_STEP_TILE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/gemm/step_panels.h"

namespace mace::gemm::MACE_ISA {

MACE_SIMD_INLINE const char *StepPanelAt(const Block &b, size_t panel) {
  const char *place = static_cast<const char *>(b.w) + panel * sizeof(int64_t);
  int64_t distance;
  __builtin_memcpy(&distance, place, sizeof(distance));
  return place + distance;
}

// The panel after that of `column`, read by the first columns of a panel; about
// as large as that.
MACE_SIMD_INLINE sv::Ahead NextStepPanel(const Block &b,
                                         size_t column,
                                         size_t tiles) {
  const size_t next = column / kPanelColumns + 1;
  if (column % kPanelColumns > 0 || next >= b.panel_end) {
    return {nullptr, 0, 0};
  }
  const char *panel = StepPanelAt(b, next);
  const auto bytes = static_cast<size_t>(panel - StepPanelAt(b, next - 1));
  return {panel, bytes, tiles};
}

MACE_SIMD_INLINE sv::VDot LoadStep(const int8_t *w) {
  sv::VDot bytes;
  __builtin_memcpy(&bytes, w, sizeof(bytes));
  return bytes;
}

// Whether a vector is half of a panel.
inline constexpr bool kHalfVectors = 2 * sv::kLanes == kPanelColumns;

// Whether the mask of a step, which flips elements of the first or last eight
// columns, does so in a vector of the tile.
template <bool kFirst, bool kLast, int kVectors>
MACE_SIMD_INLINE constexpr bool IsMasked(int vector) {
  if (!kHalfVectors || kVectors != 2) return kFirst || kLast;
  return vector == 0 ? kFirst : kLast;
}

// If it has a mask, that follows the weights of the step.
template <bool kFirst, bool kLast, int kRows, int kVectors>
MACE_SIMD_INLINE void AddStep(const int8_t *w,
                              const uint8_t *const (&a)[kRows],
                              const uint32_t *offset,
                              sv::DotOnes ones,
                              sv::DotSum (&acc)[kRows][kVectors]) {
  sv::VI x[kRows];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = sv::SetInt(sv::DotBits(a[r] + *offset));
  }
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const int8_t *at = w + v * sizeof(sv::VDot);
    const sv::VDot weights = LoadStep(at);
    sv::VI mask = {};
    if (IsMasked<kFirst, kLast, kVectors>(v)) {
      mask = reinterpret_cast<sv::VI>(LoadStep(at + kStepBytes));
    }
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][v] = sv::AddPairs(acc[r][v],
                               sv::MultiplyBytes(x[r] ^ mask, weights), ones);
    }
  }
}

// Two fours at once, the second one perhaps with a mask.
template <bool kFirst, bool kLast, int kRows, int kVectors>
MACE_SIMD_INLINE void AddDeepStep(const int8_t *w,
                                  const uint8_t *const (&a)[kRows],
                                  const uint32_t *offset,
                                  sv::DotOnes ones,
                                  sv::DotSum (&acc)[kRows][kVectors]) {
  size_t from[2] = {offset[0], offset[1]};
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const int8_t *at = w + v * sizeof(sv::VDot);
    const sv::VDot first = LoadStep(at);
    const sv::VDot second = LoadStep(at + kStepBytes);
    sv::VI mask = {};
    if (IsMasked<kFirst, kLast, kVectors>(v)) {
      mask = reinterpret_cast<sv::VI>(LoadStep(at + 2 * kStepBytes));
    }
    // Elements are read again for each vector: there are no registers for those
    // of all rows beside the sums and the weights.
    __asm__("" : "+r"(from[0]), "+r"(from[1]));
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      const sv::VI x = sv::SetInt(sv::DotBits(a[r] + from[0]));
      const sv::VI y = sv::SetInt(sv::DotBits(a[r] + from[1]));
      acc[r][v] = sv::AddPairs(
          acc[r][v],
          sv::MultiplyBytes(x, first) + sv::MultiplyBytes(y ^ mask, second),
          ones);
    }
  }
}

// Adds `count` steps of one kind, of kFours fours each; moves `w` and `offset`
// behind them.
template <int kFours, bool kFirst, bool kLast, int kRows, int kVectors>
MACE_SIMD_INLINE void AddStepsOf(uint32_t count,
                                 const uint8_t *const (&a)[kRows],
                                 const int8_t *&w,
                                 const uint32_t *&offset,
                                 sv::DotOnes ones,
                                 sv::DotSum (&acc)[kRows][kVectors]) {
  constexpr size_t kBytes = (kFours + (kFirst || kLast ? 1 : 0)) * kStepBytes;
#pragma clang loop unroll(disable)
  for (; count > 0; --count, offset += kFours, w += kBytes) {
    if constexpr (kFours == 2) {
      AddDeepStep<kFirst, kLast>(w, a, offset, ones, acc);
    } else {
      AddStep<kFirst, kLast>(w, a, offset, ones, acc);
    }
  }
}

template <int kFours, int kRows, int kVectors>
MACE_SIMD_INLINE void AddMaskedSteps(const MaskedSteps &counts,
                                     const uint8_t *const (&a)[kRows],
                                     const int8_t *&w,
                                     const uint32_t *&offset,
                                     sv::DotOnes ones,
                                     sv::DotSum (&acc)[kRows][kVectors]) {
  uint32_t both = counts.All();
  // Tiles of so few rows are the last ones: less code is better there.
  if constexpr (kHalfVectors && kVectors == 2 && kRows > 2) {
    AddStepsOf<kFours, true, false>(counts.first, a, w, offset, ones, acc);
    AddStepsOf<kFours, false, true>(counts.last, a, w, offset, ones, acc);
    both = counts.both;
  }
  AddStepsOf<kFours, true, true>(both, a, w, offset, ones, acc);
}

template <int kRows, int kVectors>
MACE_SIMD_INLINE void AddSteps(const Block &b,
                               const DotTile &t,
                               sv::DotSum (&acc)[kRows][kVectors]) {
  const char *panel = StepPanelAt(b, t.column / kPanelColumns);
  const size_t in_panel = t.column % kPanelColumns;
  const auto *head = reinterpret_cast<const StepPanel *>(panel);
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    sv::VI correction;
    __builtin_memcpy(&correction, head->correction + in_panel + v * sv::kLanes,
                     sizeof(correction));
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][v] = sv::AddToDotSum(acc[r][v], correction);
    }
  }
  const auto *counts = reinterpret_cast<const StepCounts *>(head + 1);
  const auto *offset = reinterpret_cast<const uint32_t *>(counts + b.taps);
  const auto *w = reinterpret_cast<const int8_t *>(panel) + head->weights +
                  in_panel * sv::kDotFour;
  const void *const *rows = b.a + t.row;
  const sv::DotOnes ones = sv::MakeDotOnes();
#pragma clang loop unroll(disable)
  for (size_t tap = 0; tap < b.taps; ++tap, ++counts, rows += b.rows) {
    const uint8_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = static_cast<const uint8_t *>(rows[r]);
    }
    AddStepsOf<2, false, false>(counts->deep, a, w, offset, ones, acc);
    AddMaskedSteps<2>(counts->masked, a, w, offset, ones, acc);
    AddStepsOf<1, false, false>(counts->plain, a, w, offset, ones, acc);
    AddMaskedSteps<1>(counts->flipped, a, w, offset, ones, acc);
  }
}

}  // namespace mace::gemm::MACE_ISA

#endif  // MACE_KERNELS_CPU_GEMM_STEP_TILE_H_

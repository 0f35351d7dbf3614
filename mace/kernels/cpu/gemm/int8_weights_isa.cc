// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products in float with 8-bit weights that have a scale and an offset per
// column. For a single row, whose weights come from memory, this reads four
// times fewer bytes than float weights.

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/gemm_tile.h"
#include "mace/kernels/cpu/gemm/gemm_vector.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

void RunBlock(const Block &block);  // gemm_isa.cc

namespace {

static_assert(sv::kSixteenVectors == kPanelVectors);

struct Panel {
  const float *scales;
  const float *offsets;
  const int8_t *w;  // [depth][16]
};

MACE_SIMD_INLINE Panel PanelAt(const void *weights,
                               size_t panel,
                               size_t depth) {
  const char *at = static_cast<const char *>(weights) +
                   panel * (kScaleBytes + depth * kPanelColumns);
  const float *scales = reinterpret_cast<const float *>(at);
  return {scales, scales + kPanelColumns,
          reinterpret_cast<const int8_t *>(at + kScaleBytes)};
}

MACE_SIMD_INLINE void LoadSixteen(const float *p, sv::V (&to)[kPanelVectors]) {
  MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
    to[v] = sv::Load(p + v * sv::kLanes);
  }
}

void Widen(
    const Block &b, size_t panel, size_t k_begin, size_t count, float *to) {
  const Panel from = PanelAt(b.w, panel, b.taps * b.depth);
  sv::V scales[kPanelVectors];
  sv::V offsets[kPanelVectors];
  LoadSixteen(from.scales, scales);
  LoadSixteen(from.offsets, offsets);
  const int8_t *w = from.w + k_begin * kPanelColumns;
  for (size_t k = 0; k < count; ++k) {
    sv::V q[kPanelVectors];
    sv::LoadSixteenInt8(w, q);
    MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
      sv::Store(to + v * sv::kLanes, sv::Fma(q[v], scales[v], offsets[v]));
    }
    w += kPanelColumns;
    to += kPanelColumns;
  }
}

MACE_SIMD_INLINE void Step(float x,
                           const int8_t *w,
                           sv::V (&acc)[kPanelVectors]) {
  const sv::V a = sv::Set(x);
  sv::V q[kPanelVectors];
  sv::LoadSixteenInt8(w, q);
  MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
    acc[v] = sv::Fma(a, q[v], acc[v]);
  }
}

float Sum(const float *x, size_t count) {
  sv::V sums[2] = {sv::Zero(), sv::Zero()};
  size_t i = 0;
  for (; i + 2 * sv::kLanes <= count; i += 2 * sv::kLanes) {
    sums[0] += sv::Load(x + i);
    sums[1] += sv::Load(x + i + sv::kLanes);
  }
  for (; i < count; i += sv::kLanes) {
    const size_t left = count - i;
    sums[0] += sv::LoadN(x + i, left < static_cast<size_t>(sv::kLanes)
                                    ? static_cast<int>(left)
                                    : sv::kLanes);
  }
  return sv::ReduceAdd(sums[0] + sums[1]);
}

// `sum`: the sum of all x.
MACE_SIMD_INLINE void MultiplyInt8(const Vector &x,
                                   float sum,
                                   const Panel &panel,
                                   Chains &acc) {
  const int8_t *w = panel.w;
  size_t k = 0;
  for (; k + kChains <= x.depth; k += kChains) {
    MACE_UNROLL for (int u = 0; u < kChains; ++u) {
      Step(x.x[k + static_cast<size_t>(u)], w + u * kPanelWidth, acc[u]);
    }
    w += kChains * kPanelWidth;
  }
  for (; k < x.depth; ++k, w += kPanelWidth) Step(x.x[k], w, acc[0]);
  sv::V scales[kPanelVectors];
  sv::V offsets[kPanelVectors];
  LoadSixteen(panel.scales, scales);
  LoadSixteen(panel.offsets, offsets);
  MACE_UNROLL for (int u = 0; u < kChains; ++u) {
    MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) acc[u][v] *= scales[v];
  }
  MACE_UNROLL for (int v = 0; v < kPanelVectors; ++v) {
    acc[0][v] = sv::Fma(offsets[v], sv::Set(sum), acc[0][v]);
  }
}

void RunVectorInt8(const Vector &x) {
  const float sum = Sum(x.x, x.depth);
  RunPanels(x, [&](size_t panel, Chains &acc) __attribute__((always_inline)) {
    MultiplyInt8(x, sum, PanelAt(x.w, panel, x.depth), acc);
  });
}

}  // namespace

extern const Arithmetic kInt8WeightArithmetic;
const Arithmetic kInt8WeightArithmetic = {
    nullptr, Element::kF32, &RunBlock,   &RunVectorInt8,
    &Widen,  kRowTile,      kDepthBlock, /*sum_columns=*/0};

}  // namespace mace::gemm::MACE_ISA

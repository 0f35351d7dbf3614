// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/conv_scratch.h"

#include <cstdint>

namespace mace::gemm {
namespace {

// Bytes of the numbers that row pointers lead to.
size_t RowElementBytes(const ConvPlan &p) {
  return p.packs && !p.half_image ? sizeof(float) : ElementBytes(p);
}

}  // namespace

size_t ElementBytes(const ConvPlan &p) {
  return p.half != nullptr || p.fp16 != nullptr ? sizeof(uint16_t)
                                                : sizeof(float);
}

bool FitsOneStretch(const ConvPlan &p) {
  const ptrdiff_t stretch = static_cast<ptrdiff_t>(
      kHalfKernelsExist && p.half != nullptr ? p.half->depth_block
                                             : kDepthBlock);
  return p.depth < stretch ? p.taps <= stretch / p.depth
                           : p.taps * p.depth == stretch;
}

Scratch LayOutScratch(const ConvPlan &p) {
  auto align = [](size_t bytes) { return (bytes + 63) & ~size_t{63}; };
  Scratch s;
  s.pointers = 0;
  s.zeros = align(static_cast<size_t>(p.taps * p.row_block) * sizeof(void *));
  s.edges = s.zeros + align(static_cast<size_t>(p.depth) * RowElementBytes(p));
  s.packed = s.edges;
  if (p.tap_kind == ConvPlan::Taps::kRow) {
    s.packed += align(static_cast<size_t>(p.row_block * p.taps * p.depth) *
                      ElementBytes(p));
  }
  s.widened = s.packed;
  if (p.packs) {
    s.widened +=
        align(static_cast<size_t>(p.row_block * p.depth) * ElementBytes(p));
  }
  s.end = s.widened;
  if (p.fp16 != nullptr) {
    s.end += static_cast<size_t>(p.row_block) * kPanelColumns * sizeof(float);
  } else if (kHalfKernelsExist && p.half != nullptr && p.half_activations) {
    if (!FitsOneStretch(p)) {
      s.end +=
          static_cast<size_t>(p.row_block) * kHalfSumColumns * sizeof(float);
    }
  } else if (p.w_type != WeightType::kF32 && p.half == nullptr) {
    s.end += kScratchFloats * sizeof(float);
  }
  return s;
}

VectorScratch LayOutVector(const ConvPlan &p) {
  auto floats = [](ptrdiff_t count) {
    return static_cast<size_t>((count + 15) / 16 * 16) * sizeof(float);
  };
  const size_t columns = floats(p.shape.out_c / p.shape.groups);
  VectorScratch s;
  s.y = floats(p.depth);
  s.residual = s.y + columns;
  s.end = s.residual + columns;
  return s;
}

}  // namespace mace::gemm

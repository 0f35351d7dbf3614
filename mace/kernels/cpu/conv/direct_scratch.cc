// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/direct_scratch.h"

#include <cstdint>

#include "mace/core/base/aligned_memory.h"

namespace mace::conv {
Element RowElement(const DirectPlan &p) {
  return p.packs ? p.image : p.element;
}

bool FitsOneKBlock(const DirectPlan &p) {
  const size_t block = p.arithmetic->depth_block;
  const auto depth = static_cast<size_t>(p.depth);
  const auto taps = static_cast<size_t>(p.taps);
  return depth < block ? taps <= block / depth : taps * depth == block;
}

Scratch LayOutScratch(const DirectPlan &p) {
  Scratch s;
  s.pointers = 0;
  s.runs = AlignUp(static_cast<size_t>(p.taps * p.row_block) * sizeof(void *));
  s.zeros = s.runs;
  if (p.skipping != TapSkipping::kNone) {
    s.zeros += AlignUp(static_cast<size_t>(p.row_block) * sizeof(gemm::TapRun));
  }
  s.edges = s.zeros +
            AlignUp(static_cast<size_t>(p.depth) * ElementBytes(RowElement(p)));
  s.packed = s.edges;
  if (p.tap_kind == DirectPlan::Taps::kRow) {
    s.packed += AlignUp(static_cast<size_t>(p.row_block * p.taps * p.depth) *
                        ElementBytes(p.element));
  }
  s.widened = s.packed;
  if (p.packs) {
    s.widened += AlignUp(static_cast<size_t>(p.row_block * p.depth) *
                         ElementBytes(p.element));
  }
  s.end = s.widened;
  if (p.results != Element::kF32) {
    if (!FitsOneKBlock(p)) {
      s.end += static_cast<size_t>(p.row_block) * p.arithmetic->sum_columns *
               sizeof(float);
    }
  } else if (p.w_type != WeightType::kF32 && p.element == Element::kF32) {
    s.end += gemm::kScratchFloats * sizeof(float);
  }
  return s;
}

VectorScratch LayOutVector(const DirectPlan &p) {
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

}  // namespace mace::conv

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Plans of direct convolutions: taps, staging, blocks.

#include <algorithm>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_scratch.h"
#include "mace/kernels/cpu/conv/split_tasks.h"
#include "mace/kernels/cpu/conv/tap_runs.h"

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

// With fewer channels than this, the taps of a kernel row are joined: the inner
// loop then runs over kernel_w * channels products instead of channels.
constexpr Index kFewChannels = 16;

// The image rows of a block should stay in L2 while they are multiplied by
// every panel: half of 512 KiB, the smallest L2 that is considered.
constexpr Index kBlockBytes = 256 * 1024;
constexpr Index kMinBlockRows = 64;  // amortises a pass over the weights
constexpr Index kMaxBlockRows = 512;
constexpr Index kMaxPointers = 8192;  // 64 KiB of row pointers
constexpr Index kMaxEdgeBytes = 128 * 1024;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

// Whether windows start outside the first pixel, or leave the image.
bool IsPadded(const Shape &s) {
  const Index reach_h =
      (s.out_h - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
  const Index reach_w =
      (s.out_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1;
  return s.pad_top != 0 || s.pad_left != 0 || reach_h > s.in_h ||
         reach_w > s.in_w;
}

DirectPlan::Taps TapKind(const Shape &s) {
  const bool joined = s.groups == 1 && s.dilation_w == 1;
  if (joined && s.kernel_w == s.in_w && s.out_w == 1 && s.dilation_h == 1 &&
      !IsPadded(s)) {
    return DirectPlan::Taps::kPatch;
  }
  if (joined && s.kernel_w > 1 && s.in_c <= kFewChannels) {
    return DirectPlan::Taps::kRow;
  }
  return DirectPlan::Taps::kPixel;
}

// Whether kernels cannot read the caller's image.
bool MustStage(const DirectPlan &p, bool padded) {
  if (p.shape.in_c != p.channels * p.shape.groups) return true;  // pairs
  return p.image != p.element || (padded && p.arithmetic->pads_images);
}

// Whether tasks pack their rows: for kernels with one tap, if the image `s` is
// float, has an odd number of channels, or if pixels are skipped between its
// rows.
bool PacksRows(const DirectPlan &p, const Shape &s) {
  if (p.vector || p.arithmetic->pack == nullptr || p.taps != 1 || IsPadded(s)) {
    return false;
  }
  const bool paired = s.in_c == p.shape.in_c;
  if (p.tap_kind == DirectPlan::Taps::kPatch) return paired;
  const bool adjoining = s.stride_h == 1 && s.stride_w == 1;
  return p.tap_kind == DirectPlan::Taps::kPixel &&
         !(p.image == p.element && paired && adjoining);
}

// Rows per block, limited by what must stay in cache.
Index RowBlock(const DirectPlan &p) {
  const Shape &s = p.shape;
  // Overlapping patches share pixels: each row adds stride x stride new pixels.
  const Index fresh =
      std::min(s.kernel_h, s.stride_h) * std::min(s.kernel_w, s.stride_w);
  const Index row_bytes =
      fresh * (s.in_c / s.groups) * static_cast<Index>(ElementBytes(p.element));
  Index rows =
      std::clamp(kBlockBytes / row_bytes, kMinBlockRows, kMaxBlockRows);
  rows = std::min(rows, kMaxPointers / p.taps);
  if (p.tap_kind == DirectPlan::Taps::kRow) {
    const Index patch_bytes =
        p.taps * p.depth * static_cast<Index>(ElementBytes(p.element));
    rows = std::min(rows, kMaxEdgeBytes / patch_bytes);
  }
  return std::max(rows, static_cast<Index>(p.arithmetic->row_tile));
}

void SplitRows(DirectPlan *p, Index blocks) {
  const Index tile = static_cast<Index>(p->arithmetic->row_tile);
  p->row_block = std::min(p->rows, RoundUp(DivideUp(p->rows, blocks), tile));
  p->row_blocks = DivideUp(p->rows, p->row_block);
}

// Makes the padding part of the image.
void PadImage(Shape *s) {
  const Index reach_h =
      (s->out_h - 1) * s->stride_h + (s->kernel_h - 1) * s->dilation_h + 1;
  const Index reach_w =
      (s->out_w - 1) * s->stride_w + (s->kernel_w - 1) * s->dilation_w + 1;
  s->in_h = std::max(reach_h, s->pad_top + s->in_h);
  s->in_w = std::max(reach_w, s->pad_left + s->in_w);
  s->pad_top = 0;
  s->pad_left = 0;
}

}  // namespace

Shape MatrixShape(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns) {
  Shape s;
  s.in_w = rows;
  s.out_w = rows;
  s.in_c = depth;
  s.out_c = columns;
  return s;
}

DirectPlan PlanDirect(const DirectRequest &request) {
  const Shape &shape = request.shape;
  DirectPlan p;
  p.shape = shape;
  p.arithmetic = request.arithmetic;
  p.image = request.image;
  p.results = request.results;
  p.w_type = request.w_type;
  p.tap_kind = TapKind(shape);
  p.channels = shape.in_c / shape.groups;
  p.image_h = shape.in_h;
  p.image_w = shape.in_w;
  const bool pairs = p.w_type == WeightType::kBf16Pairs;
  const Index channels = pairs ? RoundUp(p.channels, 2) : p.channels;
  p.shape.in_c = channels * shape.groups;
  switch (p.tap_kind) {
    case DirectPlan::Taps::kPixel:
      p.taps = shape.kernel_h * shape.kernel_w;
      p.depth = channels;
      break;
    case DirectPlan::Taps::kRow:
      p.taps = shape.kernel_h;
      p.depth = shape.kernel_w * channels;
      break;
    case DirectPlan::Taps::kPatch:
      p.taps = 1;
      p.depth = shape.kernel_h * shape.kernel_w * channels;
      break;
  }
  p.rows = shape.batch * shape.out_h * shape.out_w;
  p.panels = static_cast<Index>(
      gemm::PanelCount(static_cast<size_t>(shape.out_c / shape.groups)));
  p.panel_block = p.panels;
  p.vector = p.arithmetic->run_vector != nullptr && p.rows == 1 &&
             p.taps == 1 && !IsPadded(shape);
  // The time for a single row is limited by reading the weights, which is
  // equally fast in every arithmetic; so float is used if the results are
  // float.
  if (!p.vector || p.results != Element::kF32)
    p.element = p.arithmetic->element;
  p.packs = PacksRows(p, shape);
  if (p.packs) {
    p.shape.in_c = shape.in_c;
  } else if (!(p.vector && shape.in_c == p.shape.in_c) &&
             MustStage(p, IsPadded(shape))) {
    if (p.element == Element::kBf16 && p.arithmetic->pads_images) {
      p.border_top = shape.pad_top;
      p.border_left = shape.pad_left;
      PadImage(&p.shape);
    }
    p.staged_pixels = p.shape.batch * p.shape.in_h * p.shape.in_w;
    p.staged_bytes = static_cast<size_t>(p.staged_pixels * p.shape.in_c) *
                     ElementBytes(p.element);
  }
  p.single_pass = p.vector || p.results != Element::kF32 || FitsOneKBlock(p);
  if (request.skipping != nullptr) {
    p.skipping = *request.skipping;
  } else if (p.tap_kind == DirectPlan::Taps::kPixel && !FitsOneKBlock(p)) {
    p.skipping = ChooseSkipping(p);
  }
  SplitRows(&p, DivideUp(p.rows, RowBlock(p)));
  SplitForThreads(&p, request.threads);
  p.tasks = shape.groups * p.row_blocks * p.panel_blocks;
  if (!p.vector) {
    p.scratch_bytes = LayOutScratch(p).end;
  } else if (p.results != Element::kF32) {
    p.scratch_bytes = LayOutVector(p).end;
  }
  return p;
}

}  // namespace mace::conv

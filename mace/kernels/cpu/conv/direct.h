// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolution as a product by row pointers, which lead into the image itself;
// and, as its 1x1 case, the product of a matrix with packed weights.
//
// A plan is made when shapes are known; its tasks are independent, may run on
// any threads in any order and together compute every output once. Results do
// not depend on the number of tasks.
//
// With weights of type kBf16Pairs every pixel's channels (of a group) are
// padded to an even number. Where that changes the image, or where arithmetic
// of bf16 reads it and it is of float, the image is copied once for all tasks:
// staged. A task of a 1x1 kernel may pack what it needs of it instead.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::conv {

// Whether the taps that lie outside the image are left out of sums: of none, of
// whole rows of the output, or of each pixel for itself.
enum class TapSkipping { kNone, kRows, kPixels };

struct DirectPlan {
  Shape shape;  // of the staged image: channels to pairs, its border
  const Arithmetic *arithmetic = nullptr;
  Element image = Element::kF32;    // as it comes
  Element element = Element::kF32;  // that kernels read, of the staged image
  Element results = Element::kF32;  // and of the residual
  WeightType w_type = WeightType::kF32;
  // How a patch of the image becomes taps: every pixel of the kernel one tap;
  // every row of it (neighbouring pixels are contiguous: few channels would
  // make the inner loop too short); or the whole patch (no tap is padded).
  enum class Taps { kPixel, kRow, kPatch } tap_kind = Taps::kPixel;
  bool vector = false;  // one output row: Arithmetic::run_vector
  bool packs = false;   // every task packs its rows: Arithmetic::pack
  TapSkipping skipping = TapSkipping::kNone;
  // Every sum is finished when it is first stored, so that epilogue.residual
  // may be the output itself.
  bool single_pass = false;
  ptrdiff_t taps = 1;
  ptrdiff_t depth = 1;
  ptrdiff_t rows = 1;  // batch * out_h * out_w
  ptrdiff_t row_block = 1;
  ptrdiff_t row_blocks = 1;
  ptrdiff_t panels = 1;  // per group
  ptrdiff_t panel_block = 1;
  ptrdiff_t panel_blocks = 1;
  ptrdiff_t tasks = 1;          // groups * row_blocks * panel_blocks
  size_t scratch_bytes = 0;     // for each task that runs at the same time
  ptrdiff_t staged_pixels = 0;  // 0: nothing is staged
  ptrdiff_t channels = 0;       // of a group, before staging
  ptrdiff_t image_h = 0;        // before staging
  ptrdiff_t image_w = 0;
  ptrdiff_t border_top = 0;  // pixels that staging adds
  ptrdiff_t border_left = 0;
  size_t staged_bytes = 0;  // for all tasks
};

struct DirectRequest {
  Shape shape;
  WeightType w_type = WeightType::kF32;
  const Arithmetic *arithmetic = nullptr;  // one that takes these weights
  // Arithmetic of float takes and gives float, of fp16 fp16, and of bf16 both
  // float and bf16.
  Element image = Element::kF32;
  Element results = Element::kF32;  // and residual
  int threads = 1;
  // Null, or what the plan of the whole image chose if this shape is some rows
  // of it.
  const TapSkipping *skipping = nullptr;
};
DirectPlan PlanDirect(const DirectRequest &request);

// Fills pixels [begin, end) of plan.staged_pixels; all of them before the first
// task runs.
void StagePixels(const DirectPlan &plan,
                 const Args &args,
                 ptrdiff_t begin,
                 ptrdiff_t end);

// What a task computes.
Region RegionOf(const DirectPlan &plan, ptrdiff_t task);

// scratch: plan.scratch_bytes, 64-byte aligned, for this call alone.
void RunDirectTask(const DirectPlan &plan,
                   const Args &args,
                   ptrdiff_t task,
                   void *scratch);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_H_

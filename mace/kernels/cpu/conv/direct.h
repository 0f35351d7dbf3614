// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolution as a product with row pointers that point into the image; and, as
// its 1x1 case, the product of a matrix with packed weights.
//
// A plan is made when shapes are known. Its tasks are independent, may run on
// any threads in any order, and together compute every output once. Results do
// not depend on the number of tasks.
//
// With weights of type kBf16Pairs, the channels of every pixel (of a group) are
// padded to an even number. If the image must be padded for this, or if it is
// float and the arithmetic needs bf16, the image is copied once for all tasks
// ("staged"). For a 1x1 kernel, each task may instead pack the part of the
// image that it needs.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::conv {

// Whether taps outside the image are left out of the sums: never, for whole
// rows of the output, or for each pixel separately.
enum class TapSkipping { kNone, kRows, kPixels };

struct DirectPlan {
  Shape
      shape;  // of the staged image: channels padded to pairs, padding included
  const Arithmetic *arithmetic = nullptr;
  Element image = Element::kF32;  // type of the caller's image
  Element element =
      Element::kF32;  // type that kernels read; type of the staged image
  Element results = Element::kF32;  // type of results and residual
  WeightType w_type = WeightType::kF32;
  // How a patch of the image is divided into taps: one tap per pixel of the
  // kernel; one tap per row of the kernel (adjacent pixels are contiguous; with
  // few channels, taps of one pixel would make the inner loop too short); or
  // one tap for the whole patch (only without padding).
  enum class Taps { kPixel, kRow, kPatch } tap_kind = Taps::kPixel;
  bool vector = false;  // one output row: Arithmetic::run_vector
  bool packs = false;   // every task packs its rows: Arithmetic::pack
  TapSkipping skipping = TapSkipping::kNone;
  // Whether every sum is complete when it is first stored, so that
  // epilogue.residual may equal the output.
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
  // Arithmetic of float reads and writes float, of fp16 fp16, and of bf16 both
  // float and bf16.
  Element image = Element::kF32;
  Element results = Element::kF32;  // and residual
  int threads = 1;
  // Null, or the choice in the plan of the whole image if this shape is some
  // rows of that image.
  const TapSkipping *skipping = nullptr;
};
DirectPlan PlanDirect(const DirectRequest &request);

// Fills pixels [begin, end) of plan.staged_pixels; all pixels must be filled
// before the first task runs.
void StagePixels(const DirectPlan &plan,
                 const Args &args,
                 ptrdiff_t begin,
                 ptrdiff_t end);

// The region of the output that a task computes.
Region RegionOf(const DirectPlan &plan, ptrdiff_t task);

// scratch: plan.scratch_bytes, 64-byte aligned, used only by this call.
void RunDirectTask(const DirectPlan &plan,
                   const Args &args,
                   ptrdiff_t task,
                   void *scratch);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_H_

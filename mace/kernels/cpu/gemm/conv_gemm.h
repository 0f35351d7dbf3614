// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolution over NHWC images (and, as its 1x1 case, the product of a matrix
// with packed weights) on top of the product by row pointers.
//
// A plan is made when shapes are known; its tasks are independent, may run on
// any threads in any order and together compute every output once. Results do
// not depend on the number of tasks.
//
// With weights of type kBf16Pairs every pixel's channels (of a group) are
// padded to an even number. Where that changes the image, or where the products
// are those of half_gemm.h and it is not bf16 yet, the image is copied once for
// all tasks: staged. A task of a 1x1 kernel may pack what it needs of it
// instead. Residual and output may be bf16 too with the products of
// half_gemm.h, the image then bf16 or float; with those of fp16_gemm.h all are
// fp16.

#ifndef MACE_KERNELS_CPU_GEMM_CONV_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_CONV_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/fp16_gemm.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/half_gemm.h"

namespace mace::gemm {

// All positive; pads may be 0, or negative where the first window begins inside
// the image. in_c and out_c are multiples of groups. Pads below and to the
// right follow from out_h and out_w.
struct ConvShape {
  ptrdiff_t batch = 1;
  ptrdiff_t in_h = 1;
  ptrdiff_t in_w = 1;
  ptrdiff_t in_c = 1;
  ptrdiff_t kernel_h = 1;
  ptrdiff_t kernel_w = 1;
  ptrdiff_t stride_h = 1;
  ptrdiff_t stride_w = 1;
  ptrdiff_t dilation_h = 1;
  ptrdiff_t dilation_w = 1;
  ptrdiff_t pad_top = 0;
  ptrdiff_t pad_left = 0;
  ptrdiff_t out_h = 1;
  ptrdiff_t out_w = 1;
  ptrdiff_t out_c = 1;
  ptrdiff_t groups = 1;
};

// [rows, depth] times [depth, columns].
ConvShape MatrixShape(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns);

struct ConvPlan {
  ConvShape shape;  // of the staged image: channels to pairs, its border
  const Kernels *kernels = nullptr;
  const HalfKernels *half = nullptr;  // not null: runs by these
  const Fp16Kernels *fp16 = nullptr;  // likewise
  bool half_image = false;            // the image is of 16 bits
  bool half_activations = false;      // residual and output are, too
  WeightType w_type = WeightType::kF32;
  // How a patch of the image becomes taps: every pixel of the kernel one tap;
  // every row of it (neighbouring pixels are contiguous: few channels would
  // make the inner loop too short); or the whole patch (no tap is padded).
  enum class Taps { kPixel, kRow, kPatch } tap_kind = Taps::kPixel;
  bool vector = false;  // one output row: Kernels::run_vector
  bool packs = false;   // every task packs its rows: HalfKernels::pack
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

enum class Stored {
  kFloat,
  kBf16,          // image, residual and output
  kBf16OfFloats,  // residual and output
};

// `kernels`: those for `w_type`. `half`: null, or HalfKernelsFor(.., w_type),
// which are then used wherever there is more than one row. `fp16`: null, or
// what computes, with weights of type kF16; `half` is null then.
// `stored`: what activations are; other than kFloat only with `half`.
ConvPlan PlanConv(const ConvShape &shape,
                  WeightType w_type,
                  const Kernels *kernels,
                  const HalfKernels *half,
                  int threads,
                  const Fp16Kernels *fp16 = nullptr,
                  Stored stored = Stored::kFloat);

struct ConvArgs {
  const float *input = nullptr;   // [batch][in_h][in_w][in_c]
  const void *weights = nullptr;  // [groups][panels][taps * depth][16], in
                                  // pairs, or with scales (WeightType)
  float *output = nullptr;
  size_t output_stride = 0;  // elements from pixel to pixel, >= out_c
  Epilogue epilogue;         // bias: [out_c]
  void *staged = nullptr;    // plan.staged_bytes, 64-byte aligned

  // Instead of input with plan.half_image, of output and epilogue.residual with
  // plan.half_activations.
  const uint16_t *input_half = nullptr;
  uint16_t *output_half = nullptr;
  const uint16_t *residual_half = nullptr;
};

// Fills pixels [begin, end) of plan.staged_pixels; all of them before the first
// task runs.
void StagePixels(const ConvPlan &plan,
                 const ConvArgs &args,
                 ptrdiff_t begin,
                 ptrdiff_t end);

// The part of the output that a task computes.
struct ConvRegion {
  ptrdiff_t row_begin;
  ptrdiff_t row_end;
  ptrdiff_t column_begin;  // within out_c
  ptrdiff_t column_end;
};
ConvRegion RegionOf(const ConvPlan &plan, ptrdiff_t task);

// scratch: plan.scratch_bytes, 64-byte aligned, for this call alone.
void RunConvTask(const ConvPlan &plan,
                 const ConvArgs &args,
                 ptrdiff_t task,
                 void *scratch);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_CONV_GEMM_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 convolution of stride 1 over NHWC images by Winograd's method: tiles of
// the image are transformed, t * t matrix products run over all tiles of a
// block, and the results are transformed back with bias, residual and clamp.
//
// As with gemm::ConvPlan, tasks are independent, may run on any threads in any
// order, and together write every output once. Results depend on neither the
// number of tasks nor the number of threads.

#ifndef MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_
#define MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_

#include <cstddef>

#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd {

// The tile, 2 or 4 and at most `max_tile`, with which a convolution is expected
// to be fastest; 0 if the direct product is, or if the geometry is not for
// Winograd: 3x3, stride 1, no dilation, one group. Does not look at the number
// of threads, which must not change results.
int ChooseTile(const gemm::ConvShape &shape, int max_tile);

// Elements of the transformed filter, [t * t][panels][in_c][16].
size_t FilterElements(const gemm::ConvShape &shape, int tile);

struct ConvPlan {
  gemm::ConvShape shape;
  int tile = 4;
  const Transforms *transforms = nullptr;
  const gemm::Kernels *gemm = nullptr;
  const gemm::Fp16Kernels *fp16 = nullptr;  // not null: everything is fp16
  ptrdiff_t tiles_h = 1;
  ptrdiff_t tiles_w = 1;
  ptrdiff_t tiles = 1;  // of the batch
  ptrdiff_t tile_block = 1;
  ptrdiff_t tile_blocks = 1;
  ptrdiff_t panels = 1;
  ptrdiff_t panel_block = 1;
  ptrdiff_t panel_blocks = 1;
  ptrdiff_t tasks = 1;       // tile_blocks * panel_blocks
  size_t scratch_bytes = 0;  // for each task that runs at the same time
};

struct PlanRequest {
  gemm::ConvShape shape;
  int tile = 4;  // 2 or 4
  // For elements of fp16 HalfKernelsFor and gemm::Fp16KernelsFor, else
  // KernelsFor and gemm::KernelsFor.
  const Kernels *kernels = nullptr;
  const gemm::Kernels *gemm = nullptr;
  const gemm::Fp16Kernels *fp16 = nullptr;
  int threads = 1;
};

// The geometry must be one that ChooseTile accepts.
ConvPlan PlanConv(const PlanRequest &request);

// args.weights is the transformed filter; args.epilogue.residual may be the
// output itself. scratch: plan.scratch_bytes, 64-byte aligned, for this call
// alone.
void RunConvTask(const ConvPlan &plan,
                 const gemm::ConvArgs &args,
                 ptrdiff_t task,
                 void *scratch);

// What a task writes is one such region per row of the output that its tiles
// cut: Regions(plan, task) of them.
ptrdiff_t Regions(const ConvPlan &plan, ptrdiff_t task);
// Empty (row_begin == row_end) where the last tiles reach beyond the output.
gemm::ConvRegion RegionOf(const ConvPlan &plan,
                          ptrdiff_t task,
                          ptrdiff_t index);

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_

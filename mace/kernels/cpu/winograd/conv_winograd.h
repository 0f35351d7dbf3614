// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 convolution of stride 1 over NHWC images by Winograd's method: tiles of
// the image are transformed, t * t matrix products run over all tiles of a
// block, and the results are transformed back with bias, residual and clamp.
//
// A convolution with dilations (h, w) is h * w convolutions without dilation:
// each computes every h-th row and every w-th column of the output from such
// rows and columns of the image. These are its phases.
//
// As with conv::DirectPlan, tasks are independent, may run on any threads in
// any order, and together write every output once. Results depend neither on
// the number of tasks nor on the number of threads. If two tasks share a block,
// each computes the products of half of the points; after all of these tasks,
// an equal number of output tasks transforms the products back.

#ifndef MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_
#define MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/winograd/winograd.h"

namespace mace::winograd {

// How to compute a convolution.
struct Method {
  int tile = 0;  // 2 or 4; 0: by the direct product
  // Whether every run transforms the filter again, a few panels at a time, into
  // memory that stays in cache. Otherwise the filter is transformed before the
  // first run, and every run reads 4 times (tile 4) or 1.8 times (tile 2) the
  // size of the filter from memory. The results have the same bits.
  bool each_run = false;
};

// The method that is expected to be fastest. No tile means the direct product,
// also if Winograd's method cannot compute the geometry: it needs 3x3, stride
// 1, one group.
struct ChooseRequest {
  conv::Shape shape;
  int max_tile = 0;  // the largest to consider
  int lanes = 1;     // Kernels::lanes
  // The number of multiply-adds of the direct product in the time of one
  // multiply-add of points: the ratio of both Arithmetic::rate.
  double direct_rate = 1.0;
};
Method Choose(const ChooseRequest &request);

// The number of tiles of one axis of a phase.
constexpr ptrdiff_t TilesOf(ptrdiff_t out, ptrdiff_t dilation, int tile) {
  const ptrdiff_t outputs = (out + dilation - 1) / dilation;
  return (outputs + tile - 1) / tile;
}

// The number of tiles that are computed at a time, chosen so that their data
// stays in cache.
ptrdiff_t BlockTiles(const conv::Shape &shape, const Method &method);

struct ConvPlan {
  conv::Shape shape;
  int tile = 4;
  bool each_run = false;
  gemm::WeightType weight_type = gemm::WeightType::kF32;  // with each_run
  const Transforms *transforms = nullptr;
  gemm::Element image = gemm::Element::kF32;     // of input and output
  const gemm::Arithmetic *arithmetic = nullptr;  // of points: float or fp16
  ptrdiff_t phases = 1;
  ptrdiff_t tiles_h = 1;  // of a phase
  ptrdiff_t tiles_w = 1;
  ptrdiff_t tiles = 1;  // of all phases and images
  ptrdiff_t tile_block = 1;
  ptrdiff_t tile_blocks = 1;
  ptrdiff_t panels = 1;
  ptrdiff_t panel_block = 1;
  ptrdiff_t panel_blocks = 1;
  ptrdiff_t group_panels = 1;  // that are multiplied at a time
  // Values of the transformed filter from one point to the next: of all panels,
  // or with each_run of a group.
  size_t filter_stride = 0;
  // Whether two tasks share the points of a block, and so the transforms of
  // image and filter, instead of dividing its tiles or columns.
  bool halves = false;
  ptrdiff_t tasks = 1;         // tile_blocks * panel_blocks, or twice as many
  ptrdiff_t output_tasks = 0;  // after those: as many with halves, else none
  size_t scratch_bytes = 0;    // for each task that runs at the same time
  size_t shared_bytes = 0;     // of products, for all tasks: with halves
};

struct PlanRequest {
  conv::Shape shape;
  Method method;  // with a tile
  gemm::WeightType weight_type = gemm::WeightType::kF32;
  gemm::Element image = gemm::Element::kF32;     // kF32, kF16 or kBf16
  const Kernels *kernels = nullptr;              // KernelsFor(.., image)
  const gemm::Arithmetic *arithmetic = nullptr;  // fp16 for kF16, else float
  int threads = 1;
};

// The functions below are linked only if a model needs them; callers use the
// table at the end.

// The geometry must be one for which Choose returns a tile.
ConvPlan PlanConv(const PlanRequest &request);

// Values of the filter that is transformed before the first run: [t * t] points
// with a distance of filter_stride, [panels][in_c][16] each; 0 with each_run.
size_t FilterElements(const ConvPlan &plan);

// args.weights is the transformed filter, or with each_run the filter itself,
// PACKED_O16 of plan.weight_type; args.epilogue.residual may equal the output.
// scratch: plan.scratch_bytes, used only by this call; shared:
// plan.shared_bytes, for all calls of a run; both 64-byte aligned.
void RunConvTask(const ConvPlan &plan,
                 const conv::Args &args,
                 ptrdiff_t task,
                 void *scratch,
                 void *shared);
// One of plan.output_tasks.
void RunOutputTask(const ConvPlan &plan,
                   const conv::Args &args,
                   ptrdiff_t task,
                   const void *shared);

// A task (with halves: an output task) writes one region per row of tiles that
// it covers, or with dilation one per pixel: Regions(plan, task) regions.
ptrdiff_t Regions(const ConvPlan &plan, ptrdiff_t task);
// Empty (row_begin == row_end) if the last tiles are outside the output.
conv::Region RegionOf(const ConvPlan &plan, ptrdiff_t task, ptrdiff_t index);

struct Part {
  const Kernels *(*kernels_for)(CpuIsa isa);
  ConvPlan (*plan)(const PlanRequest &request);
  size_t (*filter_elements)(const ConvPlan &plan);
  void (*run_task)(const ConvPlan &plan,
                   const conv::Args &args,
                   ptrdiff_t task,
                   void *scratch,
                   void *shared);
  void (*run_output_task)(const ConvPlan &plan,
                          const conv::Args &args,
                          ptrdiff_t task,
                          const void *shared);
  ptrdiff_t (*regions)(const ConvPlan &plan, ptrdiff_t task);
  conv::Region (*region_of)(const ConvPlan &plan,
                            ptrdiff_t task,
                            ptrdiff_t index);
};

// The functions that transforms.cc registers; null if they are not linked.
const Part *LinkedPart();

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/fully_connected/fully_connected_opencl.h"

#include <algorithm>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/kernels/opencl/fully_connected_cl.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"

namespace mace {
namespace {

// Items per compute unit that keep a GPU busy.
constexpr int64_t kItemsPerUnit = 256;
// Work groups per compute unit that do.
constexpr int64_t kGroupsPerUnit = 2;
// Rows of the product that an item computes: where a work group divides K, and
// otherwise.
constexpr int64_t kSharedPixels = 4;
constexpr int64_t kPixels = 8;
// The largest work group that divides K, and blocks of K for each of its items,
// at least.
constexpr int64_t kMostItems = 256;
constexpr int64_t kBlocksPerLane = 2;

}  // namespace

ProductDivision DivideProduct(const GpuTraits &gpu,
                              int64_t depth_blocks,
                              const GpuDims &out) {
  ProductDivision division;
  const int64_t pixels = out.pixels();
  for (int64_t count : {kPixels, kSharedPixels}) {
    division.pixels = count;
    const int64_t items = out.blocks() * DivideUp(pixels, count);
    if (items >= gpu.compute_units * kItemsPerUnit) return division;
  }
  if (pixels < kSharedPixels) division.pixels = 1;
  const int64_t tiles = DivideUp(pixels, division.pixels);
  // Four blocks are a whole row of packed weights.
  const int64_t groups = DivideUp(out.blocks(), 4) * tiles;
  division.blocks = groups >= gpu.compute_units * kGroupsPerUnit ? 4 : 2;
  const auto local_items = static_cast<int64_t>(
      gpu.local_bytes / (4 * sizeof(float)) / division.pixels);
  const int64_t most =
      std::min(
          {kMostItems, static_cast<int64_t>(gpu.max_work_group), local_items}) /
      division.blocks;
  while (2 * division.lanes <= most &&
         2 * division.lanes * kBlocksPerLane <= depth_blocks) {
    division.lanes *= 2;
  }
  return division;
}

void AddProduct(const OpenclPlanContext &context,
                const ProductDivision &division,
                Launch *launch,
                size_t node,
                size_t output_node) {
  const GpuDims out = context.OutputDims();
  const int64_t tiles = DivideUp(out.pixels(), division.pixels);
  launch->Of(node).Constant("weights", kFullyConnectedWeightsInput);
  if (context.input(kFullyConnectedBiasInput) != nullptr) {
    launch->Define("HAS_BIAS").Constant("bias", kFullyConnectedBiasInput);
  }
  // Without a residual, its argument may be the output.
  const bool adds = context.input(kFullyConnectedResidualInput) != nullptr;
  launch->Of(adds ? node : output_node)
      .Residual(context, kFullyConnectedResidualInput)
      .Of(output_node)
      .Output("output")
      .ActivationOf(context.AttributesAs<FullyConnectedAttributes>())
      .Int(out.pixels())
      .Define("PIXELS", division.pixels)
      .Define("LANES", division.lanes)
      .Define("TAIL", context.InputDims(kFullyConnectedInputInput).c % 4);
  if (division.lanes > 1) {
    launch->Define("BLOCKS", division.blocks)
        .Items(out.blocks(), division.lanes, tiles)
        .WorkGroup(division.blocks, division.lanes);
  } else {
    launch->Items(out.blocks(), tiles);
  }
}

namespace {

class FullyConnectedOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    return NumberRange::Of(NumberRange::Result::kLinear)
        .Then(context.AttributesAs<FullyConnectedAttributes>().activation);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const GpuDims in = context->InputDims(kFullyConnectedInputInput);
    Launch launch(kFullyConnectedCl, "fully_connected");
    launch.Input("input", kFullyConnectedInputInput);
    AddProduct(
        *context,
        DivideProduct(context->gpu(), in.blocks(), context->OutputDims()),
        &launch);
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(FullyConnected, GPU, FullyConnectedOpencl);

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The average of an image's pixels, and a product of it with weights: the end
// of most classifiers. Each work group computes the average for itself.

#include <memory>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/kernels/opencl/fully_connected_cl.h"
#include "mace/ops/fully_connected/fully_connected_opencl.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/pooling/pooling.h"
#include "mace/ops/reduce/reduce.h"

namespace mace {
namespace {

// What all work groups of a compute unit read more than without the fusion, at
// most: about the time of a launch, by a GPU's caches.
constexpr int64_t kBytesPerUnit = 256 * 1024;

// Of output channels, in a work group.
constexpr int64_t kBlocks = 4;

// `first` gives [N, ..., C], the average over H and W of its input
// [N, H, W, C].
using IsAverage = bool (*)(const OpenclPlanContext &first);

bool IsMeanOfPixels(const OpenclPlanContext &first) {
  const auto &attributes = first.AttributesAs<ReduceAttributes>();
  const Shape &shape = first.input(kReduceInputInput)->shape;
  bool folds[Shape::kMaxRank];
  return attributes.mode == ReduceMode::MEAN && shape.rank() == 4 &&
         IsOk(FindFolds(attributes, shape, folds)) && !folds[0] && folds[1] &&
         folds[2] && !folds[3];
}

bool IsGlobalAveragePool(const OpenclPlanContext &first) {
  const auto &attributes = first.AttributesAs<PoolingAttributes>();
  const Shape &shape = first.input(kPoolingInputInput)->shape;
  const Result<WindowGeometry> window = PoolingWindow(attributes, shape);
  if (attributes.mode == PoolingMode::MAX || !window.ok()) return false;
  for (size_t i = 0; i < 2; ++i) {
    const WindowAxis &axis = window.value().axis[i];
    if (axis.kernel != shape[i + 1] || axis.dilation != 1 ||
        axis.pad_before != 0 || axis.pad_after != 0) {
      return false;
    }
  }
  return true;
}

template <IsAverage is_average>
class PooledFullyConnected final : public OpenclFusion {
 public:
  MaceStatus Plan(const OpenclPlanContext &first,
                  size_t port,
                  OpenclPlanContext *second) const override {
    const GpuTraits &gpu = second->gpu();
    const GpuDims in = first.InputDims(0);
    const GpuDims out = second->OutputDims();
    ProductDivision division = DivideProduct(gpu, in.blocks(), out);
    // Fewer work groups compute the average.
    if (division.blocks < kBlocks) {
      division.lanes = division.lanes * division.blocks / kBlocks;
      division.blocks = kBlocks;
    }
    const int64_t groups = DivideUp(out.blocks(), division.blocks);
    const int64_t in_bytes = in.pixels() * in.c * (gpu.half_storage ? 2 : 4);
    const auto local_bytes =
        static_cast<size_t>(in.blocks()) * 4 * sizeof(float);
    if (port != kFullyConnectedInputInput || !is_average(first) ||
        out.pixels() != in.n || in.c != second->InputDims(port).c ||
        division.lanes <= 1 || division.pixels != 1 ||
        2 * local_bytes > gpu.local_bytes ||
        groups * in_bytes > gpu.compute_units * kBytesPerUnit) {
      return Unsupported("the operators do not fit one kernel");
    }
    Launch launch(kFullyConnectedCl, "fully_connected");
    launch.Define("POOLED").Input("input", 0).Local(local_bytes);
    launch.Of(1);
    AddProduct(*second, division, &launch);
    second->Add(std::move(launch));
    return MaceStatus();
  }
};

const OpenclFusionRegistration reduce_registration(
    "Reduce", "FullyConnected", []() -> std::unique_ptr<OpenclFusion> {
      return std::make_unique<PooledFullyConnected<IsMeanOfPixels>>();
    });
const OpenclFusionRegistration pooling_registration(
    "Pooling", "FullyConnected", []() -> std::unique_ptr<OpenclFusion> {
      return std::make_unique<PooledFullyConnected<IsGlobalAveragePool>>();
    });

}  // namespace
}  // namespace mace

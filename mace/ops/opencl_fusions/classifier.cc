// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The end of most classifiers: the average of an image's pixels, a product of
// it with weights, and the softmax of that. All three are one launch, or two of
// them. Each work group computes the average for itself.

#include <memory>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/kernels/opencl/fully_connected_cl.h"
#include "mace/ops/fully_connected/fully_connected_opencl.h"
#include "mace/ops/fully_connected/fully_connected_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/pooling/pooling.h"
#include "mace/ops/reduce/reduce.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {
namespace {

// What all work groups of a compute unit read more than without the fusion, at
// most: about the time of a launch, by a GPU's caches.
constexpr int64_t kBytesPerUnit = 256 * 1024;

// Of output channels, in a work group.
constexpr int64_t kBlocks = 4;

// Softmax by a single work group, at most: of rows, and of elements.
constexpr int64_t kSoftmaxRows = 4;
constexpr int64_t kSoftmaxElements = 8192;

// The operator gives [N, ..., C], the average over H and W of its input
// [N, H, W, C].
using IsAverage = bool (*)(const OpenclPlanContext &average);

bool IsMeanOfPixels(const OpenclPlanContext &average) {
  const auto &attributes = average.AttributesAs<ReduceAttributes>();
  const Shape &shape = average.input(kReduceInputInput)->shape;
  bool folds[Shape::kMaxRank];
  return attributes.mode == ReduceMode::MEAN && shape.rank() == 4 &&
         IsOk(FindFolds(attributes, shape, folds)) && !folds[0] && folds[1] &&
         folds[2] && !folds[3];
}

bool IsGlobalAveragePool(const OpenclPlanContext &average) {
  const auto &attributes = average.AttributesAs<PoolingAttributes>();
  const Shape &shape = average.input(kPoolingInputInput)->shape;
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

MaceStatus DoNotFit() {
  return Unsupported("the operators do not fit one kernel");
}

// Divides a product whose rows are averages of the images of `average`.
Result<ProductDivision> DividePooled(const OpenclPlanContext &average,
                                     const OpenclPlanContext &product) {
  const GpuTraits &gpu = product.gpu();
  const GpuDims in = average.InputDims(0);
  const GpuDims out = product.OutputDims();
  ProductDivision division = DivideProduct(gpu, in.blocks(), out);
  // Fewer work groups compute the average.
  if (division.blocks < kBlocks) {
    division.lanes = division.lanes * division.blocks / kBlocks;
    division.blocks = kBlocks;
  }
  const int64_t groups = DivideUp(out.blocks(), division.blocks);
  const int64_t in_bytes = in.pixels() * in.c * (gpu.half_storage ? 2 : 4);
  const auto local_bytes = static_cast<size_t>(in.blocks()) * 4 * sizeof(float);
  if (out.pixels() != in.n || in.c != product.InputDims(0).c ||
      division.lanes <= 1 || division.pixels != 1 ||
      2 * local_bytes > gpu.local_bytes ||
      groups * in_bytes > gpu.compute_units * kBytesPerUnit) {
    return DoNotFit();
  }
  return division;
}

// Adds what computes the softmax of the product's rows.
MaceStatus AddSoftmax(const OpenclPlanContext &product,
                      const OpenclPlanContext &softmax,
                      const ProductDivision &division,
                      Launch *launch) {
  const auto &attributes = softmax.AttributesAs<SoftmaxAttributes>();
  const Shape &shape = softmax.input(kSoftmaxInputInput)->shape;
  const GpuDims out = product.OutputDims();
  const int64_t elements = out.pixels() * out.blocks() * 4;
  if (shape.NormalizeAxis(attributes.axis) + 1 !=
          static_cast<int64_t>(shape.rank()) ||
      division.lanes <= 1 || out.pixels() > kSoftmaxRows ||
      elements > kSoftmaxElements ||
      product.input(kFullyConnectedResidualInput) != nullptr) {
    return DoNotFit();
  }
  launch->Define("SOFTMAX");
  if (attributes.log) launch->Define("LOG");
  launch
      ->Int(DivideUp(out.blocks(), division.blocks) *
            DivideUp(out.pixels(), division.pixels))
      .Zeros("state", static_cast<size_t>(1 + elements));
  return MaceStatus();
}

template <IsAverage is_average>
class PooledProduct final : public OpenclFusion {
 public:
  MaceStatus Plan(const std::vector<const OpenclPlanContext *> &operators,
                  OpenclPlanContext *last) const override {
    const OpenclPlanContext &average = *operators[0];
    const OpenclPlanContext &product = *operators[1];
    if (!is_average(average)) return DoNotFit();
    MACE_ASSIGN_OR_RETURN(const ProductDivision division,
                          DividePooled(average, product));
    const auto local_bytes =
        static_cast<size_t>(average.InputDims(0).blocks()) * 4 * sizeof(float);
    Launch launch(kFullyConnectedCl, "fully_connected");
    launch.Define("POOLED").Input("input", 0).Local(local_bytes);
    AddProduct(product, division, &launch, 1, operators.size() - 1);
    if (operators.size() > 2) {
      MACE_RETURN_IF_ERROR(AddSoftmax(product, *last, division, &launch));
    }
    last->Add(std::move(launch));
    return MaceStatus();
  }
};

class ProductSoftmax final : public OpenclFusion {
 public:
  MaceStatus Plan(const std::vector<const OpenclPlanContext *> &operators,
                  OpenclPlanContext *last) const override {
    const OpenclPlanContext &product = *operators[0];
    const ProductDivision division = DivideProduct(
        product.gpu(), product.InputDims(0).blocks(), product.OutputDims());
    Launch launch(kFullyConnectedCl, "fully_connected");
    launch.Input("input", kFullyConnectedInputInput);
    AddProduct(product, division, &launch, 0, 1);
    MACE_RETURN_IF_ERROR(AddSoftmax(product, *last, division, &launch));
    last->Add(std::move(launch));
    return MaceStatus();
  }
};

template <typename Fusion>
std::unique_ptr<OpenclFusion> Make() {
  return std::make_unique<Fusion>();
}

const OpenclFusionRegistration registrations[] = {
    {{"Reduce", "FullyConnected"}, Make<PooledProduct<IsMeanOfPixels>>},
    {{"Reduce", "FullyConnected", "Softmax"},
     Make<PooledProduct<IsMeanOfPixels>>},
    {{"Pooling", "FullyConnected"}, Make<PooledProduct<IsGlobalAveragePool>>},
    {{"Pooling", "FullyConnected", "Softmax"},
     Make<PooledProduct<IsGlobalAveragePool>>},
    {{"FullyConnected", "Softmax"}, Make<ProductSoftmax>},
};

}  // namespace
}  // namespace mace

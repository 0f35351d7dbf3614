// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <utility>
#include <vector>

#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/resize/resize.h"
#include "mace/ops/resize/resize_cl.h"
#include "mace/ops/resize/resize_schema.h"

namespace mace {
namespace {

// For each output, its first input and its weights, as resize.cl reads them.
std::vector<int32_t> TableOf(const ResizeTaps &taps) {
  if (taps.weights.empty()) return taps.first;
  const auto count = static_cast<size_t>(taps.taps);
  std::vector<int32_t> table(taps.first.size() * (count + 1));
  for (size_t i = 0; i < taps.first.size(); ++i) {
    int32_t *const entry = table.data() + i * (count + 1);
    *entry = taps.first[i];
    std::memcpy(entry + 1, taps.weights.data() + i * count,
                count * sizeof(float));
  }
  return table;
}

class ResizeOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ResizeAttributes>();
    const Tensor &input = *context->input(kResizeInputInput);
    const Shape &output = context->output(0)->shape;
    const bool nearest = attributes.mode == ResizeMode::NEAREST;
    const ResizeTaps rows = PlanResizeAxis(
        attributes, ResizeAxisOf(attributes, input.shape, output, 0));
    const ResizeTaps columns = PlanResizeAxis(
        attributes, ResizeAxisOf(attributes, input.shape, output, 1));
    const GpuDims out = context->OutputDims();
    Launch launch(kResizeCl, nearest ? "nearest" : "resize");
    if (input.data_type == DataType::kInt32) launch.Define("INTEGER");
    launch.Input("input", kResizeInputInput)
        .Output("output")
        .Table("rows", TableOf(rows))
        .Table("columns", TableOf(columns));
    if (!nearest) launch.Ints2(rows.taps, columns.taps);
    launch.Items(out.blocks(), out.w, out.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(Resize, GPU, ResizeOpencl);

}  // namespace
}  // namespace mace

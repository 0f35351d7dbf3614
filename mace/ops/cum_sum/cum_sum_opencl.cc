// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cum_sum/cum_sum_cl.h"
#include "mace/ops/cum_sum/cum_sum_schema.h"
#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

class CumSumOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kLinear);
  }
  bool TakesIntegers() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<CumSumAttributes>();
    const Tensor &input = *context->input(kCumSumInputInput);
    if (attributes.wide && input.data_type == DataType::kInt32) {
      return Unsupported("it could not report a result beyond 32 bits");
    }
    const GpuLines lines(
        input.shape,
        static_cast<size_t>(input.shape.NormalizeAxis(attributes.axis)));
    Launch launch(kCumSumCl,
                  lines.channels() ? "cum_sum_channels" : "cum_sum_pixels");
    launch.Input("input", kCumSumInputInput).Output("output");
    lines.AddTo(&launch);
    if (input.data_type == DataType::kInt32) launch.Define("OF_INTS");
    launch.Int(attributes.exclusive ? 1 : 0).Int(attributes.reverse ? 1 : 0);
    lines.Group(context->gpu(), 4 * sizeof(float))
        .AddTo(&launch, lines.count());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(CumSum, GPU, CumSumOpencl);

}  // namespace
}  // namespace mace

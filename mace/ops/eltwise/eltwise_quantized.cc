// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/broadcast.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/eltwise/eltwise.h"

namespace mace {
namespace {

// Of sums of two: 510 * 2^kFactorBits + 2^(kLargestShift - 1) < 2^31.
constexpr int kFactorBits = 21;
constexpr int kLargestShift = 30;

class QuantizedEltwisePlan final : public OpPlan {
 public:
  QuantizedEltwisePlan(const BroadcastPlan &loops,
                       const eltwise::QuantizedParams &params)
      : loops_(loops), params_(params) {}

  const BroadcastPlan &loops() const { return loops_; }
  const eltwise::QuantizedParams &params() const { return params_; }

 private:
  const BroadcastPlan loops_;
  const eltwise::QuantizedParams params_;
};

// The largest one with which x * 2^shift is below 2^kFactorBits, within limits.
int ShiftFor(double x) {
  int shift = 0;
  while (shift < kLargestShift &&
         x * (int64_t{2} << shift) < 1 << kFactorBits) {
    ++shift;
  }
  return shift;
}

int32_t Factor(double x) {
  constexpr double kLargest = (1 << kFactorBits) - 1;
  return static_cast<int32_t>(RoundToEven(std::min(x, kLargest)));
}

// False if there is none.
bool FindMode(EltwiseMode mode, eltwise::QuantizedMode *to) {
  switch (mode) {
    case EltwiseMode::ADD:
    case EltwiseMode::SUB:
      *to = eltwise::QuantizedMode::kSum;
      return true;
    case EltwiseMode::MUL:
      *to = eltwise::QuantizedMode::kProduct;
      return true;
    case EltwiseMode::MAX:
      *to = eltwise::QuantizedMode::kMax;
      return true;
    case EltwiseMode::MIN:
      *to = eltwise::QuantizedMode::kMin;
      return true;
    default:
      return false;
  }
}

float ScaleOf(const Tensor &tensor) { return tensor.quantization->scales[0]; }

class QuantizedEltwiseOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<EltwiseAttributes>();
    mode_ = attributes.mode;
    activation_ = ActivationParams(attributes);
    if (!FindMode(mode_, &quantized_mode_)) {
      return NotSupported(
          "quantized, it has no mode but ADD, SUB, MUL, MAX and MIN");
    }
    if (!IsLimit(activation_.kind)) {
      return NotSupported("quantized, it has no activation but RELU and RELUX");
    }
    kernels_ = eltwise::QuantizedKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &a = *context->input(kEltwiseAInput);
    const Tensor &b = *context->input(kEltwiseBInput);
    const Tensor &output = *context->output(0);
    for (size_t i : {kEltwiseAInput, kEltwiseBInput}) {
      const bool same = context->input(i)->elements() == output.elements();
      if (same) context->AllowInPlace(0, i);
    }
    context->Keep(std::make_unique<QuantizedEltwisePlan>(
        PlanBroadcast(a.shape, b.shape, output.shape),
        ParamsFor(a, b, output)));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<QuantizedEltwisePlan>();
    const uint8_t *a = context->input(kEltwiseAInput)->As<uint8_t>();
    const uint8_t *b = context->input(kEltwiseBInput)->As<uint8_t>();
    Tensor *output = context->output(0);
    auto *y = output->MutableAs<uint8_t>();
    ForBroadcastRows(
        plan.loops(), output->elements(), context->thread_pool(),
        [&](const eltwise::Rows &rows, const BroadcastOffsets &at) {
          kernels_->run(plan.params(), rows, a + at.a, b + at.b, y + at.output);
        });
    return MaceStatus();
  }

 private:
  eltwise::QuantizedParams ParamsFor(const Tensor &a,
                                     const Tensor &b,
                                     const Tensor &output) const {
    const QuantizedSide from_a = KernelSide(a);
    const QuantizedSide from_b = KernelSide(b);
    const QuantizedSide to = KernelSide(output);
    const float output_scale = ScaleOf(output);
    eltwise::QuantizedParams p;
    p.a_mask = from_a.mask();
    p.b_mask = from_b.mask();
    p.y_mask = to.mask();
    p.a_zero = from_a.zero;
    p.b_zero = from_b.zero;
    p.zero = to.zero;
    const QuantizedLimits limits = LimitsOf(to, activation_, output_scale);
    p.low = limits.low;
    p.high = limits.high;
    p.mode = quantized_mode_;
    if (mode_ == EltwiseMode::MUL) {
      p.scale = ScaleOf(a) * ScaleOf(b) / output_scale;
      return p;
    }
    const float a_factor = ScaleOf(a) / output_scale;
    const float b_factor = ScaleOf(b) / output_scale;
    p.shift = ShiftFor(std::max(a_factor, b_factor));
    const double unit = int64_t{1} << p.shift;
    p.a_factor = Factor(a_factor * unit);
    p.b_factor = Factor(b_factor * unit);
    if (mode_ == EltwiseMode::SUB) p.b_factor = -p.b_factor;
    return p;
  }

  EltwiseMode mode_ = EltwiseMode::ADD;
  eltwise::QuantizedMode quantized_mode_ = eltwise::QuantizedMode::kSum;
  activation::Params activation_;
  const eltwise::QuantizedKernels *kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Eltwise, CPU, QuantizedEltwiseOp);

}  // namespace
}  // namespace mace

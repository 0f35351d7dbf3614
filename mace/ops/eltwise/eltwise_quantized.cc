// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <memory>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/eltwise/int16_eltwise.h"
#include "mace/kernels/cpu/eltwise/quantized_eltwise.h"
#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/broadcast.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/eltwise/eltwise.h"

namespace mace {
namespace {

// With 16 bits: 2 * 65535 * 2^kInt16FactorBits < 2^53.
constexpr int kInt16FactorBits = 31;

// `Params`: those of 8 or of 16 bits.
template <typename Params>
class QuantizedEltwisePlan final : public OpPlan {
 public:
  QuantizedEltwisePlan(const BroadcastPlan &loops, const Params &params)
      : loops_(loops), params_(params) {}

  const BroadcastPlan &loops() const { return loops_; }
  const Params &params() const { return params_; }

 private:
  const BroadcastPlan loops_;
  const Params params_;
};

float ScaleOf(const Tensor &tensor) { return tensor.quantization->scales[0]; }

class QuantizedEltwiseOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<EltwiseAttributes>();
    mode_ = attributes.mode;
    activation_ = ActivationParams(attributes);
    if (!FindQuantizedMode(mode_, &quantized_mode_)) {
      return NotSupported(
          "quantized, it has no mode but ADD, SUB, MUL, MAX and MIN");
    }
    if (!IsLimit(activation_.kind)) {
      return NotSupported("quantized, it has no activation but RELU and RELUX");
    }
    kernels_ = eltwise::QuantizedKernelsFor(isa());
    int16_kernels_ = eltwise::Int16KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &a = *context->input(kEltwiseAInput);
    const Tensor &b = *context->input(kEltwiseBInput);
    const Tensor &output = *context->output(0);
    MACE_RETURN_IF_ERROR(CheckWidths({&a, &b, &output}));
    for (size_t i : {kEltwiseAInput, kEltwiseBInput}) {
      const bool same = context->input(i)->elements() == output.elements();
      if (same) context->AllowInPlace(0, i);
    }
    const BroadcastPlan loops = PlanBroadcast(a.shape, b.shape, output.shape);
    if (IsInt16(output)) {
      Keep(context, loops, Int16ParamsFor(a, b, output));
    } else {
      Keep(context, loops, ParamsFor(a, b, output));
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    if (IsInt16(*context->output(0))) {
      RunAs<int16_t, eltwise::Int16Params>(*int16_kernels_, context);
    } else {
      RunAs<uint8_t, eltwise::QuantizedParams>(*kernels_, context);
    }
    return MaceStatus();
  }

 private:
  template <typename Params>
  static void Keep(PlanContext *context,
                   const BroadcastPlan &loops,
                   const Params &params) {
    context->Keep(
        std::make_unique<QuantizedEltwisePlan<Params>>(loops, params));
  }

  template <typename T, typename Params, typename Kernels>
  static void RunAs(const Kernels &kernels, RunContext *context) {
    const auto &plan = context->PlanAs<QuantizedEltwisePlan<Params>>();
    const T *a = context->input(kEltwiseAInput)->As<T>();
    const T *b = context->input(kEltwiseBInput)->As<T>();
    Tensor *output = context->output(0);
    auto *y = output->MutableAs<T>();
    ForBroadcastRows(
        plan.loops(), output->elements(), context->thread_pool(),
        [&](const eltwise::Rows &rows, const BroadcastOffsets &at) {
          kernels.run(plan.params(), rows, a + at.a, b + at.b, y + at.output);
        });
  }

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
    const SumFactors factors =
        SumFactorsOf(ScaleOf(a), ScaleOf(b), output_scale);
    p.shift = factors.shift;
    p.a_factor = factors.a;
    p.b_factor = factors.b;
    if (mode_ == EltwiseMode::SUB) p.b_factor = -p.b_factor;
    return p;
  }

  eltwise::Int16Params Int16ParamsFor(const Tensor &a,
                                      const Tensor &b,
                                      const Tensor &output) const {
    const QuantizedSide to = KernelSide(output);
    eltwise::Int16Params p;
    p.a_zero = KernelSide(a).zero;
    p.b_zero = KernelSide(b).zero;
    p.zero = to.zero;
    const QuantizedLimits limits = LimitsOf(to, activation_, ScaleOf(output));
    p.low = limits.low;
    p.high = limits.high;
    p.mode = quantized_mode_;
    const double a_scale = ScaleOf(a);
    const double b_scale = ScaleOf(b);
    const double output_scale = ScaleOf(output);
    if (mode_ == EltwiseMode::MUL) {
      p.scale = a_scale * b_scale / output_scale;
      return p;
    }
    const double a_factor = a_scale / output_scale;
    const double b_factor = b_scale / output_scale;
    // A power of two. Android 5 is not known to have frexp and ldexp.
    double unit = int64_t{1} << kInt16FactorBits;
    double larger = std::max(a_factor, b_factor);
    while (larger >= 1) {
      larger /= 2;
      unit /= 2;
    }
    while (larger < 0.5 && larger > 0) {
      larger *= 2;
      unit *= 2;
    }
    p.a_factor = RoundToEven(a_factor * unit);
    p.b_factor = RoundToEven(b_factor * unit);
    if (mode_ == EltwiseMode::SUB) p.b_factor = -p.b_factor;
    p.scale = 1 / unit;
    return p;
  }

  EltwiseMode mode_ = EltwiseMode::ADD;
  eltwise::QuantizedMode quantized_mode_ = eltwise::QuantizedMode::kSum;
  activation::Params activation_;
  const eltwise::QuantizedKernels *kernels_ = nullptr;
  const eltwise::Int16Kernels *int16_kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Eltwise, CPU, QuantizedEltwiseOp);

}  // namespace
}  // namespace mace

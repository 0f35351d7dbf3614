// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/quantize/quantize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantization.h"
#include "mace/ops/quantize/dequantize_schema.h"

namespace mace {
namespace {

class DequantizeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<DequantizeAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->RequestScratch(QuantizationOf(*context).ScratchBytes());
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const quantize::Kernels &kernels = *quantize::KernelsFor(isa());
    switch (context->input(kDequantizeInputInput)->data_type) {
      case DataType::kUint8:
        RunAs(kernels.from_u8, context);
        break;
      case DataType::kInt8:
        RunAs(kernels.from_i8, context);
        break;
      case DataType::kInt16:
        RunAs(kernels.from_i16, context);
        break;
      default:  // the schema allows no other type
        RunAs(kernels.from_i32, context);
        break;
    }
    return MaceStatus();
  }

 private:
  // `Context` is PlanContext or RunContext.
  template <typename Context>
  QuantizationLoop QuantizationOf(const Context &context) const {
    return {context.input(kDequantizeInputInput)->shape,
            context.input(kDequantizeScaleInput)->shape, attributes_.axis};
  }

  template <typename From>
  void RunAs(const quantize::Functions<From, float> &functions,
             RunContext *context) const {
    const Tensor &input = *context->input(kDequantizeInputInput);
    QuantizationOf(*context).Run(
        functions, input.As<From>(), context->output(0)->MutableAs<float>(),
        context->input(kDequantizeScaleInput)->As<float>(),
        context->input(kDequantizeZeroPointInput), input.shift,
        context->scratch(), context->thread_pool());
  }

  DequantizeAttributes attributes_;
};

MACE_REGISTER_OP(Dequantize, CPU, DequantizeOp);

}  // namespace
}  // namespace mace

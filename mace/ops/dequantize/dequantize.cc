// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/quantize/quantize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantization.h"
#include "mace/ops/dequantize/dequantize_schema.h"

namespace mace {
namespace {

class DequantizeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus Reshape(ReshapeContext *context) override {
    const Tensor &input = *context->input(kDequantizeInputInput);
    const Tensor &scale = *context->input(kDequantizeScaleInput);
    const std::string problem = QuantizationProblem(
        input.shape, scale, context->input(kDequantizeZeroPointInput),
        input.data_type, attributes_.axis);
    if (!problem.empty()) return Invalid(problem);
    MACE_RETURN_IF_ERROR(
        SetOutput(context, 0, input.shape, DataType::kFloat32));
    quantization_.Reshape(input.shape, scale.shape, attributes_.axis);
    context->RequestScratch(quantization_.ScratchBytes());
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) override {
    const quantize::Kernels &kernels = *quantize::KernelsFor(isa());
    switch (context->input(kDequantizeInputInput)->data_type) {
      case DataType::kUint8:
        RunAs(kernels.from_u8, context);
        break;
      case DataType::kInt8:
        RunAs(kernels.from_i8, context);
        break;
      default:  // the schema has no other type
        RunAs(kernels.from_i32, context);
        break;
    }
    return MaceStatus();
  }

 private:
  template <typename From>
  void RunAs(const quantize::Functions<From, float> &functions,
             RunContext *context) const {
    quantization_.Run(functions,
                      context->input(kDequantizeInputInput)->As<From>(),
                      context->output(0)->MutableAs<float>(),
                      context->input(kDequantizeScaleInput)->As<float>(),
                      context->input(kDequantizeZeroPointInput),
                      context->scratch(), context->thread_pool());
  }

  DequantizeAttributes attributes_;
  Quantization quantization_;
};

MACE_REGISTER_OP(Dequantize, CPU, DequantizeOp);

}  // namespace
}  // namespace mace

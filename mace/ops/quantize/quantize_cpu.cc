// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/quantize/quantize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantization.h"
#include "mace/ops/quantize/quantize_schema.h"

namespace mace {
namespace {

class QuantizeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<QuantizeAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->RequestScratch(QuantizationOf(*context).ScratchBytes());
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const quantize::Kernels &kernels = *quantize::KernelsFor(isa());
    const QuantizationLoop quantization = QuantizationOf(*context);
    const float *x = context->input(kQuantizeInputInput)->As<float>();
    const float *scales = context->input(kQuantizeScaleInput)->As<float>();
    Tensor *output = context->output(0);
    const auto run = [&](const auto &functions, auto *y) {
      quantization.Run(functions, x, y, scales,
                       context->input(kQuantizeZeroPointInput), output->shift,
                       context->scratch(), context->thread_pool());
    };
    switch (output->data_type) {
      case DataType::kUint8:
        run(kernels.to_u8, output->MutableAs<uint8_t>());
        break;
      case DataType::kInt8:
        run(kernels.to_i8, output->MutableAs<int8_t>());
        break;
      default:  // the schema allows no other type
        run(kernels.to_i16, output->MutableAs<int16_t>());
        break;
    }
    return MaceStatus();
  }

 private:
  // `Context` is PlanContext or RunContext.
  template <typename Context>
  QuantizationLoop QuantizationOf(const Context &context) const {
    return {context.input(kQuantizeInputInput)->shape,
            context.input(kQuantizeScaleInput)->shape, attributes_.axis};
  }

  QuantizeAttributes attributes_;
};

MACE_REGISTER_OP(Quantize, CPU, QuantizeOp);

}  // namespace
}  // namespace mace

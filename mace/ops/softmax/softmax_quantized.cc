// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/softmax/quantized_softmax.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {
namespace {

// An element takes about as long as 4 simple ones.
constexpr int64_t kCost = 4;

class QuantizedSoftmaxPlan final : public OpPlan {
 public:
  QuantizedSoftmaxPlan(const Tensor &input, const Tensor &output) {
    FindSoftmaxExponentials(input.quantization->scales[0], exponentials_);
    const QuantizedSide to = KernelSide(output);
    params_.exponentials = exponentials_;
    params_.scale = output.quantization->scales[0];
    params_.x_mask = input.data_type == DataType::kInt8 ? 0x80 : 0;
    params_.y_mask = to.mask();
    params_.zero = to.zero;
    params_.low = to.least;
    params_.high = to.most;
  }

  const softmax::QuantizedParams &params() const { return params_; }

 private:
  int32_t exponentials_[kSoftmaxEntries];
  softmax::QuantizedParams params_;
};

class QuantizedSoftmaxOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<SoftmaxAttributes>();
    if (attributes_.log) {
      return NotSupported("quantized, it has no logarithm");
    }
    kernels_ = softmax::QuantizedKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kSoftmaxInputInput);
    const auto axis =
        static_cast<size_t>(input.shape.NormalizeAxis(attributes_.axis));
    if (axis + 1 != input.shape.rank()) {
      return NotSupported("quantized, its axis is the innermost one, not ",
                          attributes_.axis, " of an input of shape ",
                          input.shape.ToString());
    }
    context->AllowInPlace(0, kSoftmaxInputInput);
    context->Keep(
        std::make_unique<QuantizedSoftmaxPlan>(input, *context->output(0)));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kSoftmaxInputInput);
    if (input->elements() == 0) return MaceStatus();
    const auto &plan = context->PlanAs<QuantizedSoftmaxPlan>();
    const uint8_t *x = input->As<uint8_t>();
    auto *y = context->output(0)->MutableAs<uint8_t>();
    const int64_t n = input->row_length();
    context->thread_pool()->ParallelFor(
        input->elements() / n, RowGrain(n * kCost),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          kernels_->rows(plan.params(), x + begin * n, y + begin * n,
                         static_cast<size_t>(end - begin),
                         static_cast<size_t>(n));
        });
    return MaceStatus();
  }

 private:
  SoftmaxAttributes attributes_;
  const softmax::QuantizedKernels *kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Softmax, CPU, QuantizedSoftmaxOp);

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "mace/kernels/cpu/trig/trig.h"
#include "mace/ops/activation/trigonometric_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace {

// The modes are declared in the order of the kernels' functions.
static_assert(static_cast<int>(TrigonometricMode::ATANH) ==
              static_cast<int>(trig::Function::kAtanh));

// An element takes about 20 times as long as a sum.
constexpr int64_t kGrain = kElementGrain / 8;

class TrigonometricOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<TrigonometricAttributes>();
    function_ = static_cast<trig::Function>(attributes.mode);
    kernels_ = trig::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, kTrigonometricInputInput);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kTrigonometricInputInput);
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    context->thread_pool()->ParallelFor(
        input->elements(), kGrain,
        [=](int64_t begin, int64_t end, int /*thread*/) {
          kernels_->run(function_, x + begin, y + begin,
                        static_cast<size_t>(end - begin));
        });
    return MaceStatus();
  }

 private:
  trig::Function function_ = trig::Function::kAsin;
  const trig::Kernels *kernels_ = nullptr;
};

MACE_REGISTER_OP(Trigonometric, CPU, TrigonometricOp);

}  // namespace
}  // namespace mace

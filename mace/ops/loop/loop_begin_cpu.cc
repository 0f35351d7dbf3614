// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/loop/loop_begin_schema.h"

namespace mace {
namespace {

class LoopBeginOp final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    for (size_t i = 0; i + kLoopBeginInitialInput < context->input_count();
         ++i) {
      context->AllowInPlace(kLoopBeginStateOutput + i,
                            kLoopBeginInitialInput + i);
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *go = context->input(kLoopBeginGoInput);
    const Tensor *trips = context->input(kLoopBeginTripsInput);
    *context->output(kLoopBeginEntersOutput)->MutableAs<bool>() =
        (go == nullptr || *go->As<uint8_t>() != 0) &&
        (trips == nullptr || *trips->As<int32_t>() > 0);
    *context->output(kLoopBeginStepOutput)->MutableAs<int32_t>() = 0;
    for (size_t i = kLoopBeginInitialInput; i < context->input_count(); ++i) {
      const Tensor *from = context->input(i);
      Tensor *to =
          context->output(i - kLoopBeginInitialInput + kLoopBeginStateOutput);
      if (to == nullptr || to->data == from->data || to->elements() == 0) {
        continue;
      }
      std::memcpy(to->data, from->data, static_cast<size_t>(to->bytes()));
    }
    return MaceStatus();
  }
};

MACE_REGISTER_OP(LoopBegin, CPU, LoopBeginOp);

}  // namespace
}  // namespace mace

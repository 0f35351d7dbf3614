// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/loop/loop_end_schema.h"

namespace mace {
namespace {

// The end of one round. What runs the loop hands the results on to the states
// if there is another one.
class LoopEndOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    states_ =
        static_cast<size_t>(context->AttributesAs<LoopEndAttributes>().states);
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    for (size_t i = 0; i < states_; ++i) {
      context->AllowInPlace(kLoopEndResultOutput + i, NextInput(i));
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const bool enters =
        *context->input(kLoopEndEntersInput)->As<uint8_t>() != 0;
    const int32_t step = *context->input(kLoopEndStepInput)->As<int32_t>();
    const Tensor *again = context->input(kLoopEndAgainInput);
    const Tensor *trips = context->input(kLoopEndTripsInput);
    *context->output(kLoopEndMoreOutput)->MutableAs<bool>() =
        enters && (again == nullptr || *again->As<uint8_t>() != 0) &&
        step < INT32_MAX &&
        (trips == nullptr || step + 1 < *trips->As<int32_t>());
    for (size_t i = 0; i < states_; ++i) {
      const Tensor *from =
          context->input(enters ? NextInput(i) : kLoopEndValuesInput + i);
      Tensor *to = context->output(kLoopEndResultOutput + i);
      if (to == nullptr || to->data == from->data) continue;
      Copy(*from, to->data);
    }
    for (size_t i = kLoopEndResultOutput + states_; i < context->output_count();
         ++i) {
      const Tensor *value = context->input(NextInput(i - kLoopEndResultOutput));
      Tensor *all = context->output(i);
      if (all == nullptr || all->elements() == 0) continue;
      if (!enters || step == 0) {
        std::memset(all->data, 0, static_cast<size_t>(all->bytes()));
      }
      if (!enters || step < 0 || step >= all->shape[0]) continue;
      Copy(*value, all->MutableAs<char>() + step * value->bytes());
    }
    return MaceStatus();
  }

 private:
  // Of the next value of a state; of scanned value i for states_ + i.
  size_t NextInput(size_t state) const {
    return kLoopEndValuesInput + states_ + state;
  }
  static void Copy(const Tensor &from, void *to) {
    if (from.elements() == 0) return;
    std::memcpy(to, from.data, static_cast<size_t>(from.bytes()));
  }

  size_t states_ = 0;
};

MACE_REGISTER_OP(LoopEnd, CPU, LoopEndOp);

}  // namespace
}  // namespace mace

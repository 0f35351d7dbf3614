// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>

#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/recurrent_layer.h"
#include "mace/ops/recurrent/recurrent_schema.h"

namespace mace {
namespace {

// Of floats, and weights of any type that products of floats read.
class FloatProduct final : public RecurrentProduct {
 public:
  void SetWeights(size_t direction,
                  const gemm::Arithmetic *arithmetic,
                  gemm::WeightType type) {
    arithmetic_[direction] = arithmetic;
    types_[direction] = type;
  }

  size_t ScratchBytes(const RecurrentSizes & /*sizes*/) const override {
    return gemm::kScratchFloats * sizeof(float);
  }
  void Begin(const RecurrentStates & /*states*/) const override {}
  void Multiply(const RecurrentStates &states,
                size_t begin,
                size_t end) const override {
    const RecurrentSizes &s = *states.sizes;
    const gemm::Arithmetic &arithmetic = *arithmetic_[states.direction];
    const gemm::WeightType type = types_[states.direction];
    const auto depth = static_cast<size_t>(
        type == gemm::WeightType::kBf16Pairs ? EvenUnits(s) : s.units);
    const auto columns = static_cast<size_t>(s.gates * s.units);
    if (s.batch == 1 && arithmetic.run_vector != nullptr) {
      gemm::Vector v;
      v.x = static_cast<const float *>(states.rows[0]);
      v.depth = depth;
      v.w = states.weights;
      v.w_type = type;
      v.columns = columns;
      v.panel_begin = begin;
      v.panel_end = end;
      v.y = states.products;
      arithmetic.run_vector(v);
      return;
    }
    gemm::Block block;
    block.a = states.rows;
    block.rows = static_cast<size_t>(states.count);
    block.depth = depth;
    block.w = states.weights;
    block.w_type = type;
    block.widen = arithmetic.widen;
    block.columns = columns;
    block.panel_begin = begin;
    block.panel_end = end;
    block.c = states.products;
    block.c_stride = block.columns;
    block.scratch = static_cast<float *>(states.scratch);
    arithmetic.run(block);
  }

 private:
  // For each direction.
  const gemm::Arithmetic *arithmetic_[2] = {};
  gemm::WeightType types_[2] = {};
};

constexpr RecurrentPorts kPorts = {
    kRecurrentInputInput,          kRecurrentWeightsInput,
    kRecurrentReverseWeightsInput, kRecurrentParamsInput,
    kRecurrentInitialHiddenInput,  kRecurrentInitialMemoryInput,
    kRecurrentLengthsInput,
};

class RecurrentOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    layer_.Init(context->AttributesAs<RecurrentAttributes>(), isa());
    for (const size_t port :
         {kRecurrentWeightsInput, kRecurrentReverseWeightsInput}) {
      if (!context->has_input(port)) continue;
      MACE_ASSIGN_OR_RETURN(const gemm::Arithmetic *arithmetic,
                            ChooseFloatArithmetic(*context, port, isa()));
      product_.SetWeights(port - kRecurrentWeightsInput, arithmetic,
                          PackedWeightType(*context->constant(port)));
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &weights = context->input(kPorts.weights)->shape;
    PlanRecurrent(layer_, product_, kPorts, weights[1], weights[0] / weights[1],
                  context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const std::string problem = RunRecurrent(kPorts, context);
    return problem.empty() ? MaceStatus() : Invalid(problem);
  }

 private:
  RecurrentLayer layer_;
  FloatProduct product_;
};

MACE_REGISTER_OP(Recurrent, CPU, RecurrentOp);

}  // namespace
}  // namespace mace

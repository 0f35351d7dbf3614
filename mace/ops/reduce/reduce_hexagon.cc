// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/reduce/reduce.h"

namespace mace {
namespace {

class HexagonReduceOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ReduceAttributes>();
    if (attributes.mode != ReduceMode::MEAN &&
        attributes.mode != ReduceMode::SUM &&
        attributes.mode != ReduceMode::MAX) {
      return Unsupported("it has no mode but MEAN, SUM and MAX");
    }
    const Shape &shape = context->input(kReduceInputInput)->shape;
    bool folds[Shape::kMaxRank];
    MACE_RETURN_IF_ERROR(FindFolds(attributes, shape, folds));
    hexagon::ReduceAxesParameters reduce = {};
    int64_t elements = 1;
    for (size_t i = 0; i < shape.rank(); ++i) {
      // Axes of length 1 are reduced or not.
      if (!folds[i] || shape[i] == 1) continue;
      elements *= shape[i];
      const size_t from_last = shape.rank() - 1 - i;
      uint32_t *const flags[] = {&reduce.fold_channels, &reduce.fold_width,
                                 &reduce.fold_height};
      if (from_last > 2) {
        return Unsupported("it reduces the last three axes alone, not axis ", i,
                           " of an input of shape ", shape.ToString());
      }
      *flags[from_last] = 1;
    }
    if (elements > hexagon::kMostPooled) {
      return Unsupported("it reduces at most ", hexagon::kMostPooled,
                         " elements to one, not ", elements);
    }
    if (elements == 0) return Unsupported("its input has no elements");
    const bool largest = attributes.mode == ReduceMode::MAX;
    reduce.largest = largest ? 1 : 0;
    reduce.multiplier = context->InputNumbers(kReduceInputInput).scale /
                        context->OutputNumbers().scale;
    if (attributes.mode == ReduceMode::MEAN) {
      reduce.multiplier /= static_cast<float>(elements);
    }
    MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(reduce.multiplier));
    // What is not reduced are whole pixels of the output.
    const int64_t channels = context->OutputDims().channels;
    if (reduce.fold_channels == 0 &&
        channels != context->InputDims(kReduceInputInput).channels) {
      return Unsupported("its last axis is not the output's");
    }
    reduce.input = context->Input(kReduceInputInput);
    reduce.output = context->Output(0);
    context->Add(reduce);
    return largest ? AddRescaling(context) : MaceStatus();
  }
};

MACE_REGISTER_QUANTIZED_OP(Reduce, HEXAGON, HexagonReduceOp);

}  // namespace
}  // namespace mace

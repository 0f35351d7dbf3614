// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Operators that only move elements.

#ifndef MACE_OPS_OPENCL_OP_MOVE_H_
#define MACE_OPS_OPENCL_OP_MOVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// An output whose elements come from other positions of an input. The axes,
// outermost first, divide the output's elements in row-major order: they may
// be the axes of its shape, or others with the same number of elements. Steps
// and offset count elements of the input; steps may be negative.
struct Move {
  static constexpr size_t kMaxRank = 8;

  size_t input = 0;   // port
  size_t output = 0;  // port
  int64_t offset = 0;
  size_t rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t steps[kMaxRank] = {};

  void Append(int64_t size, int64_t step) {
    sizes[rank] = size;
    steps[rank] = step;
    ++rank;
  }
};

// Adds one launch. It moves blocks of four channels where these stay together.
void AddMove(const Move &move, OpenclPlanContext *context);

// Defines INTEGERS of values.clh where the tensors of the operator, of which
// this is one, are int32.
void DefineValues(const Tensor &tensor, Launch *launch);

// The outputs' elements are those of the input in the same order: no launch if
// they can be the same memory.
class SameElementsOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override;
  bool TakesIntegers() const override { return true; }
};

// Joins all inputs, each [outer, its length, inner], along the axis of the
// output: [outer, axis, inner]. `inner` is the number of elements.
// `lengths[i]` is that of input i.
void AddJoin(const std::vector<int64_t> &lengths,
             int64_t inner,
             OpenclPlanContext *context);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_MOVE_H_

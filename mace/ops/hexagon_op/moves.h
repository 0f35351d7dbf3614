// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elements that are moved on the DSP, by loops over axes of two shapes.

#ifndef MACE_OPS_HEXAGON_OP_MOVES_H_
#define MACE_OPS_HEXAGON_OP_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/ops/hexagon_op/hexagon_op.h"

namespace mace {

// Along an axis of a shape.
struct HexagonStep {
  size_t axis = 0;
  int64_t steps = 1;
};

class HexagonMove {
 public:
  HexagonMove(const Shape &in, const Shape &out) : in_(in), out_(out) {}

  // Moves where the loops begin.
  void Skip(const HexagonStep &in, const HexagonStep &out);
  // Loops are nested in any order.
  void Loop(int64_t count, const HexagonStep &in, const HexagonStep &out);
  // Over an axis of both.
  void Loop(int64_t count, size_t in_axis, size_t out_axis) {
    Loop(count, {in_axis, 1}, {out_axis, 1});
  }
  // Adds the instruction, of tensors with these shapes; none if a loop has
  // nothing to do. UNSUPPORTED if there are too many loops.
  MaceStatus Add(uint32_t input,
                 uint32_t output,
                 HexagonPlanContext *context) const;

 private:
  // In dimensions as the DSP sees them.
  struct Place {
    hexagon::Dimension dimension;
    int64_t steps;
  };
  static Place PlaceOf(const Shape &shape, const HexagonStep &step);
  struct Nested {
    int64_t count;
    Place in;
    Place out;
  };

  const Shape &in_;
  const Shape &out_;
  int64_t in_start_[hexagon::kDimensions] = {};
  int64_t out_start_[hexagon::kDimensions] = {};
  std::vector<Nested> loops_;
};

// All elements in their order: Reshape and others that change shapes alone.
class HexagonSameElementsOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override;
  bool TakesWords() const override { return true; }
};

}  // namespace mace

#endif  // MACE_OPS_HEXAGON_OP_MOVES_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/hexagon_op/moves.h"

#include <iterator>

namespace mace {
namespace {

using hexagon::Dimension;
using hexagon::kDimensions;
using hexagon::kMoveLoops;

// Of counts, steps and positions.
constexpr int64_t kMost = int64_t{1} << 30;

}  // namespace

HexagonMove::Place HexagonMove::PlaceOf(const Shape &shape,
                                        const HexagonStep &step) {
  const size_t from_last = shape.rank() - 1 - step.axis;
  if (from_last == 0) return {Dimension::kChannels, step.steps};
  if (from_last == 1) return {Dimension::kWidth, step.steps};
  if (from_last == 2) return {Dimension::kHeight, step.steps};
  // All others are one.
  return {Dimension::kBatch,
          step.steps * shape.Elements(step.axis + 1, shape.rank() - 3)};
}

void HexagonMove::Skip(const HexagonStep &in, const HexagonStep &out) {
  if (in.steps != 0) {
    const Place place = PlaceOf(in_, in);
    in_start_[static_cast<size_t>(place.dimension)] += place.steps;
  }
  if (out.steps != 0) {
    const Place place = PlaceOf(out_, out);
    out_start_[static_cast<size_t>(place.dimension)] += place.steps;
  }
}

void HexagonMove::Loop(int64_t count,
                       const HexagonStep &in,
                       const HexagonStep &out) {
  if (count == 1) return;
  loops_.push_back({count, PlaceOf(in_, in), PlaceOf(out_, out)});
}

MaceStatus HexagonMove::Add(uint32_t input,
                            uint32_t output,
                            HexagonPlanContext *context) const {
  const auto is_unit = [](const Place &place) {
    return place.dimension == Dimension::kChannels && place.steps == 1;
  };
  // Neighbouring channels of both are one run; else, those of each side are the
  // two inner loops, which transpose a matrix of bytes.
  const auto rank_of = [&](const Nested &loop) {
    return (is_unit(loop.out) ? 2 : 0) + (is_unit(loop.in) ? 1 : 0);
  };
  std::vector<Nested> loops;
  for (int rank = 0; rank < 4; ++rank) {
    for (const Nested &loop : loops_) {
      if (rank_of(loop) == rank) loops.push_back(loop);
    }
  }
  if (loops.size() > kMoveLoops) {
    return Unsupported("it moves elements along ", loops.size(),
                       " axes; it takes at most ", kMoveLoops);
  }
  hexagon::MoveParameters move = {};
  move.input = input;
  move.output = output;
  for (size_t d = 0; d < kDimensions; ++d) {
    move.in_start[d] = static_cast<int32_t>(in_start_[d]);
    move.out_start[d] = static_cast<int32_t>(out_start_[d]);
  }
  for (hexagon::MoveLoop &loop : move.loops) loop.count = 1;
  hexagon::MoveLoop *next = std::end(move.loops) - loops.size();
  for (const Nested &loop : loops) {
    if (loop.count == 0) return MaceStatus();
    if (loop.count > kMost || loop.in.steps > kMost || loop.in.steps < -kMost ||
        loop.out.steps > kMost || loop.out.steps < -kMost) {
      return Unsupported("it takes at most ", kMost, " elements along an axis");
    }
    next->count = static_cast<int32_t>(loop.count);
    next->in_dimension = static_cast<uint32_t>(loop.in.dimension);
    next->in_step = static_cast<int32_t>(loop.in.steps);
    next->out_dimension = static_cast<uint32_t>(loop.out.dimension);
    next->out_step = static_cast<int32_t>(loop.out.steps);
    ++next;
  }
  context->Add(move);
  return MaceStatus();
}

MaceStatus HexagonSameElementsOp::Plan(HexagonPlanContext *context) const {
  hexagon::ReshapeParameters reshape = {};
  reshape.input = context->Input(0);
  reshape.output = context->Output(0);
  context->Add(reshape);
  return MaceStatus();
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_broadcast.h"

#include <array>

namespace mace {
namespace {

// Of the output's axes: those before H are one, as in GpuDims.
enum Coordinate : size_t { kN, kH, kX, kChannel };

Coordinate CoordinateOf(size_t axis, size_t rank) {
  const size_t back = rank - 1 - axis;
  if (back == 0) return kChannel;
  if (rank == 2) return kN;
  if (back == 1) return kX;
  return rank >= 4 && back == 2 ? kH : kN;
}

}  // namespace

GpuBroadcast::GpuBroadcast(const Shape &output,
                           const std::vector<const Tensor *> &operands)
    : output_(output), operands_(operands.size()) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!FindSteps(operands[i]->shape, &operands_[i])) by_element_ = true;
  }
  if (!by_element_) return;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands_[i] = StridesOf(operands[i]->shape);
  }
}

// Finds the rows and columns of the operand per step along (n, h, x). Returns
// false if it repeats some of the axes that n joins and has others.
bool GpuBroadcast::FindSteps(const Shape &shape, Operand *operand) const {
  *operand = {};
  const size_t missing = output_.rank() - shape.rank();
  bool repeats_n = false;
  bool has_n = false;
  for (size_t axis = 0; axis < output_.rank(); ++axis) {
    if (output_[axis] == 1) continue;
    const Coordinate coordinate = CoordinateOf(axis, output_.rank());
    const bool repeats = axis < missing || shape[axis - missing] == 1;
    if (coordinate == kN) (repeats ? repeats_n : has_n) = true;
    if (coordinate == kChannel) operand->values[4] = repeats ? 1 : 0;
    if (repeats || coordinate == kChannel) continue;
    const size_t own = axis - missing;
    if (CoordinateOf(own, shape.rank()) == kX) {
      operand->values[3] = 1;  // the output's is kX, too
    } else {
      const size_t end = shape.rank() == 2 ? 1 : shape.rank() - 2;
      operand->values[coordinate] = shape.Elements(own + 1, end);
    }
  }
  return !(repeats_n && has_n);
}

GpuBroadcast::Operand GpuBroadcast::StridesOf(const Shape &shape) const {
  Operand operand = {};
  for (size_t back = 0; back < shape.rank(); ++back) {
    const size_t axis = shape.rank() - 1 - back;
    if (shape[axis] == 1) continue;
    operand.values[7 - back] = shape.Elements(axis + 1, shape.rank());
  }
  return operand;
}

void GpuBroadcast::AddOperand(Launch *launch,
                              const char *name,
                              size_t port) const {
  const int64_t *v = operands_[port].values;
  launch->Input(name, port)
      .Ints(v[0], v[1], v[2], v[3])
      .Ints(v[4], v[5], v[6], v[7]);
}

void GpuBroadcast::AddOutput(Launch *launch) const {
  std::array<int64_t, 8> dims;
  dims.fill(1);
  for (size_t back = 0; back < output_.rank(); ++back) {
    dims[7 - back] = output_[output_.rank() - 1 - back];
  }
  if (by_element_) launch->Define("BY_ELEMENT");
  launch->Output("output")
      .Ints(dims[0], dims[1], dims[2], dims[3])
      .Ints(dims[4], dims[5], dims[6], dims[7]);
}

}  // namespace mace

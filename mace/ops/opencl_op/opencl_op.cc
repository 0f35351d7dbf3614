// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/opencl_op.h"

#include <utility>

namespace mace {

GpuDims GpuDims::Of(const Shape &shape) {
  GpuDims dims;
  const size_t rank = shape.rank();
  if (rank >= 1) dims.c = shape[rank - 1];
  if (rank == 2) dims.n = shape[0];
  if (rank >= 3) dims.w = shape[rank - 2];
  if (rank == 3) dims.n = shape[0];
  if (rank >= 4) {
    dims.h = shape[rank - 3];
    dims.n = shape.Elements(0, rank - 3);
  }
  return dims;
}

LaunchArgument &Launch::Add(LaunchArgument::Kind kind, const char *name) {
  arguments_.emplace_back();
  arguments_.back().kind = kind;
  arguments_.back().name = name;
  return arguments_.back();
}

Launch &Launch::Define(const std::string &name, int64_t value) {
  return Define(name, std::to_string(value));
}

Launch &Launch::Define(const std::string &name, const std::string &value) {
  defines_ += " -D " + name + "=" + value;
  return *this;
}

Launch &Launch::Input(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kInput, name).index = port;
  return *this;
}

Launch &Launch::Output(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kOutput, name).index = port;
  return *this;
}

Launch &Launch::Scratch(const char *name, size_t index) {
  Add(LaunchArgument::Kind::kScratch, name).index = index;
  return *this;
}

Launch &Launch::Constant(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kConstant, name).index = port;
  return *this;
}

Launch &Launch::Int(int64_t value) {
  Add(LaunchArgument::Kind::kInt).ints[0] = static_cast<int32_t>(value);
  return *this;
}

Launch &Launch::Ints2(int64_t a, int64_t b) {
  Add(LaunchArgument::Kind::kInts2).ints = {static_cast<int32_t>(a),
                                            static_cast<int32_t>(b), 0, 0};
  return *this;
}

Launch &Launch::Ints(int64_t a, int64_t b, int64_t c, int64_t d) {
  Add(LaunchArgument::Kind::kInts4).ints = {
      static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c),
      static_cast<int32_t>(d)};
  return *this;
}

Launch &Launch::Float(float value) {
  Add(LaunchArgument::Kind::kFloat).floats[0] = value;
  return *this;
}

Launch &Launch::Floats(float a, float b, float c, float d) {
  Add(LaunchArgument::Kind::kFloats4).floats = {a, b, c, d};
  return *this;
}

Launch &Launch::Table(const char *name, std::vector<int32_t> values) {
  Add(LaunchArgument::Kind::kTable, name).table =
      std::make_shared<const std::vector<int32_t>>(std::move(values));
  return *this;
}

Launch &Launch::Local(size_t bytes) {
  Add(LaunchArgument::Kind::kLocal).bytes = bytes;
  return *this;
}

Launch &Launch::Activation(mace::Activation activation,
                           float limit,
                           float alpha,
                           float beta) {
  Define(std::string("ACT_") +
         kActivationNames[static_cast<size_t>(activation)]);
  return Floats(limit, alpha, beta, 0);
}

Launch &Launch::Items(int64_t x, int64_t y, int64_t z) {
  items_ = {x, y, z};
  return *this;
}

Launch &Launch::WorkGroup(int64_t x, int64_t y, int64_t z) {
  work_group_ = {x, y, z};
  return *this;
}

}  // namespace mace

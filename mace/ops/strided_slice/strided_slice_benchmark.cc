// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

const bool kStridedSliceRegistered = [] {
  const Shape shape = {1, 56, 56, 256};
  for (const int64_t stride : {1, 2}) {
    const std::string details = "HW_S" + std::to_string(stride);
    RegisterOp(OpName("STRIDEDSLICE", shape, details), [=](Random *random) {
      return OpCase("StridedSlice")
          .Input(random->Floats(shape))
          .Ints("axes", {1, 2})
          .Ints("begins", {1, 1})
          .Ints("ends", {55, 55})
          .Ints("strides", {stride, stride});
    });
  }
  return true;
}();

const bool kPadRegistered = [] {
  const Shape shape = {1, 56, 56, 64};
  for (const char *mode : {"CONSTANT", "REFLECT"}) {
    RegisterOp(OpName("PAD", shape, mode), [=](Random *random) {
      return OpCase("Pad")
          .Input(random->Floats(shape))
          .Ints("pads", {0, 0, 1, 1, 1, 1, 0, 0})
          .String("mode", mode);
    });
  }
  return true;
}();

// The rows of a detector's results.
const OpBenchmarks rows("TRIM",
                        "ROWS",
                        {{1000, 6}, {8400, 85}},
                        [](Random *random, const Shape &shape) {
                          return OpCase("Trim")
                              .Input(random->Floats(shape))
                              .Input(Value::Ints({1}, {100}))
                              .Int("axis", 0);
                        });

}  // namespace
}  // namespace mace

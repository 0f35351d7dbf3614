// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  // Classes of the pixels of an image, and of a whole image.
  for (const Shape &shape : {Shape{1, 257, 257, 21}, Shape{1, 1, 1, 1000}}) {
    for (const int64_t axis : {1, 3}) {
      RegisterOp(OpName("ARG_MAX", shape, "AXIS" + std::to_string(axis)),
                 [=](Random *random) {
                   return OpCase("ArgMax")
                       .Input(random->Floats(shape))
                       .Int("axis", axis);
                 });
    }
  }
  return true;
}();

}  // namespace
}  // namespace mace

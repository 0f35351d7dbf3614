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

}  // namespace
}  // namespace mace

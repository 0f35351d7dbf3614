// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  struct Case {
    Shape shape;
    const char *details;
    std::vector<int64_t> axes;
  };
  const Case cases[] = {{{1, 112, 112, 64}, "HW", {1, 2}},
                        {{1, 7, 7, 1024}, "HW", {1, 2}},
                        {{1, 112, 112, 64}, "C", {3}},
                        {{8, 56, 56, 32}, "NHW", {0, 1, 2}}};
  for (const Case &c : cases) {
    RegisterOp(OpName("REDUCE_MEAN", c.shape, c.details), [=](Random *random) {
      return OpCase("Reduce")
          .Input(random->Floats(c.shape))
          .String("mode", "MEAN")
          .Ints("axes", c.axes);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace

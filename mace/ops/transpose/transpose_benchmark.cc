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
    std::vector<int64_t> perm;
  };
  const Case cases[] = {{{1, 512, 512, 3}, "NHWC_TO_NCHW", {0, 3, 1, 2}},
                        {{1, 56, 56, 256}, "NHWC_TO_NCHW", {0, 3, 1, 2}},
                        {{1, 3, 512, 512}, "NCHW_TO_NHWC", {0, 2, 3, 1}},
                        {{12, 128, 64}, "0_2_1", {0, 2, 1}},
                        {{1, 128, 12, 64}, "0_2_1_3", {0, 2, 1, 3}}};
  for (const Case &c : cases) {
    RegisterOp(OpName("TRANSPOSE", c.shape, c.details), [=](Random *random) {
      return OpCase("Transpose")
          .Input(random->Floats(c.shape))
          .Ints("perm", c.perm);
    });
  }
  return true;
}();

}  // namespace
}  // namespace mace

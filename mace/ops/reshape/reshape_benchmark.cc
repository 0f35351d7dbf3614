// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

const bool kRegistered = [] {
  struct Case {
    Shape shape;
    const char *details;
    std::vector<int64_t> to;
  };
  const Case cases[] = {{{1, 7, 7, 512}, "FLAT", {1, -1}},
                        {{1, 128, 768}, "HEADS", {1, 128, 12, 64}}};
  for (const Case &c : cases) {
    RegisterOp(OpName("RESHAPE", c.shape, c.details), [=](Random *random) {
      return OpCase("Reshape")
          .Input(random->Floats(c.shape))
          .Ints("shape", c.to);
    });
  }
  return true;
}();

const OpBenchmarks squeeze("SQUEEZE",
                           "AXES_1_2",
                           {{1, 1, 1, 1024}},
                           [](Random *random, const Shape &shape) {
                             return OpCase("Squeeze")
                                 .Input(random->Floats(shape))
                                 .Ints("axes", {1, 2});
                           });

const OpBenchmarks expand_dims("EXPAND_DIMS",
                               "AXIS_2",
                               {{1, 128, 768}},
                               [](Random *random, const Shape &shape) {
                                 return OpCase("ExpandDims")
                                     .Input(random->Floats(shape))
                                     .Ints("axes", {2});
                               });

const OpBenchmarks identity(
    "IDENTITY", "", {{1, 56, 56, 256}}, [](Random *random, const Shape &shape) {
      return OpCase("Identity").Input(random->Floats(shape));
    });

}  // namespace
}  // namespace mace

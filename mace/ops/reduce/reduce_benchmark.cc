// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpName;
using benchmark::RegisterOp;
using op_test::OpCase;
using op_test::Random;

void Add(const std::string &mode,
         const Shape &shape,
         const char *details,
         const std::vector<int64_t> &axes) {
  RegisterOp(OpName("REDUCE_" + mode, shape, details), [=](Random *random) {
    return OpCase("Reduce")
        .Input(random->Floats(shape))
        .String("mode", mode)
        .Ints("axes", axes);
  });
}

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
    Add("MEAN", c.shape, c.details, c.axes);
    RegisterOp(
        OpName("REDUCE", c.shape, std::string("MEAN_") + c.details, "uint8"),
        [=](Random *random) {
          return OpCase("Reduce")
              .Input(random->Bytes(c.shape))
              .Quantized({{0.05f}, {128}, 0})
              .String("mode", "MEAN")
              .Ints("axes", c.axes)
              .QuantizedOutput(DataType::kUint8, 0.05f, 128);
        });
  }
  // The modes other than sums use other code, in both directions.
  for (const char *mode : {"SUM", "MAX", "MIN", "PROD", "SUM_SQUARE", "L2"}) {
    Add(mode, {1, 112, 112, 64}, "HW", {1, 2});
    Add(mode, {1, 112, 112, 64}, "C", {3});
  }
  return true;
}();

}  // namespace
}  // namespace mace

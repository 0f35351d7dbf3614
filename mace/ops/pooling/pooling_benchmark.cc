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

struct Pool {
  Shape shape;
  int64_t kernel;
  int64_t stride;
  const char *padding;
};

const bool kRegistered = [] {
  const Pool pools[] = {{{1, 112, 112, 64}, 3, 2, "SAME"},
                        {{1, 56, 56, 64}, 2, 2, "VALID"},
                        {{1, 28, 28, 256}, 3, 1, "SAME"},
                        {{1, 7, 7, 1024}, 7, 1, "VALID"},
                        {{1, 129, 129, 32}, 3, 2, "VALID"}};
  for (const Pool &pool : pools) {
    for (const char *mode : {"MAX", "AVG"}) {
      const std::string details = "K" + std::to_string(pool.kernel) + "S" +
                                  std::to_string(pool.stride) + "_" +
                                  pool.padding;
      const std::string name = std::string(mode) + "_POOL_2D";
      RegisterOp(OpName(name, pool.shape, details), [=](Random *random) {
        return OpCase("Pooling")
            .Input(random->Floats(pool.shape))
            .String("mode", mode)
            .Ints("kernels", {pool.kernel, pool.kernel})
            .Ints("strides", {pool.stride, pool.stride})
            .String("padding", pool.padding);
      });
    }
  }
  return true;
}();

OpCase CaseOf(Random *random, const Shape &shape, const char *mode) {
  return OpCase("VolumePooling")
      .Input(random->Floats(shape))
      .String("mode", mode)
      .Ints("kernels", {2, 2, 2})
      .Ints("strides", {2, 2, 2});
}

// A layer of a network for videos.
const OpBenchmarks largest("VOLUME_POOLING",
                           "MAX",
                           {{1, 32, 16, 56, 56}},
                           [](Random *random, const Shape &shape) {
                             return CaseOf(random, shape, "MAX");
                           });
const OpBenchmarks average("VOLUME_POOLING",
                           "AVG",
                           {{1, 32, 16, 56, 56}},
                           [](Random *random, const Shape &shape) {
                             return CaseOf(random, shape, "AVG");
                           });

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

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

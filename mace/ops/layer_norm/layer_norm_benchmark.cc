// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks benchmarks("LAYER_NORM",
                              "",
                              {{1, 1, 256}, {1, 48, 768}, {1, 3136, 32}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("LayerNorm")
                                    .Input(random->Floats(shape))
                                    .Constant(random->Floats({shape.back()}))
                                    .Constant(random->Floats({shape.back()}));
                              });

const OpBenchmarks rms_benchmarks("LAYER_NORM",
                                  "RMS",
                                  {{1, 48, 768}},
                                  [](Random *random, const Shape &shape) {
                                    return OpCase("LayerNorm")
                                        .Input(random->Floats(shape))
                                        .Constant(
                                            random->Floats({shape.back()}))
                                        .Int("subtract_mean", 0);
                                  });

}  // namespace
}  // namespace mace

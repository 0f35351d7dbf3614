// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

const OpBenchmarks batch_norm("BATCH_NORM",
                              "",
                              {{1, 112, 112, 64}, {1, 7, 7, 2048}},
                              [](Random *random, const Shape &shape) {
                                return OpCase("BatchNorm")
                                    .Input(random->Floats(shape))
                                    .Constant(random->Floats({shape.back()}))
                                    .Constant(random->Floats({shape.back()}));
                              });

const OpBenchmarks instance_norm("INSTANCE_NORM",
                                 "",
                                 {{1, 128, 128, 64}, {1, 7, 7, 2048}},
                                 [](Random *random, const Shape &shape) {
                                   return OpCase("InstanceNorm")
                                       .Input(random->Floats(shape))
                                       .Constant(random->Floats({shape.back()}))
                                       .Constant(
                                           random->Floats({shape.back()}));
                                 });

const OpBenchmarks layer_norm("LAYER_NORM",
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

const OpBenchmarks local_response_norm("LOCAL_RESPONSE_NORMALIZATION",
                                       "W5",
                                       {{1, 55, 55, 96}, {1, 27, 27, 256}},
                                       [](Random *random, const Shape &shape) {
                                         return OpCase("LocalResponseNorm")
                                             .Input(random->Floats(shape))
                                             .Int("before", 2)
                                             .Int("after", 2)
                                             .Float("alpha", 2e-5f)
                                             .Float("beta", 0.75f);
                                       });

}  // namespace
}  // namespace mace

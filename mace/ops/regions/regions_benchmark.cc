// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// 100 regions of a detector's features.
const OpBenchmarks roi_align_mean("ROI_ALIGN",
                                  "7",
                                  {{1, 50, 68, 256}},
                                  [](Random *random, const Shape &shape) {
                                    std::vector<float> regions;
                                    for (int i = 0; i < 100; ++i) {
                                      const float x = random->Float(0, 500);
                                      const float y = random->Float(0, 400);
                                      regions.insert(
                                          regions.end(),
                                          {x, y, x + random->Float(30, 400),
                                           y + random->Float(30, 300)});
                                    }
                                    return OpCase("RoiAlign")
                                        .Input(random->Floats(shape))
                                        .Input(Value::Floats({100, 4}, regions))
                                        .Input(random->Ints({100}, 0, 0))
                                        .Int("height", 7)
                                        .Int("width", 7)
                                        .Int("samples", 2)
                                        .Float("scale", 1.0f / 16);
                                  });

// 100 regions of a detector's features.
const OpBenchmarks roi_pool_mean("ROI_POOL",
                                 "7",
                                 {{1, 50, 68, 256}},
                                 [](Random *random, const Shape &shape) {
                                   std::vector<float> regions;
                                   for (int i = 0; i < 100; ++i) {
                                     const float x = random->Float(0, 500);
                                     const float y = random->Float(0, 400);
                                     regions.insert(
                                         regions.end(),
                                         {x, y, x + random->Float(30, 400),
                                          y + random->Float(30, 300)});
                                   }
                                   return OpCase("RoiPool")
                                       .Input(random->Floats(shape))
                                       .Input(Value::Floats({100, 4}, regions))
                                       .Input(random->Ints({100}, 0, 0))
                                       .Int("height", 7)
                                       .Int("width", 7)
                                       .Float("scale", 1.0f / 16);
                                 });

// Candidates of a detector: scores [images, classes, boxes].
const OpBenchmarks boxes("NON_MAX_SUPPRESSION",
                         "HALF",
                         {{1, 1, 8400}, {1, 80, 1000}},
                         [](Random *random, const Shape &shape) {
                           return OpCase("NonMaxSuppression", 2)
                               .Input(random->Floats({shape[0], shape[2], 4},
                                                     0.0f, 1.0f))
                               .Input(random->Floats(shape, 0.0f, 1.0f))
                               .Int("max_boxes", 100)
                               .Float("iou_threshold", 0.5f)
                               .Float("score_threshold", 0.3f);
                         });

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

namespace mace {
namespace {

using benchmark::OpBenchmarks;
using op_test::OpCase;
using op_test::Random;

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

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tensors that are written where they are joined with others. A concatenation
// then needs no launch, and its inputs no memory of their own.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_PLAN_PARTS_H_
#define MACE_RUNTIMES_OPENCL_PLAN_PLAN_PARTS_H_

#include <cstddef>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"

namespace mace {

struct JoinedInput {
  int tensor;      // of the plan
  size_t readers;  // operators that read its memory, with the one that joins
  bool at_border;  // it, or an alias of it
};

struct TensorJoin {
  int whole;  // of the plan; nothing uses it yet
  std::vector<JoinedInput> inputs;
  // They follow each other along C; otherwise they are consecutive pixels.
  bool channels;
  // A kernel that reads them loads two blocks of channels at once.
  bool pairs_of_blocks;
};

// Makes each input and its aliases aliases of the whole, with the place that
// they have there. False if that can't be; then nothing has changed.
//
// An input must be computed by launches of the plan, and be no part of another
// tensor. In padded buffers and images, it begins at a whole block. In images,
// pixels of a row stay neighbours, and no kernel may read the image that it
// writes. An input whose storage differs from that of the whole gets the
// whole's, if nobody else reads it.
bool JoinTensors(const TensorJoin &join, OpenclPlan *plan);

// Adds a request for each part that a launch writes, so that VerifyPlan
// compares them. Call it when the whole has its request.
void AddPartRequests(OpenclPlan *plan);

// The same for images: parts that launches write do not overlap, are inside of
// the whole, and no launch reads an image that it writes.
MaceStatus VerifyImageParts(const OpenclPlan &plan);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_PLAN_PARTS_H_

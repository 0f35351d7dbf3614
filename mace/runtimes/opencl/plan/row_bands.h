// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Chains of launches that run band by band: each computes some rows of its
// image, then the next one computes what follows from them, and then it is the
// turn of the next rows. A tensor between two launches then needs memory for
// the rows of a band only. What it costs is more launches, and rows at the
// borders of bands that are computed twice.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_ROW_BANDS_H_
#define MACE_RUNTIMES_OPENCL_PLAN_ROW_BANDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/ops/window/window.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"

namespace mace {

// The rows of each operator's output, by band and operator. `axes`: their
// vertical windows, in order; the rows of the last one are divided evenly.
std::vector<std::vector<RowRange>> DivideRows(
    const std::vector<WindowAxis> &axes, int bands);

// A launch that can compute some rows of its output alone.
struct BandLaunch {
  size_t step;
  int input;  // of the plan
  int output;
  WindowAxis rows;
  // Its input is the output of the launch before it, which nothing else reads.
  bool follows;
  // The rows of its output are together, in memory of the plan.
  bool ends;
};

struct DividedChain {
  size_t first;  // launches of the plan
  size_t last;
  int bands;
};

// Chains whose division makes the memory of the plan's tensors smaller: several
// choices, each of more launches and less memory than the one before it, by an
// estimate. `launches` are in the order of the plan.
std::vector<std::vector<DividedChain>> ChooseBands(
    const OpenclPlan &plan,
    const std::vector<BandLaunch> &launches,
    const BandLimits &limits);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_ROW_BANDS_H_

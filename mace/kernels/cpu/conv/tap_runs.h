// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the taps of a convolution that are inside the image. For a 3x3 kernel
// with dilation 12 over 16x16 pixels, an output has 2.25 of its 9 taps inside
// the image on average; with padding 1 over 7x7 pixels 7.4.

#ifndef MACE_KERNELS_CPU_CONV_TAP_RUNS_H_
#define MACE_KERNELS_CPU_CONV_TAP_RUNS_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/direct.h"

namespace mace::conv {

// The fastest choice for a plan whose taps are pixels.
TapSkipping ChooseSkipping(const DirectPlan &plan);

// Returns the runs of rows [row_begin, row_end) with plan.skipping, counted
// from row_begin; `runs` must have room for as many runs as there are rows.
gemm::TapRuns FindTapRuns(const DirectPlan &plan,
                          ptrdiff_t row_begin,
                          ptrdiff_t row_end,
                          gemm::TapRun *runs);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_TAP_RUNS_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Peak rates of the GPU that the library uses.

#ifndef MACE_TOOLS_GPU_PEAK_H_
#define MACE_TOOLS_GPU_PEAK_H_

#include <string>

#include "mace/public/mace.h"

namespace mace {
namespace tools {

struct GpuPeak {
  std::string name;         // the driver's; empty: not measured
  double gflops = 0;        // 10^9 fp32 operations/s, two per multiply-add
  double gbytes_per_s = 0;  // triad over arrays that fit in no cache
  double cache_gbytes_per_s = 0;  // triad over 8 KiB for each compute unit
};

// Runs the loops, about half a second, and raises rates in *peak that are lower
// than the measured ones, by the clock of the GPU. MACE_UNSUPPORTED without a
// GPU, or in a program without the GPU runtime.
MaceStatus MeasureGpuPeak(GpuPeak *peak);

// What MeasureGpuPeak calls, for programs that have the GPU runtime.
void SetGpuPeakFunction(MaceStatus (*function)(GpuPeak *));

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_GPU_PEAK_H_

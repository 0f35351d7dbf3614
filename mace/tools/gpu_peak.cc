// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/gpu_peak.h"

namespace mace {
namespace tools {
namespace {

MaceStatus (*g_function)(GpuPeak *) = nullptr;

}  // namespace

void SetGpuPeakFunction(MaceStatus (*function)(GpuPeak *)) {
  g_function = function;
}

MaceStatus MeasureGpuPeak(GpuPeak *peak) {
  if (g_function != nullptr) return g_function(peak);
  return MaceStatus(MaceStatus::MACE_UNSUPPORTED,
                    "this program has no GPU runtime");
}

}  // namespace tools
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the runtime must know of a GPU, and no driver tells.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_GPU_FAMILY_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_GPU_FAMILY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

struct GpuFamilyFacts {
  // Rough figures for the choice between devices, and for the time of a kernel
  // that was not measured: multiply-adds per nanosecond of one compute unit, at
  // the efficiency that kernels reach, and bytes of memory per nanosecond.
  double macs_per_nano = 16;
  double bytes_per_nano = 10;
  // Launches after which the queue is flushed, so that the GPU begins while the
  // host still adds commands, and the driver's buffer does not overflow; 0:
  // only after the last.
  size_t flush_period = 0;
  // The most work groups of a launch in each dimension.
  std::array<size_t, 3> max_groups = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  // Launches are recorded once and replayed in each run, if the driver can.
  bool replay = true;
  // Images may be views of a buffer, if the driver can.
  bool image_views = true;
};

// `text`: vendor, name and version of the device.
GpuFamily GpuFamilyOf(const std::string &text, bool is_cpu);
GpuFamilyFacts FactsOf(GpuFamily family, const std::string &text);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_GPU_FAMILY_H_

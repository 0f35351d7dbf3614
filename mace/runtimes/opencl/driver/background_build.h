// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_BACKGROUND_BUILD_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_BACKGROUND_BUILD_H_

#include <thread>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"

namespace mace {

// OpenclRuntime::Build on a thread of its own, or in Wait if there can be none.
// There is no thread if nothing has to be compiled. The arguments must outlive
// the object.
class BackgroundBuild {
 public:
  BackgroundBuild(OpenclRuntime *runtime,
                  const std::vector<ProgramKey> &programs,
                  const ProgramStores &stores);
  BackgroundBuild(const BackgroundBuild &) = delete;
  BackgroundBuild &operator=(const BackgroundBuild &) = delete;
  // Waits, too.
  ~BackgroundBuild();

  // Once.
  MaceStatus Wait();

 private:
  void Build();

  OpenclRuntime *runtime_;
  const std::vector<ProgramKey> &programs_;
  const ProgramStores &stores_;
  MaceStatus status_;
  std::thread thread_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_BACKGROUND_BUILD_H_

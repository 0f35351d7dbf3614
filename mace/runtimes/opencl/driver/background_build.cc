// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/background_build.h"

#include <system_error>

#include "mace/core/base/logging.h"

namespace mace {

BackgroundBuild::BackgroundBuild(OpenclRuntime *runtime,
                                 const std::vector<ProgramKey> &programs,
                                 const ProgramStores &stores)
    : runtime_(runtime), programs_(programs), stores_(stores) {
  if (runtime->HasAll(programs)) return;
  try {
    thread_ = std::thread([this] { Build(); });
  } catch (const std::system_error &error) {
    VLOG(1) << "programs are compiled later: " << error.what();
  }
}

BackgroundBuild::~BackgroundBuild() {
  if (thread_.joinable()) thread_.join();
}

MaceStatus BackgroundBuild::Wait() {
  if (thread_.joinable()) {
    thread_.join();
  } else {
    Build();
  }
  return status_;
}

void BackgroundBuild::Build() {
  try {
    status_ = runtime_->Build(programs_, stores_);
  } catch (...) {
    status_ = CurrentExceptionStatus();
  }
}

}  // namespace mace

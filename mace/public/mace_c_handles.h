// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the handles of mace_c.h are, for programs in C and C++ that use both
// interfaces for one engine.

#ifndef MACE_PUBLIC_MACE_C_HANDLES_H_
#define MACE_PUBLIC_MACE_C_HANDLES_H_

#include <memory>

#include "mace/public/mace.h"
#include "mace/public/mace_c.h"

struct mace_config {
  mace::MaceEngineConfig config;
};

struct mace_engine {
  std::shared_ptr<mace::MaceEngine> engine;
};

#endif  // MACE_PUBLIC_MACE_C_HANDLES_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// For sources written for releases in which this header declared
// MaceEngineConfig and the thread and device policies: mace.h has all of them.

#ifndef MACE_PUBLIC_MACE_RUNTIME_H_
#define MACE_PUBLIC_MACE_RUNTIME_H_

#include "mace/public/mace.h"  // IWYU pragma: export

#endif  // MACE_PUBLIC_MACE_RUNTIME_H_

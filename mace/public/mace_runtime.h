// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// For sources written for releases that declared MaceEngineConfig and the
// policies of threads and devices here: mace.h has all of it.

#ifndef MACE_PUBLIC_MACE_RUNTIME_H_
#define MACE_PUBLIC_MACE_RUNTIME_H_

#include "mace/public/mace.h"  // IWYU pragma: export

#endif  // MACE_PUBLIC_MACE_RUNTIME_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_VISIBILITY_H_
#define MACE_CORE_BASE_VISIBILITY_H_

// For a class within one that carries MACE_API, which it would take over: the
// names of its functions would lie in every library.
#define MACE_HIDDEN __attribute__((visibility("hidden")))

#endif  // MACE_CORE_BASE_VISIBILITY_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_VISIBILITY_H_
#define MACE_CORE_BASE_VISIBILITY_H_

// For a class nested in a class with MACE_API. Without this attribute the
// nested class would be exported too, and its symbols would be in every
// library.
#define MACE_HIDDEN __attribute__((visibility("hidden")))

#endif  // MACE_CORE_BASE_VISIBILITY_H_

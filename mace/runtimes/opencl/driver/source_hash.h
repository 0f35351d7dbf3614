// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Short names of long texts, for the keys of stored programs and parameters.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_SOURCE_HASH_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_SOURCE_HASH_H_

#include <cstdint>
#include <string>

#include "mace/kernels/opencl/cl_source.h"

namespace mace {

// FNV-1a, continued from `hash`.
constexpr uint64_t kHashStart = 0xcbf29ce484222325u;
uint64_t HashText(const std::string &text, uint64_t hash = kHashStart);

// 16 hexadecimal digits.
std::string HashDigits(uint64_t hash);

// The text that is compiled: the includes, each once, and the source.
std::string TextOf(const ClSource &source);

// Of that text. It is computed once for each source.
uint64_t HashSource(const ClSource &source);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_SOURCE_HASH_H_

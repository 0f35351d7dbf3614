// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What names a program, and where compiled ones are kept.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_GPU_PROGRAM_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_GPU_PROGRAM_H_

#include <cstdint>
#include <string>

#include "mace/kernels/opencl/cl_source.h"
#include "mace/public/mace_runtime.h"

namespace mace {

// The compiler's options of every program, before its macros.
inline constexpr char kProgramOptions[] = "-cl-std=CL1.2 -cl-mad-enable";

// A program: a source with the macros that the host defines.
struct ProgramKey {
  const ClSource *source = nullptr;
  std::string options;

  bool operator<(const ProgramKey &other) const {
    if (source != other.source) return source < other.source;
    return options < other.options;
  }
};

// "softmax 0123456789abcdef": another text or other macros have another one.
std::string ProgramId(const ProgramKey &key);

// Tables of compiled programs that outlive the process; either may be null.
// Entries are tried, and not trusted: what the driver refuses is compiled
// again.
struct ProgramStores {
  KVStorage *shipped = nullptr;  // of the application; only read
  KVStorage *cache = nullptr;    // receives what is compiled
};

// Short names of long texts, for the keys of stored programs and parameters.

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

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_GPU_PROGRAM_H_

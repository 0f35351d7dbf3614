// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which cores this process may use, and which of them are big.

#ifndef MACE_CORE_BASE_CPU_TOPOLOGY_H_
#define MACE_CORE_BASE_CPU_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace_config.h"

namespace mace {

struct CpuCore {
  int id;         // as the kernel numbers it
  int64_t speed;  // maximum frequency in kHz, or capacity; 0 if unknown
};

struct CpuTopology {
  // Cores in the affinity mask of the calling thread, fastest first, then by
  // id. Never empty.
  std::vector<CpuCore> cores;
  // CPU time that the control group grants, in cores; INT_MAX if unlimited.
  int quota;

  // Reads sched_getaffinity, <root>/sys/devices/system/cpu and
  // <root>/sys/fs/cgroup. `root` is "" except in tests; `mask` overrides the
  // affinity mask in tests.
  static CpuTopology Read(const std::string &root = "",
                          const std::vector<int> *mask = nullptr);

  // Cores that are more than 10 % faster than the slowest. This threshold
  // separates the clusters of a phone (1.8 / 2.4 / 2.8 GHz), but not the cores
  // of a PC, which differ only in their turbo frequency. All cores if there is
  // only one class.
  std::vector<int> BigCores() const;
  // The cores that are not big; all cores if there is one class only.
  std::vector<int> LittleCores() const;
};

// Threads and the cores to bind them to.
struct ThreadPlacement {
  int threads;             // caller included, at least 1
  std::vector<int> cores;  // empty: not bound
};

// The cores that `policy` selects on a machine:
//   NONE               every usable core, not bound
//   BIG_ONLY           the big cores
//   LITTLE_ONLY        the little cores
//   HIGH_PERFORMANCE   the fastest `threads` cores (default: the big ones)
//   POWER_SAVE         the slowest `threads` cores (default: the little ones)
// threads <= 0 means one thread for each core that the policy selects; a larger
// number is lowered to that. The control group's quota always limits the
// number.
ThreadPlacement PlaceThreads(const CpuTopology &topology,
                             int threads,
                             CPUAffinityPolicy policy);

// The same on the machine on which it runs. Reads the topology only if the
// result depends on it: for a single thread that is not bound it reads nothing.
ThreadPlacement PlaceThreadsHere(int threads, CPUAffinityPolicy policy);

// "0-3,5,7-8", the kernel's list format, for messages.
std::string CoreListToString(const std::vector<int> &cores);

}  // namespace mace

#endif  // MACE_CORE_BASE_CPU_TOPOLOGY_H_

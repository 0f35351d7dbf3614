// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which cores this process may use, and which of them are big.

#ifndef MACE_CORE_BASE_CPU_TOPOLOGY_H_
#define MACE_CORE_BASE_CPU_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

struct CpuCore {
  int id;         // as the kernel numbers it
  int64_t speed;  // maximum frequency in kHz, or capacity; 0 if unknown
};

struct CpuTopology {
  // Cores in the affinity mask of the calling thread, fastest first, then by
  // id. Never empty.
  std::vector<CpuCore> cores;
  // Cores' worth of time that the control group grants; INT_MAX if unlimited.
  int quota;

  // Reads sched_getaffinity, <root>/sys/devices/system/cpu and
  // <root>/sys/fs/cgroup. `root` is "" but in tests; `mask` overrides the
  // affinity mask in tests.
  static CpuTopology Read(const std::string &root = "",
                          const std::vector<int> *mask = nullptr);

  // Cores faster than the slowest by more than a tenth: the tenth keeps apart
  // the clusters of a phone (1.8 / 2.4 / 2.8 GHz) but not the cores of a PC
  // that differ by their turbo bin. All cores if there is one class only.
  std::vector<int> BigCores() const;
  // The cores that are not big; all cores if there is one class only.
  std::vector<int> LittleCores() const;
};

// Threads and the cores to bind them to.
struct ThreadPlacement {
  int threads;             // caller included, at least 1
  std::vector<int> cores;  // empty: not bound
};

// What `threads` and `policy` mean on a machine:
//   NONE               every usable core, not bound
//   BIG_ONLY           the big cores
//   LITTLE_ONLY        the little cores
//   HIGH_PERFORMANCE   the fastest `threads` cores (default: the big ones)
//   POWER_SAVE         the slowest `threads` cores (default: the little ones)
// threads <= 0 takes all the cores that the policy selects; more than those
// are lowered to them. The control group's quota limits the number in any case.
ThreadPlacement PlaceThreads(const CpuTopology &topology,
                             int threads,
                             CPUAffinityPolicy policy);

// The same on the machine that it runs on, of which it reads what the answer
// depends on: nothing for one thread that is not bound.
ThreadPlacement PlaceThreadsHere(int threads, CPUAffinityPolicy policy);

// "0-3,5,7-8", the kernel's list format, for messages.
std::string CoreListToString(const std::vector<int> &cores);

}  // namespace mace

#endif  // MACE_CORE_BASE_CPU_TOPOLOGY_H_

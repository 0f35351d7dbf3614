// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What else happens on the machine while a model is timed: the load by other
// programs, and the clock frequency of the cores.

#ifndef MACE_TOOLS_MACHINE_WATCH_H_
#define MACE_TOOLS_MACHINE_WATCH_H_

#include <string>

namespace mace {
namespace tools {

// 0 where the system does not tell.
struct MachineChanges {
  int cores = 0;           // of the machine
  double other_cores = 0;  // busy with other programs, on average
  // Of the fastest core at each sample: the first, the last, and their range.
  double first_mhz = 0;
  double last_mhz = 0;
  double least_mhz = 0;
  double most_mhz = 0;
};

// Reads files of the kernel: between timed runs, never during one.
class MachineWatch {
 public:
  // `root` is "" except in tests, which have files of their own.
  explicit MachineWatch(std::string root = "");

  // Samples the clock, at most every 200 ms.
  void Sample();

  // From the creation of this object until now.
  MachineChanges Changes();

 private:
  void SampleClock();

  const std::string root_;
  const double begin_ms_;
  double begin_busy_s_ = 0;
  double begin_own_s_ = 0;
  double sampled_ms_ = 0;
  MachineChanges changes_;
};

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_MACHINE_WATCH_H_

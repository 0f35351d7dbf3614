// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What this machine can do and what this process takes of it.

#ifndef MACE_TOOLS_MACHINE_H_
#define MACE_TOOLS_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {
namespace tools {

// Milliseconds since the process's clock began; never goes back.
double NowMs();

// Of this process, from the kernel; 0 where the system does not tell.
size_t ResidentBytes();
size_t PeakResidentBytes();

// A point of the process's memory over time.
struct MemoryPoint {
  std::string label;
  double ms;
  size_t resident_bytes;
};

struct MachinePeak {
  int threads = 1;
  double gflops = 0;        // 10^9 fp32 operations/s, two per multiply-add
  double gbytes_per_s = 0;  // triad over arrays that fit in no cache
  double cache_gbytes_per_s = 0;  // triad over 144 KiB for each thread
  // Nanoseconds in which a cache line goes from a thread to another one and
  // back, as two threads do that hand over work: the least and the most of what
  // was measured, which differ where the system moves the threads to cores that
  // share a cache, or no longer do. 0 with one thread, or one core.
  double least_round_trip_ns = 0;
  double most_round_trip_ns = 0;
};

// Which loops MeasurePeak runs. Those of small memory leave the process's own
// peak of memory as it is.
enum class PeakLoops { kAll, kInCache };

// Runs the peak loops on `threads` threads at once (best of five short runs
// each, about a second in all), and raises the rates of *peak that are lower
// than what it measures: on a busy machine each measurement is a lower bound,
// and the best of several is the best bound. The round trips are widened to
// what was measured now. MACE_OUT_OF_RESOURCES if there is no memory for the
// arrays.
MaceStatus MeasurePeak(int threads, PeakLoops loops, MachinePeak *peak);

// "capability(CPU)": milliseconds one thread takes for 2^28 fp32
// multiply-adds in registers, the best of five; on a processor that needs more
// than 200 ms, 64 times what it takes for a part of them. (MR-06)
double CapabilityMs();

// Instruction set of the CPU kernels ("avx512"); follows MACE_CPU_ISA.
std::string IsaName();

// "AMD EPYC ...": as the system names the processor; empty if it does not.
std::string ProcessorName();

// Cores that this process may use.
int UsableCores();

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_MACHINE_H_

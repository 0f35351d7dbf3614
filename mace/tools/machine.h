// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Peak rates of this machine, memory of this process, and what else happens on
// the machine while a model is timed: the load by other programs, the clock
// frequency of the cores, and their temperature.

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

// Of this process, from the kernel; 0 if the system does not report it.
size_t ResidentBytes();
size_t PeakResidentBytes();

// A sample of the process's memory.
struct MemoryPoint {
  std::string label;
  double ms;
  size_t resident_bytes;
};

struct MachinePeak {
  int threads = 1;
  double gflops = 0;        // 10^9 fp32 operations/s, two per multiply-add
  double int8_gops = 0;     // the same of 8-bit integers
  double gbytes_per_s = 0;  // triad over arrays that fit in no cache
  double cache_gbytes_per_s = 0;  // triad over 144 KiB for each thread
  // Round trip time of a cache line between two threads, in nanoseconds: the
  // minimum and the maximum of all measurements. They differ if the system
  // moves the threads between cores that share a cache and cores that do not.
  // 0 with one thread or one core.
  double least_round_trip_ns = 0;
  double most_round_trip_ns = 0;
};

// Which loops MeasurePeak runs. The loops in cache do not change the peak
// memory of the process.
enum class PeakLoops { kAll, kInCache };

// Runs the peak loops on `threads` threads at once (best of five short runs
// each, about a second in all), and raises rates in *peak that are lower than
// the measured ones: on a busy machine each measurement is a lower bound, and
// the best of several is the best bound. The range of round trip times is
// extended to include the new measurements. MACE_OUT_OF_RESOURCES if there is
// not enough memory for the arrays.
MaceStatus MeasurePeak(int threads, PeakLoops loops, MachinePeak *peak);

// "capability(CPU)": milliseconds that one thread takes for 2^28 fp32
// multiply-adds in registers, the best of five measurements. If that is more
// than 200 ms, it is computed as 64 times the time of 1/64 of them. (MR-06)
double CapabilityMs();

// Instruction set of the CPU kernels ("avx512"); follows MACE_CPU_ISA.
std::string IsaName();

// The system's name of the processor, "AMD EPYC ..."; empty if it has none.
std::string ProcessorName();

// Cores that this process may use.
int UsableCores();

// 0 where the system does not tell.
struct MachineChanges {
  int cores = 0;           // of the machine
  double other_cores = 0;  // busy with other programs, on average
  // Of the fastest core at each sample: the first, the last, and their range.
  double first_mhz = 0;
  double last_mhz = 0;
  double least_mhz = 0;
  double most_mhz = 0;
  // Of the hottest sensor of the processor: the first sample, the last, and the
  // highest, in degrees Celsius.
  double first_celsius = 0;
  double last_celsius = 0;
  double most_celsius = 0;
};

// Reads files of the kernel: between timed runs, never during one.
class MachineWatch {
 public:
  // `root` is "" except in tests, which have files of their own.
  explicit MachineWatch(std::string root = "");

  // Samples the clock and the temperature, at most every 200 ms.
  void Sample();

  // From the creation of this object until now.
  MachineChanges Changes();

 private:
  void SampleClock();
  void SampleTemperature();

  const std::string root_;
  const double begin_ms_;
  double begin_busy_s_ = 0;
  double begin_own_s_ = 0;
  double sampled_ms_ = 0;
  MachineChanges changes_;
};

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_MACHINE_H_

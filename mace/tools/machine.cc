// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/peak/peak.h"

namespace mace {
namespace tools {
namespace {

constexpr int kRepeats = 5;
// Three arrays of 64 MiB: more than the share of the last-level cache on every
// machine that was measured, and half of the free memory of the smallest board
// (512 MiB).
constexpr size_t kStreamFloats = size_t{16} << 20;
// Three arrays of 48 KiB: more than L1, less than L2 of every core since
// Cortex-A72 (1 MiB, shared).
constexpr size_t kCacheFloats = size_t{12} << 10;
constexpr int kCacheRepeats = 2000;
constexpr int64_t kCapabilityMultiplyAdds = int64_t{1} << 28;
constexpr double kLongestCapabilityMs = 200;
constexpr int64_t kSlowPart = 64;

const peak::Kernels *Kernels() {
  return peak::KernelsFor(ChooseCpuIsaFromEnv().isa);
}

// Prevents the compiler from removing a loop whose result is not used.
std::atomic<float> sink{0};
std::atomic<int64_t> int8_sink{0};

// The shortest time of `body(thread)`, run on all threads at the same time, in
// seconds.
double BestSeconds(int threads, const std::function<void(int)> &body) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double begin = NowMs();
    std::vector<std::thread> workers;
    try {
      for (int t = 1; t < threads; ++t) workers.emplace_back(body, t);
    } catch (const std::system_error &) {
      for (std::thread &worker : workers) worker.join();
      throw;
    }
    body(0);
    for (std::thread &worker : workers) worker.join();
    best = std::min(best, (NowMs() - begin) * 1e-3);
  }
  return best;
}

// The milliseconds of `multiply_adds` multiply-adds on one thread.
double MultiplyAddMs(const peak::Kernels &kernels, int64_t multiply_adds) {
  const int64_t rounds = multiply_adds / kernels.multiply_adds_per_round;
  const double ms =
      1e3 * BestSeconds(1, [&](int) { sink = kernels.multiply_add(rounds); });
  // Scaled up by the remainder of the division into rounds.
  return ms * static_cast<double>(multiply_adds) /
         static_cast<double>(rounds * kernels.multiply_adds_per_round);
}

// As MachinePeak defines it; the fastest of several series, all within
// milliseconds.
double RoundTripNs() {
  constexpr int kTrips = 2000;
  constexpr int kSeries = 8;
  alignas(64) std::atomic<int> turn{0};
  const auto wait_for = [&turn](int value) {
    // If both threads are on one core, each must yield.
    constexpr int kLooks = 4096;
    for (int look = 1; turn.load() != value; ++look) {
      if (look % kLooks == 0) std::this_thread::yield();
    }
  };
  std::thread other([&turn, &wait_for] {
    for (int i = 0; i < kSeries * kTrips; ++i) {
      wait_for(2 * i + 1);
      turn.store(2 * i + 2);
    }
  });
  double best = std::numeric_limits<double>::infinity();
  for (int series = 0; series < kSeries; ++series) {
    const double begin = NowMs();
    for (int i = series * kTrips; i < (series + 1) * kTrips; ++i) {
      turn.store(2 * i + 1);
      wait_for(2 * i + 2);
    }
    best = std::min(best, (NowMs() - begin) * 1e6 / kTrips);
  }
  other.join();
  return best;
}

// Whether the processor is emulated, or equally slow: a measurement of a second
// would take minutes, so only a part of it runs. `part_ms` is the time of that
// part of kCapabilityMultiplyAdds.
bool IsSlow(double part_ms) {
  return part_ms * kSlowPart > kLongestCapabilityMs;
}

constexpr double kSampleMs = 200;

// Seconds for which the cores were busy since the system started, and how many
// cores it has; 0 where that cannot be read. Time that a hypervisor gave to
// other machines counts as busy.
double BusySeconds(const std::string &root, int *cores) {
  *cores = 0;
  double busy = 0;
  std::ifstream stat(root + "/proc/stat");
  for (std::string line; std::getline(stat, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name.compare(0, 3, "cpu") != 0) break;
    if (name != "cpu") {
      ++*cores;
      continue;
    }
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0;
    double soft_irq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> wait >> irq >> soft_irq >> steal;
    busy = user + nice + system + irq + soft_irq + steal;
  }
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// CPU time of this process.
double OwnSeconds() {
  struct rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const struct timeval &time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double FastestMhz(const std::string &root, int cores) {
  double most = 0;
  for (int core = 0; core < cores; ++core) {
    std::ifstream file(root + "/sys/devices/system/cpu/cpu" +
                       std::to_string(core) + "/cpufreq/scaling_cur_freq");
    double khz = 0;
    if (file >> khz) most = std::max(most, khz / 1e3);
  }
  return most;
}

// Whether a sensor is that of cores, by the names that kernels and vendors use.
bool IsOfProcessor(const std::string &type) {
  for (const char *part : {"cpu", "CPU", "pkg", "soc", "core", "cluster"}) {
    if (type.find(part) != std::string::npos) return true;
  }
  return false;
}

// 0 if there is no sensor.
double HottestCelsius(const std::string &root) {
  constexpr int kMostZones = 128;
  double most = 0;
  for (int zone = 0; zone < kMostZones; ++zone) {
    const std::string folder =
        root + "/sys/class/thermal/thermal_zone" + std::to_string(zone);
    std::ifstream type_file(folder + "/type");
    std::string type;
    if (!(type_file >> type)) break;
    std::ifstream file(folder + "/temp");
    double thousandths = 0;
    // Sensors that are off tell numbers that no processor survives.
    if (!IsOfProcessor(type) || !(file >> thousandths) || thousandths > 150e3) {
      continue;
    }
    most = std::max(most, thousandths / 1e3);
  }
  return most;
}

}  // namespace

double NowMs() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total_pages = 0;
  size_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t PeakResidentBytes() {
  // getrusage is not used: its maximum includes that of the parent before exec,
  // so a large parent process (the Python tools) would be counted.
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.compare(0, 6, "VmHWM:") == 0) {
      return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
    }
  }
  return 0;
}

double CapabilityMs() {
  const peak::Kernels *kernels = Kernels();
  if (kernels == nullptr) return 0;
  const double part_ms =
      MultiplyAddMs(*kernels, kCapabilityMultiplyAdds / kSlowPart);
  return IsSlow(part_ms) ? part_ms * kSlowPart
                         : MultiplyAddMs(*kernels, kCapabilityMultiplyAdds);
}

MaceStatus MeasurePeak(int threads, PeakLoops loops, MachinePeak *peak) {
  const CpuIsa isa = ChooseCpuIsaFromEnv().isa;
  const peak::Kernels *kernels = peak::KernelsFor(isa);
  const peak::Int8Kernels *int8 = peak::Int8KernelsFor(isa);
  if (kernels == nullptr || int8 == nullptr) {
    return MaceStatus(MaceStatus::MACE_UNSUPPORTED,
                      "this processor lacks every instruction set that MACE "
                      "has kernels for: " +
                          std::string(kCpuIsaNames));
  }
  const bool slow =
      IsSlow(MultiplyAddMs(*kernels, kCapabilityMultiplyAdds / kSlowPart));
  const int64_t divisor = slow ? kSlowPart : 1;
  // Several times as long as a busy system takes to move the threads to
  // different cores.
  const int64_t multiply_adds = 8 * kCapabilityMultiplyAdds / divisor;
  const int64_t rounds = multiply_adds / kernels->multiply_adds_per_round;
  const int64_t int8_rounds = multiply_adds / int8->multiply_adds_per_round;
  const int repeats = kCacheRepeats / static_cast<int>(divisor);
  const size_t stream = loops == PeakLoops::kAll
                            ? kStreamFloats / static_cast<size_t>(divisor)
                            : 0;
  const size_t part =
      std::max(stream / static_cast<size_t>(threads), kCacheFloats);
  const size_t used = part * static_cast<size_t>(threads);
  std::unique_ptr<float[]> arrays(new (std::nothrow) float[3 * used]);
  if (arrays == nullptr) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                      "no memory for the " +
                          std::to_string(3 * used * sizeof(float)) +
                          " bytes that --measure_peak streams through");
  }
  std::fill_n(arrays.get(), 3 * used, 1.0f);
  try {
    const double flop_seconds = BestSeconds(
        threads, [&](int) { sink = kernels->multiply_add(rounds); });
    const double int8_seconds = BestSeconds(
        threads, [&](int) { int8_sink = int8->multiply_add(int8_rounds); });
    double stream_seconds = std::numeric_limits<double>::infinity();
    if (loops == PeakLoops::kAll) {
      stream_seconds = BestSeconds(threads, [&](int t) {
        float *a = arrays.get() + part * static_cast<size_t>(t);
        kernels->triad(a, a + used, 0.5f, a + 2 * used, part);
      });
    }
    const double cache_seconds = BestSeconds(threads, [&](int t) {
      // Three adjacent arrays in this thread's part.
      float *a = arrays.get() + 3 * part * static_cast<size_t>(t);
      for (int i = 0; i < repeats; ++i) {
        kernels->triad(a, a + kCacheFloats, 0.5f, a + 2 * kCacheFloats,
                       kCacheFloats);
      }
    });
    peak->threads = threads;
    const auto operations = [threads](int64_t count, int64_t per_round) {
      return 2.0 * static_cast<double>(count) * static_cast<double>(per_round) *
             threads;
    };
    const double cache_bytes =
        12.0 * repeats * threads * static_cast<double>(kCacheFloats);
    const double stream_bytes = 12.0 * static_cast<double>(used);
    const auto raise = [](double amount, double seconds, double *rate) {
      *rate = std::max(*rate, 1e-9 * amount / seconds);
    };
    raise(operations(rounds, kernels->multiply_adds_per_round), flop_seconds,
          &peak->gflops);
    raise(operations(int8_rounds, int8->multiply_adds_per_round), int8_seconds,
          &peak->int8_gops);
    raise(cache_bytes, cache_seconds, &peak->cache_gbytes_per_s);
    raise(stream_bytes, stream_seconds, &peak->gbytes_per_s);
    if (threads > 1 && UsableCores() > 1) {
      const double trip = RoundTripNs();
      double &least = peak->least_round_trip_ns;
      least = least == 0 ? trip : std::min(least, trip);
      peak->most_round_trip_ns = std::max(peak->most_round_trip_ns, trip);
    }
  } catch (const std::system_error &error) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                      "cannot start " + std::to_string(threads) +
                          " threads for --measure_peak: " + error.what());
  }
  return MaceStatus::MACE_SUCCESS;
}

std::string IsaName() { return CpuIsaName(ChooseCpuIsaFromEnv().isa); }

std::string ProcessorName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    // The key on x86, then the one in ARM kernels.
    for (const char *key : {"model name", "Hardware"}) {
      const size_t colon = line.find(": ");
      if (line.compare(0, std::strlen(key), key) == 0 &&
          colon != std::string::npos) {
        return line.substr(colon + 2);
      }
    }
  }
  return "";
}

int UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

MachineWatch::MachineWatch(std::string root)
    : root_(std::move(root)), begin_ms_(NowMs()) {
  begin_busy_s_ = BusySeconds(root_, &changes_.cores);
  begin_own_s_ = OwnSeconds();
  SampleClock();
  SampleTemperature();
}

void MachineWatch::Sample() {
  if (NowMs() - sampled_ms_ < kSampleMs) return;
  SampleClock();
  SampleTemperature();
}

void MachineWatch::SampleClock() {
  sampled_ms_ = NowMs();
  const double mhz = FastestMhz(root_, changes_.cores);
  if (mhz <= 0) return;
  if (changes_.first_mhz <= 0) {
    changes_.first_mhz = changes_.least_mhz = changes_.most_mhz = mhz;
  }
  changes_.last_mhz = mhz;
  changes_.least_mhz = std::min(changes_.least_mhz, mhz);
  changes_.most_mhz = std::max(changes_.most_mhz, mhz);
}

void MachineWatch::SampleTemperature() {
  const double celsius = HottestCelsius(root_);
  if (celsius <= 0) return;
  if (changes_.first_celsius <= 0) changes_.first_celsius = celsius;
  changes_.last_celsius = celsius;
  changes_.most_celsius = std::max(changes_.most_celsius, celsius);
}

MachineChanges MachineWatch::Changes() {
  SampleClock();
  SampleTemperature();
  const double seconds = (NowMs() - begin_ms_) * 1e-3;
  int cores = 0;
  const double busy = BusySeconds(root_, &cores) - begin_busy_s_;
  const double own = OwnSeconds() - begin_own_s_;
  // The kernel counts in steps of 10 ms.
  constexpr double kShortest = 0.2;
  MachineChanges changes = changes_;
  if (seconds >= kShortest && cores > 0) {
    changes.other_cores = std::max(0.0, (busy - own) / seconds);
  }
  return changes;
}

}  // namespace tools
}  // namespace mace

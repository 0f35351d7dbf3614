// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/machine_watch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "mace/tools/machine.h"

namespace mace {
namespace tools {
namespace {

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

}  // namespace

MachineWatch::MachineWatch(std::string root)
    : root_(std::move(root)), begin_ms_(NowMs()) {
  begin_busy_s_ = BusySeconds(root_, &changes_.cores);
  begin_own_s_ = OwnSeconds();
  SampleClock();
}

void MachineWatch::Sample() {
  if (NowMs() - sampled_ms_ >= kSampleMs) SampleClock();
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

MachineChanges MachineWatch::Changes() {
  SampleClock();
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

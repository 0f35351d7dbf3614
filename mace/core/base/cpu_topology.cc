// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/cpu_topology.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "mace/core/base/heap_sort.h"

namespace mace {
namespace {

// Reads a file of the system; empty if it can't be read. Does not use streams:
// the first stream of a process costs 0.1 ms and 0.3 MB for the C++ library.
std::string ReadText(const std::string &path) {
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[1024];
  for (;;) {
    const auto length = read(file, part, sizeof(part));
    if (length <= 0) break;
    text.append(part, static_cast<size_t>(length));
  }
  close(file);
  return text;
}

// Parses the number at `*at` and advances `*at` past it.
bool ParseNumber(const char **at, int64_t *value) {
  char *end = nullptr;
  *value = std::strtoll(*at, &end, 10);
  const bool found = end != *at;
  *at = end;
  return found;
}

bool ReadNumber(const std::string &path, int64_t *value) {
  const std::string text = ReadText(path);
  const char *at = text.c_str();
  return ParseNumber(&at, value);
}

std::vector<int> AffinityMask() {
  std::vector<int> ids;
  // A fixed cpu_set_t covers 1024 cores; with more cores the call fails, and
  // the count of the standard library is used.
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int id = 0; id < CPU_SETSIZE; ++id) {
      if (CPU_ISSET(id, &set)) ids.push_back(id);
    }
  }
  if (ids.empty()) {
    const int count = std::max(1u, std::thread::hardware_concurrency());
    for (int id = 0; id < count; ++id) ids.push_back(id);
  }
  return ids;
}

// Frequency where the kernel has cpufreq, else the scheduler's capacity
// (cpufreq is often absent on boards and in virtual machines).
std::vector<CpuCore> ReadSpeeds(const std::string &root,
                                const std::vector<int> &ids) {
  for (const char *file : {"cpufreq/cpuinfo_max_freq", "cpu_capacity"}) {
    std::vector<CpuCore> cores;
    for (int id : ids) {
      int64_t speed = 0;
      const std::string path = root + "/sys/devices/system/cpu/cpu" +
                               std::to_string(id) + "/" + file;
      if (!ReadNumber(path, &speed) || speed <= 0) break;
      cores.push_back({id, speed});
    }
    if (cores.size() == ids.size()) return cores;
  }
  // Cores can only be compared if the figure of every core is known.
  std::vector<CpuCore> cores;
  for (int id : ids) cores.push_back({id, 0});
  return cores;
}

void LimitByQuota(int64_t quota, int64_t period, int *limit) {
  if (quota <= 0 || period <= 0) return;
  const double cores = static_cast<double>(quota) / static_cast<double>(period);
  if (cores >= INT_MAX) return;
  // A limit below one core still means one thread.
  *limit = std::min(*limit, std::max(1, static_cast<int>(std::lround(cores))));
}

// cpu.max of version 2: "max 100000" or "150000 100000".
void LimitByCpuMax(const std::string &folder, int *limit) {
  const std::string text = ReadText(folder + "/cpu.max");
  const char *at = text.c_str();
  int64_t quota = 0;
  int64_t period = 0;
  if (ParseNumber(&at, &quota) && ParseNumber(&at, &period)) {
    LimitByQuota(quota, period, limit);
  }
}

void LimitByCfsQuota(const std::string &folder, int *limit) {
  int64_t quota = 0;
  int64_t period = 0;
  if (ReadNumber(folder + "/cpu.cfs_quota_us", &quota) &&
      ReadNumber(folder + "/cpu.cfs_period_us", &period)) {
    LimitByQuota(quota, period, limit);
  }
}

// The smallest quota of this process's control group and its ancestors.
int ReadQuota(const std::string &root) {
  int limit = INT_MAX;
  const std::string groups = ReadText(root + "/proc/self/cgroup");
  for (size_t begin = 0; begin < groups.size();) {
    const size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':');
    if (first == std::string::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    const bool version2 = controllers == ",,";
    if (!version2 && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string mount =
        root + (version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();  // the mount itself
    for (;;) {
      if (version2) {
        LimitByCpuMax(mount + path, &limit);
      } else {
        LimitByCfsQuota(mount + path, &limit);
      }
      const size_t slash = path.rfind('/');
      if (path.empty() || slash == std::string::npos) break;
      path.resize(slash);
    }
  }
  return limit;
}

// The index of the first core of the slower class, in cores sorted by speed;
// the number of cores if there is only one class.
size_t FirstLittle(const std::vector<CpuCore> &cores) {
  const double border = 1.1 * static_cast<double>(cores.back().speed);
  size_t index = 0;
  while (index < cores.size() &&
         static_cast<double>(cores[index].speed) > border) {
    ++index;
  }
  return index == 0 ? cores.size() : index;
}

std::vector<int> Ids(const std::vector<CpuCore> &cores,
                     size_t first,
                     size_t last) {
  std::vector<int> ids;
  for (size_t i = first; i < last; ++i) ids.push_back(cores[i].id);
  return ids;
}

}  // namespace

CpuTopology CpuTopology::Read(const std::string &root,
                              const std::vector<int> *mask) {
  CpuTopology topology;
  topology.cores = ReadSpeeds(root, mask != nullptr ? *mask : AffinityMask());
  HeapSort(topology.cores.begin(), topology.cores.end(),
           [](const CpuCore &a, const CpuCore &b) {
             return a.speed != b.speed ? a.speed > b.speed : a.id < b.id;
           });
  topology.quota = ReadQuota(root);
  return topology;
}

std::vector<int> CpuTopology::BigCores() const {
  return Ids(cores, 0, FirstLittle(cores));
}

std::vector<int> CpuTopology::LittleCores() const {
  const size_t first = FirstLittle(cores);
  return Ids(cores, first == cores.size() ? 0 : first, cores.size());
}

ThreadPlacement PlaceThreads(const CpuTopology &topology,
                             int threads,
                             CPUAffinityPolicy policy) {
  const size_t all = topology.cores.size();
  const auto asked = static_cast<size_t>(std::max(threads, 0));
  ThreadPlacement placement;
  size_t available = all;
  switch (policy) {
    case AFFINITY_NONE:
      break;
    case AFFINITY_BIG_ONLY:
      placement.cores = topology.BigCores();
      available = placement.cores.size();
      break;
    case AFFINITY_LITTLE_ONLY:
      placement.cores = topology.LittleCores();
      available = placement.cores.size();
      break;
    case AFFINITY_HIGH_PERFORMANCE:
      available = asked > 0 ? std::min(asked, all) : topology.BigCores().size();
      placement.cores = Ids(topology.cores, 0, available);
      break;
    case AFFINITY_POWER_SAVE:
      available =
          asked > 0 ? std::min(asked, all) : topology.LittleCores().size();
      placement.cores = Ids(topology.cores, all - available, all);
      break;
  }
  const size_t wanted = asked > 0 ? std::min(asked, available) : available;
  placement.threads =
      static_cast<int>(std::min(wanted, static_cast<size_t>(topology.quota)));
  return placement;
}

ThreadPlacement PlaceThreadsHere(int threads, CPUAffinityPolicy policy) {
  if (threads == 1 && policy == AFFINITY_NONE) return {1, {}};
  return PlaceThreads(CpuTopology::Read(), threads, policy);
}

std::string CoreListToString(const std::vector<int> &cores) {
  std::vector<int> sorted = cores;
  HeapSort(sorted.begin(), sorted.end());
  std::string text;
  for (size_t i = 0; i < sorted.size();) {
    size_t last = i;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) {
      ++last;
    }
    if (i > 0) text += ',';
    text += std::to_string(sorted[i]);
    if (last > i) text += '-' + std::to_string(sorted[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace mace

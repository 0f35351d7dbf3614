// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/benchmark.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <regex>

namespace mace::benchmark {

namespace {

using Entries = std::vector<std::pair<std::string, Function>>;

// Registration happens before main, in any order: created at first use.
Entries *AllEntries() {
  static Entries *entries = new Entries();
  return entries;
}

struct OpEntry {
  std::string name;
  MakeCase make;
};

std::vector<OpEntry> *AllOps() {
  static std::vector<OpEntry> *ops = new std::vector<OpEntry>();
  return ops;
}

std::vector<OpDevice> *AllDevices() {
  static std::vector<OpDevice> *devices = new std::vector<OpDevice>();
  return devices;
}

// Benchmarks of operators on floats, on a device.
void AddEntries(const OpDevice &device, Entries *entries) {
  const std::string end = "_float_CPU";
  for (const OpEntry &op : *AllOps()) {
    if (op.name.size() < end.size() ||
        op.name.compare(op.name.size() - end.size(), end.size(), end) != 0) {
      continue;
    }
    const std::string start = op.name.substr(0, op.name.size() - end.size());
    for (const auto &[type, data_type] : device.types) {
      entries->emplace_back(start + "_" + type + "_" + device.name,
                            [&device, &op, stored = data_type](State *state) {
                              op_test::Random random(kSeed,
                                                     op_test::Random::Quiet());
                              device.measure(op.make(&random), stored, state);
                            });
    }
  }
}

double NanosecondsOf(int64_t iterations, const std::function<void()> &body) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < iterations; ++i) body();
  const std::chrono::duration<double, std::nano> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

std::string Format(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string PadLeft(const std::string &text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text
                             : text;
}

std::string PadRight(const std::string &text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ')
                             : text;
}

bool RegexSelects(const std::string &filter, const std::string &name) {
  try {
    return std::regex_search(name, std::regex(filter));
  } catch (const std::regex_error &) {
    return false;  // "*_GPU" is a shell pattern alone
  }
}

constexpr size_t kTimeWidth = 14;
constexpr size_t kIterationsWidth = 12;
constexpr size_t kRateWidth = 13;
constexpr size_t kMacsWidth = 9;

}  // namespace

int64_t ChooseIterations(double nanoseconds) {
  if (!(nanoseconds > 0)) return kMaxIterations;
  const double wanted = kTargetNanoseconds / nanoseconds;
  if (wanted >= static_cast<double>(kMaxIterations)) return kMaxIterations;
  return std::max(kMinIterations, static_cast<int64_t>(wanted));
}

void State::Measure(int64_t input_bytes,
                    int64_t macs,
                    const std::function<void()> &body) {
  measurement_.input_bytes = input_bytes;
  measurement_.macs = macs;
  if (settings_.once) {
    measurement_.nanoseconds = NanosecondsOf(1, body);
    measurement_.iterations = 1;
    return;
  }
  body();
  // Doubles the iterations until they take 10 ms: enough for the clock's
  // resolution, and the caches and the frequency have settled.
  int64_t iterations = 1;
  double elapsed = NanosecondsOf(iterations, body);
  while (elapsed < 1e7 && iterations < kMaxIterations) {
    iterations *= 2;
    elapsed = NanosecondsOf(iterations, body);
  }
  iterations = ChooseIterations(elapsed / static_cast<double>(iterations));
  measurement_.nanoseconds =
      NanosecondsOf(iterations, body) / static_cast<double>(iterations);
  measurement_.iterations = iterations;
}

void State::MeasureByDevice(int64_t input_bytes,
                            int64_t macs,
                            const std::function<double()> &nanoseconds) {
  measurement_.input_bytes = input_bytes;
  measurement_.macs = macs;
  double total = 0;
  const auto call = [&] { total += nanoseconds(); };
  int64_t iterations = 1;
  if (!settings_.once) {
    call();
    // By the clock of the host, which also waits for the device.
    iterations = ChooseIterations(NanosecondsOf(1, call));
    total = 0;
  }
  for (int64_t i = 0; i < iterations && failure_.empty(); ++i) call();
  measurement_.nanoseconds = total / static_cast<double>(iterations);
  measurement_.iterations = iterations;
}

void AddDevice(OpDevice device) { AllDevices()->push_back(std::move(device)); }

void RegisterOp(const std::string &name, MakeCase make) {
  RegisterOnCpu(name, make);
  AllOps()->push_back({name, std::move(make)});
}

void Register(const std::string &name, Function function) {
  AllEntries()->emplace_back(name, std::move(function));
}

std::vector<std::pair<std::string, Function>> Registered() {
  Entries entries = *AllEntries();
  for (const OpDevice &device : *AllDevices()) AddEntries(device, &entries);
  std::sort(entries.begin(), entries.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  return entries;
}

std::string OpName(const std::string &op,
                   const Shape &shape,
                   const std::string &details,
                   const std::string &type,
                   const std::string &device) {
  std::string name = "MACE_BM_" + op;
  const auto add = [&name](const std::string &part) { name += "_" + part; };
  if (shape.rank() == 4) {
    for (const size_t axis : {0, 3, 1, 2}) add(std::to_string(shape[axis]));
  } else {
    for (const int64_t dim : shape) add(std::to_string(dim));
  }
  if (!details.empty()) add(details);
  add(type);
  add(device);
  return name;
}

bool Selects(const std::string &filter, const std::string &name) {
  if (filter.empty() || filter == "all") return true;
  return RegexSelects(filter, name) ||
         fnmatch(filter.c_str(), name.c_str(), 0) == 0;
}

std::string Header(size_t name_width) {
  return PadRight("Benchmark", name_width) + PadLeft("Time(ns)", kTimeWidth) +
         PadLeft("Iterations", kIterationsWidth) +
         PadLeft("Input(MB/s)", kRateWidth) + PadLeft("GMACPS", kMacsWidth);
}

std::string Line(const std::string &name,
                 size_t name_width,
                 const Measurement &measurement) {
  const double ns = measurement.nanoseconds;
  // Bytes per nanosecond are GB/s.
  const double rate =
      ns > 0 ? static_cast<double>(measurement.input_bytes) / ns * 1e3 : 0;
  std::string macs = "-";
  if (measurement.macs > 0 && ns > 0) {
    macs = Format("%.2f", static_cast<double>(measurement.macs) / ns);
  }
  return PadRight(name, name_width) +
         PadLeft(Format(ns < 1e4 ? "%.1f" : "%.0f", ns), kTimeWidth) +
         PadLeft(std::to_string(measurement.iterations), kIterationsWidth) +
         PadLeft(Format("%.1f", rate), kRateWidth) + PadLeft(macs, kMacsWidth);
}

int Run(const std::string &filter, const Settings &settings) {
  Entries selected;
  size_t width = std::string("Benchmark").size();
  for (const auto &entry : Registered()) {
    if (!Selects(filter, entry.first)) continue;
    width = std::max(width, entry.first.size());
    selected.push_back(entry);
  }
  if (selected.empty()) return -1;
  const std::string header = Header(width);
  std::printf("%s\n%s\n", header.c_str(),
              std::string(header.size(), '-').c_str());
  int failed = 0;
  for (const auto &[name, function] : selected) {
    State state(settings);
    function(&state);
    if (!state.skipped().empty()) {
      std::printf("%s not measured: %s\n", name.c_str(),
                  state.skipped().c_str());
    } else if (!state.failure().empty()) {
      ++failed;
      std::printf("%s failed: %s\n", name.c_str(), state.failure().c_str());
    } else {
      std::printf("%s\n", Line(name, width, state.measurement()).c_str());
    }
    std::fflush(stdout);
  }
  return failed;
}

}  // namespace mace::benchmark

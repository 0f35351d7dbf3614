// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/stability.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "mace/tools/console.h"
#include "mace/tools/statistics.h"

namespace mace {
namespace tools {
namespace {

constexpr size_t kMostWindows = 10;
constexpr size_t kFewestRunsPerWindow = 5;
// Idle machines stay below 2 %; a difference of 5 % between two measurements is
// what users try to see.
constexpr double kLargestSpread = 0.05;
constexpr double kLargestTrend = 0.05;
// Of the 45 pairs among ten windows, 36 are in order. By chance, that happens
// in 1 of 150 series.
constexpr double kClearDirection = 0.6;
constexpr double kLargestTail = 0.25;
// Share of one core that other programs use on an idle system at most.
constexpr double kNoticeableCores = 0.1;
constexpr double kNoticeableClock = 0.03;

std::vector<double> WindowMedians(const std::vector<double> &times) {
  const size_t windows =
      std::min(kMostWindows, times.size() / kFewestRunsPerWindow);
  std::vector<double> medians;
  for (size_t i = 0; i < windows; ++i) {
    const auto begin =
        times.begin() + static_cast<std::ptrdiff_t>(i * times.size() / windows);
    const auto end = times.begin() + static_cast<std::ptrdiff_t>(
                                         (i + 1) * times.size() / windows);
    medians.push_back(Median({begin, end}));
  }
  return medians;
}

double KendallTau(const std::vector<double> &values) {
  int balance = 0;
  int pairs = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      balance += (values[j] > values[i]) - (values[j] < values[i]);
      ++pairs;
    }
  }
  return pairs == 0 ? 0 : static_cast<double>(balance) / pairs;
}

Verdict Judge(const Stability &s) {
  if (s.trend >= kLargestTrend && s.direction >= kClearDirection) {
    return Verdict::kSlowing;
  }
  if (s.trend <= -kLargestTrend && s.direction <= -kClearDirection) {
    return Verdict::kSpeeding;
  }
  const bool noisy = s.spread > kLargestSpread || s.tail > kLargestTail ||
                     s.excess > kLargestTail;
  return noisy ? Verdict::kNoisy : Verdict::kSteady;
}

std::string Text(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Percent(double share) { return Text("%.1f %%", 100 * share); }

// "; other programs kept 0.8 of 2 cores busy", or nothing.
std::string LoadText(const MachineChanges &changes) {
  if (changes.other_cores < kNoticeableCores) return "";
  return "; other programs kept " + Text("%.1f", changes.other_cores) + " of " +
         std::to_string(changes.cores) + " cores busy";
}

bool ClockFell(const MachineChanges &changes) {
  return changes.first_mhz > 0 &&
         changes.last_mhz < (1 - kNoticeableClock) * changes.first_mhz;
}

std::string ClockText(const MachineChanges &changes) {
  if (changes.least_mhz <= 0 ||
      changes.least_mhz >= (1 - kNoticeableClock) * changes.most_mhz) {
    return "";
  }
  if (ClockFell(changes)) {
    return "; the clock fell from " + Text("%.0f", changes.first_mhz) + " to " +
           Text("%.0f MHz", changes.last_mhz);
  }
  return "; the clock changed between " + Text("%.0f", changes.least_mhz) +
         " and " + Text("%.0f MHz", changes.most_mhz);
}

// "; the processor went from 41 to 78 C", or nothing.
std::string TemperatureText(const MachineChanges &changes) {
  if (changes.first_celsius <= 0) return "";
  return "; the processor went from " + Text("%.0f", changes.first_celsius) +
         " to " + Text("%.0f", changes.last_celsius) + " C" +
         (changes.most_celsius > changes.last_celsius + 1
              ? ", at most " + Text("%.0f C", changes.most_celsius)
              : "");
}

std::string FromWarmToSustained(const Stability &s) {
  return "from " + Text("%.3f ms", s.warm_ms) + " (warm) to " +
         Text("%.3f ms", s.sustained_ms) + " (sustained), " +
         Text("%+.1f %%", 100 * s.trend);
}

}  // namespace

Stability JudgeStability(const std::vector<double> &times_ms) {
  Stability s;
  if (times_ms.empty()) return s;
  const auto fifth =
      static_cast<std::ptrdiff_t>(std::max<size_t>(1, times_ms.size() / 5));
  s.warm_ms = Median({times_ms.begin(), times_ms.begin() + fifth});
  s.sustained_ms = Median({times_ms.end() - fifth, times_ms.end()});
  if (s.warm_ms > 0) s.trend = s.sustained_ms / s.warm_ms - 1;
  const double median = Median(times_ms);
  if (median > 0) {
    const double sum = std::accumulate(times_ms.begin(), times_ms.end(), 0.0);
    s.tail = Percentile(times_ms, 90) / median - 1;
    s.excess = sum / static_cast<double>(times_ms.size()) / median - 1;
  }
  if (times_ms.size() < kFewestRunsToJudge) return s;
  s.window_medians = WindowMedians(times_ms);
  const auto ends =
      std::minmax_element(s.window_medians.begin(), s.window_medians.end());
  const double middle = Median(s.window_medians);
  if (middle > 0) s.spread = (*ends.second - *ends.first) / middle;
  s.direction = KendallTau(s.window_medians);
  s.verdict = Judge(s);
  return s;
}

const char *VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSteady:
      return "steady";
    case Verdict::kNoisy:
      return "noisy";
    case Verdict::kSlowing:
      return "slowing";
    case Verdict::kSpeeding:
      return "speeding";
    case Verdict::kUnknown:
      break;
  }
  return "unknown";
}

std::string StabilitySentence(const Stability &s,
                              const MachineChanges &changes) {
  const std::string seen =
      LoadText(changes) + ClockText(changes) + TemperatureText(changes);
  switch (s.verdict) {
    case Verdict::kSteady:
      return "Steady: the medians of " +
             std::to_string(s.window_medians.size()) + " windows are within " +
             Percent(s.spread) + seen + ".";
    case Verdict::kNoisy:
      return "Noisy: the medians of " +
             std::to_string(s.window_medians.size()) + " windows differ by " +
             Percent(s.spread) + ", one run in ten is " + Percent(s.tail) +
             " or more above the median, and the average is " +
             Percent(std::abs(s.excess)) +
             (s.excess < 0 ? " below it" : " above it") + seen +
             "; compare minima and medians, or measure again on an idle "
             "machine.";
    case Verdict::kSlowing:
      return "Slowing down: " + FromWarmToSustained(s) + seen +
             (ClockFell(changes)
                  ? "; the device throttles: let it cool before measuring, and "
                    "plan with the sustained time."
                  : "; if the device is hot or its power limited, plan with "
                    "the "
                    "sustained time.");
    case Verdict::kSpeeding:
      return "Speeding up: " + FromWarmToSustained(s) + seen +
             (LoadText(changes).empty()
                  ? "; the warm-up was too short: add --warmup_rounds."
                  : "; as load ends, or a warm-up that was too short: measure "
                    "again on an idle machine, or add --warmup_rounds.");
    case Verdict::kUnknown:
      break;
  }
  return "Too few runs to tell noise from change: " +
         std::to_string(kFewestRunsToJudge) +
         " are needed; ask for more with --round or --duration.";
}

void PrintStability(double cold_ms,
                    const Stability &stability,
                    const MachineChanges &changes) {
  MACE_TOOL_INFO("first run (cold) " + Text("%.3f ms", cold_ms) + ", warm " +
                 Text("%.3f ms", stability.warm_ms) + ", sustained " +
                 Text("%.3f ms", stability.sustained_ms));
  MACE_TOOL_INFO(StabilitySentence(stability, changes));
}

}  // namespace tools
}  // namespace mace

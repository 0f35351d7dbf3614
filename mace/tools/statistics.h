// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Run times and operator statistics, and the sections in which they are
// printed.

#ifndef MACE_TOOLS_STATISTICS_H_
#define MACE_TOOLS_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {
namespace tools {

// Summary of a series of measurements, in their unit; all 0 if there are none.
struct Summary {
  int64_t round = 0;
  double first = 0;
  double curr = 0;  // the last one
  double min = 0;
  double max = 0;
  double avg = 0;
  double std = 0;  // of the population
  double median = 0;
  double p90 = 0;  // the 90th percentile
  double p99 = 0;
};
Summary SummarizeSeries(const std::vector<double> &values);

// Between the two nearest values in order of size, linearly interpolated, as
// numpy.percentile does; 0 of an empty series.
double Percentile(std::vector<double> values, double percent);
double Median(const std::vector<double> &values);

// Run times in their order, however many: of more than kMostKept, every second,
// fourth, ... one is kept, so that runs of several days do not fill the memory
// that they measure. Number, sum, minimum and maximum are of all.
class Series {
 public:
  static constexpr size_t kMostKept = size_t{1} << 17;

  void Add(double value);
  bool empty() const { return count_ == 0; }
  int64_t count() const { return count_; }
  double first() const { return kept_.empty() ? 0 : kept_.front(); }
  // In the order of the runs.
  const std::vector<double> &kept() const { return kept_; }
  Summary Summarize() const;

 private:
  std::vector<double> kept_;
  int64_t count_ = 0;
  int64_t stride_ = 1;
  double sum_ = 0;
  double min_ = 0;
  double max_ = 0;
  double last_ = 0;
};

// One operator over all rounds.
struct OpProfile {
  std::string name;
  std::string type;
  std::vector<std::vector<int64_t>> output_shape;
  ConvPoolArgs args;
  DeviceType device = CPU;
  bool quantized = false;
  int64_t macs = 0;
  int64_t bytes = 0;
  double start_ms = 0;        // in the first round, since the run began
  std::vector<double> times;  // ms, one per round
  double last_start_ms = 0;   // in the last round
};

// The operators of one type together.
struct TypeProfile {
  std::string type;
  int64_t count = 0;
  double avg_ms = 0;  // of all of them together, per round
  int64_t macs = 0;   // per round
  int64_t calls = 0;  // in all rounds
};

class OpStatistics {
 public:
  // Adds one run. Fails if its operators differ from those of the first run
  // (with another input shape, other operators may be computed before the run).
  MaceStatus Add(const RunMetadata &metadata);

  const std::vector<OpProfile> &ops() const { return ops_; }
  // Sorted by time, longest first.
  std::vector<TypeProfile> Types() const;
  // Sum of operator times of each round, ms.
  const std::vector<double> &totals() const { return totals_; }
  int64_t macs() const;

  // Sections 4 to 8 of the benchmark: run order, computation time (the ten
  // longest), type, MACs, summary.
  void Print() const;

 private:
  std::vector<OpProfile> ops_;
  std::vector<double> totals_;
};

// The inputs and outputs that a run did not use in place, with the reasons.
void PrintBorderCopies(const std::vector<TensorCopy> &copies);

// Sections 1 to 3: one line of run times (ms; the deviation in us). (MB-10)
void PrintRunTimes(const std::string &title, const Summary &times_ms);

// Lines of a table with its title, the cells right-aligned under a header.
std::vector<std::string> FormatTable(
    const std::string &title,
    const std::vector<std::string> &header,
    const std::vector<std::vector<std::string>> &rows);

// "1,234,567"
std::string WithCommas(int64_t value);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_STATISTICS_H_

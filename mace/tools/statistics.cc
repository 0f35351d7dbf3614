// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "mace/public/mace_buffers.h"
#include "mace/tools/console.h"

namespace mace {
namespace tools {
namespace {

constexpr size_t kLongestOps = 10;

using Rows = std::vector<std::vector<std::string>>;

std::string Fixed(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

template <typename T>
std::string ShapeText(const std::vector<T> &dims) {
  if (dims.empty()) return "";
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

std::string PadText(const ConvPoolArgs &args) {
  if (args.strides.empty()) return "";
  switch (args.padding_type) {
    case 0:
      return "VALID";
    case 1:
      return "SAME";
    default:
      return ShapeText(args.paddings);
  }
}

double Mean(const std::vector<double> &values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double SortedPercentile(const std::vector<double> &sorted, double percent) {
  const double place = percent / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] +
         (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// 10^9 multiply-accumulates per second.
double Gmacps(int64_t macs, double ms) {
  return ms > 0 ? static_cast<double>(macs) / ms * 1e-6 : 0;
}

std::vector<std::string> SummaryCells(const Summary &times) {
  return {std::to_string(times.round),
          Fixed(times.first),
          Fixed(times.curr),
          Fixed(times.min),
          Fixed(times.max),
          Fixed(times.avg),
          Fixed(times.std * 1000),
          Fixed(times.median),
          Fixed(times.p90),
          Fixed(times.p99)};
}

const std::vector<std::string> &SummaryHeader() {
  static const std::vector<std::string> header = {
      "round",   "first(ms)", "curr(ms)",   "min(ms)", "max(ms)",
      "avg(ms)", "std(us)",   "median(ms)", "p90(ms)", "p99(ms)"};
  return header;
}

void PrintTable(const std::string &title,
                const std::vector<std::string> &header,
                const Rows &rows) {
  for (const std::string &line : FormatTable(title, header, rows)) {
    MACE_TOOL_INFO(line);
  }
  MACE_TOOL_INFO("");
}

void PrintOps(const std::string &title,
              const std::vector<const OpProfile *> &ops,
              double total_ms) {
  static const std::vector<std::string> header = {
      "Op Type",      "Start",    "First",  "Avg(ms)", "%",
      "cdf%",         "GMACPS",   "Stride", "Pad",     "Filter Shape",
      "Output Shape", "Dilation", "name"};
  Rows rows;
  double cumulated = 0;
  for (const OpProfile *op : ops) {
    const double avg = Mean(op->times);
    cumulated += avg;
    rows.push_back(
        {op->type, Fixed(op->start_ms), Fixed(op->times.front()), Fixed(avg),
         Fixed(Percent(avg, total_ms)), Fixed(Percent(cumulated, total_ms)),
         Fixed(Gmacps(op->macs, avg)), ShapeText(op->args.strides),
         PadText(op->args), ShapeText(op->args.kernels),
         op->output_shape.empty() ? "" : ShapeText(op->output_shape.front()),
         ShapeText(op->args.dilations), op->name});
  }
  PrintTable(title, header, rows);
}

}  // namespace

Summary SummarizeSeries(const std::vector<double> &values) {
  Summary summary;
  if (values.empty()) return summary;
  summary.round = static_cast<int64_t>(values.size());
  summary.first = values.front();
  summary.curr = values.back();
  summary.min = *std::min_element(values.begin(), values.end());
  summary.max = *std::max_element(values.begin(), values.end());
  summary.avg = Mean(values);
  double squares = 0;
  for (double value : values) {
    squares += (value - summary.avg) * (value - summary.avg);
  }
  summary.std = std::sqrt(squares / static_cast<double>(values.size()));
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  summary.median = SortedPercentile(sorted, 50);
  summary.p90 = SortedPercentile(sorted, 90);
  summary.p99 = SortedPercentile(sorted, 99);
  return summary;
}

double Percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return SortedPercentile(values, percent);
}

double Median(const std::vector<double> &values) {
  return Percentile(values, 50);
}

void Series::Add(double value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += value;
  last_ = value;
  if (count_++ % stride_ != 0) return;
  kept_.push_back(value);
  if (kept_.size() < kMostKept) return;
  for (size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
  kept_.resize(kept_.size() / 2);
  stride_ *= 2;
}

Summary Series::Summarize() const {
  Summary summary = SummarizeSeries(kept_);
  if (count_ == 0) return summary;
  summary.round = count_;
  summary.curr = last_;
  summary.min = min_;
  summary.max = max_;
  summary.avg = sum_ / static_cast<double>(count_);
  return summary;
}

MaceStatus OpStatistics::Add(const RunMetadata &metadata) {
  const std::vector<OperatorStats> &stats = metadata.op_stats;
  const bool first = totals_.empty();
  if (first) ops_.resize(stats.size());
  if (stats.size() != ops_.size()) {
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR,
                      "the run had " + std::to_string(stats.size()) +
                          " operators, the first one " +
                          std::to_string(ops_.size()));
  }
  const int64_t begin = stats.empty() ? 0 : stats.front().stats.start_micros;
  double total = 0;
  for (size_t i = 0; i < stats.size(); ++i) {
    OpProfile *op = &ops_[i];
    if (first) {
      op->name = stats[i].operator_name;
      op->type = stats[i].type;
      op->output_shape = stats[i].output_shape;
      op->args = stats[i].args;
      op->device = stats[i].device;
      op->quantized = stats[i].quantized;
      op->macs = stats[i].macs;
      op->bytes = stats[i].bytes;
    }
    const CallStats &call = stats[i].stats;
    const double ms = static_cast<double>(call.duration_nanos) * 1e-6;
    op->last_start_ms = static_cast<double>(call.start_micros - begin) * 1e-3;
    if (first) op->start_ms = op->last_start_ms;
    op->times.push_back(ms);
    total += ms;
  }
  totals_.push_back(total);
  return MaceStatus::MACE_SUCCESS;
}

std::vector<TypeProfile> OpStatistics::Types() const {
  std::map<std::string, TypeProfile> by_type;
  for (const OpProfile &op : ops_) {
    TypeProfile *type = &by_type[op.type];
    type->type = op.type;
    type->count += 1;
    type->avg_ms += Mean(op.times);
    type->macs += op.macs;
    type->calls += static_cast<int64_t>(op.times.size());
  }
  std::vector<TypeProfile> types;
  for (const auto &entry : by_type) types.push_back(entry.second);
  std::sort(types.begin(), types.end(),
            [](const TypeProfile &a, const TypeProfile &b) {
              return a.avg_ms != b.avg_ms ? a.avg_ms > b.avg_ms
                                          : a.type < b.type;
            });
  return types;
}

int64_t OpStatistics::macs() const {
  int64_t macs = 0;
  for (const OpProfile &op : ops_) macs += op.macs;
  return macs;
}

void OpStatistics::Print() const {
  const double total_ms = Mean(totals_);
  std::vector<const OpProfile *> order;
  for (const OpProfile &op : ops_) order.push_back(&op);
  PrintOps("Sort by Run Order", order, total_ms);

  std::sort(order.begin(), order.end(),
            [](const OpProfile *a, const OpProfile *b) {
              const double time_a = Mean(a->times);
              const double time_b = Mean(b->times);
              return time_a != time_b ? time_a > time_b : a < b;
            });
  order.resize(std::min(order.size(), kLongestOps));
  PrintOps("Sort by Computation Time", order, total_ms);

  Rows rows;
  double cumulated = 0;
  for (const TypeProfile &type : Types()) {
    cumulated += type.avg_ms;
    rows.push_back({type.type, std::to_string(type.count), Fixed(type.avg_ms),
                    Fixed(Percent(type.avg_ms, total_ms)),
                    Fixed(Percent(cumulated, total_ms)), WithCommas(type.macs),
                    Fixed(Gmacps(type.macs, type.avg_ms)),
                    std::to_string(type.calls)});
  }
  PrintTable("Stat by Op Type",
             {"Op Type", "Count", "Avg(ms)", "%", "cdf%", "MACs", "GMACPS",
              "Called times"},
             rows);

  std::vector<double> rates;
  for (double total : totals_) rates.push_back(Gmacps(macs(), total));
  const Summary rate = SummarizeSeries(rates);
  PrintTable(
      "Stat by MACs(Multiply-Accumulation)",
      {"total", "round", "first(G/s)", "avg(G/s)", "std(G/s)"},
      {{WithCommas(macs()), std::to_string(rate.round), Fixed(rate.first),
        Fixed(Gmacps(macs(), total_ms)), Fixed(rate.std)}});

  PrintTable("Summary of Ops' Stat", SummaryHeader(),
             {SummaryCells(SummarizeSeries(totals_))});
}

void PrintBorderCopies(const std::vector<TensorCopy> &copies) {
  int64_t bytes = 0;
  for (const TensorCopy &copy : copies) bytes += copy.bytes;
  MACE_TOOL_INFO(
      "inputs and outputs that were copied: " + std::to_string(copies.size()) +
      " (" + WithCommas(bytes) + " bytes)");
  for (const TensorCopy &copy : copies) {
    MACE_TOOL_INFO(std::string(copy.is_output ? "output " : "input ") +
                   copy.tensor + ", " + WithCommas(copy.bytes) +
                   " bytes, because " + CopyReasonText(copy.reason));
  }
}

void PrintRunTimes(const std::string &title, const Summary &times_ms) {
  PrintTable(title, SummaryHeader(), {SummaryCells(times_ms)});
}

std::vector<std::string> FormatTable(const std::string &title,
                                     const std::vector<std::string> &header,
                                     const Rows &rows) {
  std::vector<size_t> widths;
  for (const std::string &cell : header) widths.push_back(cell.size());
  for (const std::vector<std::string> &row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  size_t total = 1;
  for (size_t width : widths) total += width + 3;
  const auto line = [&](const std::vector<std::string> &cells) {
    std::string text = "|";
    for (size_t i = 0; i < widths.size(); ++i) {
      text +=
          " " + std::string(widths[i] - cells[i].size(), ' ') + cells[i] + " |";
    }
    return text;
  };
  const std::string rule(total, '-');
  const size_t indent = total > title.size() ? (total - title.size()) / 2 : 0;
  std::vector<std::string> lines = {rule, std::string(indent, ' ') + title,
                                    rule, line(header), rule};
  for (const std::vector<std::string> &row : rows) lines.push_back(line(row));
  lines.push_back(rule);
  return lines;
}

std::string WithCommas(int64_t value) {
  std::string text = std::to_string(value);
  const int first_digit = value < 0 ? 1 : 0;
  for (int i = static_cast<int>(text.size()) - 3; i > first_digit; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

}  // namespace tools
}  // namespace mace

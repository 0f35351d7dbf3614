// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/model_runner.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "mace/public/mace_buffers.h"
#include "mace/tools/machine.h"
#include "mace/tools/stability.h"
#include "mace/tools/statistics.h"
#include "mace/tools/tensor_io.h"

namespace mace {
namespace tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReportVersion = 1;

Json SummaryJson(const Summary &s, const std::vector<double> &values) {
  return {{"round", s.round}, {"first", s.first},   {"curr", s.curr},
          {"min", s.min},     {"max", s.max},       {"avg", s.avg},
          {"std", s.std},     {"median", s.median}, {"p90", s.p90},
          {"p99", s.p99},     {"values", values}};
}

Json SummaryJson(const std::vector<double> &values) {
  return SummaryJson(SummarizeSeries(values), values);
}

Json SummaryJson(const Series &series) {
  return SummaryJson(series.Summarize(), series.kept());
}

Json StabilityJson(const Measurements &m) {
  const Stability &s = m.stability;
  const MachineChanges &changes = m.changes;
  return {{"verdict", VerdictName(s.verdict)},
          {"sentence", StabilitySentence(s, changes)},
          {"cold_ms", m.warmup_ms.front()},
          {"warm_ms", s.warm_ms},
          {"sustained_ms", s.sustained_ms},
          {"trend", s.trend},
          {"spread", s.spread},
          {"direction", s.direction},
          {"tail", s.tail},
          {"excess", s.excess},
          {"window_medians_ms", s.window_medians},
          {"cores", changes.cores},
          {"other_cores", changes.other_cores},
          {"first_mhz", changes.first_mhz},
          {"last_mhz", changes.last_mhz},
          {"least_mhz", changes.least_mhz},
          {"most_mhz", changes.most_mhz},
          {"first_celsius", changes.first_celsius},
          {"last_celsius", changes.last_celsius},
          {"most_celsius", changes.most_celsius}};
}

const char *RuntimeName(DeviceType device) {
  switch (device) {
    case CPU:
      return "cpu";
    case GPU:
      return "gpu";
    case HEXAGON:
      return "dsp";
    case HTA:
      return "hta";
    case APU:
      return "apu";
    case HTP:
      return "htp";
    case NPU:
      return "npu";
  }
  return "unknown";
}

Json OpJson(const OpProfile &op) {
  const Summary s = SummarizeSeries(op.times);
  Json json = {
      {"name", op.name},
      {"type", op.type},
      {"device", RuntimeName(op.device)},
      {"quantized", op.quantized},
      {"output_shape", op.output_shape},
      {"macs", op.macs},
      {"bytes", op.bytes},
      {"start_ms", op.start_ms},
      {"last_start_ms", op.last_start_ms},
      {"first_ms", s.first},
      {"last_ms", s.curr},
      {"min_ms", s.min},
      {"max_ms", s.max},
      {"avg_ms", s.avg},
      {"std_ms", s.std},
      {"median_ms", s.median},
      {"p90_ms", s.p90},
      {"p99_ms", s.p99},
  };
  if (!op.args.strides.empty()) {
    json["strides"] = op.args.strides;
    json["padding_type"] = op.args.padding_type;
    json["paddings"] = op.args.paddings;
    json["dilations"] = op.args.dilations;
  }
  if (!op.args.kernels.empty()) json["filter_shape"] = op.args.kernels;
  return json;
}

Json BorderCopiesJson(const std::vector<TensorCopy> &copies) {
  Json tensors = Json::array();
  int64_t bytes = 0;
  for (const TensorCopy &copy : copies) {
    bytes += copy.bytes;
    tensors.push_back({{"tensor", copy.tensor},
                       {"is_output", copy.is_output},
                       {"from", RuntimeName(copy.from)},
                       {"to", RuntimeName(copy.to)},
                       {"bytes", copy.bytes},
                       {"reason", CopyReasonText(copy.reason)}});
  }
  return {{"count", copies.size()}, {"bytes", bytes}, {"tensors", tensors}};
}

Json BenchmarkJson(const Measurements &m) {
  Json types = Json::array();
  for (const TypeProfile &type : m.ops.Types()) {
    types.push_back({{"type", type.type},
                     {"count", type.count},
                     {"avg_ms", type.avg_ms},
                     {"macs", type.macs},
                     {"calls", type.calls}});
  }
  Json ops = Json::array();
  for (const OpProfile &op : m.ops.ops()) ops.push_back(OpJson(op));
  return {
      {"warm_up_ms", SummaryJson(m.warmup_ms)},
      {"without_statistics_ms", SummaryJson(m.without_statistics_ms)},
      {"with_statistics_ms", SummaryJson(m.with_statistics_ms)},
      {"ops_ms", SummaryJson(m.ops.totals())},
      {"stability", StabilityJson(m)},
      {"macs", m.ops.macs()},
      {"border_copies", BorderCopiesJson(m.border_copies)},
      {"types", types},
      {"ops", ops},
  };
}

Json MemoryJson(const Measurements &m) {
  Json timeline = Json::array();
  for (const MemoryPoint &point : m.memory) {
    timeline.push_back({{"label", point.label},
                        {"ms", point.ms},
                        {"resident_bytes", point.resident_bytes}});
  }
  return {{"peak_resident_bytes", m.peak_resident_bytes},
          {"arena_bytes", m.engine.arena_bytes},
          {"tensor_bytes", m.engine.tensor_bytes},
          {"constant_bytes", m.engine.constant_bytes},
          {"prepared_bytes", m.engine.prepared_bytes},
          {"state_bytes", m.engine.state_bytes},
          {"timeline", timeline}};
}

Json RefusalsJson(const std::vector<DeviceRefusal> &refusals) {
  Json json = Json::array();
  for (const DeviceRefusal &refusal : refusals) {
    json.push_back(
        {{"device", RuntimeName(refusal.device)}, {"reason", refusal.reason}});
  }
  return json;
}

Json PlacementJson(const EnginePlacement &placement) {
  Json operators = Json::array();
  for (const OperatorPlacement &op : placement.operators) {
    operators.push_back(
        {{"name", op.operator_name},
         {"type", op.type},
         {"device", RuntimeName(op.device)},
         {"kernel", op.kernel},
         {"output", op.output},
         {"remark", op.remark},
         {"estimated_us", static_cast<double>(op.estimated_nanos) / 1e3},
         {"refusals", RefusalsJson(op.refusals)}});
    if (!op.subgraph.empty()) operators.back()["subgraph"] = op.subgraph;
  }
  Json copies = Json::array();
  for (const TensorCopy &copy : placement.copies) {
    copies.push_back({{"tensor", copy.tensor},
                      {"from", RuntimeName(copy.from)},
                      {"to", RuntimeName(copy.to)},
                      {"bytes", copy.bytes},
                      {"before_operator", copy.before_operator}});
  }
  return {{"operators", operators},
          {"copies", copies},
          {"left_out", RefusalsJson(placement.left_out)}};
}

Json TensorsJson(const TensorMap &tensors) {
  Json json = Json::array();
  for (const auto &entry : tensors) {
    const ValueSummary values = Summarize(entry.second);
    json.push_back({{"name", entry.first},
                    {"shape", entry.second.shape()},
                    {"data_type", DataTypeName(entry.second.data_type())},
                    {"nan", values.nan},
                    {"inf", values.inf},
                    {"min", values.min},
                    {"max", values.max},
                    {"mean", values.mean}});
  }
  return json;
}

}  // namespace

std::string JsonReport(const Options &options,
                       const ModelRunner &runner,
                       const MaceStatus &status) {
  const Measurements &m = runner.measurements();
  Json restarts = Json::array();
  for (const RestartTimes &times : m.restarts) {
    restarts.push_back({{"init_ms", times.init_ms},
                        {"files_ms", times.files_ms},
                        {"engine_ms", times.init_ms - times.files_ms},
                        {"warmup_ms", times.warmup_ms},
                        {"warmup_runs_ms", times.warmup_runs_ms},
                        {"run_ms", SummaryJson(times.run_ms)}});
  }
  Json report = {
      {"version", kReportVersion},
      {"mace_version", MaceVersion()},
      {"status",
       {{"code", static_cast<int>(status.code())},
        {"message", status.information()}}},
      {"model",
       {{"name", options.model_name},
        {"file", options.model_file},
        {"data_file", options.model_data_file}}},
      {"machine",
       {{"processor", ProcessorName()},
        {"isa", IsaName()},
        {"usable_cores", UsableCores()}}},
      {"options",
       {{"runtime", options.runtime},
        {"num_threads", options.num_threads},
        {"cpu_affinity_policy", options.cpu_affinity_policy},
        {"round", options.round},
        {"duration_s", options.duration_s},
        {"warmup_rounds", options.warmup_rounds},
        {"plan_only", options.plan_only},
        {"restart_round", options.restart_round}}},
      {"capability_ms", m.capability_ms},
      {"restarts", restarts},
      {"recoveries", m.recoveries},
      {"operator_count", m.engine.operator_count},
      {"outputs", TensorsJson(runner.outputs())},
      {"non_finite", m.non_finite.empty() ? Json() : Json(m.non_finite)},
      {"memory", MemoryJson(m)},
      {"placement", PlacementJson(runner.Placement())},
  };
  // A run that failed has nothing to tell.
  if (options.benchmark && !m.warmup_ms.empty()) {
    report["benchmark"] = BenchmarkJson(m);
  }
  if (options.measure_peak) {
    report["peak"] = {{"threads", m.peak.threads},
                      {"gflops", m.peak.gflops},
                      {"int8_gops", m.peak.int8_gops},
                      {"gbytes_per_s", m.peak.gbytes_per_s},
                      {"cache_gbytes_per_s", m.peak.cache_gbytes_per_s},
                      {"least_round_trip_ns", m.peak.least_round_trip_ns},
                      {"most_round_trip_ns", m.peak.most_round_trip_ns}};
  }
  if (!m.gpu_peak.name.empty()) {
    report["gpu_peak"] = {
        {"name", m.gpu_peak.name},
        {"gflops", m.gpu_peak.gflops},
        {"gbytes_per_s", m.gpu_peak.gbytes_per_s},
        {"cache_gbytes_per_s", m.gpu_peak.cache_gbytes_per_s}};
  }
  // Names come from a model file and may not be valid UTF-8.
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tools
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/model_runner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mace/tools/console.h"

namespace mace {
namespace tools {
namespace {

// A driver that fails this often in a row will not recover.
constexpr int kMaxRecoveries = 10;
// Rounds of a benchmark section unless --round says more.
constexpr int kBenchmarkRounds = 100;
// A report needs no more points, and a run of several days must not fill the
// memory that it measures.
constexpr size_t kMaxMemoryPoints = 2000;

std::vector<std::string> NamesOf(const std::vector<TensorSpec> &specs) {
  std::vector<std::string> names;
  names.reserve(specs.size());
  for (const TensorSpec &spec : specs) names.push_back(spec.name);
  return names;
}

// `names`: "gpu+cpu".
MaceStatus ReadRuntimes(const std::string &names,
                        std::vector<RuntimeType> *wish) {
  static const std::map<std::string, RuntimeType> runtimes = {
      {"cpu", RT_CPU}, {"gpu", RT_OPENCL}, {"dsp", RT_HEXAGON},
      {"hta", RT_HTA}, {"apu", RT_APU},    {"htp", RT_HTP},
  };
  std::istringstream parts(names);
  for (std::string part; std::getline(parts, part, '+');) {
    const auto found = runtimes.find(part);
    if (found == runtimes.end()) {
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                        "--runtime: '" + part +
                            "' is none of cpu, gpu, dsp, hta, htp, apu; "
                            "several are joined by '+'");
    }
    wish->push_back(found->second);
  }
  return MaceStatus::MACE_SUCCESS;
}

// `text`: for the whole model, or by subgraph: "front=gpu+cpu,back=cpu".
MaceStatus SetRuntime(const std::string &text, MaceEngineConfig *config) {
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.rfind('=');
    const std::string subgraph =
        equals == std::string::npos ? "" : part.substr(0, equals);
    std::vector<RuntimeType> wish;
    MaceStatus status = ReadRuntimes(
        equals == std::string::npos ? part : part.substr(equals + 1), &wish);
    if (status == MaceStatus::MACE_SUCCESS) {
      status = config->SetRuntimeTypes(wish, subgraph.c_str());
    }
    if (status != MaceStatus::MACE_SUCCESS) return status;
  }
  return MaceStatus::MACE_SUCCESS;
}

#define MACE_TOOL_RETURN_IF_ERROR(expression)                \
  do {                                                       \
    const MaceStatus status_ = (expression);                 \
    if (status_ != MaceStatus::MACE_SUCCESS) return status_; \
  } while (false)

MaceStatus SetGpu(const GpuOptions &gpu, MaceEngineConfig *config) {
  MACE_TOOL_RETURN_IF_ERROR(config->SetGPUContext(
      GPUContextBuilder()
          .SetOpenCLCacheFullPath(gpu.cache_full_path)
          .SetOpenCLCacheReusePolicy(
              static_cast<OpenCLCacheReusePolicy>(gpu.cache_reuse_policy))
          .SetOpenCLBinaryPaths({gpu.binary_file})
          .SetOpenCLParameterPath(gpu.parameter_file)
          .Finalize()));
  return config->SetGPUHints(static_cast<GPUPerfHint>(gpu.perf_hint),
                             static_cast<GPUPriorityHint>(gpu.priority_hint));
}

MaceStatus SetDsp(const DspOptions &dsp, MaceEngineConfig *config) {
  if (dsp.unsigned_pd) {
    MACE_TOOL_RETURN_IF_ERROR(config->SetHexagonToUnsignedPD());
  }
  if (dsp.power == HEXAGON_NN_CORNER_RELEASE && !dsp.dcvs &&
      dsp.latency_us == 0) {
    return MaceStatus::MACE_SUCCESS;
  }
  return config->SetHexagonPower(static_cast<HexagonNNCornerType>(dsp.power),
                                 dsp.dcvs, dsp.latency_us);
}

MaceStatus SetAccelerator(const AcceleratorFlags &flags,
                          MaceEngineConfig *config) {
  MACE_TOOL_RETURN_IF_ERROR(config->SetAcceleratorCache(
      static_cast<AcceleratorCachePolicy>(flags.cache_policy),
      flags.binary_file, flags.storage_file));
  MACE_TOOL_RETURN_IF_ERROR(config->SetAPUHints(
      static_cast<uint8_t>(flags.boost_hint),
      static_cast<APUPreferenceHint>(flags.preference_hint)));
  return config->SetQnnPerformance(
      static_cast<HexagonPerformanceType>(flags.performance));
}

std::string MemoryText(const EngineStats &stats) {
  const size_t total = stats.arena_bytes + stats.constant_bytes +
                       stats.prepared_bytes + stats.state_bytes;
  return "memory: " + std::to_string(total) +
         " bytes: " + std::to_string(stats.arena_bytes) +
         " of intermediate tensors and scratch, " +
         std::to_string(stats.constant_bytes) + " of weights in place, " +
         std::to_string(stats.prepared_bytes) + " of prepared weights, " +
         std::to_string(stats.state_bytes) + " of states";
}

// The threads of the run, limited by the number of cores.
int PeakThreads(const Options &options) {
  const int cores = UsableCores();
  return options.num_threads < 1 ? cores : std::min(options.num_threads, cores);
}

}  // namespace

ModelRunner::ModelRunner(const Options &options)
    : options_(options), source_(options_) {
  const char *ratio = std::getenv("MACE_RUNTIME_FAILURE_RATIO");
  if (ratio != nullptr) failure_ratio_ = std::atof(ratio);
  // With this check, every run would fail in the same way again.
  const char *check = std::getenv("MACE_OUT_OF_RANGE_CHECK");
  may_recover_ = !options_.gpu.out_of_range_check &&
                 (check == nullptr || std::string(check) != "1");
}

void ModelRunner::RecordMemory(const std::string &label) {
  if (measurements_.memory.size() >= kMaxMemoryPoints) return;
  measurements_.memory.push_back({label, NowMs(), ResidentBytes()});
}

MaceStatus ModelRunner::RunAll() {
  RecordMemory("start");
  MACE_TOOL_RETURN_IF_ERROR(PrepareTensors());
  if (options_.input_dir.empty()) MACE_TOOL_RETURN_IF_ERROR(LoadInputs());
  if (options_.check_weights) MACE_TOOL_RETURN_IF_ERROR(CheckWeights());
  RecordMemory("inputs ready");
  if (options_.measure_capability && !options_.plan_only) {
    measurements_.capability_ms = CapabilityMs();
  }
  if (options_.measure_peak) {
    // Measured again at the end, because the load of the machine changes.
    MACE_TOOL_RETURN_IF_ERROR(MeasurePeak(
        PeakThreads(options_), PeakLoops::kInCache, &measurements_.peak));
    MeasureGpu();
  }
  for (int i = 0; i < options_.restart_round; ++i) {
    if (options_.restart_round > 1) {
      MACE_TOOL_INFO("restart round " + std::to_string(i));
    }
    engine_.reset();
    MACE_TOOL_RETURN_IF_ERROR(RunOneLife());
  }
  measurements_.engine = engine_->GetStats();
  if (options_.memory) MACE_TOOL_INFO(MemoryText(measurements_.engine));
  if (options_.benchmark) MACE_TOOL_RETURN_IF_ERROR(Benchmark());
  RecordMemory("end");
  // Read before the arrays of the peak measurement are allocated.
  measurements_.peak_resident_bytes = PeakResidentBytes();
  if (options_.measure_peak) {
    const int threads = PeakThreads(options_);
    MACE_TOOL_RETURN_IF_ERROR(
        MeasurePeak(threads, PeakLoops::kAll, &measurements_.peak));
    const auto rounded = [](double v) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.3g", v);
      return std::string(text);
    };
    const MachinePeak &peak = measurements_.peak;
    MACE_TOOL_INFO(
        "peak (threads: " + std::to_string(threads) + ", " + IsaName() +
        "): at least " + rounded(peak.gflops) + " GFLOP/s, " +
        rounded(peak.int8_gops) + " GOP/s of 8-bit integers, " +
        rounded(peak.gbytes_per_s) + " GB/s from memory, " +
        rounded(peak.cache_gbytes_per_s) + " GB/s from cache" +
        (peak.most_round_trip_ns == 0
             ? ""
             : "; from core to core and back in " +
                   std::to_string(std::lround(peak.least_round_trip_ns)) +
                   " to " +
                   std::to_string(std::lround(peak.most_round_trip_ns)) +
                   " ns"));
    MeasureGpu();
    const GpuPeak &gpu = measurements_.gpu_peak;
    if (!gpu.name.empty()) {
      MACE_TOOL_INFO("peak (" + gpu.name + "): at least " +
                     rounded(gpu.gflops) + " GFLOP/s, " +
                     rounded(gpu.gbytes_per_s) + " GB/s from memory, " +
                     rounded(gpu.cache_gbytes_per_s) + " GB/s from cache");
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

void ModelRunner::MeasureGpu() {
  if (!NamesRuntime(options_.runtime, "gpu")) return;
  // A report without it is better than none.
  const MaceStatus status = MeasureGpuPeak(&measurements_.gpu_peak);
  if (status != MaceStatus::MACE_SUCCESS) {
    MACE_TOOL_INFO("the peak of the GPU is not known: " + status.information());
  }
}

MaceStatus ModelRunner::PrepareTensors() {
  for (const TensorSpec &spec : options_.inputs) {
    MACE_TOOL_RETURN_IF_ERROR(MakeTensor(spec, &inputs_[spec.name]));
  }
  for (const TensorSpec &spec : options_.outputs) {
    MACE_TOOL_RETURN_IF_ERROR(MakeTensor(spec, &outputs_[spec.name]));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::LoadInputs() {
  uint64_t seed = options_.seed;
  for (const TensorSpec &spec : options_.inputs) {
    MaceTensor *tensor = &inputs_[spec.name];
    if (options_.input_file.empty()) {
      FillRandom(seed++, tensor);
    } else {
      MACE_TOOL_RETURN_IF_ERROR(
          ReadTensorFile(options_.input_file + "_" +
                             SanitizeName(spec.name, NamesOf(options_.inputs)),
                         tensor));
    }
  }
  if (options_.input_file.empty()) {
    MACE_TOOL_INFO("inputs are random, seed " + std::to_string(options_.seed));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::CheckWeights() {
  // Uses a separate engine, so that the check does not affect times.
  MaceEngineConfig config;
  MACE_TOOL_RETURN_IF_ERROR(config.SetWeightsCheck(true));
  MACE_TOOL_RETURN_IF_ERROR(
      config.SetCPUThreadPolicy(1, CPUAffinityPolicy::AFFINITY_NONE));
  MACE_TOOL_RETURN_IF_ERROR(source_.Load());
  std::shared_ptr<MaceEngine> engine;
  return source_.CreateEngine(config, &engine);
}

MaceStatus ModelRunner::CreateEngine(bool check_operators) {
  MaceEngineConfig config;
  const bool uses_gpu = NamesRuntime(options_.runtime, "gpu");
  if (check_operators || (uses_gpu && options_.gpu.out_of_range_check)) {
    MACE_TOOL_RETURN_IF_ERROR(config.SetOutOfRangeCheck(true));
  }
  MACE_TOOL_RETURN_IF_ERROR(SetRuntime(options_.runtime, &config));
  if (uses_gpu) MACE_TOOL_RETURN_IF_ERROR(SetGpu(options_.gpu, &config));
  if (NamesRuntime(options_.runtime, "dsp")) {
    MACE_TOOL_RETURN_IF_ERROR(SetDsp(options_.dsp, &config));
  }
  if (NamesAccelerator(options_.runtime)) {
    MACE_TOOL_RETURN_IF_ERROR(SetAccelerator(options_.accelerator, &config));
  }
  MACE_TOOL_RETURN_IF_ERROR(config.SetCPUThreadPolicy(
      options_.num_threads,
      static_cast<CPUAffinityPolicy>(options_.cpu_affinity_policy)));
  MACE_TOOL_RETURN_IF_ERROR(
      config.SetMemoryLimit(static_cast<size_t>(options_.memory_limit)));
  engine_.reset();
  return source_.CreateEngine(config, &engine_);
}

MaceStatus ModelRunner::RunOneLife() {
  RestartTimes times;
  const double begin = NowMs();
  MACE_TOOL_RETURN_IF_ERROR(source_.Load());
  times.files_ms = NowMs() - begin;
  MACE_TOOL_RETURN_IF_ERROR(CreateEngine());
  times.init_ms = NowMs() - begin;
  RecordMemory("engine created");
  if (options_.plan_only) {
    // Shapes that the model leaves open are those of the inputs.
    std::map<std::string, MaceTensor> inputs = inputs_;
    std::map<std::string, MaceTensor> outputs;
    MACE_TOOL_RETURN_IF_ERROR(engine_->Describe(&inputs, &outputs));
  }
  // With measured times where there will be any.
  if (options_.explain && !options_.benchmark) {
    MACE_TOOL_INFO(engine_->Explain());
  }
  // No output is there to be written or checked.
  if (options_.plan_only) {
    measurements_.restarts.push_back(std::move(times));
    return MaceStatus::MACE_SUCCESS;
  }
  if (!options_.input_dir.empty()) return RunSamples();

  if (!options_.fake_warmup) {
    for (int i = 0; i < options_.warmup_rounds; ++i) {
      double ms = 0;
      MACE_TOOL_RETURN_IF_ERROR(RunSafely(nullptr, &ms));
      times.warmup_runs_ms.push_back(ms);
      RecordMemory("warm-up");
    }
    times.warmup_ms = times.warmup_runs_ms.front();
  }
  SeriesLimit limit;
  // The benchmark's own runs take the time.
  const bool for_a_time = options_.duration_s > 0 && !options_.benchmark;
  if (for_a_time) {
    limit.seconds = options_.duration_s;
  } else {
    limit.rounds = options_.round;
  }
  Progress progress("runs", limit, options_.progress_s);
  for (int64_t i = 0; i == 0 || !progress.Finished(i); ++i) {
    double ms = 0;
    MACE_TOOL_RETURN_IF_ERROR(RunSafely(nullptr, &ms));
    times.run_ms.Add(ms);
    progress.Update(i + 1);
    RecordMemory("run " + std::to_string(i + 1));
    const int cycle = options_.malloc_check_cycle;
    if (cycle > 0 && (i + 1) % cycle == 0) {
      MACE_TOOL_INFO("after " + std::to_string(i + 1) + " runs: " +
                     std::to_string(ResidentBytes() / 1024) + " KiB resident");
    }
  }
  measurements_.restarts.push_back(std::move(times));
  // Outputs are written first, because they help to find the cause of a NaN.
  if (!options_.output_file.empty()) MACE_TOOL_RETURN_IF_ERROR(WriteOutputs());
  return options_.out_of_range_check ? CheckFinite()
                                     : MaceStatus(MaceStatus::MACE_SUCCESS);
}

MaceStatus ModelRunner::RunSamples() {
  const std::vector<std::string> names = NamesOf(options_.inputs);
  std::vector<std::string> suffixes;
  MACE_TOOL_RETURN_IF_ERROR(ListSamples(options_.input_dir, names, &suffixes));
  RestartTimes times;
  for (const std::string &suffix : suffixes) {
    for (const TensorSpec &spec : options_.inputs) {
      MACE_TOOL_RETURN_IF_ERROR(ReadTensorFile(
          options_.input_dir + "/" + SanitizeName(spec.name, names) + suffix,
          &inputs_[spec.name]));
    }
    double ms = 0;
    MACE_TOOL_RETURN_IF_ERROR(RunSafely(nullptr, &ms));
    times.run_ms.Add(ms);
    for (const TensorSpec &spec : options_.outputs) {
      MACE_TOOL_RETURN_IF_ERROR(WriteTensorFile(
          options_.output_dir + "/" +
              SanitizeName(spec.name, NamesOf(options_.outputs)) + suffix,
          outputs_[spec.name]));
    }
    if (options_.out_of_range_check) MACE_TOOL_RETURN_IF_ERROR(CheckFinite());
  }
  times.warmup_ms = times.run_ms.first();
  measurements_.restarts.push_back(std::move(times));
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::RunOnce(RunMetadata *metadata, double *ms) {
  // Each run starts from zero states, so that its result does not depend on the
  // number of earlier runs.
  MACE_TOOL_RETURN_IF_ERROR(engine_->ResetStates());
  const double begin = NowMs();
  MaceStatus status = engine_->Run(inputs_, &outputs_, metadata);
  if (ms != nullptr) *ms = NowMs() - begin;
  if (failure_ratio_ > 0 && status == MaceStatus::MACE_SUCCESS &&
      static_cast<double>(failure_source_()) <
          failure_ratio_ * static_cast<double>(failure_source_.max())) {
    status = MaceStatus(MaceStatus::MACE_RUNTIME_ERROR,
                        "failure wanted by MACE_RUNTIME_FAILURE_RATIO");
  }
  return status;
}

MaceStatus ModelRunner::RunSafely(RunMetadata *metadata, double *ms) {
  MaceStatus status = RunOnce(metadata, ms);
  std::string told;
  for (int i = 0; status.code() == MaceStatus::MACE_RUNTIME_ERROR; ++i) {
    if (i == kMaxRecoveries || !may_recover_) return status;
    if (status.information() != told) {
      told = status.information();
      MACE_TOOL_ERROR(told + "; making the engine anew, up to " +
                      std::to_string(kMaxRecoveries) + " times");
    }
    ++measurements_.recoveries;
    MACE_TOOL_RETURN_IF_ERROR(CreateEngine());
    if (metadata != nullptr) metadata->op_stats.clear();
    status = RunOnce(metadata, ms);
  }
  return status;
}

MaceStatus ModelRunner::BenchmarkSection(const SeriesLimit &limit,
                                         Series *times_ms,
                                         OpStatistics *statistics,
                                         MachineWatch *watch) {
  const char *title = statistics != nullptr ? "benchmark with statistics"
                                            : "benchmark without statistics";
  Progress progress(title, limit, options_.progress_s);
  for (int64_t i = 0; i == 0 || !progress.Finished(i); ++i) {
    double ms = 0;
    RunMetadata metadata;
    MACE_TOOL_RETURN_IF_ERROR(
        RunSafely(statistics != nullptr ? &metadata : nullptr, &ms));
    times_ms->Add(ms);
    if (statistics != nullptr) {
      MACE_TOOL_RETURN_IF_ERROR(statistics->Add(metadata));
      measurements_.border_copies = metadata.border_copies;
    }
    progress.Update(i + 1);
    watch->Sample();
    RecordMemory(title);
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::Benchmark() {
  Measurements *m = &measurements_;
  // The engine's very first runs; with --fake_warmup there were none.
  m->warmup_ms = m->restarts.back().warmup_runs_ms;
  if (m->warmup_ms.empty()) {
    m->warmup_ms.push_back(m->restarts.back().run_ms.first());
  }
  SeriesLimit limit;
  limit.rounds = options_.round > 1 ? options_.round : kBenchmarkRounds;
  limit.seconds = options_.max_seconds;
  const SeriesLimit for_a_time = {0, options_.duration_s};
  MachineWatch watch;
  MACE_TOOL_RETURN_IF_ERROR(
      BenchmarkSection(options_.duration_s > 0 ? for_a_time : limit,
                       &m->without_statistics_ms, nullptr, &watch));
  m->changes = watch.Changes();
  m->stability = JudgeStability(m->without_statistics_ms.kept());
  MACE_TOOL_RETURN_IF_ERROR(
      BenchmarkSection(limit, &m->with_statistics_ms, &m->ops, &watch));
  PrintRunTimes("Warm Up", SummarizeSeries(m->warmup_ms));
  PrintRunTimes("Run without statistics", m->without_statistics_ms.Summarize());
  PrintRunTimes("Run with statistics", m->with_statistics_ms.Summarize());
  m->ops.Print();
  PrintBorderCopies(m->border_copies);
  PrintStability(m->warmup_ms.front(), m->stability, m->changes);
  if (options_.explain) MACE_TOOL_INFO(engine_->Explain());
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::WriteOutputs() const {
  for (const auto &output : outputs_) {
    const std::string path =
        options_.output_file + "_" +
        SanitizeName(output.first, NamesOf(options_.outputs));
    MACE_TOOL_RETURN_IF_ERROR(WriteTensorFile(path, output.second));
    MACE_TOOL_INFO("output " + output.first + " written to " + path);
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus ModelRunner::CheckFinite() {
  for (const auto &output : outputs_) {
    const ValueSummary values = Summarize(output.second);
    if (values.nan + values.inf == 0) continue;
    measurements_.non_finite =
        "output " + output.first + " has " + std::to_string(values.nan) +
        " NaN and " + std::to_string(values.inf) + " Inf among " +
        std::to_string(values.elements) + " values; " + FindNonFiniteOperator();
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, measurements_.non_finite);
  }
  return MaceStatus::MACE_SUCCESS;
}

std::string ModelRunner::FindNonFiniteOperator() {
  for (const auto &input : inputs_) {
    const ValueSummary values = Summarize(input.second);
    if (values.nan + values.inf != 0) {
      return "input " + input.first + " already has such values";
    }
  }
  // Outputs are already written, so the model can be run again.
  MaceStatus status = CreateEngine(/*check_operators=*/true);
  if (status == MaceStatus::MACE_SUCCESS) status = RunOnce(nullptr, nullptr);
  if (status == MaceStatus::MACE_SUCCESS) {
    return "no operator could be named: the values did not come back in a "
           "second run";
  }
  return status.information();
}

}  // namespace tools
}  // namespace mace

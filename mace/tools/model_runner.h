// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads a model, runs it and stores the measurements.

#ifndef MACE_TOOLS_MODEL_RUNNER_H_
#define MACE_TOOLS_MODEL_RUNNER_H_

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace.h"
#include "mace/tools/gpu_peak.h"
#include "mace/tools/machine.h"
#include "mace/tools/model_source.h"
#include "mace/tools/options.h"
#include "mace/tools/progress.h"
#include "mace/tools/stability.h"
#include "mace/tools/statistics.h"
#include "mace/tools/tensor_io.h"

namespace mace {
namespace tools {

// Times of one engine, from its creation to its last run.
struct RestartTimes {
  double init_ms = 0;
  double files_ms = 0;   // its part in which graph and weights are read
  double warmup_ms = 0;  // of the first run
  // All runs before those of run_ms; none with --fake_warmup.
  std::vector<double> warmup_runs_ms;
  Series run_ms;
};

struct Measurements {
  std::vector<RestartTimes> restarts;
  double capability_ms = 0;
  EngineStats engine = {};
  std::vector<MemoryPoint> memory;
  size_t peak_resident_bytes = 0;
  int recoveries = 0;
  // Only with --benchmark.
  std::vector<double> warmup_ms;
  Series without_statistics_ms;
  Series with_statistics_ms;
  OpStatistics ops;
  // Of the runs without statistics, and of the machine during them.
  Stability stability;
  MachineChanges changes;
  // Of the last run with statistics.
  std::vector<TensorCopy> border_copies;
  MachinePeak peak;
  GpuPeak gpu_peak;  // if the run is for the GPU
  // The first output with NaN or Inf, and the operator that made the first.
  std::string non_finite;
};

class ModelRunner {
 public:
  explicit ModelRunner(const Options &options);
  ModelRunner(const ModelRunner &) = delete;
  ModelRunner &operator=(const ModelRunner &) = delete;

  // Does everything that the options ask for, except the report.
  MaceStatus RunAll();

  const Measurements &measurements() const { return measurements_; }
  const TensorMap &outputs() const { return outputs_; }
  // Of the last engine; empty if none was created. Asked for after the runs,
  // because the answer needs memory that is not the runs'.
  EnginePlacement Placement() const {
    return engine_ == nullptr ? EnginePlacement() : engine_->GetPlacement();
  }

 private:
  MaceStatus PrepareTensors();
  MaceStatus LoadInputs();
  // Fails if the weights do not belong to the graph.
  MaceStatus CheckWeights();
  MaceStatus CreateEngine(bool check_operators = false);
  MaceStatus RunOneLife();
  MaceStatus RunSamples();
  MaceStatus Benchmark();
  // Runs in one section until the rounds or the time are used up.
  MaceStatus BenchmarkSection(const SeriesLimit &limit,
                              Series *times_ms,
                              OpStatistics *statistics,
                              MachineWatch *watch);
  // One run of the engine; `ms` may be null.
  MaceStatus RunOnce(RunMetadata *metadata, double *ms);
  // As RunOnce, but after a runtime error it creates a new engine and tries
  // again, a few times. (MR-07)
  MaceStatus RunSafely(RunMetadata *metadata, double *ms);
  MaceStatus WriteOutputs() const;
  // Fails when an output has NaN or Inf.
  MaceStatus CheckFinite();
  std::string FindNonFiniteOperator();
  void RecordMemory(const std::string &label);
  void MeasureGpu();

  const Options options_;
  ModelSource source_;
  std::shared_ptr<MaceEngine> engine_;
  TensorMap inputs_;
  TensorMap outputs_;
  Measurements measurements_;
  std::minstd_rand failure_source_;
  double failure_ratio_ = 0;
  bool may_recover_ = true;
};

// The report of a run that ended with `status`; README.md in this folder
// describes its members. Failed runs have a report, too.
std::string JsonReport(const Options &options,
                       const ModelRunner &runner,
                       const MaceStatus &status);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_MODEL_RUNNER_H_

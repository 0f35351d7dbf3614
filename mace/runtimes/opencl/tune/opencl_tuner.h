// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the fastest values of a model's choices by measuring its launches.
//
// The whole model is measured in each trial, with another value for up to
// kMostTried choices at once: launches do not change each other's times.
// Trials with the guesses and with other values take turns, so that a clock
// that changes meanwhile changes both.
//
// A value replaces the guess if it is faster by kMargin. Choices that compile
// programs come first: what they save must be worth the programs
// (kProgramShare), which an application compiles at its first start. At the
// end, the model is measured with the guesses and with all values, and the
// values are dropped if they lose.

#ifndef MACE_RUNTIMES_OPENCL_TUNE_OPENCL_TUNER_H_
#define MACE_RUNTIMES_OPENCL_TUNE_OPENCL_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"

namespace mace {

// The launches of a model with certain values.
class TuningTrial {
 public:
  virtual ~TuningTrial() = default;
  // Equal choices have equal keys.
  virtual const std::vector<TuningChoice> &choices() const = 0;
  virtual size_t launch_count() const = 0;
  // Names the program of a launch.
  virtual std::string program(size_t launch) const = 0;
  // Runs all launches once. `nanos`: the time of each. Returns the time from
  // the first to the last.
  virtual Result<int64_t> Run(std::vector<int64_t> *nanos) = 0;
};

class TuningBench {
 public:
  virtual ~TuningBench() = default;
  // Fails if the GPU can't compile or run a kernel with these values.
  virtual Result<std::unique_ptr<TuningTrial>> Make(
      const TunedValues &values) = 0;
  // Since tuning began.
  virtual double Seconds() const = 0;
};

struct TuningSummary {
  size_t choices = 0;  // of the model
  size_t known = 0;    // tuned earlier
  size_t tuned = 0;    // now, within the time
  size_t changed = 0;  // of them: those for which a guess was not the best
  int64_t guess_nanos = 0;
  int64_t tuned_nanos = 0;
};

// Tunes what `parameters` do not have, until `seconds` have passed (it is
// looked at between trials), and inserts what is decided. An error is that of
// the model with its guesses, or of running it.
Result<TuningSummary> TuneModel(TuningBench *bench,
                                double seconds,
                                TunedParameters *parameters);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_TUNE_OPENCL_TUNER_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The launches of a partition, as the tuner measures them: with memory of their
// own, on the queue that measures times.

#ifndef MACE_RUNTIMES_OPENCL_MODEL_TUNING_H_
#define MACE_RUNTIMES_OPENCL_MODEL_TUNING_H_

#include <chrono>
#include <memory>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/opencl_tuner.h"
#include "mace/runtimes/opencl/prepared_opencl.h"

namespace mace {

class ModelTuning final : public TuningBench {
 public:
  // `border`: the storage of inputs and outputs.
  ModelTuning(PreparedOpencl *prepared,
              const std::vector<BorderStorage> &border);

  Result<std::unique_ptr<TuningTrial>> Make(const TunedValues &values) override;
  double Seconds() const override;

 private:
  class Trial;

  PreparedOpencl *prepared_;
  const std::vector<BorderStorage> &border_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_MODEL_TUNING_H_

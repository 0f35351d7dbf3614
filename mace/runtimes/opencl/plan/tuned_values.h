// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Choices between kernels, or between parameters of one, whose values tuning
// may have measured on this GPU.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_TUNED_VALUES_H_
#define MACE_RUNTIMES_OPENCL_PLAN_TUNED_VALUES_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/public/mace_runtime.h"

namespace mace {

struct TuningChoice {
  // What is computed and what is chosen: the same in all models.
  std::string key;
  // HashDigits of the text of the kernels: what was measured for another is
  // void.
  std::string source;
  // Whether another value compiles another program.
  bool changes_program = false;
  // One word each; the first is the guess.
  std::vector<std::string> values;
  // The one that holds.
  size_t chosen = 0;
  // It was found, and is no mere guess.
  bool is_tuned = false;
  // The launches of the plan whose times depend on it.
  size_t begin = 0;
  size_t end = 0;

  const std::string &guess() const { return values.front(); }
  const std::string &value() const { return values[chosen]; }
};

// What an operator computes, as a part of keys: its type, shapes and
// attributes, and how kernels of its model compute.
// "Conv2D 1x12x70x3,16x3x3x3>1x12x70x16 0123456789abcdef image half"
std::string ProblemText(const OpenclPlanContext &context);

// Where a plan finds values.
class TunedValues {
 public:
  virtual ~TunedValues() = default;
  // The word for a choice; empty if there is none. It may be any word.
  virtual std::string Find(const TuningChoice &choice) const = 0;
  // Sets `chosen`: what Find returned, or the guess if that is not in `values`.
  void Apply(TuningChoice *choice) const;
};

// The values that were measured on one GPU, in tables that outlive the process.
// An entry of a table is never trusted: it holds only for the same GPU and text
// of kernels, and if it is one of the possible values.
class TunedParameters final : public TunedValues {
 public:
  // `device` names the GPU. `shipped` is only read, and comes first. Neither is
  // null.
  TunedParameters(std::string device,
                  std::unique_ptr<KVStorage> shipped,
                  std::unique_ptr<KVStorage> own);

  std::string Find(const TuningChoice &choice) const override;
  // Puts a value into the own table. Flush stores the table.
  void Insert(const TuningChoice &choice, const std::string &value);
  void Flush();

 private:
  std::string KeyOf(const TuningChoice &choice) const {
    return device_ + "|" + choice.key;
  }

  const std::string device_;
  const std::unique_ptr<KVStorage> shipped_;
  const std::unique_ptr<KVStorage> own_;
};

// Values to try, before those of `other`, which may be null.
class TrialValues final : public TunedValues {
 public:
  explicit TrialValues(const TunedValues *other) : other_(other) {}

  std::string Find(const TuningChoice &choice) const override;
  void Set(const std::string &key, const std::string &value) {
    values_[key] = value;
  }

 private:
  const TunedValues *other_;
  std::map<std::string, std::string> values_;  // by TuningChoice::key
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_TUNED_VALUES_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CPU_OP_PLAN_RECORD_H_
#define MACE_OPS_CPU_OP_PLAN_RECORD_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

// What an operator requested and allowed in Plan.
struct PlanRecord {
  struct Part {
    size_t output;
    size_t input;
    PartPlace place;
  };

  bool MayBeStrided(size_t port) const {
    return !strided.empty() && strided[port] != 0;
  }

  std::unique_ptr<OpPlan> plan;
  size_t scratch_bytes = 0;
  std::vector<std::pair<size_t, size_t>> in_place;  // (output, input)
  std::vector<Part> parts;
  // Per input, then per output: whether rows may be strided. Empty if none may.
  std::vector<char> strided;
  std::vector<std::pair<size_t, PlanContext::Fill>> prepared;  // bytes
};

// The part of a PlanContext that does not depend on where tensors are: it keeps
// a record. Ports that do not exist are ignored.
class RecordingPlanContext : public PlanContext {
 public:
  // The record must outlive the context.
  RecordingPlanContext(ThreadPool *pool, PlanRecord *record)
      : pool_(pool), record_(record) {}

  void RequestScratch(size_t bytes) override;
  void AllowInPlace(size_t output, size_t input) override;
  void AllowStridedInput(size_t input) override;
  void AllowStridedOutput(size_t output) override;
  void AllowPart(size_t output, size_t input, const PartPlace &place) override;
  void RequestPrepared(size_t bytes, Fill fill) override;
  ThreadPool *thread_pool() const override { return pool_; }
  void Keep(std::unique_ptr<OpPlan> plan) override;

 private:
  void AllowStrided(size_t port);

  ThreadPool *pool_;
  PlanRecord *record_;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_PLAN_RECORD_H_

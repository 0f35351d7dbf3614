// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/plan_record.h"

namespace mace {

void RecordingPlanContext::RequestScratch(size_t bytes) {
  record_->scratch_bytes = bytes;
}

void RecordingPlanContext::AllowInPlace(size_t output, size_t input) {
  record_->in_place.emplace_back(output, input);
}

void RecordingPlanContext::AllowStridedInput(size_t input) {
  if (input < input_count()) AllowStrided(input);
}

void RecordingPlanContext::AllowStridedOutput(size_t output) {
  if (output < output_count()) AllowStrided(input_count() + output);
}

void RecordingPlanContext::AllowPart(size_t output,
                                     size_t input,
                                     const PartPlace &place) {
  if (output < output_count() && input < input_count()) {
    record_->parts.push_back({output, input, place});
  }
}

void RecordingPlanContext::RequestPrepared(size_t bytes, Fill fill) {
  record_->prepared.emplace_back(bytes, std::move(fill));
}

void RecordingPlanContext::Keep(std::unique_ptr<OpPlan> plan) {
  record_->plan = std::move(plan);
}

void RecordingPlanContext::AllowStrided(size_t port) {
  record_->strided.resize(input_count() + output_count());
  record_->strided[port] = 1;
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Packs panels of int8 for kernels that read steps (step_panels.h).

#ifndef MACE_KERNELS_CPU_GEMM_STEP_PACKING_H_
#define MACE_KERNELS_CPU_GEMM_STEP_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/gemm/step_panels.h"

namespace mace::gemm {

// Fours of all panels, by the kind of their steps.
struct StepShares {
  size_t deep = 0;
  size_t masked = 0;  // of the deep ones
  size_t plain = 0;
  size_t flipped = 0;
  size_t rests = 0;  // fours of what is left of others; among the plain ones
};

// Two passes over panels of kI8Fours (quantized_gemm.h): the first one decides
// from the weights alone which steps they become, the second one writes them.
// Panels are given one by one, in the same order.
class StepPacking {
 public:
  // Of all panels; `depth` is at least 4.
  StepPacking(size_t panels, size_t taps, size_t depth);

  void Plan(const int8_t *fours);
  // After all calls of Plan.
  size_t Bytes() const;
  const StepShares &shares() const { return shares_; }
  // `to` is of Bytes(), of which each call writes one panel.
  void Write(const int8_t *fours, void *to);

 private:
  size_t HeaderBytes(size_t steps) const;
  size_t TableBytes() const;
  uint32_t OffsetOf(uint32_t four) const;

  const size_t panels_;
  const size_t taps_;
  const size_t depth_;
  const size_t fours_;              // of a tap
  std::vector<StepCounts> counts_;  // [panels][taps]
  std::vector<uint32_t> order_;     // the fours of all steps
  StepShares shares_;
  size_t bytes_ = 0;  // of the panels that were planned
  // Of the panel that is written next.
  size_t written_ = 0;
  size_t next_four_ = 0;
  size_t next_byte_ = 0;
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_STEP_PACKING_H_

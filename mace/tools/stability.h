// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a series of run times can be trusted: steady, noisy, or
// changing from its beginning to its end.

#ifndef MACE_TOOLS_STABILITY_H_
#define MACE_TOOLS_STABILITY_H_

#include <string>
#include <vector>

#include "mace/tools/machine.h"

namespace mace {
namespace tools {

enum class Verdict {
  kUnknown,   // too few runs
  kSteady,    // compare any figure
  kNoisy,     // compare minima and medians only
  kSlowing,   // slower and slower: thermal throttling, or load that grows
  kSpeeding,  // faster and faster: a short warm-up, or load that ends
};

struct Stability {
  Verdict verdict = Verdict::kUnknown;
  // Medians of consecutive windows, ms: ten, or fewer if a window would have
  // fewer than five runs.
  std::vector<double> window_medians;
  double warm_ms = 0;       // median of the first fifth of the runs
  double sustained_ms = 0;  // median of the last fifth
  double spread = 0;        // (max - min) / median of the window medians
  double trend = 0;         // sustained / warm - 1
  // Kendall's tau of the window medians over time: 1 if each is larger than all
  // before it, -1 if each is smaller, near 0 without a direction.
  double direction = 0;
  double tail = 0;    // p90 / median - 1 of all runs
  double excess = 0;  // average / median - 1 of all runs
};

// Fewer runs say nothing about noise.
constexpr int kFewestRunsToJudge = 20;

// Judges run times in their order, without the first, cold run.
Stability JudgeStability(const std::vector<double> &times_ms);

// "steady", "noisy", ...
const char *VerdictName(Verdict verdict);

// One sentence: the verdict, its figures, what was seen of the machine that
// explains it, and what to do.
std::string StabilitySentence(const Stability &stability,
                              const MachineChanges &changes);

// Two lines: the first run and the times of the others; the sentence.
void PrintStability(double cold_ms,
                    const Stability &stability,
                    const MachineChanges &changes);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_STABILITY_H_

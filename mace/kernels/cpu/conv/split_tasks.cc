// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/split_tasks.h"

#include <algorithm>

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }
constexpr Index RoundUp(Index a, Index b) { return DivideUp(a, b) * b; }

void SplitPanels(DirectPlan *p, Index blocks, Index grain) {
  p->panel_block =
      std::min(p->panels, RoundUp(DivideUp(p->panels, blocks), grain));
  p->panel_blocks = DivideUp(p->panels, p->panel_block);
}

// The time of a task of `rows` rows and `panels` panels, in products of one row
// and one panel. A pass over the weights costs about as much as 4 rows (they
// are read from L2); finding the rows of the image costs half a panel.
double TaskCost(Index rows, Index panels) {
  return (static_cast<double>(rows) + 4.0) *
         (static_cast<double>(panels) + 0.5);
}

// The time at which the last of `threads` equal threads is done, if each starts
// the next task as soon as it is free.
double Makespan(const DirectPlan &p, int threads) {
  constexpr int kMaxThreads = 64;
  double busy[kMaxThreads] = {};
  const int count = std::min(threads, kMaxThreads);
  const Index tasks = p.row_blocks * p.panel_blocks * p.shape.groups;
  for (Index task = 0; task < tasks; ++task) {
    const Index row = task / (p.panel_blocks * p.shape.groups) * p.row_block;
    const Index panel = task % p.panel_blocks * p.panel_block;
    double *first = std::min_element(busy, busy + count);
    *first += TaskCost(std::min(p.row_block, p.rows - row),
                       std::min(p.panel_block, p.panels - panel));
  }
  return *std::max_element(busy, busy + count);
}

void Split(DirectPlan *p, Index row_blocks, Index panel_blocks) {
  p->row_block = DivideUp(p->rows, row_blocks);
  p->row_blocks = DivideUp(p->rows, p->row_block);
  SplitPanels(p, panel_blocks, gemm::kMaxGroupPanels);
}

}  // namespace

void SplitForThreads(DirectPlan *p, int threads) {
  constexpr Index kMinTasks = 3;  // per thread
  constexpr Index kMaxTasks = 6;
  constexpr Index kEnoughTasks = 16;
  constexpr Index kMinTiles = 2;  // rows of a block
  if (threads <= 1) return;
  if (p->row_blocks * p->shape.groups >= kEnoughTasks * threads) return;
  if (p->vector) {
    SplitPanels(p, DivideUp(kMinTasks * threads, p->shape.groups), 1);
    return;
  }
  const Index tile = static_cast<Index>(p->arithmetic->row_tile);
  const Index least = p->row_blocks;
  const Index most = std::max(least, p->rows / (kMinTiles * tile));
  const Index groups = DivideUp(p->panels, Index{gemm::kMaxGroupPanels});
  DirectPlan best = *p;
  double best_span = Makespan(best, threads);
  bool enough = best.row_blocks * p->shape.groups >= kMinTasks * threads;
  for (Index columns = 1; columns <= std::min(groups, kMaxTasks * threads);
       ++columns) {
    for (Index tasks = kMinTasks; tasks <= kMaxTasks; ++tasks) {
      const Index rows = DivideUp(tasks * threads, columns * p->shape.groups);
      DirectPlan candidate = *p;
      Split(&candidate, std::clamp(rows, least, most), columns);
      const bool has_enough =
          candidate.row_blocks * candidate.panel_blocks * p->shape.groups >=
          kMinTasks * threads;
      const double span = Makespan(candidate, threads);
      if (has_enough > enough || (has_enough == enough && span < best_span)) {
        best = candidate;
        best_span = span;
        enough = has_enough;
      }
    }
  }
  *p = best;
}

}  // namespace mace::conv

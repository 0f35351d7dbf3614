// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/matmul/task_split.h"

#include <algorithm>

namespace mace::matmul {
namespace {

constexpr auto kColumns = static_cast<int64_t>(gemm::kPanelColumns);

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t TaskSplit::Tasks(int64_t panels) const {
  return calls * DivideUp(call_rows, task_rows) * DivideUp(panels, task_panels);
}

// A task has as many rows as stay in L2 while they are multiplied by the
// columns; fewer rows, and fewer columns, if threads would be idle otherwise.
TaskSplit SplitTasks(const Sizes &sizes,
                     size_t row_bytes,
                     size_t row_tile,
                     int threads) {
  constexpr int64_t kRowsInCache = 256 * 1024;
  constexpr int64_t kPartsPerThread = 4;
  TaskSplit s;
  s.calls = sizes.batches.count;
  s.call_rows = sizes.rows;
  if (sizes.batches.b_shared && sizes.a_matrices == s.calls) {
    s.call_rows *= s.calls;
    s.calls = 1;
  }
  const int64_t panels = DivideUp(sizes.columns, kColumns);
  const auto tile = static_cast<int64_t>(row_tile);
  const int64_t fit = kRowsInCache / static_cast<int64_t>(row_bytes);
  s.task_rows =
      std::max<int64_t>(1, std::min(DivideUp(s.call_rows, tile), fit / tile)) *
      tile;
  s.task_panels = panels;
  if (threads <= 1) return s;
  // The least number of multiply-adds for which using another thread is
  // worthwhile.
  constexpr int64_t kWorthwhile = 256 * 1024;
  const int64_t wanted = threads * kPartsPerThread;
  const int64_t row_tasks = s.calls * DivideUp(s.call_rows, s.task_rows);
  // Pairs of panels: no kernel's tile is wider.
  const int64_t pair_work = s.task_rows * sizes.depth * 2 * kColumns;
  const int64_t pairs = std::max(
      {int64_t{1}, DivideUp(DivideUp(panels, 2), DivideUp(wanted, row_tasks)),
       DivideUp(kWorthwhile, pair_work)});
  s.task_panels = std::min(panels, pairs * 2);
  const int64_t tasks = s.Tasks(panels);
  if (tasks >= wanted) return s;
  const int64_t parts = DivideUp(wanted, tasks);
  const int64_t row_work =
      tile * sizes.depth * std::min(panels, s.task_panels) * kColumns;
  const int64_t tiles =
      std::max({int64_t{1}, DivideUp(DivideUp(s.task_rows, tile), parts),
                DivideUp(kWorthwhile, row_work)});
  s.task_rows = std::min(s.task_rows, tiles * tile);
  return s;
}

TaskPart PartOfTask(const TaskSplit &split, int64_t panels, int64_t task) {
  const int64_t row_tasks = DivideUp(split.call_rows, split.task_rows);
  const int64_t panel_tasks = DivideUp(panels, split.task_panels);
  TaskPart part;
  part.call = task / (row_tasks * panel_tasks);
  part.row = task / panel_tasks % row_tasks * split.task_rows;
  part.rows = std::min(split.task_rows, split.call_rows - part.row);
  part.panel_begin = task % panel_tasks * split.task_panels;
  part.panel_end = std::min(panels, part.panel_begin + split.task_panels);
  return part;
}

}  // namespace mace::matmul

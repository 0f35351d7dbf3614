// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How products of 8-bit integers, whose B is packed as a whole, are divided
// into tasks.

#ifndef MACE_KERNELS_CPU_MATMUL_TASK_SPLIT_H_
#define MACE_KERNELS_CPU_MATMUL_TASK_SPLIT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/matmul/matmul.h"

namespace mace::matmul {

struct TaskSplit {
  // Products to run, of so many rows each. If all batches use one B, the
  // batches of A are additional rows.
  int64_t calls = 0;
  int64_t call_rows = 0;
  // Of each task.
  int64_t task_rows = 0;
  int64_t task_panels = 0;

  int64_t Tasks(int64_t panels) const;
};

// `row_bytes`: of a row as the kernel reads it. `row_tile`: its tallest tile.
TaskSplit SplitTasks(const Sizes &sizes,
                     size_t row_bytes,
                     size_t row_tile,
                     int threads);

// The part of the products that one task computes.
struct TaskPart {
  int64_t call = 0;
  int64_t row = 0;  // of the call
  int64_t rows = 0;
  int64_t panel_begin = 0;
  int64_t panel_end = 0;
};

TaskPart PartOfTask(const TaskSplit &split, int64_t panels, int64_t task);

}  // namespace mace::matmul

#endif  // MACE_KERNELS_CPU_MATMUL_TASK_SPLIT_H_

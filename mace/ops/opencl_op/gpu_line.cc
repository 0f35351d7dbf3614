// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_line.h"

#include <algorithm>

namespace mace {
namespace {

// Items of a work group: few enough for every GPU, and to share a line.
constexpr int64_t kMostItems = 256;
constexpr int64_t kFewestItems = 64;
// Reads of an item, so that sharing a line is worth its barriers.
constexpr int64_t kFewestReads = 2;
// Blocks of 16 bytes that are read together: a cache line of most GPUs.
constexpr int64_t kNear = 8;

}  // namespace

GpuGroup GpuGroup::For(const GpuTraits &gpu,
                       int64_t lines,
                       int64_t length,
                       int64_t near,
                       size_t local_bytes) {
  int64_t most = std::min(kMostItems, static_cast<int64_t>(gpu.max_work_group));
  if (local_bytes > 0) {
    most = std::min(most, static_cast<int64_t>(gpu.local_bytes / local_bytes));
  }
  // Few shapes of work groups, and therefore few programs.
  GpuGroup group;
  // Few lines are spread over all compute units.
  if (near >= kNear && kNear < most && lines / kNear > 2 * gpu.compute_units) {
    group.neighbours = kNear;
  }
  while (4 * group.items * group.neighbours <= most &&
         4 * group.items * kFewestReads <= length) {
    group.items *= 4;
  }
  while (2 * group.items * group.neighbours <= std::min(most, kFewestItems)) {
    group.neighbours *= 2;
  }
  return group;
}

void GpuGroup::AddTo(Launch *launch, int64_t lines) const {
  launch->Define("GROUP", items)
      .Define("NEIGHBOURS", neighbours)
      .Items(lines, items)
      .WorkGroup(neighbours, items);
}

GpuLines::GpuLines(const Shape &shape, size_t axis)
    : dims_(GpuDims::Of(shape)), channels_(axis + 1 == shape.rank()) {
  const int64_t length = shape[axis];
  // GpuDims has no W if the rank is 2.
  const bool of_columns = axis + 2 == shape.rank() && shape.rank() > 2;
  length_ = channels_ ? dims_.blocks() : length;
  width_ = channels_ || !of_columns ? dims_.w : 1;
  const bool of_rows = !channels_ && !of_columns;
  inner_ = of_rows && shape.rank() > 2
               ? shape.Elements(axis + 1, shape.rank() - 2)
               : 1;
  span_ = of_rows ? inner_ * length : 1;
  row_step_ = of_rows ? inner_ : 0;
  column_step_ = of_columns ? 1 : 0;
  count_ =
      channels_ ? dims_.pixels() : dims_.pixels() / length * dims_.blocks();
}

GpuGroup GpuLines::Group(const GpuTraits &gpu, size_t local_bytes) const {
  return GpuGroup::For(gpu, count_, length_, channels_ ? 1 : dims_.blocks(),
                       local_bytes);
}

void GpuLines::AddTo(Launch *launch) const {
  launch->Ints(length_, width_, inner_, span_)
      .Ints(row_step_, column_step_, count_, 0);
}

}  // namespace mace

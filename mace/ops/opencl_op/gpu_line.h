// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The host's side of mace/kernels/opencl/line.clh: lines of elements along one
// axis, and the work groups that share a line.

#ifndef MACE_OPS_OPENCL_OP_GPU_LINE_H_
#define MACE_OPS_OPENCL_OP_GPU_LINE_H_

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

struct GpuGroup {
  int64_t items = 1;       // that share a line
  int64_t neighbours = 1;  // lines of a work group

  // `length`: reads of a line. `near`: lines whose neighbours in memory are
  // those of the next lines, so that items which read them together read whole
  // cache lines; 1 if a line itself is dense. `local_bytes`: of each item.
  static GpuGroup For(const GpuTraits &gpu,
                      int64_t lines,
                      int64_t length,
                      int64_t near,
                      size_t local_bytes);
  // The macros, the work group and its items.
  void AddTo(Launch *launch, int64_t lines) const;
};

class GpuLines {
 public:
  // `axis` is not negative.
  GpuLines(const Shape &shape, size_t axis);

  // Whether the axis is that of the channels, so that a line is a pixel.
  bool channels() const { return channels_; }
  int64_t count() const { return count_; }
  GpuGroup Group(const GpuTraits &gpu, size_t local_bytes) const;
  // LINE_ARGS
  void AddTo(Launch *launch) const;

 private:
  GpuDims dims_;
  bool channels_;
  int64_t count_;
  int64_t length_;
  int64_t width_;  // lines of a row
  int64_t inner_;  // rows after the axis
  int64_t span_;   // rows from one index before the axis to the next
  int64_t row_step_;
  int64_t column_step_;
};

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_GPU_LINE_H_

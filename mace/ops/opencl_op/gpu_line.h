// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The host's side of mace/kernels/opencl/line.clh: lines of elements along one
// axis, and the work groups that share a line.

#ifndef MACE_OPS_OPENCL_OP_GPU_LINE_H_
#define MACE_OPS_OPENCL_OP_GPU_LINE_H_

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

// The shape of a work group.
struct GpuGroup {
  int64_t items = 1;       // that share a line
  int64_t neighbours = 1;  // lines of a work group

  // `length`: blocks of a line, each of which is one read. `near`: how many
  // lines lie side by side, so that items of neighbouring lines read
  // neighbouring blocks; 1 if a line itself is dense. `local_bytes`: local
  // memory of an item.
  static GpuGroup For(const GpuTraits &gpu,
                      int64_t lines,
                      int64_t length,
                      int64_t near,
                      size_t local_bytes);
  // Sets the macros GROUP and NEIGHBOURS, the work group and the items.
  void AddTo(Launch *launch, int64_t lines) const;
};

// The lines of a tensor along one axis.
class GpuLines {
 public:
  // `axis` is not negative.
  GpuLines(const Shape &shape, size_t axis);

  // Whether the axis is that of the channels, so that a line is a pixel.
  bool channels() const { return channels_; }
  int64_t count() const { return count_; }
  // A work group for kernels that read each block of a line.
  GpuGroup Group(const GpuTraits &gpu, size_t local_bytes) const;
  // The parameters LINE_ARGS.
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

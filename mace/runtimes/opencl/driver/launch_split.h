// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Divides a launch into several that together run every work item once.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_LAUNCH_SPLIT_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_LAUNCH_SPLIT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mace {

// The arguments of clEnqueueNDRangeKernel: `global` work items from `offset`
// on, each a multiple of `local`.
struct KernelRange {
  std::array<size_t, 3> offset = {0, 0, 0};
  std::array<size_t, 3> global = {1, 1, 1};
  std::array<size_t, 3> local = {1, 1, 1};

  // As drivers take it: null where it is 0.
  const size_t *start() const {
    return offset[0] + offset[1] + offset[2] == 0 ? nullptr : offset.data();
  }
  // The number of work groups.
  size_t groups() const {
    return global[0] / local[0] * (global[1] / local[1]) *
           (global[2] / local[2]);
  }
};

// Parts of `whole` with at most `most` work groups, which is at least 1, and
// with at most `most_of_dimension[i]` of them in dimension i. They are about
// equal, and as few as that allows along each dimension; the third dimension is
// divided first, because neighbouring items of the first read the same memory.
std::vector<KernelRange> SplitRange(
    const KernelRange &whole,
    size_t most,
    const std::array<size_t, 3> &most_of_dimension);

// Chooses, from measured times, how many work groups a part may have.
class PartSize {
 public:
  // `groups`: of the whole launch. `nanos`: its estimated time; 0 if there is
  // no estimate. `limit_nanos`: the longest time of a part.
  PartSize(size_t groups, double nanos, double limit_nanos);

  // Work groups of a part, 1 or more.
  size_t groups() const { return part_; }
  // Whether parts of this size are still to be measured.
  bool is_open() const { return open_; }
  // A part of `groups` work groups took `nanos`; to be called for all parts,
  // then Settle.
  void Measured(size_t groups, double nanos);
  // Chooses the size anew.
  void Settle();
  // Without a clock: the estimate stays.
  void Close() { open_ = false; }

 private:
  size_t whole_;
  size_t part_;
  double limit_;
  bool open_ = true;
  int rounds_ = 0;
  double longest_ = 0;    // of the parts of this round
  double per_group_ = 0;  // the longest of these parts
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_LAUNCH_SPLIT_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The run that looks for NaN and infinity after each launch; and the search for
// NaN in the results of a first run with half storage.

#ifndef MACE_RUNTIMES_OPENCL_RUN_NUMERIC_CHECK_H_
#define MACE_RUNTIMES_OPENCL_RUN_NUMERIC_CHECK_H_

#include <cstddef>
#include <cstdint>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/runtimes/opencl/run/bound_plan.h"
#include "mace/runtimes/opencl/run/gpu_partition.h"

namespace mace {

// Waits for each launch of a segment and looks at its results. A status names
// the first operator that produces NaN or infinity.
MaceStatus RunChecked(BoundPlan *bound, size_t segment);

// What half can't hold shows as NaN among the results of finite numbers. They
// are searched until a run had none.
class NanSearch {
 public:
  // `partition` must outlive the object.
  explicit NanSearch(const ShapedPartition &partition);

  // Before each run.
  void Begin();
  // What the host copies to the GPU.
  void NoteImport(int tensor, const HostTensor &from);
  // A result that another device or the caller gets. `copied`: its elements, if
  // the host has them.
  MaceStatus CheckExport(const BoundPlan &bound,
                         int tensor,
                         const void *copied);

 private:
  Result<bool> ImportsAreFinite(const BoundPlan &bound) const;

  enum class State : uint8_t { kWanted, kFoundNone, kDone };

  const ShapedPartition &partition_;
  const bool may_fail_;
  State state_ = State::kWanted;
  bool imports_finite_ = true;  // of the run, as far as the host has them
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_NUMERIC_CHECK_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the kernels of a model against the CPU, in the calling process.
//
// What is tested is the plan of the model itself: for each variant (programs,
// macros, kernels and storage of all tensors) the operator of least work, with
// its own shapes, attributes and weights. Spatial sizes are not reduced: that
// would be another plan. Its inputs are random numbers of [-1, 1), rounded to
// half where they are stored so; integers are 0 and 1, or 0 where the operator
// refuses 1. Outputs hold NaN before. The CPU computes the same operators by
// HostOps::Compute. A result is wrong if it is NaN or infinite where the CPU's
// is finite, or differs from the CPU's by more than
//
//   float         1e-3 of the largest element
//   half storage  1e-2 of it (a kernel stays below 4e-3 in its own test)
//   half arithmetic, or weights of 8 bits  5e-2 of it
//   int8, uint8   1; other integers 0.
//
// A kernel that is slightly too inexact is thereby accepted; one that reads the
// wrong element, or that the compiler broke, is not.

#ifndef MACE_RUNTIMES_OPENCL_SELFTEST_KERNEL_COMPARISON_H_
#define MACE_RUNTIMES_OPENCL_SELFTEST_KERNEL_COMPARISON_H_

#include <map>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/runtimes/opencl/driver/gpu_queues.h"
#include "mace/runtimes/opencl/plan/gpu_verdict.h"
#include "mace/runtimes/opencl/run/bound_plan.h"
#include "mace/runtimes/opencl/run/gpu_session.h"

namespace mace {

struct TestedModel {
  const Graph &graph;
  const GraphShapes &shapes;
  // As of Place.
  const std::vector<std::vector<DeviceType>> &wishes;
  Device *device;  // whose Supports asks the session
  HostDevice *host;
};

// What is known of kernels before the test, and what it adds.
struct KernelResults {
  // By variant: why it failed; empty for one that is right.
  std::map<std::string, std::string> variants;
  // By name of the kernel: how it ended the process. All its variants count as
  // failed, and none is run.
  std::map<std::string, std::string> crashes;
};

// Is told what runs next, so that a crash can be attributed.
class TestProgress {
 public:
  virtual ~TestProgress() = default;
  // All programs at once.
  virtual void BeginCompiling() = 0;
  // `what`: "kernel conv2d of operator 'a'".
  virtual void Begin(const std::string &variant,
                     const std::string &kernel,
                     const std::string &what) = 0;
  virtual void End(const std::string &variant, const std::string &reason) = 0;
};

// Tests the model as its hints ask. If kernels give wrong results: in float; if
// some still do, also in buffers. Takes the first of these that has none, or
// else the one with the fewest operators that have to go to the CPU. Leaves the
// verdict set in the session, which must be open. `one_by_one`: compiles each
// program by itself, because the driver's compiler crashed.
Result<GpuVerdict> TestKernels(GpuSession *session,
                               const TestedModel &model,
                               bool one_by_one,
                               KernelResults *results,
                               TestProgress *progress);

// Tests the variants of a plan that is bound to memory, unless `results` knows
// them, and adds to `verdict` the operators that failed, with those that are
// right. `wrong` grows by the operators whose results are wrong.
MaceStatus TestVariants(BoundPlan *bound,
                        const TestedModel &model,
                        KernelResults *results,
                        TestProgress *progress,
                        GpuVerdict *verdict,
                        size_t *wrong);

// Whether a variant of KernelResults is the compilation of a program.
bool IsCompilation(const std::string &variant);

// Whether the driver computes anything at all.
MaceStatus TestDriver(GpuQueues *queues);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_SELFTEST_KERNEL_COMPARISON_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The launches of a partition for one set of shapes, and how each tensor is
// stored. Nothing here calls the driver.

#ifndef MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLAN_H_
#define MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLAN_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/memory/memory_plan.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/driver/gpu_device.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/plan/gpu_tensor.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"

namespace mace {

struct PlannedLaunch {
  Launch launch;
  // Of the graph: the operator, or those that are computed together.
  std::vector<int> nodes;
  // The operators whose launches take turns with this one's, in bands of rows;
  // otherwise `nodes`. All these launches follow each other.
  std::vector<int> group;
  size_t segment;  // of the partition
  // Per argument: the tensor of the plan, or -1.
  std::vector<int> tensors;
  ProgramKey program;
  // It computes in float, as it has a tensor that is kept in float.
  bool in_float = false;
};

// "kernel softmax of operator 'prob'"
std::string LaunchText(const Graph &graph, const PlannedLaunch &planned);

// An image: of tensors that share it, or of one, in the buffer of all tensors.
struct ImageSlot {
  DataType element = DataType::kFloat16;
  size_t width = 0;
  size_t height = 0;
  // The request of its memory in the buffer; -1: it has its own.
  int request = -1;
  size_t row_bytes = 0;  // in the buffer

  size_t Bytes() const {
    return width * height * 4 * static_cast<size_t>(DataTypeSize(element));
  }
};

struct OpenclPlan {
  std::vector<GpuTensor> tensors;
  // Per tensor of the graph: that of the plan; -1 for none.
  std::vector<int> tensor_of;
  std::vector<PlannedLaunch> launches;
  // The first launch of each segment, and the number of launches.
  std::vector<size_t> begin;
  // Memory. Per tensor of the plan: its request, or its image, or both; -1 for
  // none, for aliases that no launch writes, and for constants.
  std::vector<int> request_of;
  std::vector<int> image_of;
  std::vector<PlanRequest> requests;
  MemoryPlan memory;
  std::vector<ImageSlot> images;
  // Per node of the graph.
  std::vector<OpReport> reports;
  // What operators chose (OpenclPlanContext::Choose); empty without
  // OpenclPlanOptions::tuned.
  std::vector<TuningChoice> choices;

  const GpuTensor &Root(int tensor) const {
    const int alias = tensors[static_cast<size_t>(tensor)].alias_of;
    return tensors[static_cast<size_t>(alias < 0 ? tensor : alias)];
  }
  int RootIndex(int tensor) const {
    const int alias = tensors[static_cast<size_t>(tensor)].alias_of;
    return alias < 0 ? tensor : alias;
  }
};

// When chains of operators run band by band (row_bands.h).
struct BandLimits {
  // Which the intermediate tensors need at once without bands.
  size_t least_bytes = size_t{512} << 10;
  // Of these, what each additional launch must save.
  double least_saved = 0.03;
};

// The choices that a partition makes for its graph.
struct OpenclPlanOptions {
  const GpuDevice *device = nullptr;
  GpuTraits traits;  // of the device, as the model's hints ask
  // So that other programs get the GPU in between: launches that wait in the
  // queue at most, and the longest time of one in milliseconds; 0: no limit.
  size_t queue_window = 0;
  double kernel_millis = 0;
  // Look for NaN and infinity after each launch.
  bool check_numerics = false;
  // Null: all choices are guesses.
  const TunedValues *tuned = nullptr;
  BandLimits bands;
};

// The storage of a tensor of the graph that the caller or another device has;
// others choose theirs.
struct BorderStorage {
  int tensor;
  GpuStorage storage;
  // It is used where the caller has it, and not copied.
  bool in_caller = false;
  bool operator==(const BorderStorage &other) const {
    return tensor == other.tensor && storage == other.storage &&
           in_caller == other.in_caller;
  }
};

// MACE_UNSUPPORTED names the operator that the GPU can't run with these shapes.
Result<OpenclPlan> PlanOpencl(const Graph &graph,
                              const PartitionSpec &spec,
                              const GraphShapes &shapes,
                              const OpenclPlanOptions &options,
                              const std::vector<BorderStorage> &border);

// Of all tensors that are stored, as if none shared memory with another, and of
// the tables of launches.
size_t TensorBytes(const OpenclPlan &plan);

// Whether the GPU can run one operator, and what it would launch. `shapes` may
// be null; then only its type is known.
Result<std::vector<Launch>> TryOpenclNode(const Graph &graph,
                                          size_t node,
                                          const GraphShapes *shapes,
                                          const OpenclPlanOptions &options);

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_PLAN_OPENCL_PLAN_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The operators of a graph that run on the GPU: what all sets of shapes have in
// common, and what belongs to one of them.

#ifndef MACE_RUNTIMES_OPENCL_RUN_GPU_PARTITION_H_
#define MACE_RUNTIMES_OPENCL_RUN_GPU_PARTITION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "mace/core/base/pages.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/device.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/run/gpu_session.h"

namespace mace {

// Bytes of zeros after the elements of a constant, at least: kernels read whole
// blocks.
inline constexpr size_t kConstantPadding = 16;

// The constants of a model on the GPU, each copied when it is first needed.
class GpuConstants {
 public:
  // A constant of the graph in that form, or, if `form` is null, as it is
  // stored; except for bfloat16, which becomes float32, and pairs of it, which
  // become CL_PACKED_O16. The copy is made when the queue has finished.
  Result<cl_mem> Get(const OpenclRuntime &runtime,
                     cl_command_queue queue,
                     const Graph &graph,
                     int tensor,
                     const ConstantForm *form);
  // Copies a value that is no constant of the graph.
  Result<ClMemory> Upload(const OpenclRuntime &runtime,
                          cl_command_queue queue,
                          const Tensor &tensor,
                          size_t stored_bytes,
                          const ConstantForm *form);
  // After the queue has finished.
  void ReleaseStaging() {
    staging_.clear();
    staged_bytes_ = 0;
  }
  size_t bytes() const { return bytes_; }

 private:
  Result<ClMemory> MakeImage(const OpenclRuntime &runtime,
                             const Tensor &tensor,
                             size_t bytes);

  std::map<std::pair<int, const ConstantForm *>, ClMemory> buffers_;
  // What is copied, and was made for that.
  std::vector<MappedMemory> staging_;
  size_t staged_bytes_ = 0;
  size_t bytes_ = 0;
};

struct GpuPartition {
  // `partition_graph` and `on` must outlive the object.
  GpuPartition(const Graph &partition_graph,
               PartitionSpec segments,
               GpuSession *on)
      : graph(partition_graph),
        spec(std::move(segments)),
        options(on->PlanOptions(partition_graph.hints())),
        session(on) {}

  const Graph &graph;
  const PartitionSpec spec;
  // The limit of work groups becomes lower if the compiler makes a kernel that
  // can run no more.
  OpenclPlanOptions options;
  GpuSession *const session;
  GpuConstants constants;
};

class ShapedPartition {
 public:
  // `partition` and `shapes` must outlive the object.
  ShapedPartition(GpuPartition *partition, const GraphShapes &shapes)
      : partition_(partition), shapes_(shapes) {}
  ShapedPartition(const ShapedPartition &) = delete;
  ShapedPartition &operator=(const ShapedPartition &) = delete;

  const Graph &graph() const { return partition_->graph; }
  const PartitionSpec &spec() const { return partition_->spec; }
  const OpenclPlanOptions &options() const { return partition_->options; }
  const GraphShapes &shapes() const { return shapes_; }
  const Tensor &tensor(int id) const {
    return shapes_.tensors[static_cast<size_t>(id)];
  }
  GpuSession *session() const { return partition_->session; }
  GpuQueues *queues() const { return session()->queues(); }
  // A kernel can run no more items than this in a work group, as its compiler
  // found.
  void LimitWorkGroups(size_t items) {
    partition_->options.traits.max_work_group = items;
  }

  // The storage of imports and exports: that of the caller where the tensor is
  // one of the caller's.
  Result<std::vector<BorderStorage>> BorderOf(
      const std::vector<CallerTensor> &callers) const;
  // For callers that hold to what the model declares of its inputs and outputs.
  Result<std::vector<BorderStorage>> DeclaredBorder() const;

  // The memory of a constant, or of a value that follows from the shapes, in
  // that form. The first call makes it.
  Result<cl_mem> Constant(int tensor, const ConstantForm *form);
  // Makes all that a plan needs, and waits for it.
  MaceStatus MakeConstants(const OpenclPlan &plan);

 private:
  Result<GpuStorage> BorderStorageOf(int tensor, bool nchw) const;

  GpuPartition *partition_;
  const GraphShapes &shapes_;
  // Values that are known before the run, by tensor of the graph.
  std::map<int, ClMemory> known_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_GPU_PARTITION_H_

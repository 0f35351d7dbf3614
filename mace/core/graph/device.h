// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface of a device to the engine. A graph is split into partitions,
// one for each device that is used, and a partition into segments: consecutive
// operators without an operator of another device between them. The engine runs
// the segments in order. Before each segment, it copies the tensors that the
// segment reads from another device's memory:
//
//   Supports   can the device run this operator, and at what cost
//   Compile    operators -> Partition, once
//   Prepare    shapes -> PreparedPartition, once for each set of shapes
//   Bind, CopyIn, Enqueue, Wait, CopyOut    every run
//
// Only addresses in the host device's memory may be used outside the device.

#ifndef MACE_CORE_GRAPH_DEVICE_H_
#define MACE_CORE_GRAPH_DEVICE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/device_name.h"
#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/graph/engine_options.h"
#include "mace/core/graph/graph.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/memory/arena.h"
#include "mace/core/memory/border.h"

namespace mace {

// Whether a device can run an operator.
struct Support {
  bool supported = false;
  // Estimated time of one run, in nanoseconds; 0 where shapes are not known.
  double nanos = 0;
  // Why it can't, as the rest of a sentence: "it takes float32, not int32".
  std::string reason;

  static Support Yes(double nanos) { return {true, nanos, std::string()}; }
  static Support No(std::string reason) { return {false, 0, reason}; }
};

// The operators of a graph that one device runs.
struct PartitionSpec {
  // A tensor that crosses the border of the partition.
  struct Border {
    int tensor;
    size_t segment;
  };
  // Indices of nodes, in the order of execution.
  std::vector<std::vector<int>> segments;
  // Tensors from outside the partition, and the segment that reads them first.
  std::vector<Border> imports;
  // Tensors that others read, and the segment until whose start they must be
  // kept; segments.size(): until the end of the run. Each is computed in this
  // partition, is an import, or is known before the run.
  std::vector<Border> exports;
};

// How operators report about a run.
struct RunTrace {
  RunMetadata *metadata = nullptr;  // null: times are only logged
  std::chrono::steady_clock::time_point start;
};

// An input or output of the model in the caller's memory. host.data is null for
// an output that the caller of this run does not want.
struct CallerTensor {
  int tensor = -1;
  bool is_input = false;
  HostTensor host;
};

// What Explain() says about an operator on its device.
struct OperatorNote {
  std::string name;
  std::string type;
  int node = -1;       // of the graph; -1 for one that the device added
  size_t segment = 0;  // that runs it
  std::string kernel;
  std::string output;  // "float32[1, 2, 2, 3] in place"
  std::string remark;  // "in 2 task(s), by bands of 4 row(s)"
};

// All that a set of input shapes implies for a partition.
class PreparedPartition {
 public:
  virtual ~PreparedPartition() = default;

  // Takes memory from the arena, which is locked until the run ends. `callers`
  // are all inputs and outputs of the run, including those that this device
  // does not use. A device whose memory is the host's may use their memory in
  // place.
  virtual MaceStatus Bind(const std::vector<CallerTensor> &callers,
                          Arena *arena) = 0;
  // Address of an import or export, which is dense, if the host can access it;
  // else null. Call it after Bind.
  virtual void *HostAddress(int tensor) const { return nullptr; }
  // Tensor::run_shape of an export. Call it after Wait.
  virtual const Shape *RunShape(int tensor) const { return nullptr; }
  // Also convert type and order of dimensions. They do not copy a tensor for
  // which Bind uses the caller's memory.
  virtual MaceStatus CopyIn(int tensor, const HostTensor &from) = 0;
  virtual MaceStatus CopyOut(int tensor, const HostTensor &to) = 0;
  // `trace` is null if no times are wanted; it lives until the last Wait of the
  // run.
  virtual MaceStatus Enqueue(size_t segment, const RunTrace *trace) = 0;
  // Waits until everything that was enqueued is done and exports can be read.
  virtual MaceStatus Wait() { return MaceStatus(); }

  virtual std::vector<OperatorNote> Explain() const = 0;
  // Sum of the bytes of all intermediate tensors, without sharing of memory.
  virtual size_t TensorBytes() const = 0;
};

// The operators of one device, created once.
class Partition {
 public:
  virtual ~Partition() = default;
  // `shapes` outlives the result.
  virtual Result<std::unique_ptr<PreparedPartition>> Prepare(
      const GraphShapes &shapes) = 0;
  // Bytes of constants that were copied to the device or transformed for it, in
  // addition to those of Graph::prepared().
  virtual size_t PreparedBytes() const { return 0; }
  virtual size_t OperatorCount() const = 0;
};

class HostDevice;

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceType type() const = 0;
  // Null unless this is a HostDevice.
  virtual HostDevice *AsHost() { return nullptr; }

  // Fails if the device cannot run the model as the hints ask, or logs what it
  // does instead. Called once per engine.
  virtual MaceStatus CheckHints(const DeploymentHints &hints) const {
    return MaceStatus();
  }
  // Called once per engine, before any of the functions below, unless the
  // factory was told EngineOptions::opens_driver. Like a failure of the
  // factory, a failure leaves the device out. `shapes`: of graph.inputs();
  // empty if the model leaves some open. `wishes`: as of Place. `host` computes
  // the graph's operators.
  virtual MaceStatus Start(const Graph &graph,
                           const std::vector<Shape> &shapes,
                           const std::vector<std::vector<DeviceType>> &wishes,
                           HostDevice *host) {
    return MaceStatus();
  }
  // `shapes` is null where the model leaves them open.
  virtual Support Supports(const Graph &graph,
                           size_t node,
                           const GraphShapes *shapes) const = 0;
  // Estimated time to copy that many bytes to or from the host.
  virtual double CopyNanos(int64_t bytes) const { return 0; }
  // `graph` outlives the partition.
  virtual Result<std::unique_ptr<Partition>> Compile(const Graph &graph,
                                                     PartitionSpec spec) = 0;
  // Called before and after every run.
  virtual void BeginRun() {}
  virtual void EndRun() {}
};

// The device whose memory is the host's. It creates the operators of every
// graph, which infer the shapes of tensors, and runs the operators that no
// other device supports.
class HostDevice : public Device, public HostOps {
 public:
  HostDevice *AsHost() final { return this; }
  // For copying and zeroing large blocks of memory.
  virtual ThreadPool *thread_pool() const = 0;
};

// A runtime that is linked into this program. Like OpRegistration, this is a
// list of static objects: a build has the runtimes that it links.
class DeviceRegistration {
 public:
  // Starts the device, or says why it can't be used on this machine.
  using Factory =
      Result<std::unique_ptr<Device>> (*)(const EngineOptions &options);

  DeviceRegistration(DeviceType type, Factory factory);

  DeviceType type() const { return type_; }
  const DeviceRegistration *next() const { return next_; }

  static const DeviceRegistration *first();
  // Null if this build has none of that type.
  static const DeviceRegistration *Find(DeviceType type);
  // Starts a device of that type; MACE_UNSUPPORTED, naming the available
  // runtimes, if this build has none of that type.
  static Result<std::unique_ptr<Device>> Create(DeviceType type,
                                                const EngineOptions &options);

 private:
  DeviceType type_;
  Factory factory_;
  const DeviceRegistration *next_;
};

}  // namespace mace

#endif  // MACE_CORE_GRAPH_DEVICE_H_

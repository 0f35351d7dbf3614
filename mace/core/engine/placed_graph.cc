// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/engine/placed_graph.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "mace/core/base/logging.h"

namespace mace {
namespace {

// A dense tensor with the graph's order and type, at a host address.
HostTensor PlainView(const Tensor &tensor, void *data) {
  HostTensor view;
  view.data = data;
  view.data_type = tensor.data_type;
  view.capacity_bytes = tensor.bytes();
  view.shape = tensor.shape;
  return view;
}

// Notifies devices of the beginning and the end of a run.
class RunScope {
 public:
  explicit RunScope(const std::vector<Device *> &devices) : devices_(devices) {
    for (Device *device : devices_) device->BeginRun();
  }
  ~RunScope() {
    for (Device *device : devices_) device->EndRun();
  }
  RunScope(const RunScope &) = delete;
  RunScope &operator=(const RunScope &) = delete;

 private:
  const std::vector<Device *> &devices_;
};

}  // namespace

Result<std::unique_ptr<PlacedGraph>> PlacedGraph::Create(
    const Graph &graph,
    std::vector<Device *> devices,
    const DeviceWishes &wishes,
    HostDevice *host,
    const std::vector<Shape> &shapes,
    Device **failed) {
  std::unique_ptr<PlacedGraph> placed(
      new PlacedGraph(graph, std::move(devices), wishes, host));
  const MaceStatus status = placed->Compile(shapes);
  *failed = placed->TakeFailedDevice();
  if (!IsOk(status)) return status;
  return placed;
}

MaceStatus PlacedGraph::Compile(const std::vector<Shape> &shapes) {
  std::unique_ptr<GraphShapes> declared;
  if (shapes.size() == graph_.inputs().size()) {
    MACE_ASSIGN_OR_RETURN(declared, InferShapes(graph_, shapes, host_));
  }
  placement_ = Place(graph_, devices_, wishes_, declared.get());
  for (size_t d = 0; d < devices_.size(); ++d) {
    partitions_.emplace_back();
    const PartitionSpec &spec = placement_.partitions[d];
    if (spec.segments.empty() && spec.exports.empty()) continue;
    auto partition = devices_[d]->Compile(graph_, spec);
    if (!partition.ok()) return Note(d, partition.status());
    partitions_.back() = std::move(partition.value());
  }
  if (declared == nullptr) return MaceStatus::MACE_SUCCESS;
  return PrepareWith(shapes, std::move(declared)).status();
}

MaceStatus PlacedGraph::Note(size_t device, MaceStatus status) {
  if (!IsOk(status) && failed_ == nullptr && devices_[device] != host_) {
    failed_ = devices_[device];
  }
  return status;
}

Device *PlacedGraph::TakeFailedDevice() {
  return std::exchange(failed_, nullptr);
}

Result<PreparedRun *> PlacedGraph::Prepare(const std::vector<Shape> &inputs) {
  for (auto run = prepared_.begin(); run != prepared_.end(); ++run) {
    if (run->inputs != inputs) continue;
    if (run != prepared_.begin()) {
      prepared_.splice(prepared_.begin(), prepared_, run);
    }
    return &prepared_.front();
  }
  MACE_ASSIGN_OR_RETURN(std::unique_ptr<GraphShapes> shapes,
                        InferShapes(graph_, inputs, host_));
  return PrepareWith(inputs, std::move(shapes));
}

Result<PreparedRun *> PlacedGraph::PrepareWith(
    const std::vector<Shape> &inputs, std::unique_ptr<GraphShapes> shapes) {
  std::list<PreparedRun> made(1);
  PreparedRun &run = made.front();
  run.inputs = inputs;
  run.shapes = std::move(shapes);
  for (size_t d = 0; d < devices_.size(); ++d) {
    run.partitions.emplace_back();
    if (partitions_[d] == nullptr) continue;
    auto prepared = partitions_[d]->Prepare(*run.shapes);
    if (!prepared.ok()) return Note(d, prepared.status());
    run.partitions.back() = std::move(prepared.value());
  }
  for (const Placement::Segment &segment : placement_.segments) {
    run.copies.push_back(NeededCopies(segment, *run.shapes));
  }
  prepared_.splice(prepared_.begin(), made);
  if (prepared_.size() > kMaxPrepared) prepared_.pop_back();
  return &prepared_.front();
}

std::vector<Placement::Copy> PlacedGraph::NeededCopies(
    const Placement::Segment &segment, const GraphShapes &shapes) const {
  std::vector<Placement::Copy> needed;
  for (const Placement::Copy &copy : segment.copies) {
    if (shapes.known[copy.tensor]) continue;
    const auto &outputs = graph_.outputs();
    bool read =
        std::find(outputs.begin(), outputs.end(), copy.tensor) != outputs.end();
    for (size_t i = 0; !read && i < graph_.nodes().size(); ++i) {
      if (shapes.known_node[i] ||
          placement_.nodes[i].device != segment.device) {
        continue;
      }
      const std::vector<int> &inputs = graph_.nodes()[i].inputs;
      read =
          std::find(inputs.begin(), inputs.end(), copy.tensor) != inputs.end();
    }
    if (read) needed.push_back(copy);
  }
  return needed;
}

MaceStatus PlacedGraph::TakeMemory(PreparedRun *run, Arena *arena) {
  return Bind(run, {}, arena);
}

MaceStatus PlacedGraph::Bind(PreparedRun *run,
                             const std::vector<CallerTensor> &callers,
                             Arena *arena) {
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (run->partitions[d] == nullptr) continue;
    MACE_RETURN_IF_ERROR(Note(d, run->partitions[d]->Bind(callers, arena)));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus PlacedGraph::Run(PreparedRun *run,
                            const std::vector<CallerTensor> &callers,
                            Arena *arena,
                            RunMetadata *metadata) {
  if (CheckDeviceTensors != nullptr) {
    MACE_RETURN_IF_ERROR(
        CheckDeviceTensors({graph_, placement_, devices_, run->partitions,
                            *run->shapes, callers}));
  }
  const RunScope scope(devices_);
  MACE_RETURN_IF_ERROR(Bind(run, callers, arena));
  metadata_ = metadata;
  if (metadata != nullptr) {
    metadata->op_stats.clear();
    metadata->note_border_copy(metadata, nullptr, 0, CPU, false, {});
  }
  RunTrace trace;
  const bool traced = metadata != nullptr || VLOG_IS_ON(2);
  if (traced) {
    trace.metadata = metadata;
    trace.start = std::chrono::steady_clock::now();
  }
  MACE_RETURN_IF_ERROR(RunSegments(run, callers, traced ? &trace : nullptr));
  if (metadata != nullptr) KeepTimes(*metadata);
  return HandOut(run, callers);
}

void PlacedGraph::KeepTimes(const RunMetadata &metadata) {
  measured_.clear();
  for (const OperatorStats &op : metadata.op_stats) {
    measured_.emplace_back(op.operator_name, op.stats.duration_nanos);
  }
}

MaceStatus PlacedGraph::RunSegments(PreparedRun *run,
                                    const std::vector<CallerTensor> &callers,
                                    const RunTrace *trace) {
  for (size_t i = 0; i < placement_.segments.size(); ++i) {
    const Placement::Segment &segment = placement_.segments[i];
    const size_t device = segment.device;
    PreparedPartition *partition = run->partitions[device].get();
    for (const Placement::Copy &copy : run->copies[i]) {
      if (copy.from != Placement::kCaller) {
        MACE_RETURN_IF_ERROR(CopyBetween(run, copy));
        continue;
      }
      for (const CallerTensor &caller : callers) {
        if (!caller.is_input || caller.tensor != copy.tensor) continue;
        MACE_RETURN_IF_ERROR(
            Note(device, partition->CopyIn(copy.tensor, caller.host)));
        NoteBorderCopy(*run, caller, device);
      }
    }
    MACE_RETURN_IF_ERROR(
        Note(device, partition->Enqueue(segment.index, trace)));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus PlacedGraph::CopyBetween(PreparedRun *run,
                                    const Placement::Copy &copy) {
  PreparedPartition *from = run->partitions[copy.from].get();
  PreparedPartition *to = run->partitions[copy.to].get();
  MACE_RETURN_IF_ERROR(Note(copy.from, from->Wait()));
  const Tensor &tensor = run->shapes->tensors[copy.tensor];
  void *source = from->HostAddress(copy.tensor);
  if (source != nullptr) {
    return Note(copy.to, to->CopyIn(copy.tensor, PlainView(tensor, source)));
  }
  void *target = to->HostAddress(copy.tensor);
  if (target != nullptr) {
    return Note(copy.from,
                from->CopyOut(copy.tensor, PlainView(tensor, target)));
  }
  const auto bytes = static_cast<size_t>(tensor.bytes());
  if (staging_.bytes() < bytes && !staging_.Allocate(bytes)) {
    return OutOfResources("no memory to copy '", tensor.name, "' (", bytes,
                          " bytes) from ",
                          DeviceName(devices_[copy.from]->type()), " to ",
                          DeviceName(devices_[copy.to]->type()));
  }
  const HostTensor staged = PlainView(tensor, staging_.data());
  MACE_RETURN_IF_ERROR(Note(copy.from, from->CopyOut(copy.tensor, staged)));
  return Note(copy.to, to->CopyIn(copy.tensor, staged));
}

MaceStatus PlacedGraph::HandOut(PreparedRun *run,
                                const std::vector<CallerTensor> &callers) {
  for (size_t d = 0; d < devices_.size(); ++d) {
    if (run->partitions[d] == nullptr) continue;
    MACE_RETURN_IF_ERROR(Note(d, run->partitions[d]->Wait()));
  }
  for (const CallerTensor &caller : callers) {
    if (caller.is_input || caller.host.data == nullptr) continue;
    const Tensor &tensor = run->shapes->tensors[caller.tensor];
    if (tensor.data != nullptr) {  // a constant, or known before the run
      CopyAtBorder({tensor.data, tensor.data_type, caller.host.data,
                    caller.host.data_type, tensor.shape,
                    caller.host.nchw ? BorderCopy::Order::kNhwcToNchw
                                     : BorderCopy::Order::kSame},
                   host_->thread_pool());
      NoteBorderCopy(*run, caller, devices_.size() - 1);
      continue;
    }
    size_t output = 0;
    while (graph_.outputs()[output] != caller.tensor) ++output;
    const size_t device = placement_.output_devices[output];
    run->shapes->tensors[caller.tensor].run_shape =
        run->partitions[device]->RunShape(caller.tensor);
    MACE_RETURN_IF_ERROR(Note(
        device, run->partitions[device]->CopyOut(caller.tensor, caller.host)));
    NoteBorderCopy(*run, caller, device);
  }
  return MaceStatus::MACE_SUCCESS;
}

void PlacedGraph::NoteBorderCopy(const PreparedRun &run,
                                 const CallerTensor &caller,
                                 size_t device) {
  const Tensor &tensor = run.shapes->tensors[caller.tensor];
  const HostTensor &host = caller.host;
  const bool known = tensor.data != nullptr;
  if (metadata_ == nullptr || host.memory != CPU_BUFFER ||
      tensor.bytes() == 0 ||
      (!known &&
       run.partitions[device]->HostAddress(caller.tensor) == host.data)) {
    return;
  }
  const DeviceType type = devices_[device]->type();
  const CopyReason reason =
      known                                     ? CopyReason::BEFORE_RUN
      : type != CPU                             ? CopyReason::DEVICE
      : host.nchw                               ? CopyReason::FORMAT
      : host.data_type != tensor.data_type      ? CopyReason::TYPE
      : IsAligned(host.data, kInPlaceAlignment) ? CopyReason::SHARED
                                                : CopyReason::ALIGNMENT;
  metadata_->note_border_copy(metadata_, &tensor.name, tensor.bytes(), type,
                              !caller.is_input, reason);
}

size_t PlacedGraph::PreparedBytes() const {
  size_t total = 0;
  for (const auto &partition : partitions_) {
    if (partition != nullptr) total += partition->PreparedBytes();
  }
  return total;
}

size_t PlacedGraph::OperatorCount() const {
  size_t total = 0;
  for (const auto &partition : partitions_) {
    if (partition != nullptr) total += partition->OperatorCount();
  }
  return total;
}

}  // namespace mace

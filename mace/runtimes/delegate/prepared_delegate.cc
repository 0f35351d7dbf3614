// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/delegate/prepared_delegate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/memory/border.h"

namespace mace {
namespace {

using Clock = std::chrono::steady_clock;

class HostMemory final : public DeviceMemory {
 public:
  size_t bytes() const override { return memory_.bytes(); }
  char *data() const { return static_cast<char *>(memory_.data()); }
  bool Allocate(size_t bytes) { return memory_.Allocate(bytes); }

 private:
  AlignedMemory memory_;
};

int64_t Nanos(Clock::duration span) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(span).count();
}

bool AllFinite(const float *values, int64_t count) {
  return std::all_of(values, values + count,
                     [](float value) { return std::isfinite(value); });
}

}  // namespace

PreparedDelegate::PreparedDelegate(const DelegatePartition *partition,
                                   const GraphShapes &shapes,
                                   std::vector<CompiledSegment> segments)
    : partition_(partition), shapes_(shapes), segments_(std::move(segments)) {
  for (const PartitionSpec::Border &border : partition->spec().imports) {
    Place(border.tensor);
  }
  for (const PartitionSpec::Border &border : partition->spec().exports) {
    Place(border.tensor);
  }
  for (const CompiledSegment &segment : segments_) {
    for (int tensor : segment.nodes.outputs) Place(tensor);
  }
}

void PreparedDelegate::Place(int tensor) {
  const Tensor &entry = shapes_.tensors[static_cast<size_t>(tensor)];
  if (entry.data != nullptr || !places_.emplace(tensor, bytes_).second) return;
  bytes_ += AlignUp(static_cast<size_t>(entry.bytes()));
}

MaceStatus PreparedDelegate::Bind(const std::vector<CallerTensor> &,
                                  Arena *arena) {
  std::unique_ptr<DeviceMemory> &held =
      arena->MemoryOf(partition_->device()->type());
  if (held == nullptr) held = std::make_unique<HostMemory>();
  auto *memory = static_cast<HostMemory *>(held.get());
  if (memory->bytes() < bytes_ && !memory->Allocate(bytes_)) {
    return OutOfResources("no memory for ", bytes_,
                          " bytes of inputs and outputs");
  }
  memory_ = memory->data();
  return MaceStatus();
}

void *PreparedDelegate::HostAddress(int tensor) const {
  const auto found = places_.find(tensor);
  return found == places_.end() || memory_ == nullptr ? nullptr
                                                      : memory_ + found->second;
}

MaceStatus PreparedDelegate::CopyIn(int tensor, const HostTensor &from) {
  const Tensor &to = shapes_.tensors[static_cast<size_t>(tensor)];
  void *address = HostAddress(tensor);
  if (address == nullptr || address == from.data) return MaceStatus();
  CopyAtBorder(
      {from.data, from.data_type, address, to.data_type, to.shape,
       from.nchw ? BorderCopy::Order::kNchwToNhwc : BorderCopy::Order::kSame},
      partition_->device()->pool());
  return MaceStatus();
}

MaceStatus PreparedDelegate::CopyOut(int tensor, const HostTensor &to) {
  const Tensor &from = shapes_.tensors[static_cast<size_t>(tensor)];
  const void *address = HostAddress(tensor);
  if (address == nullptr || address == to.data) return MaceStatus();
  CopyAtBorder(
      {address, from.data_type, to.data, to.data_type, from.shape,
       to.nchw ? BorderCopy::Order::kNhwcToNchw : BorderCopy::Order::kSame},
      partition_->device()->pool());
  return MaceStatus();
}

MaceStatus PreparedDelegate::Run(CompiledSegment *segment) {
  inputs_.clear();
  outputs_.clear();
  for (int tensor : segment->nodes.inputs) {
    inputs_.push_back(HostAddress(tensor));
  }
  for (int tensor : segment->nodes.outputs) {
    outputs_.push_back(HostAddress(tensor));
  }
  MACE_RETURN_IF_ERROR(segment->network->Run(inputs_, outputs_));
  return partition_->device()->check_numerics() ? CheckNumerics(*segment)
                                                : MaceStatus();
}

MaceStatus PreparedDelegate::CheckNumerics(
    const CompiledSegment &segment) const {
  for (int id : segment.nodes.outputs) {
    const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
    if (tensor.data_type != DataType::kFloat32 ||
        AllFinite(static_cast<const float *>(HostAddress(id)),
                  tensor.elements())) {
      continue;
    }
    return RuntimeError("'", tensor.name, "', which the ",
                        DeviceName(partition_->device()->type()),
                        " computed, has NaN or infinity");
  }
  return MaceStatus();
}

MaceStatus PreparedDelegate::Enqueue(size_t segment, const RunTrace *trace) {
  CompiledSegment &compiled = segments_[segment];
  if (compiled.network == nullptr) return MaceStatus();
  const Clock::time_point begin = Clock::now();
  MACE_RETURN_IF_ERROR(Run(&compiled));
  if (trace == nullptr || trace->metadata == nullptr) return MaceStatus();
  const Clock::time_point end = Clock::now();
  OperatorStats stats = StatsOf(compiled);
  constexpr int64_t kNanosPerMicro = 1000;
  stats.stats.start_micros = Nanos(begin - trace->start) / kNanosPerMicro;
  stats.stats.end_micros = Nanos(end - trace->start) / kNanosPerMicro;
  stats.stats.duration_nanos = Nanos(end - begin);
  trace->metadata->op_stats.push_back(std::move(stats));
  return MaceStatus();
}

// A segment is one entry, by the name and type of its heaviest operator: what
// the accelerator does inside is not known.
OperatorStats PreparedDelegate::StatsOf(const CompiledSegment &segment) const {
  const Graph &graph = partition_->graph();
  OperatorStats stats{};
  double most = -1;
  double macs = 0;
  double bytes = 0;
  for (int node : segment.nodes.nodes) {
    const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
    const NodeCost cost =
        EstimateCost(graph, static_cast<size_t>(node), shapes_);
    macs += cost.macs;
    bytes += cost.bytes;
    stats.quantized = stats.quantized || entry.quantized != nullptr;
    if (cost.macs <= most) continue;
    most = cost.macs;
    stats.operator_name = entry.def->name;
    stats.type = entry.def->type;
  }
  for (int id : segment.nodes.outputs) {
    const Shape &shape = shapes_.tensors[static_cast<size_t>(id)].shape;
    stats.output_shape.emplace_back(shape.begin(), shape.end());
  }
  stats.macs = static_cast<int64_t>(macs);
  stats.bytes = static_cast<int64_t>(bytes);
  stats.device = partition_->device()->type();
  return stats;
}

std::vector<OperatorNote> PreparedDelegate::Explain() const {
  const Graph &graph = partition_->graph();
  std::vector<OperatorNote> notes;
  for (size_t i = 0; i < segments_.size(); ++i) {
    const CompiledSegment &segment = segments_[i];
    for (int node : segment.nodes.nodes) {
      const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
      const Tensor &output =
          shapes_.tensors[static_cast<size_t>(entry.outputs[0])];
      OperatorNote note;
      note.name = entry.def->name;
      note.type = entry.def->type;
      note.node = node;
      note.segment = i;
      note.output =
          std::string(DataTypeName(output.data_type)) + output.shape.ToString();
      if (node == segment.nodes.nodes.front()) {
        note.remark =
            MakeString(segment.restored ? "from the cache" : "compiled",
                       ", with ", segment.nodes.nodes.size() - 1, " others");
      }
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

}  // namespace mace

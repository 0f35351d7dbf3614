// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_partition.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "mace/core/base/divide.h"
#include "mace/core/base/logging.h"
#include "mace/core/graph/graph_shapes.h"
#include "mace/core/memory/border.h"
#include "mace/core/model/op.h"
#include "mace/runtimes/hexagon/hexagon_vtcm.h"

namespace mace {
namespace {

using hexagon::Area;
using hexagon::CounterRecord;
using hexagon::ProgramStatus;

constexpr size_t kAlignment = 128;

// Tensors between instructions. It is that of one transport.
class ArenaMemory final : public DeviceMemory {
 public:
  ArenaMemory(const HexagonTransport *transport,
              std::unique_ptr<HexagonMemory> memory)
      : transport_(transport), memory_(std::move(memory)) {}
  size_t bytes() const override { return memory_->bytes(); }
  const HexagonTransport *transport() const { return transport_; }
  const HexagonMemory *memory() const { return memory_.get(); }

 private:
  const HexagonTransport *transport_;
  std::unique_ptr<HexagonMemory> memory_;
};

int64_t NanosSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

const char *StatusText(ProgramStatus status) {
  switch (status) {
    case ProgramStatus::kDone:
      return "it is done";
    case ProgramStatus::kWrongVersion:
      return "the DSP's part is of another release than the library";
    case ProgramStatus::kWrongMemory:
      return "memory is missing";
    case ProgramStatus::kWrongProgram:
      return "the program is damaged";
    case ProgramStatus::kWrongTensor:
      return "a tensor is outside of the memory";
    case ProgramStatus::kNoInstruction:
      return "the DSP's part does not know an instruction; take the one that "
             "was built with this library";
    case ProgramStatus::kWrongParameters:
      return "the parameters of an instruction are wrong";
  }
  return "unknown status";
}

}  // namespace

MaceStatus HexagonPartition::FillConstants() {
  if (!entries_.has_new()) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(std::unique_ptr<HexagonMemory> memory,
                        transport_->Allocate(entries_.bytes()));
  // Those of other shapes stay where they were.
  if (constants_ != nullptr) {
    std::memcpy(memory->data(), constants_->data(), constants_->bytes());
  }
  entries_.Fill(memory->data());
  constants_ = std::move(memory);
  return MaceStatus();
}

Result<std::unique_ptr<PreparedPartition>> HexagonPartition::Prepare(
    const GraphShapes &shapes) {
  MACE_ASSIGN_OR_RETURN(HexagonPlan plan,
                        MakeHexagonPlan(graph_, spec_, shapes, &entries_));
  MACE_RETURN_IF_ERROR(FillConstants());
  auto prepared =
      std::make_unique<PreparedHexagon>(this, shapes, std::move(plan));
  MACE_RETURN_IF_ERROR(prepared->Prepare());
  return std::unique_ptr<PreparedPartition>(std::move(prepared));
}

size_t HexagonPartition::OperatorCount() const {
  size_t count = 0;
  for (const std::vector<int> &segment : spec_.segments) {
    count += segment.size();
  }
  return count;
}

MaceStatus PreparedHexagon::Prepare() {
  HexagonTransport *transport = partition_->transport();
  MACE_RETURN_IF_ERROR(PlaceInVtcm(&plan_, transport->fast_bytes()));
  MACE_ASSIGN_OR_RETURN(arena_bytes_, PlaceTensors(&plan_));
  std::vector<std::vector<uint8_t>> encoded;
  size_t end = 0;
  size_t most = 0;
  for (size_t segment = 0; segment < plan_.segments.size(); ++segment) {
    encoded.push_back(EncodeProgram(plan_, segment));
    programs_.push_back({end, encoded.back().size()});
    end += RoundUp(encoded.back().size(), kAlignment);
    most = std::max(most, plan_.segments[segment].size());
  }
  counters_offset_ = end;
  counters_bytes_ = most * sizeof(CounterRecord);
  MACE_ASSIGN_OR_RETURN(memory_, transport->Allocate(end + counters_bytes_));
  for (size_t segment = 0; segment < encoded.size(); ++segment) {
    std::memcpy(memory_->data() + programs_[segment].offset,
                encoded[segment].data(), encoded[segment].size());
  }
  MACE_ASSIGN_OR_RETURN(border_, transport->Allocate(plan_.border_bytes));
  return MaceStatus();
}

MaceStatus PreparedHexagon::Bind(const std::vector<CallerTensor> & /*callers*/,
                                 Arena *arena) {
  HexagonTransport *transport = partition_->transport();
  std::unique_ptr<DeviceMemory> &slot = arena->MemoryOf(DeviceType::HEXAGON);
  auto *memory = static_cast<ArenaMemory *>(slot.get());
  if (memory == nullptr || memory->bytes() < arena_bytes_ ||
      memory->transport() != transport) {
    slot.reset();
    MACE_ASSIGN_OR_RETURN(std::unique_ptr<HexagonMemory> made,
                          transport->Allocate(arena_bytes_));
    slot = std::make_unique<ArenaMemory>(transport, std::move(made));
  }
  arena_ = static_cast<ArenaMemory *>(slot.get())->memory();
  return MaceStatus();
}

void *PreparedHexagon::HostAddress(int tensor) const {
  const HexagonBorder *border = plan_.FindBorder(tensor);
  return border == nullptr ? nullptr : border_->data() + border->offset;
}

MaceStatus PreparedHexagon::CopyIn(int tensor, const HostTensor &from) {
  const Tensor &to = shapes_.tensors[static_cast<size_t>(tensor)];
  void *address = HostAddress(tensor);
  if (address == nullptr || address == from.data) return MaceStatus();
  CopyAtBorder(
      {from.data, from.data_type, address, to.data_type, to.shape,
       from.nchw ? BorderCopy::Order::kNchwToNhwc : BorderCopy::Order::kSame},
      partition_->pool());
  return MaceStatus();
}

MaceStatus PreparedHexagon::CopyOut(int tensor, const HostTensor &to) {
  const Tensor &from = shapes_.tensors[static_cast<size_t>(tensor)];
  const void *address = HostAddress(tensor);
  if (address == nullptr || address == to.data) return MaceStatus();
  CopyAtBorder(
      {address, from.data_type, to.data, to.data_type, from.shape,
       to.nchw ? BorderCopy::Order::kNhwcToNchw : BorderCopy::Order::kSame},
      partition_->pool());
  return MaceStatus();
}

MaceStatus PreparedHexagon::CheckReply(
    size_t segment, const hexagon::ProgramReply &reply) const {
  const auto status = static_cast<ProgramStatus>(reply.status);
  if (status == ProgramStatus::kDone) return MaceStatus();
  const std::vector<HexagonInstruction> &all = plan_.segments[segment];
  std::string where;
  if (reply.index < all.size() && (status == ProgramStatus::kNoInstruction ||
                                   status == ProgramStatus::kWrongParameters)) {
    const HexagonInstruction &at = all[reply.index];
    where = MakeString(" (", InstructionName(at.opcode));
    if (at.node >= 0) {
      where += MakeString(
          " of operator '",
          partition_->graph().nodes()[static_cast<size_t>(at.node)].def->name,
          "'");
    }
    where += ')';
  }
  return RuntimeError("the DSP refused a program: ", StatusText(status), where);
}

MaceStatus PreparedHexagon::Enqueue(size_t segment, const RunTrace *trace) {
  const std::vector<HexagonInstruction> &instructions = plan_.segments[segment];
  if (instructions.empty()) return MaceStatus();
  const RunTrace logged = {nullptr, std::chrono::steady_clock::now()};
  if (trace == nullptr && partition_->profiling()) trace = &logged;
  HexagonCall call;
  call.program = {memory_.get(), programs_[segment].offset,
                  programs_[segment].bytes};
  const auto area = [&call](Area which) -> HexagonRange & {
    return call.areas[static_cast<size_t>(which)];
  };
  if (const HexagonMemory *constants = partition_->constants()) {
    area(Area::kConstants) = {constants, 0, constants->bytes()};
  }
  area(Area::kArena) = {arena_, 0, arena_bytes_};
  area(Area::kBorder) = {border_.get(), 0, plan_.border_bytes};
  if (trace != nullptr) {
    area(Area::kCounters) = {memory_.get(), counters_offset_, counters_bytes_};
  }
  const int64_t start = trace == nullptr ? 0 : NanosSince(trace->start);
  MACE_ASSIGN_OR_RETURN(const hexagon::ProgramReply reply,
                        partition_->transport()->Run(call));
  MACE_RETURN_IF_ERROR(CheckReply(segment, reply));
  if (trace != nullptr) {
    ReportTimes(segment, start, NanosSince(trace->start), *trace);
  }
  return MaceStatus();
}

std::vector<double> PreparedHexagon::CountsOf(size_t segment) const {
  std::vector<double> counts;
  const uint8_t *records = memory_->data() + counters_offset_;
  for (size_t i = 0; i < plan_.segments[segment].size(); ++i) {
    CounterRecord record;
    std::memcpy(&record, records + i * sizeof(record), sizeof(record));
    counts.push_back(static_cast<double>(record.high) * 0x1p32 +
                     static_cast<double>(record.low));
  }
  return counts;
}

OperatorStats PreparedHexagon::StatsOf(int index) const {
  const auto node = static_cast<size_t>(index);
  const GraphNode &entry = partition_->graph().nodes()[node];
  const HexagonReport &report = plan_.reports[node];
  const NodeCost cost = EstimateCost(partition_->graph(), node, shapes_);
  OperatorStats stats;
  stats.operator_name = entry.def->name;
  stats.type = entry.def->type;
  stats.args = report.geometry;
  stats.macs = report.macs > 0 ? report.macs : static_cast<int64_t>(cost.macs);
  stats.bytes = static_cast<int64_t>(cost.bytes);
  stats.device = DeviceType::HEXAGON;
  stats.quantized = entry.quantized != nullptr;
  for (int id : entry.outputs) {
    if (id < 0) continue;
    const Shape &shape = shapes_.tensors[static_cast<size_t>(id)].shape;
    stats.output_shape.emplace_back(shape.begin(), shape.end());
  }
  return stats;
}

// The time of the call is divided by what instructions took. Copies at the
// border are counted for the operator beside them.
void PreparedHexagon::ReportTimes(size_t segment,
                                  int64_t start_nanos,
                                  int64_t end_nanos,
                                  const RunTrace &trace) const {
  const std::vector<double> counts = CountsOf(segment);
  const std::vector<HexagonInstruction> &all = plan_.segments[segment];
  std::vector<std::pair<int, double>> nodes;  // in order
  double waiting = 0;
  double total = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    total += counts[i];
    if (all[i].node < 0) {
      (nodes.empty() ? waiting : nodes.back().second) += counts[i];
    } else if (!nodes.empty() && nodes.back().first == all[i].node) {
      nodes.back().second += counts[i];
    } else {
      nodes.emplace_back(all[i].node, counts[i] + waiting);
      waiting = 0;
    }
  }
  const auto took = static_cast<double>(end_nanos - start_nanos);
  double before = 0;
  int64_t start = start_nanos;
  for (size_t i = 0; i < nodes.size(); ++i) {
    before += nodes[i].second;
    const int64_t end =
        i + 1 == nodes.size() || total == 0
            ? end_nanos
            : start_nanos + static_cast<int64_t>(took * before / total);
    OperatorStats stats = StatsOf(nodes[i].first);
    stats.stats = {start / 1000, end / 1000, end - start};
    if (partition_->profiling() || VLOG_IS_ON(2)) {
      LOG(INFO) << "DSP: " << stats.type << " '" << stats.operator_name
                << "' took " << static_cast<double>(end - start) / 1e3
                << " us, " << nodes[i].second << " packets or cycles";
    }
    if (trace.metadata != nullptr) trace.metadata->op_stats.push_back(stats);
    start = end;
  }
}

std::vector<OperatorNote> PreparedHexagon::Explain() const {
  const PartitionSpec &spec = partition_->spec();
  std::vector<OperatorNote> notes;
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    for (int node : spec.segments[segment]) {
      const GraphNode &entry =
          partition_->graph().nodes()[static_cast<size_t>(node)];
      OperatorNote note;
      note.name = entry.def->name;
      note.type = entry.def->type;
      note.node = node;
      note.segment = segment;
      for (const HexagonInstruction &instruction : plan_.segments[segment]) {
        if (instruction.node != node) continue;
        if (!note.kernel.empty()) note.kernel += " + ";
        note.kernel += InstructionName(instruction.opcode);
        if (CopiesWeights(instruction)) note.remark = "its weights in VTCM";
      }
      if (note.kernel.empty()) note.remark = "without an instruction";
      for (int id : entry.outputs) {
        if (id < 0) continue;
        const Tensor &tensor = shapes_.tensors[static_cast<size_t>(id)];
        if (!note.output.empty()) note.output += ", ";
        note.output +=
            MakeString(DataTypeName(tensor.data_type), tensor.shape.ToString());
      }
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

size_t PreparedHexagon::TensorBytes() const {
  size_t total = 0;
  for (const HexagonTensor &tensor : plan_.tensors) total += tensor.bytes;
  return total;
}

}  // namespace mace

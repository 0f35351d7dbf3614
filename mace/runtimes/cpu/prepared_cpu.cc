// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/cpu/prepared_cpu.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/pages.h"
#include "mace/core/base/subnormals.h"
#include "mace/core/memory/border.h"
#include "mace/runtimes/cpu/band_runner.h"
#include "mace/runtimes/cpu/cpu_report.h"

namespace mace {
namespace {

// The number of placings that are kept, each for a different set of usable
// caller's buffers.
constexpr size_t kMaxPlacings = 4;

bool Overlap(const HostTensor &a, const HostTensor &b) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
  return a_begin < b_begin + static_cast<uintptr_t>(b.capacity_bytes) &&
         b_begin < a_begin + static_cast<uintptr_t>(a.capacity_bytes);
}

int64_t NanosSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

PreparedCpu::PreparedCpu(const CpuPartition *partition,
                         std::unique_ptr<CpuPlan> plan)
    : partition_(partition),
      pool_(partition->options().pool),
      plan_(std::move(plan)) {}

MaceStatus PreparedCpu::Bind(const std::vector<CallerTensor> &callers,
                             Arena *arena) {
  ChooseExternal(callers);
  MACE_RETURN_IF_ERROR(FindPlacing());
  MACE_RETURN_IF_ERROR(TakeArena(arena));
  if (!bound_) BindTensors();
  BindCallers(callers);
  return MaceStatus::MACE_SUCCESS;
}

// Finds the tensors that are in the caller's buffers.
void PreparedCpu::ChooseExternal(const std::vector<CallerTensor> &callers) {
  external_.assign(plan_->tensors.size(), 0);
  const auto fits = [this](const HostTensor &host, int id) {
    return host.data != nullptr && !host.nchw &&
           host.data_type == plan_->tensors[id].tensor.data_type &&
           IsAligned(host.data, kInPlaceAlignment);
  };
  const CpuNodes &nodes = partition_->nodes();
  for (const PartitionSpec::Border &border : nodes.imports) {
    for (const CallerTensor &caller : callers) {
      if (caller.is_input && caller.tensor == border.tensor &&
          fits(caller.host, caller.tensor)) {
        external_[caller.tensor] = 1;
      }
    }
  }
  for (const CallerTensor &caller : callers) {
    if (caller.is_input) continue;
    const int id = nodes.export_of[caller.tensor];
    bool direct = plan_->tensors[id].made && fits(caller.host, id);
    // One operator may still read this buffer while another writes to it.
    for (const CallerTensor &other : callers) {
      if (!direct) break;
      direct = &other == &caller || other.host.data == nullptr ||
               !Overlap(caller.host, other.host);
    }
    if (direct) external_[id] = 1;
  }
}

MaceStatus PreparedCpu::FindPlacing() {
  const auto found = std::find_if(
      placings_.begin(), placings_.end(),
      [this](const Placing &placing) { return placing.external == external_; });
  if (found == placings_.begin() && found != placings_.end()) {
    return MaceStatus::MACE_SUCCESS;
  }
  bound_ = false;
  if (found != placings_.end()) {
    placings_.splice(placings_.begin(), placings_, found);
    return MaceStatus::MACE_SUCCESS;
  }
  MACE_ASSIGN_OR_RETURN(Placing placing, MakePlacing(external_));
  placings_.push_front(std::move(placing));
  if (placings_.size() > kMaxPlacings) placings_.pop_back();
  return MaceStatus::MACE_SUCCESS;
}

ArenaLayout PreparedCpu::MakeLayout(const std::vector<char> &external) const {
  const int threads = pool_->thread_count();
  std::vector<BandChain> chains;
  const CpuPartitionOptions &options = partition_->options();
  // A chain would have to be inside of one loop.
  if (options.row_bands && !options.check_numerics &&
      partition_->nodes().loops.empty()) {
    chains = FindBandChains(*plan_, threads);
  }
  return LayOutArena(*plan_, external, std::move(chains), threads);
}

Result<PreparedCpu::Placing> PreparedCpu::MakePlacing(
    const std::vector<char> &external) const {
  Placing placing;
  placing.external = external;
  placing.layout = MakeLayout(external);
  const std::vector<PlanRequest> &requests = placing.layout.requests;
  MACE_ASSIGN_OR_RETURN(placing.memory, PlanMemory(requests));
  // A wrong plan would corrupt results silently, and checking costs far less
  // than the run that follows: it stays on in every build.
  MACE_RETURN_IF_ERROR(VerifyPlan(requests, placing.memory));
  VLOG(1) << "planned " << requests.size() << " tensors into "
          << placing.memory.arena_bytes << " bytes (lower bound "
          << PlanLowerBound(requests) << ")";
  return placing;
}

MaceStatus PreparedCpu::TakeArena(Arena *arena) {
  const size_t bytes = placings_.front().memory.arena_bytes;
  std::unique_ptr<DeviceMemory> &slot =
      arena->MemoryOf(partition_->options().device);
  if (slot == nullptr) slot = partition_->options().make_memory();
  auto *memory = static_cast<CpuMemory *>(slot.get());
  if (memory->bytes() < bytes) {
    const bool allowed = arena->Allows(*memory, bytes);
    if (!allowed || !memory->Allocate(bytes)) {
      return OutOfResources("no memory for the intermediate tensors of model '",
                            partition_->graph().model().name, "' (", bytes,
                            allowed ? " bytes)" : " bytes, over the limit)");
    }
    MapNewMemory(memory->data(), bytes, pool_);
#ifndef NDEBUG
    // NaN in every format, so that reads of unwritten memory are noticed.
    std::memset(memory->data(), 0xff, bytes);
#endif
  }
  if (memory->data() != base_) {
    base_ = memory->data();
    bound_ = false;
  }
  return MaceStatus::MACE_SUCCESS;
}

void PreparedCpu::BindTensors() {
  const Placing &placing = placings_.front();
  const std::vector<size_t> &offsets = placing.memory.offsets;
  auto *base = static_cast<unsigned char *>(base_);
  for (size_t id = 0; id < plan_->tensors.size(); ++id) {
    PlannedTensor &entry = plan_->tensors[id];
    if (entry.tensor.is_constant || entry.known) continue;
    const int request = placing.layout.tensor_request[id];
    entry.tensor.data = request < 0 ? NoElements() : base + offsets[request];
    entry.tensor.row_stride = placing.layout.row_stride[id];
  }
  for (size_t step = 0; step < plan_->nodes.size(); ++step) {
    const int request = placing.layout.scratch_request[step];
    plan_->nodes[step].scratch =
        request < 0 ? nullptr : base + offsets[request];
  }
  bound_ = true;
}

void PreparedCpu::BindCallers(const std::vector<CallerTensor> &callers) {
  for (const CallerTensor &caller : callers) {
    const int id = caller.is_input
                       ? caller.tensor
                       : partition_->nodes().export_of[caller.tensor];
    if (external_[id] && plan_->tensors[id].made != caller.is_input) {
      plan_->tensors[id].tensor.data = caller.host.data;
    }
  }
}

void *PreparedCpu::HostAddress(int tensor) const {
  return plan_->tensors[partition_->nodes().export_of[tensor]].tensor.data;
}

const Shape *PreparedCpu::RunShape(int tensor) const {
  return plan_->tensors[partition_->nodes().export_of[tensor]].tensor.run_shape;
}

MaceStatus PreparedCpu::CopyIn(int tensor, const HostTensor &from) {
  if (external_[tensor]) return MaceStatus::MACE_SUCCESS;
  const Tensor &to = plan_->tensors[tensor].tensor;
  CopyAtBorder(
      {from.data, from.data_type, to.data, to.data_type, to.shape,
       from.nchw ? BorderCopy::Order::kNchwToNhwc : BorderCopy::Order::kSame},
      pool_);
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus PreparedCpu::CopyOut(int tensor, const HostTensor &to) {
  const int id = partition_->nodes().export_of[tensor];
  const PlannedTensor &entry = plan_->tensors[id];
  if (external_[id] && entry.made && entry.tensor.data == to.data) {
    return MaceStatus::MACE_SUCCESS;
  }
  CopyAtBorder(
      {entry.tensor.data, entry.tensor.data_type, to.data, to.data_type,
       entry.tensor.RunShape(),
       to.nchw ? BorderCopy::Order::kNhwcToNchw : BorderCopy::Order::kSame},
      pool_);
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus PreparedCpu::RunNode(size_t index) {
  const PlannedNode &node = plan_->nodes[index];
  NodeRunContext context(node, &plan_->tensors, pool_);
  return node.node->op->Run(&context);
}

MaceStatus PreparedCpu::Enqueue(size_t segment, const RunTrace *trace) {
  const FlushSubnormals flush;
  const CpuNodes &nodes = partition_->nodes();
  const DeviceType device = partition_->options().device;
  const bool check = partition_->options().check_numerics;
  if (check) MACE_RETURN_IF_ERROR(CheckImports(segment));
  const size_t end = nodes.segment_ends[segment];
  std::vector<int64_t> nanos;  // of the operators of a chain, per thread
  const bool has_loops = !nodes.loops.empty();
  const bool has_choices = !plan_->guards.empty();
  size_t next = nodes.SegmentBegin(segment);
  while (true) {
    if (has_choices) next = SkipUntaken(*plan_, next, end);
    if (next >= end) break;
    const size_t step = next++;
    const PlannedNode &node = plan_->nodes[step];
    if (node.known) continue;
    const BandChain *chain = layout().ChainAt(step);
    if (chain != nullptr && !chain->EndsWith(step)) continue;
    const int64_t start = trace == nullptr ? 0 : NanosSince(trace->start);
    if (chain == nullptr) {
      const MaceStatus status = RunNode(step);
      if (!IsOk(status)) return AtOperator(*node.node->def, status);
      if (trace != nullptr) {
        ReportTime(node, plan_->tensors, device,
                   {start, NanosSince(trace->start)}, *trace);
      }
    } else if (trace != nullptr) {
      const auto threads = static_cast<size_t>(pool_->thread_count());
      nanos.assign(threads * BandChain::kMaxNodes, 0);
      RunChain(*chain, plan_.get(), node.scratch, pool_, nanos.data());
      ReportTimes(*chain, nanos, *plan_, device,
                  {start, NanosSince(trace->start)}, *trace);
    } else {
      RunChain(*chain, plan_.get(), node.scratch, pool_, nullptr);
    }
    if (check) MACE_RETURN_IF_ERROR(CheckOutputs(node, plan_->tensors));
    if (has_loops) next = NextStep(plan_.get(), step);
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus PreparedCpu::CheckImports(size_t segment) const {
  for (const PartitionSpec::Border &border : partition_->nodes().imports) {
    const PlannedTensor &entry = plan_->tensors[border.tensor];
    if (border.segment != segment || entry.known) continue;
    MACE_RETURN_IF_ERROR(CheckImport(entry.tensor));
  }
  return MaceStatus::MACE_SUCCESS;
}

std::vector<OperatorNote> PreparedCpu::Explain() const {
  // Before the first run, the layout if all caller's buffers can be used.
  if (!placings_.empty()) return ExplainPlan(*plan_, layout());
  return ExplainPlan(*plan_,
                     MakeLayout(std::vector<char>(plan_->tensors.size(), 0)));
}

size_t PreparedCpu::TensorBytes() const {
  size_t total = 0;
  for (const PlannedTensor &entry : plan_->tensors) {
    if (entry.tensor.is_constant) continue;
    total += static_cast<size_t>(entry.stored_bytes);
  }
  return total;
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// MaceEngine::Impl: one run.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#include "mace/core/aligned_memory.h"
#include "mace/core/border.h"
#include "mace/core/engine.h"
#include "mace/core/logging.h"
#include "mace/core/mace_tensor.h"
#include "mace/core/pages.h"

namespace mace {
namespace {

// A user's buffer is used in place from the alignment on that malloc and new
// give; below it, vector loads of kernels cross cache lines all the time.
constexpr size_t kInPlaceAlignment = alignof(std::max_align_t);

// Plans for that many sets of input shapes are kept.
constexpr size_t kMaxPlans = 8;

bool Overlap(const UserTensor &a, const UserTensor &b) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
  return a_begin < b_begin + static_cast<uintptr_t>(b.capacity_bytes) &&
         b_begin < a_begin + static_cast<uintptr_t>(a.capacity_bytes);
}

// Binds the calling thread to the pool's cores for a run.
class CallerBinding {
 public:
  explicit CallerBinding(ThreadPool *pool) : pool_(pool) {
    pool_->BindCaller();
  }
  ~CallerBinding() { pool_->UnbindCaller(); }
  CallerBinding(const CallerBinding &) = delete;
  CallerBinding &operator=(const CallerBinding &) = delete;

 private:
  ThreadPool *pool_;
};

int64_t NanosSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

MaceStatus MaceEngine::Impl::Run(const Inputs &inputs,
                                 Inputs *outputs,
                                 RunMetadata *run_metadata) {
  if (outputs == nullptr || outputs->empty()) {
    return InvalidArgs("no output is wanted: `outputs` is null or empty");
  }
  std::lock_guard<std::mutex> lock(arena_->mutex);
  const CallerBinding binding(pool_.get());
  return RunLocked(inputs, outputs, run_metadata);
}

MaceStatus MaceEngine::Impl::RunLocked(const Inputs &inputs,
                                       Inputs *outputs,
                                       RunMetadata *run_metadata) {
  std::vector<UserTensor> users_in(inputs_.size());
  MACE_RETURN_IF_ERROR(MatchInputs(inputs, &users_in));
  MACE_RETURN_IF_ERROR(ReshapeFor(users_in));
  std::vector<UserTensor> users_out(outputs_.size());
  MACE_RETURN_IF_ERROR(MatchOutputs(outputs, &users_out));
  ChooseExternal(users_in, users_out);
  MACE_RETURN_IF_ERROR(UpdatePlan());
  MACE_RETURN_IF_ERROR(TakeArena());
  Bind(users_in, users_out);
  BringIn(users_in);
  if (check_numerics_) MACE_RETURN_IF_ERROR(CheckInputNumerics());
  MACE_RETURN_IF_ERROR(RunNodes(run_metadata));
  HandOut(users_out, outputs);
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::ReshapeFor(const std::vector<UserTensor> &inputs) {
  bool same = shapes_valid_;
  for (size_t i = 0; same && i < inputs.size(); ++i) {
    same = shapes_[i] == inputs[i].shape;
  }
  if (same) return MaceStatus::MACE_SUCCESS;
  shapes_valid_ = false;
  layout_valid_ = false;
  shapes_.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes_.push_back(inputs[i].shape);
    ProgramTensor &entry = program_->tensors()[inputs_[i].tensor];
    entry.tensor.shape = inputs[i].shape;
    entry.stored_bytes = entry.tensor.bytes();
  }
  MACE_RETURN_IF_ERROR(program_->Reshape());
  shapes_valid_ = true;
  return MaceStatus::MACE_SUCCESS;
}

void MaceEngine::Impl::ChooseExternal(const std::vector<UserTensor> &inputs,
                                      const std::vector<UserTensor> &outputs) {
  std::vector<char> external(external_.size(), 0);
  const auto fits = [this](const UserTensor &user, int id) {
    return user.data != nullptr && !user.nchw &&
           user.data_type == program_->tensors()[id].tensor.data_type &&
           IsAligned(user.data, kInPlaceAlignment);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (fits(inputs[i], inputs_[i].tensor)) external[inputs_[i].tensor] = 1;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int id = outputs_[i].tensor;
    const ProgramTensor &entry = program_->tensors()[id];
    bool direct = fits(outputs[i], id) &&
                  entry.source == TensorSource::kOperator && !entry.known;
    // An operator may still read what another one writes here.
    for (const UserTensor &input : inputs) {
      direct = direct && !Overlap(outputs[i], input);
    }
    for (size_t j = 0; j < outputs.size(); ++j) {
      direct = direct && (i == j || !Overlap(outputs[i], outputs[j]));
    }
    if (direct) external[id] = 1;
  }
  if (external != external_) {
    external_ = std::move(external);
    layout_valid_ = false;
  }
}

ArenaLayout MaceEngine::Impl::MakeLayout() const {
  const int threads = pool_->thread_count();
  std::vector<BandChain> chains;
  if (row_bands_) chains = FindBandChains(*program_, threads);
  return LayOutArena(*program_, external_, std::move(chains), threads);
}

MaceStatus MaceEngine::Impl::UpdatePlan() {
  if (layout_valid_) return MaceStatus::MACE_SUCCESS;
  layout_ = MakeLayout();
  for (const BandChain &chain : layout_.chains) {
    VLOG(1) << "runs " << chain.nodes.size() << " operators, from '"
            << program_->nodes()[chain.nodes.front()].def->name << "' to '"
            << program_->nodes()[chain.nodes.back()].def->name << "', in "
            << chain.tasks() << " task(s) by bands of " << chain.band_rows
            << " of " << chain.rows << " row(s), with " << chain.thread_bytes
            << " bytes for each thread";
  }
  MACE_RETURN_IF_ERROR(FindPlan(layout_.requests));
  layout_valid_ = true;
  return MaceStatus::MACE_SUCCESS;
}

// Brings the plan for `requests` to the front of plans_. Equal requests have
// equal plans, whatever shapes they came from.
MaceStatus MaceEngine::Impl::FindPlan(
    const std::vector<PlanRequest> &requests) {
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&requests](const CachedPlan &cached) {
                                    return cached.requests == requests;
                                  });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return MaceStatus::MACE_SUCCESS;
  }
  CachedPlan cached;
  MACE_ASSIGN_OR_RETURN(cached.plan, PlanMemory(requests));
  // A wrong plan would corrupt results silently, and checking costs far less
  // than the run that follows: it stays on in every build.
  MACE_RETURN_IF_ERROR(VerifyPlan(requests, cached.plan));
  cached.requests = requests;
  VLOG(1) << "planned " << requests.size() << " tensors into "
          << cached.plan.arena_bytes << " bytes (lower bound "
          << PlanLowerBound(requests) << ")";
  plans_.push_front(std::move(cached));
  if (plans_.size() > kMaxPlans) plans_.pop_back();
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::TakeArena() {
  const size_t bytes = plans_.front().plan.arena_bytes;
  if (arena_->memory.bytes() >= bytes) return MaceStatus::MACE_SUCCESS;
  if (!arena_->memory.Allocate(bytes)) {
    return OutOfResources("no memory for the intermediate tensors of model '",
                          model_.name, "' (", bytes, " bytes)");
  }
  MapNewMemory(arena_->memory.data(), bytes, pool_.get());
#ifndef NDEBUG
  // Not-a-number in every format: what reads before it writes will show.
  std::memset(arena_->memory.data(), 0xff, bytes);
#endif
  return MaceStatus::MACE_SUCCESS;
}

void MaceEngine::Impl::Bind(const std::vector<UserTensor> &inputs,
                            const std::vector<UserTensor> &outputs) {
  const std::vector<size_t> &offsets = plans_.front().plan.offsets;
  auto *base = static_cast<unsigned char *>(arena_->memory.data());
  std::vector<ProgramTensor> &tensors = program_->tensors();
  for (size_t id = 0; id < tensors.size(); ++id) {
    ProgramTensor &entry = tensors[id];
    if (entry.tensor.is_constant || entry.known) continue;
    const int request = layout_.tensor_request[id];
    entry.tensor.data = request < 0 ? NoElements() : base + offsets[request];
    entry.tensor.row_stride = layout_.row_stride[id];
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int id = inputs_[i].tensor;
    if (external_[id]) tensors[id].tensor.data = inputs[i].data;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int id = outputs_[i].tensor;
    if (external_[id] && tensors[id].source == TensorSource::kOperator) {
      tensors[id].tensor.data = outputs[i].data;
    }
  }
  for (size_t step = 0; step < program_->nodes().size(); ++step) {
    const int request = layout_.scratch_request[step];
    program_->nodes()[step].scratch =
        request < 0 ? nullptr : base + offsets[request];
  }
}

void MaceEngine::Impl::BringIn(const std::vector<UserTensor> &users) {
  for (size_t i = 0; i < users.size(); ++i) {
    const int id = inputs_[i].tensor;
    if (external_[id]) continue;
    const Tensor &tensor = program_->tensors()[id].tensor;
    CopyAtBorder({users[i].data, users[i].data_type, tensor.data,
                  tensor.data_type, tensor.shape,
                  users[i].nchw ? BorderCopy::Order::kNchwToNhwc
                                : BorderCopy::Order::kSame},
                 pool_.get());
  }
}

MaceStatus MaceEngine::Impl::RunNodes(RunMetadata *run_metadata) {
  const bool measure = run_metadata != nullptr || VLOG_IS_ON(2);
  if (run_metadata != nullptr) run_metadata->op_stats.clear();
  const auto clock = std::chrono::steady_clock::now();
  std::vector<int64_t> nanos;  // of the operators of a chain, per thread
  for (size_t step = 0; step < program_->nodes().size(); ++step) {
    const ProgramNode &node = program_->nodes()[step];
    if (node.known) continue;
    const BandChain *chain = layout_.ChainAt(step);
    if (chain != nullptr && !chain->EndsWith(step)) continue;
    const int64_t start = measure ? NanosSince(clock) : 0;
    if (chain == nullptr) {
      MACE_RETURN_IF_ERROR(program_->RunNode(step));
      if (measure) NoteTime(node, start, NanosSince(clock), run_metadata);
    } else if (measure) {
      const auto threads = static_cast<size_t>(pool_->thread_count());
      nanos.assign(threads * BandChain::kMaxNodes, 0);
      program_->RunChain(*chain, node.scratch, nanos.data());
      NoteTimes(*chain, nanos, start, NanosSince(clock), run_metadata);
    } else {
      program_->RunChain(*chain, node.scratch, nullptr);
    }
    if (check_numerics_) MACE_RETURN_IF_ERROR(CheckNumerics(node));
  }
  return MaceStatus::MACE_SUCCESS;
}

void MaceEngine::Impl::HandOut(const std::vector<UserTensor> &users,
                               Inputs *outputs) {
  for (size_t i = 0; i < users.size(); ++i) {
    const int id = outputs_[i].tensor;
    const ProgramTensor &entry = program_->tensors()[id];
    const bool direct =
        external_[id] && entry.source == TensorSource::kOperator;
    if (users[i].data == nullptr || direct) continue;
    CopyAtBorder({entry.tensor.data, entry.tensor.data_type, users[i].data,
                  users[i].data_type, entry.tensor.shape,
                  users[i].nchw ? BorderCopy::Order::kNhwcToNchw
                                : BorderCopy::Order::kSame},
                 pool_.get());
  }
  for (auto &[name, tensor] : *outputs) {
    for (size_t i = 0; i < users.size(); ++i) {
      const Tensor &result = program_->tensors()[outputs_[i].tensor].tensor;
      if (!Means(outputs_[i].info, result.name, name)) continue;
      const Shape shape =
          users[i].nchw ? NhwcToNchw(result.shape) : result.shape;
      tensor.impl_->shape.assign(shape.begin(), shape.end());
    }
  }
}

}  // namespace mace

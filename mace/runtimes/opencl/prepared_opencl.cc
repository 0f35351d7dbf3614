// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/prepared_opencl.h"

#include <algorithm>
#include <utility>

#include "mace/core/memory/border.h"
#include "mace/runtimes/opencl/run/plan_reports.h"
#include "mace/runtimes/opencl/tune/model_tuning.h"

namespace mace {
namespace {

// The number of plans that are kept, each for inputs and outputs of other
// orders of dimensions.
constexpr size_t kMaxVariants = 4;

size_t ElementBytes(const GpuTensor &tensor) {
  return static_cast<size_t>(tensor.dims.pixels() * tensor.dims.c) *
         DataTypeSize(StorageElement(tensor.storage));
}

BorderCopy::Order OrderOf(bool from_nchw, bool to_nchw) {
  if (from_nchw == to_nchw) return BorderCopy::Order::kSame;
  return from_nchw ? BorderCopy::Order::kNchwToNhwc
                   : BorderCopy::Order::kNhwcToNchw;
}

}  // namespace

PreparedOpencl::PreparedOpencl(GpuPartition *partition,
                               const GraphShapes &shapes,
                               SelfTest *test)
    : partition_(partition, shapes),
      test_(test),
      staging_(partition->session->queues()),
      nan_search_(partition_) {}

MaceStatus PreparedOpencl::Prepare() {
  MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                        partition_.DeclaredBorder());
  return MakeVariant(border);
}

MaceStatus PreparedOpencl::MakeVariant(
    const std::vector<BorderStorage> &border) {
  TuneIfAsked(&partition_, border);
  Variant variant;
  MACE_ASSIGN_OR_RETURN(
      variant.bound,
      BoundPlan::Make(&partition_, border, BindingOptions(partition_)));
  variants_.push_front(std::move(variant));
  if (variants_.size() > kMaxVariants) variants_.pop_back();
  return MaceStatus();
}

MaceStatus PreparedOpencl::Choose(const std::vector<CallerTensor> &callers) {
  if (callers.empty()) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                        partition_.BorderOf(callers));
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [&](const Variant &variant) {
                                    return variant.bound->border() == border;
                                  });
  if (found == variants_.end()) return MakeVariant(border);
  if (found != variants_.begin()) {
    variants_.splice(variants_.begin(), variants_, found);
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::Bind(const std::vector<CallerTensor> &callers,
                                Arena *arena) {
  nan_search_.Begin();
  MACE_RETURN_IF_ERROR(Choose(callers));
  Variant &variant = variants_.front();
  BoundPlan &bound = *variant.bound;
  OpenclMemory *memory = MemoryIn(arena);
  if (test_ != nullptr && !variant.tested && bound.in_caller()) {
    MACE_RETURN_IF_ERROR(TestInOwnMemory(&variant, memory));
  }
  const size_t bytes = memory->BytesFor(bound.plan());
  if (bytes > memory->bytes() && !arena->Allows(*memory, bytes)) {
    return OutOfResources("no memory for the intermediate tensors of model '",
                          partition_.graph().model().name, "' (", bytes,
                          " bytes on the GPU, over the limit)");
  }
  MACE_RETURN_IF_ERROR(memory->Take(bound.plan()));
  MACE_RETURN_IF_ERROR(bound.TakeCallers(callers, hardware_buffers_));
  hardware_buffers_.DropOthers(callers);
  if (bound.IsBoundTo(*memory)) return bound.BindCallers(*memory);
  MACE_RETURN_IF_ERROR(bound.Bind(*memory));
  if (test_ == nullptr || variant.tested) return MaceStatus();
  // What was not in the plan that was tested at the start.
  MACE_RETURN_IF_ERROR(test_->TestNew(&bound));
  variant.tested = true;
  return MaceStatus();
}

// That of an arena, which a tutor on another context may have had before.
OpenclMemory *PreparedOpencl::MemoryIn(Arena *arena) const {
  std::unique_ptr<DeviceMemory> &slot = arena->MemoryOf(DeviceType::GPU);
  auto *memory = static_cast<OpenclMemory *>(slot.get());
  const GpuQueues &queues = *partition_.queues();
  if (memory != nullptr && memory->runtime() == queues.runtime()) return memory;
  auto made = std::make_unique<OpenclMemory>(queues.shared_runtime());
  memory = made.get();
  slot = std::move(made);
  return memory;
}

// The test writes to inputs and outputs.
MaceStatus PreparedOpencl::TestInOwnMemory(Variant *variant,
                                           OpenclMemory *memory) {
  BoundPlan &bound = *variant->bound;
  MACE_RETURN_IF_ERROR(bound.TakeOwnMemory());
  MACE_RETURN_IF_ERROR(memory->Take(bound.plan()));
  MACE_RETURN_IF_ERROR(bound.Bind(*memory));
  MACE_RETURN_IF_ERROR(test_->TestNew(&bound));
  variant->tested = true;
  bound.Unbind();
  return MaceStatus();
}

MaceStatus PreparedOpencl::CopyIn(int tensor, const HostTensor &from) {
  const int index = bound().plan().tensor_of[tensor];
  if (index < 0) return MaceStatus();
  nan_search_.NoteImport(tensor, from);
  const GpuTensor &entry = bound().plan().tensors[index];
  const size_t bytes = ElementBytes(entry);
  if (bytes == 0 || InGpuMemory(from)) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(void *staging, staging_.Get(tensor, bytes));
  const bool nchw = entry.storage == GpuStorage::kNchwFloat;
  CopyToStaging(
      {from.data, from.data_type, staging, StorageElement(entry.storage),
       partition_.tensor(tensor).shape, OrderOf(from.nchw, nchw)},
      partition_.session()->pool());
  const GpuQueues &queues = *partition_.queues();
  MACE_CL_CHECK(
      "clEnqueueWriteBuffer", partition_.tensor(tensor).name,
      queues.api().clEnqueueWriteBuffer(queues.queue(), bound().buffer(),
                                        CL_FALSE, bound().OffsetOf(index),
                                        bytes, staging, 0, nullptr, nullptr));
  return MaceStatus();
}

MaceStatus PreparedOpencl::CopyOut(int tensor, const HostTensor &to) {
  const int index = bound().plan().tensor_of[tensor];
  if (index < 0) return MaceStatus();
  const GpuTensor &entry = bound().plan().tensors[index];
  if (ElementBytes(entry) == 0) return MaceStatus();
  MACE_RETURN_IF_ERROR(
      nan_search_.CheckExport(bound(), tensor, staging_.At(tensor)));
  if (InGpuMemory(to)) return MaceStatus();
  CopyAtBorder({staging_.At(tensor), StorageElement(entry.storage), to.data,
                to.data_type, partition_.tensor(tensor).shape,
                OrderOf(entry.storage == GpuStorage::kNchwFloat, to.nchw)},
               partition_.session()->pool());
  return MaceStatus();
}

MaceStatus PreparedOpencl::Enqueue(size_t segment, const RunTrace *trace) {
  if (partition_.options().check_numerics) {
    MACE_RETURN_IF_ERROR(RunChecked(&bound(), segment));
  } else if (trace != nullptr) {
    MACE_RETURN_IF_ERROR(RunTimed(&bound(), segment, *trace));
  } else {
    MACE_RETURN_IF_ERROR(bound().commands()->Enqueue(segment));
  }
  MACE_RETURN_IF_ERROR(ReadExports(segment));
  const GpuQueues &queues = *partition_.queues();
  MACE_CL_CHECK("clFlush", "", queues.api().clFlush(queues.queue()));
  return MaceStatus();
}

// Copies what others need to the host, without waiting.
MaceStatus PreparedOpencl::ReadExports(size_t segment) {
  const OpenclPlan &plan = bound().plan();
  const GpuQueues &queues = *partition_.queues();
  for (const PartitionSpec::Border &border : partition_.spec().exports) {
    const int index = plan.tensor_of[border.tensor];
    if (index < 0) continue;
    const GpuTensor &entry = plan.tensors[index];
    const size_t bytes = ElementBytes(entry);
    if (entry.segment != segment || entry.is_constant || bytes == 0) continue;
    // The application's own memory, which nobody else reads.
    if (plan.Root(index).caller == border.tensor) continue;
    MACE_ASSIGN_OR_RETURN(void *staging, staging_.Get(border.tensor, bytes));
    MACE_CL_CHECK(
        "clEnqueueReadBuffer", partition_.tensor(border.tensor).name,
        queues.api().clEnqueueReadBuffer(queues.queue(), bound().buffer(),
                                         CL_FALSE, bound().OffsetOf(index),
                                         bytes, staging, 0, nullptr, nullptr));
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::Wait() {
  const GpuQueues &queues = *partition_.queues();
  MACE_CL_CHECK("clFinish", "", queues.api().clFinish(queues.queue()));
  return MaceStatus();
}

std::vector<OperatorNote> PreparedOpencl::Explain() const {
  return ExplainPlan(bound());
}

size_t PreparedOpencl::TensorBytes() const {
  return mace::TensorBytes(bound().plan());
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/winograd_conv.h"

#include <atomic>

#include "mace/core/logging.h"
#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/ops/epilogue/conv_run.h"

namespace mace {
namespace {

// Where nothing of the method is linked, its transforms count as of the widest
// vectors: what those would take is worth a warning.
constexpr int kMostLanes = 16;

size_t PerThread(const winograd::ConvPlan &plan) {
  return (plan.scratch_bytes + 63) & ~size_t{63};
}

// Once in a process: it is true of the library, not of one convolution.
void WarnOfMissingTransforms() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING) << "this library was built without Winograd: convolutions that "
                  "it would speed up run directly. Build it for this model, "
                  "with `bash tools/build-standalone-lib.sh -models=FILE.pb,"
                  "...`, or add -ops=Winograd";
}

}  // namespace

void WinogradConv::Init(CpuIsa isa, int max_tile, bool half) {
  part_ = winograd::LinkedPart();
  if (part_ != nullptr) {
    kernels_ = half ? winograd::HalfKernelsFor(isa) : part_->kernels_for(isa);
  }
  gemm_ = gemm::KernelsFor(isa);
  if (half) fp16_ = HalfArithmetic::For(isa, "fp16_fp16").gemm;
  max_tile_ = max_tile;
}

void WinogradConv::Reshape(const gemm::ConvShape &shape,
                           const Tensor &filter,
                           ReshapeContext *context) {
  tile_ = 0;
  // No transform reads pairs.
  if (filter.layout == ConstantLayout::kPackedO16Pairs) return;
  const int threads = context->thread_pool()->thread_count();
  const winograd::Method method = winograd::Choose(
      shape, max_tile_, kernels_ == nullptr ? kMostLanes : kernels_->lanes,
      threads);
  if (method.tile == 0) return;
  if (kernels_ == nullptr) {
    WarnOfMissingTransforms();
    return;
  }
  winograd::PlanRequest request;
  request.shape = shape;
  request.method = method;
  request.weight_type = PackedWeightType(filter);
  request.kernels = kernels_;
  request.gemm = gemm_;
  request.fp16 = fp16_;
  request.threads = threads;
  plan_ = part_->plan(request);
  tile_ = method.tile;
  if (method.each_run || filters_[IndexOf(tile_)] != nullptr) return;
  context->RequestPrepared(FilterBytes(),
                           [this](void *memory) { return TakeMemory(memory); });
}

size_t WinogradConv::ElementBytes() const {
  return fp16_ != nullptr ? sizeof(uint16_t) : sizeof(float);
}

size_t WinogradConv::FilterBytes() const {
  return part_->filter_elements(plan_) * ElementBytes();
}

MaceStatus WinogradConv::TakeMemory(void *memory) {
  if (memory == nullptr) {
    return OutOfResources("no memory for ", FilterBytes(),
                          " bytes of filter transformed for winograd ",
                          plan_.tile,
                          "; a smaller `winograd` in the deployment file "
                          "needs less, 0 none");
  }
  filters_[IndexOf(plan_.tile)] = memory;
  transformed_[IndexOf(plan_.tile)] = false;
  return MaceStatus();
}

void WinogradConv::Transform(const void *filter, ThreadPool *pool) {
  const size_t channels = static_cast<size_t>(plan_.shape.in_c);
  const size_t panel_bytes = channels * gemm::kPanelColumns * ElementBytes();
  char *memory = static_cast<char *>(filters_[IndexOf(tile_)]);
  pool->ParallelFor(plan_.panels, 1, [&](int64_t begin, int64_t end, int) {
    winograd::FilterArgs args;
    args.from = filter;
    args.type = plan_.weight_type;
    args.channels = channels;
    args.panel_begin = static_cast<size_t>(begin);
    args.panel_end = static_cast<size_t>(end);
    args.to = memory + args.panel_begin * panel_bytes;
    args.to_stride = plan_.filter_stride;
    plan_.transforms->filter[winograd::kAllRows](args);
  });
  transformed_[IndexOf(tile_)] = true;
}

size_t WinogradConv::ScratchBytes(int threads) const {
  return plan_.shared_bytes + PerThread(plan_) * static_cast<size_t>(threads);
}

void WinogradConv::Run(const gemm::ConvArgs &args,
                       const FusedActivation &activation,
                       ThreadPool *pool,
                       void *scratch) {
  if (!plan_.each_run && !transformed_[IndexOf(tile_)]) {
    Transform(args.weights, pool);
  }
  const size_t per_thread = PerThread(plan_);
  const DataType type =
      fp16_ != nullptr ? DataType::kFloat16 : DataType::kFloat32;
  gemm::ConvArgs clamped = args;
  if (!plan_.each_run) clamped.weights = filters_[IndexOf(tile_)];
  clamped.epilogue.clamp = activation.clamp();
  clamped.epilogue.low = activation.low();
  clamped.epilogue.high = activation.high();
  const auto activate = [&](ptrdiff_t task) {
    const ptrdiff_t regions = part_->regions(plan_, task);
    for (ptrdiff_t j = 0; j < regions; ++j) {
      const gemm::ConvRegion r = part_->region_of(plan_, task, j);
      ApplyActivation(activation, args, type, r);
    }
  };
  void *shared = scratch;
  char *unshared = static_cast<char *>(scratch) + plan_.shared_bytes;
  pool->ParallelFor(
      plan_.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
        void *own = unshared + static_cast<size_t>(thread) * per_thread;
        for (int64_t i = begin; i < end; ++i) {
          const ptrdiff_t task = static_cast<ptrdiff_t>(i);
          part_->run_task(plan_, clamped, task, own, shared);
          if (plan_.output_tasks == 0) activate(task);
        }
      });
  if (plan_.output_tasks == 0) return;
  pool->ParallelFor(plan_.output_tasks, 1,
                    [&](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t i = begin; i < end; ++i) {
                        const ptrdiff_t task = static_cast<ptrdiff_t>(i);
                        part_->run_output_task(plan_, clamped, task, shared);
                        activate(task);
                      }
                    });
}

}  // namespace mace

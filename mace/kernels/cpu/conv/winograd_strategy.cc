// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/missing_part.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::conv {
namespace {

// If no code of the method is linked, the widest vectors are assumed, to decide
// whether a warning is worthwhile.
constexpr int kMostLanes = 16;

// Warns once per process, because the reason is the library, not one
// convolution.
void WarnOfMissingTransforms() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING) << kBuiltWithout
               << "Winograd: convolutions that it would speed up run directly"
               << kBuildForThisModel << ", or add -ops=Winograd";
}

// A filter transformed for one tile size.
struct TransformedFilter {
  void *memory = nullptr;  // null until needed
  bool filled = false;
};

class WinogradPlan final : public Plan {
 public:
  WinogradPlan(const winograd::Part *part,
               const winograd::PlanRequest &request,
               TransformedFilter *filter)
      : part_(part), plan_(part->plan(request)), filter_(filter) {}

  std::string Name() const override {
    std::string name = plan_.tile == 2 ? "winograd2x2" : "winograd4x4";
    if (plan_.image == Element::kF16) name += " in fp16";
    if (plan_.image == Element::kBf16) name += " of bf16";
    return name;
  }
  size_t ScratchBytes(int threads) const override {
    return plan_.shared_bytes + PerThread() * static_cast<size_t>(threads);
  }
  bool ResidualMayBeOutput() const override { return true; }
  size_t PreparedBytes() const override {
    return plan_.each_run || filter_->memory != nullptr ? 0 : FilterBytes();
  }
  MaceStatus TakePrepared(void *memory) override {
    if (memory == nullptr) {
      return OutOfResources("no memory for ", FilterBytes(),
                            " bytes of filter transformed for winograd ",
                            plan_.tile,
                            "; a smaller `winograd` in the deployment file "
                            "needs less, 0 none");
    }
    filter_->memory = memory;
    filter_->filled = false;
    return MaceStatus();
  }
  // The first run with a tile size transforms the filter, which is then still
  // in cache when it is read.
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

 private:
  size_t PerThread() const { return AlignUp(plan_.scratch_bytes); }
  size_t FilterBytes() const {
    return part_->filter_elements(plan_) *
           ElementBytes(plan_.arithmetic->element);
  }
  void Transform(const void *filter, ThreadPool *pool) const;

  const winograd::Part *part_;
  winograd::ConvPlan plan_;
  TransformedFilter *filter_;
};

void WinogradPlan::Transform(const void *filter, ThreadPool *pool) const {
  const size_t channels = static_cast<size_t>(plan_.shape.in_c);
  const size_t panel_bytes =
      channels * gemm::kPanelColumns * ElementBytes(plan_.arithmetic->element);
  char *memory = static_cast<char *>(filter_->memory);
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
  filter_->filled = true;
}

void WinogradPlan::Run(const Args &args,
                       const OutputActivation *activation,
                       ThreadPool *pool,
                       void *scratch) const {
  if (!plan_.each_run && !filter_->filled) Transform(args.weights, pool);
  Args own = args;
  if (!plan_.each_run) own.weights = filter_->memory;
  const Element type = plan_.image;
  const auto activate = [&](ptrdiff_t task) {
    if (activation == nullptr) return;
    const ptrdiff_t regions = part_->regions(plan_, task);
    for (ptrdiff_t j = 0; j < regions; ++j) {
      Activate(activation, args, type, part_->region_of(plan_, task, j));
    }
  };
  char *unshared = static_cast<char *>(scratch) + plan_.shared_bytes;
  pool->ParallelFor(
      plan_.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
        void *memory = unshared + static_cast<size_t>(thread) * PerThread();
        for (int64_t i = begin; i < end; ++i) {
          const ptrdiff_t task = static_cast<ptrdiff_t>(i);
          part_->run_task(plan_, own, task, memory, scratch);
          if (plan_.output_tasks == 0) activate(task);
        }
      });
  if (plan_.output_tasks == 0) return;
  pool->ParallelFor(plan_.output_tasks, 1,
                    [&](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t i = begin; i < end; ++i) {
                        const ptrdiff_t task = static_cast<ptrdiff_t>(i);
                        part_->run_output_task(plan_, own, task, scratch);
                        activate(task);
                      }
                    });
}

class Winograd final : public Strategy {
 public:
  Winograd(CpuIsa isa, int max_tile) : isa_(isa), max_tile_(max_tile) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout != FilterLayout::kPanels) return nullptr;
    const Element image = request.image;
    if (image != request.results) return nullptr;
    if (image != Element::kF32 && image != Element::kF16 &&
        image != Element::kBf16) {
      return nullptr;
    }
    const winograd::Kernels *kernels = winograd::KernelsFor(isa_, image);
    // The transformed values do not have the type of the weights.
    const gemm::Arithmetic *arithmetic = gemm::ArithmeticFor(
        image == Element::kF16 ? gemm::ArithmeticKind::kFp16
                               : gemm::ArithmeticKind::kFloat,
        isa_);
    winograd::ChooseRequest choice;
    choice.shape = request.shape;
    choice.max_tile = max_tile_;
    choice.lanes = kernels == nullptr ? kMostLanes : kernels->lanes;
    choice.direct_rate = request.arithmetic->rate / arithmetic->rate;
    const winograd::Method method = winograd::Choose(choice);
    if (method.tile == 0) return nullptr;
    if (kernels == nullptr) {
      WarnOfMissingTransforms();
      return nullptr;
    }
    winograd::PlanRequest own;
    own.shape = request.shape;
    own.method = method;
    own.weight_type = request.weights;
    own.image = image;
    own.kernels = kernels;
    own.arithmetic = arithmetic;
    own.threads = request.threads;
    return std::make_unique<WinogradPlan>(winograd::LinkedPart(), own,
                                          &filters_[method.tile == 2 ? 0 : 1]);
  }

 private:
  CpuIsa isa_;
  int max_tile_;
  TransformedFilter filters_[2];  // for tiles of 2 and of 4
};

}  // namespace

std::unique_ptr<Strategy> MakeWinograd(CpuIsa isa, int max_tile) {
  return std::make_unique<Winograd>(isa, max_tile);
}

}  // namespace mace::conv

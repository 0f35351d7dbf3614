// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/quantized_strategy.h"

#include <cstring>
#include <deque>

#include "mace/kernels/cpu/conv/plan_of_direct.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"

namespace mace::conv {
namespace {

constexpr ptrdiff_t kPanel = gemm::kPanelColumns;

// The filter in panels, for taps of one depth.
struct Panels {
  ptrdiff_t depth = 0;
  void *memory = nullptr;  // null until it is needed
};

class PlanOfQuantized final : public PlanOfDirect {
 public:
  PlanOfQuantized(const Request &request, Panels *panels)
      : PlanOfDirect(request),
        shape_(request.shape),
        filter_(static_cast<const int8_t *>(request.filter)),
        panels_(panels) {}

  size_t PreparedBytes() const override {
    return panels_->memory != nullptr ? 0 : Bytes();
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, Bytes()));
    Fill(static_cast<int8_t *>(memory));
    panels_->memory = memory;
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override {
    PlanOfDirect::Run(WithPanels(args), activation, pool, scratch);
  }
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation *activation,
               void *scratch) const override {
    PlanOfDirect::RunRows(rows, WithPanels(args), activation, scratch);
  }

 private:
  Args WithPanels(Args args) const {
    args.weights = panels_->memory;
    return args;
  }
  size_t StoredDepth() const {
    return gemm::DepthInFours(static_cast<size_t>(plan().depth));
  }
  size_t PanelBytes() const {
    return gemm::PanelBytes(WeightType::kI8Fours,
                            static_cast<size_t>(plan().taps) * StoredDepth());
  }
  size_t Bytes() const {
    return static_cast<size_t>(shape_.groups * plan().panels) * PanelBytes();
  }

  // A tap of the plan is one or several pixels of the filter.
  void Fill(int8_t *to) const {
    std::memset(to, 0, Bytes());
    const ptrdiff_t columns = shape_.out_c / shape_.groups;
    const auto stored = static_cast<ptrdiff_t>(StoredDepth());
    const int8_t *from = filter_;
    for (ptrdiff_t o = 0; o < shape_.out_c; ++o) {
      const ptrdiff_t n = o % columns;
      const ptrdiff_t panel = o / columns * plan().panels + n / kPanel;
      int8_t *column =
          to + panel * static_cast<ptrdiff_t>(PanelBytes()) + n % kPanel * 4;
      for (ptrdiff_t tap = 0; tap < plan().taps; ++tap) {
        for (ptrdiff_t k = 0; k < plan().depth; ++k) {
          const ptrdiff_t at = tap * stored + k;
          column[at / 4 * 4 * kPanel + at % 4] = *from++;
        }
      }
    }
  }

  const Shape shape_;
  const int8_t *const filter_;
  Panels *const panels_;
};

class QuantizedDirect final : public Strategy {
 public:
  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    Request own = request;
    own.weights = WeightType::kI8Fours;
    own.image = own.results = Element::kI8;
    // Addresses of panels stay the same.
    const ptrdiff_t depth = PlanDepth(own);
    for (Panels &known : panels_) {
      if (known.depth == depth) {
        return std::make_unique<PlanOfQuantized>(own, &known);
      }
    }
    panels_.emplace_back();
    panels_.back().depth = depth;
    return std::make_unique<PlanOfQuantized>(own, &panels_.back());
  }

 private:
  static ptrdiff_t PlanDepth(const Request &request) {
    DirectRequest direct;
    direct.shape = request.shape;
    direct.w_type = request.weights;
    direct.arithmetic = request.arithmetic;
    direct.image = request.image;
    direct.results = request.results;
    return PlanDirect(direct).depth;
  }

  std::deque<Panels> panels_;
};

}  // namespace

std::unique_ptr<Strategy> MakeQuantizedDirect() {
  return std::make_unique<QuantizedDirect>();
}

}  // namespace mace::conv

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/quantized_strategy.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/conv/plan_of_direct.h"
#include "mace/kernels/cpu/dwconv/int16_dwconv.h"
#include "mace/kernels/cpu/dwconv/quantized_dwconv.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/gemm/step_packing.h"

namespace mace::conv {
namespace {

constexpr ptrdiff_t kPanel = gemm::kPanelColumns;

// The filter in panels of one kind, for taps of one depth.
struct Panels {
  WeightType weights = WeightType::kI8Fours;
  ptrdiff_t depth = 0;
  const void *memory = nullptr;  // null until it is needed
  // Of panels of kI8Steps, until they are written.
  std::unique_ptr<gemm::StepPacking> steps;
  gemm::StepShares shares;
};

// The share of fours that are not plain, for reports.
std::string TextOf(const gemm::StepShares &shares) {
  const size_t all = shares.deep + shares.plain + shares.flipped;
  const auto percent = [all](size_t part) {
    return std::to_string((part * 100 + all / 2) / all) + "%";
  };
  return " by steps, " + percent(shares.deep) + " deep, of which " +
         percent(shares.masked) + " masked, " + percent(shares.flipped) +
         " flipped";
}

// Only processors that read uint8 multiply by steps.
bool ReadsSteps(const Request &request) {
  return kUnsignedBytes && request.arithmetic->reads_steps;
}

class PlanOfQuantized final : public PlanOfDirect {
 public:
  explicit PlanOfQuantized(const Request &request)
      : PlanOfDirect(request),
        shape_(request.shape),
        filter_(static_cast<const int8_t *>(request.filter)),
        is_packed_(request.layout == FilterLayout::kFours),
        in_steps_(request.weights == WeightType::kI8Steps) {}

  // Before anything else.
  void UsePanels(Panels *panels) {
    panels_ = panels;
    if (is_packed_ && !in_steps_) panels_->memory = filter_;
    if (kUnsignedBytes && in_steps_ && panels_->memory == nullptr &&
        panels_->steps == nullptr) {
      PlanSteps();
    }
  }
  ptrdiff_t depth() const { return plan().depth; }
  // Steps read whole fours. A product of one row waits for the memory of its
  // weights, and steps with their masks take up to twice that of the weights
  // alone.
  bool GainsFromSteps() const { return plan().depth >= 4 && plan().rows != 1; }

  std::string Name() const override {
    std::string name = PlanOfDirect::Name();
    if (kUnsignedBytes && in_steps_) name += TextOf(panels_->shares);
    return name;
  }
  size_t PreparedBytes() const override {
    return panels_->memory != nullptr ? 0 : Bytes();
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, Bytes()));
    if (kUnsignedBytes && in_steps_) {
      ForEachPanel(
          [&](const int8_t *fours) { panels_->steps->Write(fours, memory); });
      panels_->steps.reset();
    } else {
      for (size_t i = 0; i < PanelCount(); ++i) {
        FillPanel(i, static_cast<int8_t *>(memory) + i * PanelBytes());
      }
    }
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
  // Of a panel of kI8Fours.
  size_t PanelBytes() const {
    return gemm::PanelBytes(WeightType::kI8Fours,
                            static_cast<size_t>(plan().taps) * StoredDepth());
  }
  // Of all groups.
  size_t PanelCount() const {
    return static_cast<size_t>(shape_.groups * plan().panels);
  }
  size_t Bytes() const {
    return kUnsignedBytes && in_steps_ ? panels_->steps->Bytes()
                                       : PanelCount() * PanelBytes();
  }

  void PlanSteps() {
    panels_->steps = std::make_unique<gemm::StepPacking>(
        PanelCount(), static_cast<size_t>(plan().taps),
        static_cast<size_t>(plan().depth));
    ForEachPanel([this](const int8_t *fours) { panels_->steps->Plan(fours); });
    panels_->shares = panels_->steps->shares();
  }

  // Calls function(panel of kI8Fours) in order.
  template <typename Function>
  void ForEachPanel(const Function &function) const {
    std::vector<int8_t> panel(is_packed_ ? 0 : PanelBytes());
    for (size_t i = 0; i < PanelCount(); ++i) {
      if (is_packed_) {
        function(filter_ + i * PanelBytes());
      } else {
        FillPanel(i, panel.data());
        function(panel.data());
      }
    }
  }

  // A tap of the plan is one or several pixels of the filter.
  void FillPanel(size_t index, int8_t *to) const {
    std::memset(to, 0, PanelBytes());
    const auto panel = static_cast<ptrdiff_t>(index);
    const ptrdiff_t columns = shape_.out_c / shape_.groups;
    const ptrdiff_t first = panel % plan().panels * kPanel;
    const ptrdiff_t count = std::min(kPanel, columns - first);
    const auto stored = static_cast<ptrdiff_t>(StoredDepth());
    const int8_t *from = filter_ + (panel / plan().panels * columns + first) *
                                       plan().taps * plan().depth;
    for (ptrdiff_t n = 0; n < count; ++n) {
      int8_t *column = to + n * 4;
      for (ptrdiff_t tap = 0; tap < plan().taps; ++tap, from += plan().depth) {
        FillTap(from, column + tap * stored * kPanel);
      }
    }
  }

  // The weights of a tap, in fours.
  void FillTap(const int8_t *from, int8_t *to) const {
    const ptrdiff_t depth = plan().depth;
    ptrdiff_t k = 0;
    for (; k + 4 <= depth; k += 4) std::memcpy(to + k * kPanel, from + k, 4);
    for (; k < depth; ++k) {
      const auto at = static_cast<ptrdiff_t>(gemm::PlaceInFours(
          static_cast<size_t>(k), static_cast<size_t>(depth)));
      to[at / 4 * 4 * kPanel + at % 4] = from[k];
    }
  }

  const Shape shape_;
  const int8_t *const filter_;
  const bool is_packed_;  // in the model, as kI8Fours
  const bool in_steps_;
  Panels *panels_ = nullptr;
};

class QuantizedDirect final : public Strategy {
 public:
  // `element`: of images and results.
  explicit QuantizedDirect(Element element) : element_(element) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout == FilterLayout::kTaps) return nullptr;
    Request own = request;
    own.weights = WeightType::kI8Fours;
    own.image = own.results = element_;
    auto plan = std::make_unique<PlanOfQuantized>(own);
    if (ReadsSteps(request) && plan->GainsFromSteps()) {
      own.weights = WeightType::kI8Steps;
      plan = std::make_unique<PlanOfQuantized>(own);
    }
    plan->UsePanels(PanelsFor(own.weights, plan->depth()));
    return plan;
  }

 private:
  Panels *PanelsFor(WeightType weights, ptrdiff_t depth) {
    for (Panels &known : panels_) {
      if (known.weights == weights && known.depth == depth) return &known;
    }
    panels_.emplace_back();
    panels_.back().weights = weights;
    panels_.back().depth = depth;
    return &panels_.back();
  }

  const Element element_;
  // Their addresses stay the same.
  std::deque<Panels> panels_;
};

// A channel with several outputs is repeated, so that the kernels have as many
// channels as outputs.
class PlanOfDepthwise final : public Plan, private RowPlan {
 public:
  PlanOfDepthwise(const Request &request,
                  const dwconv::QuantizedKernels *kernels,
                  void **packed)
      : shape_(OnePerChannel(request.shape)),
        times_(request.shape.out_c / request.shape.in_c),
        kernels_(kernels),
        packed_(packed) {
    const bool taps_first = request.layout == FilterLayout::kTaps;
    filter_.weights = static_cast<const int8_t *>(request.filter);
    filter_.tap_stride = taps_first ? shape_.out_c : 1;
    filter_.channel_stride = taps_first ? 1 : shape_.kernel_h * shape_.kernel_w;
  }

  std::string Name() const override {
    return times_ == 1 ? kernels_->name
                       : std::string("repeat, ") + kernels_->name;
  }
  size_t ScratchBytes(int threads) const override {
    return RepeatedBytes(shape_.batch * shape_.in_h) +
           static_cast<size_t>(threads) * ThreadBytes();
  }
  bool ResidualMayBeOutput() const override { return false; }
  size_t PreparedBytes() const override {
    return *packed_ != nullptr ? 0 : Bytes();
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, Bytes()));
    dwconv::PackQuantizedFilter(shape_, filter_, *kernels_,
                                static_cast<int8_t *>(memory));
    *packed_ = memory;
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation * /*activation*/,
           ThreadPool *pool,
           void *memory) const override {
    dwconv::QuantizedArgs own = KernelArgs(args, shape_);
    auto *scratch = static_cast<uint8_t *>(memory);
    if (times_ > 1) {
      RepeatImage(own.input, scratch, pool);
      own.input = scratch;
      scratch += RepeatedBytes(shape_.batch * shape_.in_h);
    }
    const ptrdiff_t rows = shape_.batch * shape_.out_h;
    const ptrdiff_t products =
        shape_.out_w * shape_.out_c * shape_.kernel_h * shape_.kernel_w;
    // Rows under the first ones of a part are put side by side again.
    const ptrdiff_t parts =
        pool->thread_count() > 1 ? 4 * pool->thread_count() : 1;
    const ptrdiff_t grain =
        std::max(kGrainProducts / products + 1, (rows + parts - 1) / parts);
    pool->ParallelFor(rows, grain, [&](int64_t begin, int64_t end, int thread) {
      kernels_->run(own, static_cast<ptrdiff_t>(begin),
                    static_cast<ptrdiff_t>(end),
                    scratch + static_cast<size_t>(thread) * ThreadBytes());
    });
  }
  const RowPlan *rows() const override { return this; }
  size_t RowScratchBytes(ptrdiff_t out_rows) const override {
    const ptrdiff_t under = (out_rows - 1) * shape_.stride_h +
                            (shape_.kernel_h - 1) * shape_.dilation_h + 1;
    return RepeatedBytes(std::min(under, shape_.in_h)) + ThreadBytes();
  }
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation * /*activation*/,
               void *memory) const override {
    Shape some = shape_;
    some.batch = 1;
    some.in_h = rows.in_rows;
    some.out_h = rows.out_rows;
    some.pad_top = rows.pad_top;
    dwconv::QuantizedArgs own = KernelArgs(args, some);
    auto *scratch = static_cast<uint8_t *>(memory);
    if (times_ > 1) {
      dwconv::RepeatElements(own.input, rows.in_rows * RowElements(), times_,
                             scratch);
      own.input = scratch;
      scratch += RepeatedBytes(rows.in_rows);
    }
    kernels_->run(own, 0, rows.out_rows, scratch);
  }

 private:
  static Shape OnePerChannel(Shape shape) {
    shape.in_c = shape.groups = shape.out_c;
    return shape;
  }
  // Of the image as it is given.
  ptrdiff_t RowElements() const { return shape_.in_w * shape_.in_c / times_; }
  // Of rows whose channels are repeated, if that is necessary.
  size_t RepeatedBytes(ptrdiff_t rows) const {
    const auto bytes = static_cast<size_t>(rows * shape_.in_w * shape_.in_c);
    return times_ == 1 ? 0 : AlignUp(bytes);
  }
  void RepeatImage(const uint8_t *from, uint8_t *to, ThreadPool *pool) const {
    // Starting another thread takes about as long as copying so many.
    constexpr ptrdiff_t kGrainElements = 1 << 15;
    const ptrdiff_t elements = RowElements();
    pool->ParallelFor(
        shape_.batch * shape_.in_h, kGrainElements / elements + 1,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          const auto first = static_cast<ptrdiff_t>(begin) * elements;
          dwconv::RepeatElements(from + first,
                                 static_cast<ptrdiff_t>(end - begin) * elements,
                                 times_, to + first * times_);
        });
  }

  static constexpr ptrdiff_t kGrainProducts = 1 << 17;

  size_t ThreadBytes() const {
    return dwconv::QuantizedScratchBytes(shape_, *kernels_);
  }
  size_t Bytes() const { return dwconv::PackedFilterBytes(shape_, *kernels_); }
  dwconv::QuantizedArgs KernelArgs(const Args &args, const Shape &shape) const {
    dwconv::QuantizedArgs own;
    own.shape = shape;
    own.input = static_cast<const uint8_t *>(args.input);
    own.filter = static_cast<const int8_t *>(*packed_);
    own.output = static_cast<uint8_t *>(args.output);
    own.output_stride = static_cast<ptrdiff_t>(args.output_stride);
    own.requantization = args.epilogue.requantization;
    own.padding = static_cast<uint8_t>(args.padding);
    return own;
  }

  const Shape shape_;      // as the kernels compute it
  const ptrdiff_t times_;  // outputs of each channel
  dwconv::DepthwiseFilter filter_;
  const dwconv::QuantizedKernels *const kernels_;
  void **const packed_;
};

class QuantizedDepthwise final : public Strategy {
 public:
  explicit QuantizedDepthwise(CpuIsa isa)
      : kernels_(dwconv::QuantizedKernelsFor(isa)) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    const Shape &s = request.shape;
    const bool panels = request.layout == FilterLayout::kPanels;
    if (request.layout == FilterLayout::kFours || s.groups != s.in_c ||
        (panels && s.groups == 1) || kernels_ == nullptr) {
      return nullptr;
    }
    return std::make_unique<PlanOfDepthwise>(request, kernels_, &packed_);
  }

 private:
  const dwconv::QuantizedKernels *const kernels_;
  // The packed filter depends only on the filter's shape and the strides.
  void *packed_ = nullptr;
};

class PlanOfInt16Depthwise final : public Plan, private RowPlan {
 public:
  PlanOfInt16Depthwise(const Request &request,
                       const dwconv::Int16Kernels *kernels)
      : shape_(request.shape),
        filter_(static_cast<const int8_t *>(request.filter)),
        kernels_(kernels) {}

  std::string Name() const override { return "dwconv, int16"; }
  size_t ScratchBytes(int /*threads*/) const override { return 0; }
  bool ResidualMayBeOutput() const override { return false; }
  void Run(const Args &args,
           const OutputActivation * /*activation*/,
           ThreadPool *pool,
           void * /*scratch*/) const override {
    const dwconv::Int16Args own = KernelArgs(args, shape_);
    const ptrdiff_t products =
        shape_.out_w * shape_.out_c * shape_.kernel_h * shape_.kernel_w;
    pool->ParallelFor(shape_.batch * shape_.out_h,
                      kGrainProducts / products + 1,
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        kernels_->run(own, static_cast<ptrdiff_t>(begin),
                                      static_cast<ptrdiff_t>(end));
                      });
  }
  const RowPlan *rows() const override { return this; }
  size_t RowScratchBytes(ptrdiff_t /*out_rows*/) const override { return 0; }
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation * /*activation*/,
               void * /*scratch*/) const override {
    Shape some = shape_;
    some.batch = 1;
    some.in_h = rows.in_rows;
    some.out_h = rows.out_rows;
    some.pad_top = rows.pad_top;
    kernels_->run(KernelArgs(args, some), 0, rows.out_rows);
  }

 private:
  // Starting another thread takes about as long as so many.
  static constexpr ptrdiff_t kGrainProducts = 1 << 16;

  dwconv::Int16Args KernelArgs(const Args &args, const Shape &shape) const {
    dwconv::Int16Args own;
    own.shape = shape;
    own.input = static_cast<const int16_t *>(args.input);
    own.filter = filter_;
    own.output = static_cast<int16_t *>(args.output);
    own.output_stride = static_cast<ptrdiff_t>(args.output_stride);
    own.requantization = args.epilogue.requantization16;
    own.padding = static_cast<int16_t>(args.padding);
    return own;
  }

  const Shape shape_;
  const int8_t *const filter_;
  const dwconv::Int16Kernels *const kernels_;
};

bool IsDepthwise(const Request &request) {
  const Shape &s = request.shape;
  return request.layout == FilterLayout::kTaps && s.groups == s.in_c &&
         s.out_c == s.in_c;
}

class Int16Depthwise final : public Strategy {
 public:
  explicit Int16Depthwise(CpuIsa isa)
      : kernels_(dwconv::Int16KernelsFor(isa)) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (!IsDepthwise(request)) return nullptr;
    return std::make_unique<PlanOfInt16Depthwise>(request, kernels_);
  }

 private:
  const dwconv::Int16Kernels *const kernels_;
};

}  // namespace

void Strategies::InitQuantized(CpuIsa isa, int max_tile) {
  in_order_[0] = MakeQuantizedWinograd(isa, max_tile);
  in_order_[1] = MakeQuantizedDepthwise(isa);
  in_order_[2] = MakeQuantizedDirect();
}

void Strategies::InitInt16(CpuIsa isa) {
  in_order_[0] = nullptr;
  in_order_[1] = MakeInt16Depthwise(isa);
  in_order_[2] = MakeInt16Direct();
}

std::unique_ptr<Strategy> MakeInt16Depthwise(CpuIsa isa) {
  return std::make_unique<Int16Depthwise>(isa);
}

std::unique_ptr<Strategy> MakeInt16Direct() {
  return std::make_unique<QuantizedDirect>(Element::kI16);
}

std::unique_ptr<Strategy> MakeQuantizedDepthwise(CpuIsa isa) {
  return std::make_unique<QuantizedDepthwise>(isa);
}

std::unique_ptr<Strategy> MakeQuantizedDirect() {
  return std::make_unique<QuantizedDirect>(Element::kI8);
}

}  // namespace mace::conv

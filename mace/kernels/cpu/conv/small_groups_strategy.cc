// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Groups of few channels. A product would fill some lanes of its vectors only;
// here vectors run over the outputs of all groups, as in a depthwise
// convolution.

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/ranges.h"
#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace::conv {
namespace {

// A product uses as many of 16 lanes as a group has outputs. On Zen 5 with
// AVX-512, 28x28 pixels of 96 channels, 3x3, it takes 218 microseconds with 4
// channels per group and 157 with 8, which take 69 and 109 here.
constexpr ptrdiff_t kMostOutputs = 8;

bool HasSmallGroups(const Shape &s) {
  // A kernel that skips pixels cannot become a wider one without gaps.
  return s.groups > 1 && s.out_c / s.groups <= kMostOutputs &&
         s.in_c / s.groups <= kMostOutputs && s.dilation_w == 1;
}

dwconv::Shape ShapeOf(const Shape &s) {
  dwconv::Shape d;
  d.batch = s.batch;
  d.in_h = s.in_h;
  d.in_w = s.in_w;
  d.in_c = s.in_c;
  d.depth = s.in_c / s.groups;
  d.multiplier = s.out_c / s.groups;
  d.kernel_h = s.kernel_h;
  d.kernel_w = s.kernel_w;
  d.stride_h = s.stride_h;
  d.stride_w = s.stride_w;
  d.dilation_h = s.dilation_h;
  d.dilation_w = s.dilation_w;
  d.pad_top = s.pad_top;
  d.pad_left = s.pad_left;
  d.out_h = s.out_h;
  d.out_w = s.out_w;
  return d;
}

class SmallGroupsPlan final : public Plan {
 public:
  // `filter`: where the strategy keeps it in the order of use; null until then.
  SmallGroupsPlan(const Request &request,
                  const dwconv::Kernels *kernels,
                  const void **filter)
      : request_(request), kernels_(kernels), filter_(filter) {
    shape_ = ShapeOf(request.shape);
    ranges_ = dwconv::SplitRanges(shape_, request.threads);
    thread_bytes_ = kernels->scratch_bytes(shape_, kernels->type);
    thread_bytes_ = (thread_bytes_ + 63) & ~size_t{63};
  }

  std::string Name() const override {
    return IsFp16() ? "small groups in fp16" : "small groups";
  }
  size_t ScratchBytes(int threads) const override {
    return thread_bytes_ * static_cast<size_t>(threads);
  }
  bool ResidualMayBeOutput() const override { return false; }
  size_t PreparedBytes() const override {
    return *filter_ == nullptr ? FilterBytes() : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    if (memory == nullptr) {
      return OutOfResources("no memory for ", FilterBytes(),
                            " bytes of a filter for groups of few channels");
    }
    LayOut(static_cast<char *>(memory));
    *filter_ = memory;
    return MaceStatus();
  }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

 private:
  bool IsFp16() const { return request_.arithmetic->element == Element::kF16; }
  size_t FilterElementBytes() const {
    return ElementBytes(request_.arithmetic->element);
  }
  // Products of an output.
  size_t Depth() const {
    return static_cast<size_t>(shape_.kernel_h * shape_.kernel_w *
                               shape_.depth);
  }
  size_t FilterBytes() const {
    return Depth() * static_cast<size_t>(request_.shape.out_c) *
           FilterElementBytes();
  }
  void LayOut(char *to) const;

  Request request_;
  const dwconv::Kernels *kernels_;
  const void **filter_;
  dwconv::Shape shape_;
  dwconv::Ranges ranges_;
  size_t thread_bytes_ = 0;
};

// From panels of a group, [K][16], to [K][outputs of all groups].
void SmallGroupsPlan::LayOut(char *to) const {
  const WeightType type = request_.weights;
  // As they lie, or widened to floats.
  const bool widens = !IsFp16() && type != WeightType::kF32;
  const size_t element = FilterElementBytes();
  const size_t depth = Depth();
  const auto groups = static_cast<size_t>(request_.shape.groups);
  const size_t group_bytes = gemm::PanelBytes(type, depth);
  const size_t output_bytes = static_cast<size_t>(shape_.multiplier) * element;
  constexpr size_t kRun = 64;
  float widened[kRun * gemm::kPanelColumns];
  for (size_t group = 0; group < groups; ++group) {
    gemm::Block block;
    block.w = static_cast<const char *>(request_.filter) + group * group_bytes;
    block.w_type = type;
    block.depth = depth;
    for (size_t begin = 0; begin < depth; begin += kRun) {
      const size_t count = std::min(kRun, depth - begin);
      const char *from = static_cast<const char *>(block.w) +
                         begin * gemm::kPanelColumns * element;
      if (widens) {
        request_.arithmetic->widen(block, 0, begin, count, widened);
        from = reinterpret_cast<const char *>(widened);
      }
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(to + ((begin + k) * groups + group) * output_bytes,
                    from + k * gemm::kPanelColumns * element, output_bytes);
      }
    }
  }
}

void SmallGroupsPlan::Run(const Args &args,
                          const OutputActivation *activation,
                          ThreadPool *pool,
                          void *scratch) const {
  dwconv::Args own;
  own.shape = shape_;
  own.type = kernels_->type;
  own.filter = *filter_;
  own.bias = args.epilogue.bias;
  own.clamp = args.epilogue.clamp;
  own.low = args.epilogue.low;
  own.high = args.epilogue.high;
  own.output_stride = static_cast<ptrdiff_t>(args.output_stride);
  own.input = args.input;
  own.output = args.output;
  pool->ParallelFor(
      ranges_.count(), 1, [&](int64_t begin, int64_t end, int thread) {
        char *memory = static_cast<char *>(scratch) +
                       static_cast<size_t>(thread) * thread_bytes_;
        for (int64_t i = begin; i < end; ++i) {
          const dwconv::Range range =
              dwconv::RangeOf(ranges_, static_cast<ptrdiff_t>(i));
          kernels_->run(own, range, memory);
          Region region;
          region.row_begin = range.row_begin * shape_.out_w;
          region.row_end = range.row_end * shape_.out_w;
          region.column_begin = range.group_begin * shape_.multiplier;
          region.column_end = range.group_end * shape_.multiplier;
          Activate(activation, args, request_.results, region);
        }
      });
}

class SmallGroups final : public Strategy {
 public:
  explicit SmallGroups(CpuIsa isa)
      : float_(dwconv::KernelsFor(isa)),
        fp16_(HalfTablesFor(isa, Precision::kFloat16).dwconv) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    const dwconv::Kernels *kernels =
        request.arithmetic->element == Element::kF16 ? fp16_ : float_;
    // Pairs pad odd channels, and the kernels add no residual.
    if (kernels == nullptr || request.residual ||
        request.weights == WeightType::kBf16Pairs ||
        !HasSmallGroups(request.shape)) {
      return nullptr;
    }
    return std::make_unique<SmallGroupsPlan>(request, kernels, &filter_);
  }

 private:
  const dwconv::Kernels *float_;
  const dwconv::Kernels *fp16_;
  const void *filter_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> MakeSmallGroups(CpuIsa isa) {
  return std::make_unique<SmallGroups>(isa);
}

}  // namespace mace::conv

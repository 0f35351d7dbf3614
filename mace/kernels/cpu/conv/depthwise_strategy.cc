// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Groups of few channels. A product per group would use only some lanes of its
// vectors; in the kernels of ../dwconv, vectors run over the outputs of all
// groups. They read a depthwise filter in place; a packed filter is rearranged
// for them.

#include <algorithm>
#include <atomic>
#include <cstring>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/logging.h"
#include "mace/core/base/missing_part.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/pair_groups.h"
#include "mace/kernels/cpu/dwconv/ranges.h"
#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace::conv {
namespace {

// Of the image, in each group.
constexpr ptrdiff_t kMostChannels = 8;

// With strides, there are fewer outputs per copied pixel. On Zen 3, a 3x3
// convolution with stride 2 and 8 channels per group makes 4/9 as many copies
// as products: 56x56 pixels of 48 channels take 1.61 ms with these kernels and
// 0.75 ms as a product; 28x28 pixels of 256 channels take 7.5 and 1.25 ms. With
// 4 channels per group these kernels take the same time, and a product would be
// half as efficient.
constexpr ptrdiff_t kLeastOfStridedProduct = 4;

bool HasSmallGroups(const Shape &s, ptrdiff_t most_outputs) {
  const ptrdiff_t channels = s.in_c / s.groups;
  const ptrdiff_t outputs = s.out_c / s.groups;
  if (s.stride_w > 1 && std::min(channels, outputs) >= kLeastOfStridedProduct) {
    return false;
  }
  // A dilated kernel cannot be converted to a wider kernel without gaps.
  return s.groups > 1 && outputs <= most_outputs && channels <= kMostChannels &&
         s.dilation_w == 1;
}

// Warns once per process, because the reason is the library, not one
// convolution.
void WarnOfMissingFiveWide() {
  static std::atomic<bool> warned{false};
  if (warned.exchange(true)) return;
  LOG(WARNING)
      << kBuiltWithout
      << "FiveWide: depthwise filters that are 5 wide run by slower code"
      << kBuildForThisModel << ", or add -ops=FiveWide";
}

// The tables for one type of images.
struct Tables {
  const dwconv::Kernels *kernels = nullptr;
  const dwconv::FiveWideKernels *five_wide = nullptr;
};

// Uses a filter in the layout that kernels read.
class DepthwisePlan : public Plan, private RowPlan {
 public:
  // `type`: the type of the filter that kernels read.
  DepthwisePlan(const Request &request, const Tables &tables, WeightType type)
      : request_(request), kernels_(tables.kernels) {
    kernel_args_.shape = request.shape;
    kernel_args_.type = type;
    kernel_args_.five_wide = tables.five_wide;
    const Shape &s = request.shape;
    if (kernel_args_.five_wide == nullptr && s.dilation_w == 1 &&
        s.kernel_w * (s.in_c / s.groups) == 5 && s.stride_w <= 2) {
      WarnOfMissingFiveWide();
    }
    ranges_ = dwconv::SplitRanges(request.shape, request.threads);
    thread_bytes_ = kernels_->scratch_bytes(request.shape, type);
    thread_bytes_ = AlignUp(thread_bytes_);
  }

  std::string Name() const override { return NameOf("dwconv"); }
  size_t ScratchBytes(int threads) const override {
    return thread_bytes_ * static_cast<size_t>(threads);
  }
  bool ResidualMayBeOutput() const override { return false; }
  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override;

  const RowPlan *rows() const override { return this; }
  size_t RowScratchBytes(ptrdiff_t) const override { return thread_bytes_; }
  void RunRows(const ImageRows &rows,
               const Args &args,
               const OutputActivation *activation,
               void *scratch) const override {
    dwconv::Args own = KernelArgs(args);
    own.shape.batch = 1;
    own.shape.in_h = rows.in_rows;
    own.shape.out_h = rows.out_rows;
    own.shape.pad_top = rows.pad_top;
    RunRange(own, {0, rows.out_rows, 0, own.shape.groups}, args, activation,
             scratch);
  }

 protected:
  const Request &request() const { return request_; }
  std::string NameOf(const char *what) const {
    switch (request_.results) {
      case Element::kF16:
        return std::string(what) + " in fp16";
      case Element::kBf16:
        return std::string(what) + " in bf16";
      default:
        return what;
    }
  }
  virtual const void *Filter(const Args &args) const { return args.weights; }

 private:
  dwconv::Args KernelArgs(const Args &args) const {
    dwconv::Args own = kernel_args_;
    own.input = args.input;
    own.filter = Filter(args);
    own.output = args.output;
    own.output_stride = static_cast<ptrdiff_t>(args.output_stride);
    own.epilogue = args.epilogue;
    return own;
  }

  void RunRange(const dwconv::Args &own,
                const dwconv::Range &range,
                const Args &args,
                const OutputActivation *activation,
                void *scratch) const {
    kernels_->run(own, range, scratch);
    if (activation == nullptr) return;
    const Shape &s = own.shape;
    const ptrdiff_t multiplier = s.out_c / s.groups;
    Region region;
    region.row_begin = range.row_begin * s.out_w;
    region.row_end = range.row_end * s.out_w;
    region.column_begin = range.group_begin * multiplier;
    region.column_end = range.group_end * multiplier;
    Activate(activation, args, request_.results, region);
  }

  Request request_;
  const dwconv::Kernels *kernels_;
  dwconv::Args kernel_args_;  // the fields that are the same in all runs
  dwconv::Ranges ranges_;
  size_t thread_bytes_ = 0;
};

void DepthwisePlan::Run(const Args &args,
                        const OutputActivation *activation,
                        ThreadPool *pool,
                        void *scratch) const {
  const dwconv::Args own = KernelArgs(args);
  pool->ParallelFor(
      ranges_.count(), 1, [&](int64_t begin, int64_t end, int thread) {
        char *memory = static_cast<char *>(scratch) +
                       static_cast<size_t>(thread) * thread_bytes_;
        for (int64_t i = begin; i < end; ++i) {
          RunRange(own, dwconv::RangeOf(ranges_, static_cast<ptrdiff_t>(i)),
                   args, activation, memory);
        }
      });
}

// Uses a packed filter, which is rearranged for the first plan.
class SmallGroupsPlan final : public DepthwisePlan {
 public:
  // `filter`: the strategy's pointer to the rearranged filter; null until it is
  // prepared.
  SmallGroupsPlan(const Request &request,
                  const Tables &tables,
                  const void **filter)
      : DepthwisePlan(request, tables, tables.kernels->type), filter_(filter) {}

  std::string Name() const override { return NameOf("small groups"); }
  size_t PreparedBytes() const override {
    return *filter_ == nullptr ? FilterBytes() : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    MACE_RETURN_IF_ERROR(CheckPrepared(memory, FilterBytes()));
    LayOut(static_cast<char *>(memory));
    *filter_ = memory;
    return MaceStatus();
  }
  // In bands, rows shared by two bands would be copied twice; not measured.
  const conv::RowPlan *rows() const override { return nullptr; }

 private:
  const void *Filter(const Args &) const override { return *filter_; }
  size_t FilterElementBytes() const {
    return ElementBytes(request().arithmetic->element);
  }
  // Products per output.
  size_t Depth() const {
    const Shape &s = request().shape;
    return static_cast<size_t>(s.kernel_h * s.kernel_w * (s.in_c / s.groups));
  }
  size_t FilterBytes() const {
    return Depth() * static_cast<size_t>(request().shape.out_c) *
           FilterElementBytes();
  }
  void LayOut(char *to) const;

  const void **filter_;
};

// Converts the panels of a group, [K][16], to [K][outputs of all groups].
void SmallGroupsPlan::LayOut(char *to) const {
  const WeightType type = request().weights;
  const Arithmetic &arithmetic = *request().arithmetic;
  // Copied, or widened to floats.
  const bool widens =
      arithmetic.element != Element::kF16 && type != WeightType::kF32;
  const size_t element = FilterElementBytes();
  const size_t depth = Depth();
  const auto groups = static_cast<size_t>(request().shape.groups);
  const size_t group_bytes = gemm::PanelBytes(type, depth);
  const size_t output_bytes =
      static_cast<size_t>(request().shape.out_c) / groups * element;
  constexpr size_t kRun = 64;
  float widened[kRun * gemm::kPanelColumns];
  for (size_t group = 0; group < groups; ++group) {
    gemm::Block block;
    block.w = static_cast<const char *>(request().filter) + group * group_bytes;
    block.w_type = type;
    block.depth = depth;
    for (size_t begin = 0; begin < depth; begin += kRun) {
      const size_t count = std::min(kRun, depth - begin);
      const char *from = static_cast<const char *>(block.w) +
                         begin * gemm::kPanelColumns * element;
      if (widens) {
        arithmetic.widen(block, 0, begin, count, widened);
        from = reinterpret_cast<const char *>(widened);
      }
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(to + ((begin + k) * groups + group) * output_bytes,
                    from + k * gemm::kPanelColumns * element, output_bytes);
      }
    }
  }
}

// Uses a filter of pairs of bf16, which is rearranged for the first plan.
class PairGroupsPlan final : public DepthwisePlan {
 public:
  PairGroupsPlan(const Request &request,
                 const Tables &tables,
                 const void **filter)
      : DepthwisePlan(request, tables, WeightType::kBf16Pairs),
        filter_(filter) {}

  std::string Name() const override { return NameOf("small groups"); }
  size_t PreparedBytes() const override {
    return *filter_ == nullptr ? dwconv::PairFilterBytes(request().shape) : 0;
  }
  MaceStatus TakePrepared(void *memory) override {
    if (memory == nullptr) {
      return OutOfResources("no memory for ",
                            dwconv::PairFilterBytes(request().shape),
                            " bytes of its rearranged filter");
    }
    dwconv::LayOutPairs(request().shape, request().filter, memory);
    *filter_ = memory;
    return MaceStatus();
  }

 private:
  const void *Filter(const Args &) const override { return *filter_; }

  const void **filter_;
};

class Depthwise final : public Strategy {
 public:
  explicit Depthwise(CpuIsa isa)
      : float_{dwconv::KernelsFor(isa),
               dwconv::FiveWideKernelsFor(isa, Element::kF32)},
        fp16_{HalfTablesFor(isa, Precision::kFloat16).dwconv,
              dwconv::FiveWideKernelsFor(isa, Element::kF16)},
        bf16_{HalfTablesFor(isa, Precision::kBfloat16).dwconv,
              dwconv::FiveWideKernelsFor(isa, Element::kBf16)} {
    if constexpr (gemm::kBf16Exists) {
      pairs_.kernels = dwconv::PairGroupKernelsFor(isa);
    }
  }

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    const Tables tables = TablesOf(request.results);
    // The kernels read and write images of one type, and add no residual.
    if (tables.kernels == nullptr || request.residual ||
        request.image != request.results) {
      return nullptr;
    }
    if (request.layout == FilterLayout::kTaps) {
      return std::make_unique<DepthwisePlan>(request, tables, request.weights);
    }
    if (request.weights == WeightType::kBf16Pairs) {
      if constexpr (gemm::kBf16Exists) return MakePairGroups(request);
      return nullptr;
    }
    if (!HasSmallGroups(request.shape, tables.kernels->most_outputs)) {
      return nullptr;
    }
    return std::make_unique<SmallGroupsPlan>(request, tables, &filter_);
  }

 private:
  Tables TablesOf(Element element) const {
    switch (element) {
      case Element::kF32:
        return float_;
      case Element::kF16:
        return fp16_;
      case Element::kBf16:
        return bf16_;
      default:
        return Tables();
    }
  }

  std::unique_ptr<Plan> MakePairGroups(const Request &request) {
    if (pairs_.kernels == nullptr || request.image != Element::kBf16 ||
        !dwconv::FitsPairGroups(request.shape)) {
      return nullptr;
    }
    return std::make_unique<PairGroupsPlan>(request, pairs_, &filter_);
  }

  const Tables float_;
  const Tables fp16_;
  const Tables bf16_;
  Tables pairs_;  // for groups of bf16
  const void *filter_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> MakeDepthwise(CpuIsa isa) {
  return std::make_unique<Depthwise>(isa);
}

}  // namespace mace::conv

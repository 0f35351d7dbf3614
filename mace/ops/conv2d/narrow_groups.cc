// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/conv2d/narrow_groups.h"

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/half_arithmetic.h"
#include "mace/ops/epilogue/conv_run.h"

namespace mace {
namespace {

// A product uses as many of 16 lanes as a group has outputs. On Zen 5 with
// AVX-512, 28x28 pixels of 96 channels, 3x3, it takes 218 microseconds with 4
// channels per group and 157 with 8, which take 69 and 109 here.
constexpr ptrdiff_t kMostOutputs = 8;

bool IsNarrow(const gemm::ConvShape &s) {
  // A kernel that skips pixels cannot become a wider one without gaps.
  return s.groups > 1 && s.out_c / s.groups <= kMostOutputs &&
         s.in_c / s.groups <= kMostOutputs && s.dilation_w == 1;
}

dwconv::Shape ShapeOf(const gemm::ConvShape &s) {
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

ptrdiff_t Groups(const dwconv::Shape &s) { return s.in_c / s.depth; }

// Products of an output.
size_t Depth(const dwconv::Shape &s) {
  return static_cast<size_t>(s.kernel_h * s.kernel_w * s.depth);
}

}  // namespace

void NarrowGroupsConv::Init(CpuIsa isa,
                            const gemm::Kernels *kernels,
                            bool half) {
  kernels_ = half ? HalfArithmetic::For(isa, "fp16_fp16").dwconv
                  : dwconv::KernelsFor(isa);
  gemm_ = kernels;
  half_ = half;
}

void NarrowGroupsConv::Reshape(const gemm::ConvShape &shape,
                               const Tensor &filter,
                               const FusedActivation &activation,
                               ReshapeContext *context) {
  chosen_ = kernels_ != nullptr && IsNarrow(shape) &&
            filter.layout != ConstantLayout::kPackedO16Pairs;
  if (!chosen_) return;
  args_.shape = ShapeOf(shape);
  args_.type = kernels_->type;
  args_.clamp = activation.clamp();
  args_.low = activation.low();
  args_.high = activation.high();
  ranges_ =
      dwconv::SplitRanges(args_.shape, context->thread_pool()->thread_count());
  scratch_bytes_ = kernels_->scratch_bytes(args_.shape, args_.type);
  scratch_bytes_ = (scratch_bytes_ + 63) & ~size_t{63};
  if (filter_ != nullptr) return;
  context->RequestPrepared(FilterBytes(), [this, &filter](void *memory) {
    return LayOut(filter, memory);
  });
}

size_t NarrowGroupsConv::FilterBytes() const {
  const dwconv::Shape &s = args_.shape;
  return Depth(s) * static_cast<size_t>(Groups(s) * s.multiplier) *
         (half_ ? sizeof(uint16_t) : sizeof(float));
}

// From panels of a group, [K][16], to [K][outputs of all groups].
MaceStatus NarrowGroupsConv::LayOut(const Tensor &filter, void *memory) {
  if (memory == nullptr) {
    return OutOfResources("no memory for ", FilterBytes(),
                          " bytes of a filter for groups of few channels");
  }
  const dwconv::Shape &s = args_.shape;
  const gemm::WeightType type = PackedWeightType(filter);
  // As they lie, or widened to floats.
  const bool widens = !half_ && type != gemm::WeightType::kF32;
  const size_t element = half_ ? sizeof(uint16_t) : sizeof(float);
  const size_t depth = Depth(s);
  const auto groups = static_cast<size_t>(Groups(s));
  const size_t group_bytes = gemm::PanelBytes(type, depth);
  const size_t output_bytes = static_cast<size_t>(s.multiplier) * element;
  constexpr size_t kRun = 64;
  float widened[kRun * gemm::kPanelColumns];
  for (size_t group = 0; group < groups; ++group) {
    gemm::Block block;
    block.w = static_cast<const char *>(filter.data) + group * group_bytes;
    block.w_type = type;
    block.depth = depth;
    for (size_t begin = 0; begin < depth; begin += kRun) {
      const size_t count = std::min(kRun, depth - begin);
      const char *from = static_cast<const char *>(block.w) +
                         begin * gemm::kPanelColumns * element;
      if (widens) {
        gemm_->widen(block, 0, begin, count, widened);
        from = reinterpret_cast<const char *>(widened);
      }
      for (size_t k = 0; k < count; ++k) {
        std::memcpy(static_cast<char *>(memory) +
                        ((begin + k) * groups + group) * output_bytes,
                    from + k * gemm::kPanelColumns * element, output_bytes);
      }
    }
  }
  filter_ = memory;
  return MaceStatus();
}

size_t NarrowGroupsConv::ScratchBytes(int threads) const {
  return scratch_bytes_ * static_cast<size_t>(threads);
}

void NarrowGroupsConv::Run(const gemm::ConvArgs &args,
                           const FusedActivation &activation,
                           ThreadPool *pool,
                           void *scratch) const {
  dwconv::Args own = args_;
  own.filter = filter_;
  own.bias = args.epilogue.bias;
  own.output_stride = static_cast<ptrdiff_t>(args.output_stride);
  if (half_) {
    own.input = args.input_half;
    own.output = args.output_half;
  } else {
    own.input = args.input;
    own.output = args.output;
  }
  const dwconv::Shape &s = own.shape;
  const DataType type = half_ ? DataType::kFloat16 : DataType::kFloat32;
  pool->ParallelFor(
      ranges_.count(), 1, [&](int64_t begin, int64_t end, int thread) {
        char *memory = static_cast<char *>(scratch) +
                       static_cast<size_t>(thread) * scratch_bytes_;
        for (int64_t i = begin; i < end; ++i) {
          const dwconv::Range range =
              dwconv::RangeOf(ranges_, static_cast<ptrdiff_t>(i));
          kernels_->run(own, range, memory);
          gemm::ConvRegion region;
          region.row_begin = range.row_begin * s.out_w;
          region.row_end = range.row_end * s.out_w;
          region.column_begin = range.group_begin * s.multiplier;
          region.column_end = range.group_end * s.multiplier;
          ApplyActivation(activation, args, type, region);
        }
      });
}

}  // namespace mace

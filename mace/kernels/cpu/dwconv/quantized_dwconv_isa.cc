// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/quantized_columns.h"
#include "mace/kernels/cpu/dwconv/quantized_dwconv.h"
#include "mace/kernels/cpu/dwconv/quantized_filter.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_dot.h"
#include "mace/kernels/cpu/simd_quantized.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::dwconv::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

static_assert(sv::kDotRowsUnsigned == kUnsignedBytes);

constexpr int kVectors = 4;
constexpr ptrdiff_t kBlock = sv::kDotColumns;
#if defined(__SSE4_1__) && !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
constexpr bool kWidened = true;
#else
constexpr bool kWidened = false;
#endif
// Bytes of four pixels, and of their weights.
constexpr ptrdiff_t kStaged = kVectors * kBlock * (kWidened ? 2 : 1);

// What is equal for all outputs of a block.
struct BlockOf {
  const int8_t *filter;
  ptrdiff_t channel;  // the first one
  size_t channels;
  size_t elements;  // of all its pixels
  sv::VI bias[kVectors];
  sv::V scale[kVectors];
  sv::Requantizer requantizer;
};

BlockOf MakeBlock(const QuantizedArgs &args,
                  const QuantizedFilter &filter,
                  ptrdiff_t index) {
  const gemm::Requantization &to = *args.requantization;
  BlockOf b;
  b.channel = BlockBegin(args.shape, kBlock, index);
  const ptrdiff_t left = args.shape.in_c - b.channel;
  b.channels = static_cast<size_t>(left < kBlock ? left : kBlock);
  b.elements = b.channels * static_cast<size_t>(filter.pixels);
  b.filter = args.filter + index * filter.block_bytes;
  int32_t bias[kBlock] = {};
  float scale[kBlock] = {};
  for (size_t i = 0; i < b.elements; i += b.channels) {
    __builtin_memcpy(bias + i, to.bias + b.channel, b.channels * 4);
    __builtin_memcpy(scale + i, to.scale + b.channel, b.channels * 4);
  }
  for (int v = 0; v < kVectors; ++v) {
    for (int lane = 0; lane < sv::kLanes; ++lane) {
      b.bias[v][lane] = bias[sv::DotColumnOf(v, lane)];
      b.scale[v][lane] = scale[sv::DotColumnOf(v, lane)];
    }
  }
  b.requantizer = sv::MakeRequantizer(to);
  return b;
}

// Rows of the image as the products read them: for each group of outputs
// [fours][4 vectors], for those of a strip that are in use.
class StagedRows {
 public:
  // `outside`: kBlock times the padding. `scratch`: QuantizedScratchBytes.
  StagedRows(const QuantizedArgs &args,
             const QuantizedFilter &filter,
             const BlockOf &b,
             const uint8_t *outside,
             uint8_t *scratch)
      : s_(args.shape),
        filter_(filter),
        b_(b),
        outside_(outside),
        scratch_(scratch) {}

  // Begins with the strip of an image; its outputs begin at `x`.
  void Begin(const uint8_t *image, ptrdiff_t x, ptrdiff_t groups) {
    image_ = image;
    first_x_ = x * s_.stride_w - s_.pad_left;
    groups_ = groups;
    for (ptrdiff_t i = 0; i <= filter_.window; ++i) Head()[i].staged = -1;
  }

  // Stages the rows under row `y` of the output. Until the next call, Row is
  // where the one of each filter row is.
  void MoveTo(ptrdiff_t y) {
    ptrdiff_t in_y = y * s_.stride_h - s_.pad_top;
    for (ptrdiff_t ky = 0; ky < s_.kernel_h; ++ky, in_y += s_.dilation_h) {
      const bool inside = in_y >= 0 && in_y < s_.in_h;
      const ptrdiff_t slot = inside ? in_y % filter_.window : filter_.window;
      const ptrdiff_t row = inside ? in_y : s_.in_h;
      if (Head()[slot].staged != row) {
        Stage(inside ? image_ + in_y * s_.in_w * s_.in_c : nullptr, Slot(slot));
        Head()[slot].staged = row;
      }
      Head()[ky].row = Slot(slot);
    }
  }
  const uint8_t *Row(ptrdiff_t ky) const { return Head()[ky].row; }

 private:
  StagedRow *Head() const { return reinterpret_cast<StagedRow *>(scratch_); }
  uint8_t *Slot(ptrdiff_t index) const {
    return scratch_ + filter_.head_bytes + index * filter_.slot_bytes;
  }

  // `row`: null for one outside the image.
  void Stage(const uint8_t *row, uint8_t *to) const {
    if (row == nullptr) {
      for (ptrdiff_t group = 0; group < groups_; ++group) {
        to = StageAtEdge(nullptr, 0, to);
      }
    } else if (b_.elements == kBlock) {
      StageImage<true>(row, to);
    } else {
      StageImage<false>(row, to);
    }
  }

  template <bool kWhole>
  void StageImage(const uint8_t *row, uint8_t *to) const {
    const ptrdiff_t step = filter_.outputs * filter_.pixels * s_.stride_w;
    // Groups from first_x_ to this one are inside, with all their pixels.
    const ptrdiff_t last =
        s_.in_w - filter_.pixels - (4 * filter_.fours - 1) * s_.dilation_w;
    const ptrdiff_t tap = s_.dilation_w * s_.in_c;
    const auto n = static_cast<int>(b_.elements);
    ptrdiff_t x = first_x_;
    ptrdiff_t group = 0;
    for (; group < groups_ && x < 0; ++group, x += step) {
      to = StageAtEdge(row, x, to);
    }
    const uint8_t *from = row + x * s_.in_c;
    const ptrdiff_t from_step = step * s_.in_c;
#pragma clang loop unroll(disable)
    for (; group < groups_ && x <= last; ++group, x += step) {
      const uint8_t *at = from;
#pragma clang loop unroll(disable)
      for (ptrdiff_t four = filter_.fours; four > 0; --four) {
        sv::VDotBytes x4[4];
        MACE_UNROLL for (int t = 0; t < 4; ++t, at += tap) {
          x4[t] = kWhole ? sv::LoadDotBytes(at) : sv::LoadDotBytesN(at, n);
        }
        to = Put(x4, to);
      }
      from += from_step;
    }
    for (; group < groups_; ++group, x += step) to = StageAtEdge(row, x, to);
  }

  // A group of which some pixels are outside. Returns the end.
  __attribute__((noinline)) uint8_t *StageAtEdge(const uint8_t *row,
                                                 ptrdiff_t x,
                                                 uint8_t *to) const {
    for (ptrdiff_t four = 0; four < filter_.fours; ++four) {
      sv::VDotBytes x4[4];
      MACE_UNROLL for (int t = 0; t < 4; ++t, x += s_.dilation_w) {
        const bool inside = row != nullptr && x >= 0 && x < s_.in_w;
        const uint8_t *from = inside ? row + x * s_.in_c : outside_;
        x4[t] =
            b_.channels == kBlock ? sv::LoadDotBytes(from) : LoadAtEdge(row, x);
      }
      to = Put(x4, to);
    }
    return to;
  }

  MACE_SIMD_INLINE uint8_t *Put(const sv::VDotBytes (&x4)[4], uint8_t *to) {
    sv::VDotBytes fours[4];
    sv::InterleaveDot(x4, fours);
    if constexpr (kWidened) {
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        const sv::DotX x = sv::SetDotFours(fours[v]);
        __builtin_memcpy(to + v * sizeof(x), &x, sizeof(x));
      }
    } else {
      sv::StoreDotFours(to, fours);
    }
    return to + kStaged;
  }

  __attribute__((noinline)) sv::VDotBytes LoadAtEdge(const uint8_t *row,
                                                     ptrdiff_t x) const {
    sv::VDotBytes all{};
    for (ptrdiff_t p = 0; p < filter_.pixels; ++p, ++x) {
      const bool inside = row != nullptr && x >= 0 && x < s_.in_w;
      __builtin_memcpy(reinterpret_cast<uint8_t *>(&all) +
                           p * static_cast<ptrdiff_t>(b_.channels),
                       inside ? row + x * s_.in_c : outside_, b_.channels);
    }
    return all;
  }

  const conv::Shape &s_;
  const QuantizedFilter &filter_;
  const BlockOf &b_;
  const uint8_t *const outside_;
  uint8_t *const scratch_;
  const uint8_t *image_ = nullptr;
  ptrdiff_t first_x_ = 0;
  ptrdiff_t groups_ = 0;
};

// The elements of a block with fewer channels than it could have. `left`:
// pixels of the row from the first one.
__attribute__((noinline)) void StorePart(const uint8_t *bytes,
                                         ptrdiff_t channels,
                                         ptrdiff_t pixels,
                                         uint8_t *to,
                                         ptrdiff_t to_stride) {
  const auto size = static_cast<size_t>(channels);
  for (ptrdiff_t p = 0; p < pixels; ++p, to += to_stride) {
    __builtin_memcpy(to, bytes + p * channels, size);
  }
}

MACE_SIMD_INLINE void Finish(const QuantizedFilter &filter,
                             const BlockOf &b,
                             const sv::VI (&steps)[kVectors],
                             ptrdiff_t left,
                             uint8_t *to,
                             ptrdiff_t to_stride) {
  const sv::VDotBytes bytes = sv::PackSteps(b.requantizer, steps);
  const auto channels = static_cast<ptrdiff_t>(b.channels);
  const bool dense = filter.pixels == 1 || to_stride == channels;
  if (b.elements == kBlock && left >= filter.pixels && dense) {
    __builtin_memcpy(to, &bytes, sizeof(bytes));
    return;
  }
  if (filter.pixels == 1) {
    sv::StoreDotBytesN(to, bytes, b.channels);
    return;
  }
  uint8_t buffer[kBlock];
  __builtin_memcpy(buffer, &bytes, sizeof(buffer));
  StorePart(buffer, channels, left < filter.pixels ? left : filter.pixels, to,
            to_stride);
}

// The products of staged pixels, of a group, with weights; returns those of the
// next four pixels of the filter.
template <int kOutputs>
MACE_SIMD_INLINE const int8_t *Add(const uint8_t *pixels,
                                   const int8_t *w,
                                   sv::DotSum (&acc)[kOutputs][kVectors]) {
  if constexpr (kWidened) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      sv::DotX x;
      __builtin_memcpy(&x, pixels + v * sizeof(x), sizeof(x));
      MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
        sv::DotWeights weights;
        __builtin_memcpy(&weights, w + j * kStaged + v * sizeof(weights),
                         sizeof(weights));
        acc[j][v] = sv::Dot4(acc[j][v], x, weights);
      }
    }
    return w + kOutputs * kStaged;
  }
  sv::VDotBytes x[kVectors];
  sv::LoadDotFours(pixels, x);
  MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
    sv::VDotBytes weights[kVectors];
    sv::LoadDotFours(reinterpret_cast<const uint8_t *>(w) + j * kStaged,
                     weights);
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[j][v] =
          sv::Dot4(acc[j][v], sv::SetDotFours(x[v]),
                   sv::PrepareDot(reinterpret_cast<sv::VDot>(weights[v])));
    }
  }
  return w + kOutputs * kStaged;
}

// The results of a group for a filter of kRows rows, without zero point. One
// vector after the other: sums of all would not fit in the registers beside
// their operands.
template <int kOutputs, int kRows>
MACE_SIMD_INLINE void StepsByVector(const uint8_t *const (&row)[kRows + 1],
                                    ptrdiff_t from,
                                    const BlockOf &b,
                                    sv::VI (&steps)[kOutputs][kVectors]) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    sv::DotSum acc[kOutputs];
    MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
      acc[j] = sv::SetDotSum(b.bias[v]);
    }
    const int8_t *w = b.filter + v * sizeof(sv::DotWeights);
    MACE_UNROLL for (int ky = 0; ky < kRows; ++ky) {
      sv::DotX x;
      __builtin_memcpy(&x, row[ky] + from + v * sizeof(x), sizeof(x));
      MACE_UNROLL for (int j = 0; j < kOutputs; ++j, w += kStaged) {
        sv::DotWeights weights;
        __builtin_memcpy(&weights, w, sizeof(weights));
        acc[j] = sv::Dot4(acc[j], x, weights);
      }
    }
    MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
      steps[j][v] = sv::StepsOf(sv::DotLanes(acc[j]), b.scale[v]);
#if defined(__SSE4_1__)
      // Before the next vector.
      __asm__("" : "+v"(steps[j][v]));
#endif
    }
  }
}

// Outputs from `x` of the row that `rows` are at. kOutputs:
// QuantizedFilter::outputs. kRows: of the filter, which is at most four wide
// then; 0 if it is another one.
template <int kOutputs, int kRows>
void RunStrip(const QuantizedArgs &args,
              const QuantizedFilter &filter,
              const BlockOf &b,
              const StagedRows &rows,
              ptrdiff_t x,
              ptrdiff_t groups,
              uint8_t *to) {
  const conv::Shape &s = args.shape;
  const ptrdiff_t group_bytes = filter.fours * kStaged;
  const ptrdiff_t to_stride = args.output_stride;
  const ptrdiff_t end = x + groups * kOutputs * filter.pixels;
  const uint8_t *row[kRows + 1];
  MACE_UNROLL for (int ky = 0; ky < kRows; ++ky) row[ky] = rows.Row(ky);
  ptrdiff_t from = 0;
  for (; x < end; x += kOutputs * filter.pixels, from += group_bytes) {
    sv::VI steps[kOutputs][kVectors];
    if constexpr (kWidened && kRows > 0) {
      StepsByVector<kOutputs, kRows>(row, from, b, steps);
    } else {
      sv::DotSum acc[kOutputs][kVectors];
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        const sv::DotSum bias = sv::SetDotSum(b.bias[v]);
        MACE_UNROLL for (int j = 0; j < kOutputs; ++j) acc[j][v] = bias;
      }
      const int8_t *w = b.filter;
      if constexpr (kRows > 0) {
        MACE_UNROLL for (int ky = 0; ky < kRows; ++ky) {
          w = Add(row[ky] + from, w, acc);
        }
      } else {
#pragma clang loop unroll(disable)
        for (ptrdiff_t ky = 0; ky < s.kernel_h; ++ky) {
          const uint8_t *pixels = rows.Row(ky) + from;
#pragma clang loop unroll(disable)
          for (ptrdiff_t four = 0; four < filter.fours; ++four) {
            w = Add(pixels + four * kStaged, w, acc);
          }
        }
      }
      MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
        MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
          steps[j][v] = sv::StepsOf(sv::DotLanes(acc[j][v]), b.scale[v]);
        }
      }
    }
    MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
      if (j > 0 && x + j >= s.out_w) continue;
      Finish(filter, b, steps[j], s.out_w - x, to, to_stride);
      to += filter.pixels * to_stride;
    }
  }
}

using Strip = decltype(&RunStrip<1, 0>);

Strip StripFor(const conv::Shape &s, const QuantizedFilter &filter) {
  const bool three = s.kernel_h == 3 && filter.fours == 1;
#if defined(__SSE4_1__)
  if (filter.outputs == 2 && three) return &RunStrip<2, 3>;
#endif
  if (filter.outputs == 2) return &RunStrip<2, 0>;
  return three ? &RunStrip<1, 3> : &RunStrip<1, 0>;
}

void Run(const QuantizedArgs &args,
         ptrdiff_t begin,
         ptrdiff_t end,
         void *scratch) {
  const conv::Shape &s = args.shape;
  const QuantizedFilter filter = FilterOf(s, kBlock, kWidened);
#if !defined(__SSE4_1__)
  if (filter.by_columns) {
    columns::Run(args, filter, begin, end, static_cast<uint8_t *>(scratch));
    return;
  }
#endif
  const Strip run = StripFor(s, filter);
  const ptrdiff_t step = filter.outputs * filter.pixels;
  uint8_t outside[kBlock];
  __builtin_memset(outside, args.padding, sizeof(outside));
  for (ptrdiff_t index = 0; index < filter.blocks; ++index) {
    const BlockOf b = MakeBlock(args, filter, index);
    StagedRows rows(args, filter, b, outside, static_cast<uint8_t *>(scratch));
    for (ptrdiff_t x = 0; x < s.out_w; x += filter.groups * step) {
      const ptrdiff_t left = (s.out_w - x + step - 1) / step;
      const ptrdiff_t groups = left < filter.groups ? left : filter.groups;
      for (ptrdiff_t row = begin; row < end; ++row) {
        const ptrdiff_t n = row / s.out_h;
        if (row == begin || row == n * s.out_h) {
          rows.Begin(args.input + n * s.in_h * s.in_w * s.in_c + b.channel, x,
                     groups);
        }
        rows.MoveTo(row - n * s.out_h);
        run(args, filter, b, rows, x, groups,
            args.output + (row * s.out_w + x) * args.output_stride + b.channel);
      }
    }
  }
}

}  // namespace

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define MACE_QUANTIZED_NAME "dwconv, quantized by vnni"
#elif defined(__ARM_FEATURE_DOTPROD)
#define MACE_QUANTIZED_NAME "dwconv, quantized by dotprod"
#else
#define MACE_QUANTIZED_NAME "dwconv, quantized"
#endif

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {MACE_QUANTIZED_NAME, kBlock,
                                            kWidened, &Run};

}  // namespace mace::dwconv::MACE_ISA

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

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

static_assert(sv::kDotRowsUnsigned == gemm::kRowsUnsigned);

constexpr int kVectors = 4;
constexpr ptrdiff_t kBlock = sv::kDotColumns;

// What is equal for all outputs of a block of channels.
struct BlockOf {
  const int8_t *filter;
  ptrdiff_t channel;  // the first one
  int channels;
  sv::VU bias[kVectors];
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
  b.channels = static_cast<int>(left < kBlock ? left : kBlock);
  b.filter = args.filter + index * filter.block_bytes;
  for (int v = 0; v < kVectors; ++v) {
    for (int lane = 0; lane < sv::kLanes; ++lane) {
      const int c = sv::DotColumnOf(v, lane);
      const bool exists = c < b.channels;
      b.bias[v][lane] =
          exists ? static_cast<uint32_t>(to.bias[b.channel + c]) : 0;
      b.scale[v][lane] = exists ? to.scale[b.channel + c] : 0.0f;
    }
  }
  b.requantizer = sv::MakeRequantizer(to);
  return b;
}

MACE_SIMD_INLINE void Finish(const BlockOf &b,
                             const sv::DotSum (&acc)[kVectors],
                             uint8_t *to) {
  sv::VI q[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const sv::VU sum =
        reinterpret_cast<sv::VU>(sv::DotLanes(acc[v])) + b.bias[v];
    q[v] = sv::Requantize(b.requantizer, reinterpret_cast<sv::VI>(sum),
                          b.scale[v]);
  }
  const sv::VDotBytes bytes = sv::PackDotColumns(q);
  if (b.channels == kBlock) {
    __builtin_memcpy(to, &bytes, sizeof(bytes));
  } else {
    __builtin_memcpy(to, &bytes, static_cast<size_t>(b.channels));
  }
}

// A row of the output, of one block. kOutputs: QuantizedFilter::outputs.
template <int kOutputs>
class Row {
 public:
  // `outside`: kBlock times the padding.
  Row(const QuantizedArgs &args,
      const QuantizedFilter &filter,
      const BlockOf &b,
      const uint8_t *outside)
      : s_(args.shape), filter_(filter), b_(b), outside_(outside) {}

  // `image`, `to`: the first pixels of the image and of the row, at the first
  // channel of the block.
  void Run(const uint8_t *image,
           ptrdiff_t y,
           uint8_t *to,
           ptrdiff_t to_stride) const {
    for (ptrdiff_t x = 0; x < s_.out_w; x += kOutputs) {
      sv::DotSum acc[kOutputs][kVectors] = {};
      const int8_t *w = b_.filter;
      const ptrdiff_t step =
          kOutputs * filter_.fours * kVectors * kBlock;  // of a filter row
      for (ptrdiff_t ky = 0; ky < s_.kernel_h; ++ky, w += step) {
        const ptrdiff_t in_y =
            y * s_.stride_h - s_.pad_top + ky * s_.dilation_h;
        // A row that does not exist adds what the bias expects of zeros.
        const bool exists = in_y >= 0 && in_y < s_.in_h;
        const uint8_t *row =
            exists ? image + in_y * s_.in_w * s_.in_c : nullptr;
        ptrdiff_t in_x = x * s_.stride_w - s_.pad_left;
        for (ptrdiff_t four = 0; four < filter_.fours;
             ++four, in_x += 4 * s_.dilation_w) {
          sv::VDotBytes pixels[4];
          MACE_UNROLL for (int t = 0; t < 4; ++t) {
            pixels[t] = Pixel(row, in_x + t * s_.dilation_w);
          }
          Add(pixels, w + four * kVectors * kBlock, acc);
        }
      }
      Finish(b_, acc[0], to);
      to += to_stride;
      if constexpr (kOutputs == 2) {
        if (x + 1 < s_.out_w) Finish(b_, acc[1], to);
        to += to_stride;
      }
    }
  }

 private:
  __attribute__((always_inline)) sv::VDotBytes Pixel(const uint8_t *row,
                                                     ptrdiff_t in_x) const {
    const bool inside = row != nullptr && in_x >= 0 && in_x < s_.in_w;
    const uint8_t *from = inside ? row + in_x * s_.in_c : outside_;
    return b_.channels == kBlock ? sv::LoadDotBytes(from)
                                 : sv::LoadDotBytesN(from, b_.channels);
  }

  // w: of output 0; those of output 1 follow after all `fours`.
  __attribute__((always_inline)) void Add(
      const sv::VDotBytes (&pixels)[4],
      const int8_t *w,
      sv::DotSum (&acc)[kOutputs][kVectors]) const {
    sv::VDotBytes fours[4];
    sv::InterleaveDot(pixels, fours);
    const ptrdiff_t next = filter_.fours * kVectors * kBlock;
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const sv::DotX x = sv::SetDotFours(fours[v]);
      MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
        sv::VDot weights;
        __builtin_memcpy(&weights, w + j * next + v * kBlock, sizeof(weights));
        acc[j][v] = sv::Dot4(acc[j][v], x, sv::PrepareDot(weights));
      }
    }
  }

  const conv::Shape &s_;
  const QuantizedFilter &filter_;
  const BlockOf &b_;
  const uint8_t *const outside_;
};

template <int kOutputs>
void RunRows(const QuantizedArgs &args,
             const QuantizedFilter &filter,
             ptrdiff_t begin,
             ptrdiff_t end) {
  const conv::Shape &s = args.shape;
  uint8_t outside[kBlock];
  __builtin_memset(outside, args.padding, sizeof(outside));
  for (ptrdiff_t index = 0; index < filter.blocks; ++index) {
    const BlockOf b = MakeBlock(args, filter, index);
    const Row<kOutputs> kernel(args, filter, b, outside);
    for (ptrdiff_t row = begin; row < end; ++row) {
      const ptrdiff_t n = row / s.out_h;
      kernel.Run(args.input + n * s.in_h * s.in_w * s.in_c + b.channel,
                 row - n * s.out_h,
                 args.output + row * s.out_w * args.output_stride + b.channel,
                 args.output_stride);
    }
  }
}

void Run(const QuantizedArgs &args, ptrdiff_t begin, ptrdiff_t end) {
  const QuantizedFilter filter = FilterOf(args.shape, kBlock);
  if (filter.outputs == 2) {
    RunRows<2>(args, filter, begin, end);
  } else {
    RunRows<1>(args, filter, begin, end);
  }
}

}  // namespace

#if defined(__AVX512VNNI__)
#define MACE_QUANTIZED_NAME "dwconv, quantized by vnni"
#elif defined(__ARM_FEATURE_DOTPROD)
#define MACE_QUANTIZED_NAME "dwconv, quantized by dotprod"
#else
#define MACE_QUANTIZED_NAME "dwconv, quantized"
#endif

extern const QuantizedKernels kQuantizedKernels;
const QuantizedKernels kQuantizedKernels = {MACE_QUANTIZED_NAME, kBlock, &Run};

}  // namespace mace::dwconv::MACE_ISA

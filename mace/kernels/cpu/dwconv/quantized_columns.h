// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized 3x3 on ARM, without dilation, for whole vectors of channels: a
// window slides over columns. The pixels of a column in four rows lie side by
// side in registers and serve three outputs of a row and, where the stride is
// 1, two rows of the output; nothing is copied to memory. Included only by
// quantized_dwconv_isa.cc.

#ifndef MACE_KERNELS_CPU_DWCONV_QUANTIZED_COLUMNS_H_
#define MACE_KERNELS_CPU_DWCONV_QUANTIZED_COLUMNS_H_

#if !defined(__SSE4_1__)

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/dwconv/quantized_dwconv.h"
#include "mace/kernels/cpu/dwconv/quantized_filter.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_dot.h"
#include "mace/kernels/cpu/simd_quantized.h"

namespace mace::dwconv::MACE_ISA {
namespace {
namespace columns {
#define MACE_MEMBER_INLINE __attribute__((always_inline))
namespace sv = simd::MACE_ISA;

constexpr int kVectors = 4;
constexpr ptrdiff_t kBlock = sv::kDotColumns;

// One or two rows of the output, in one block of channels.
struct Rows {
  // Of the image under them, at the block's first channel: three, or four under
  // two rows.
  const uint8_t *image[4];
  const int8_t *filter;  // of the block
  const int32_t *bias;
  const float *scale;
  uint8_t *output[2];
};

struct Column {
  sv::VDotBytes fours[kVectors];
};

template <int kStride, int kOutputs>
class Window {
 public:
  Window(const QuantizedArgs &args, const Rows &rows)
      : s_(args.shape),
        rows_(rows),
        requantizer_(sv::MakeRequantizer(*args.requantization)),
        has_limits_(sv::HasLimits(*args.requantization)),
        padding_(sv::VDotBytes{} + args.padding),
        output_stride_(args.output_stride) {}

  MACE_MEMBER_INLINE void Run() {
    ptrdiff_t x = -s_.pad_left;  // of the next column
    Column window[3];
    for (int i = 0; i < 3 - kStride; ++i, ++x) window[i] = LoadAny(x);
    ptrdiff_t left = s_.out_w;
    while (left > 0) {
      // Every column is in each of the three places of the window in turn.
#pragma clang loop unroll(disable)
      for (; left >= 3 && x >= 0 && x + 3 * kStride <= s_.in_w; left -= 3) {
        ptrdiff_t at = x * s_.in_c;
        at = Step<0>(at, window);
        at = Step<1>(at, window);
        Step<2>(at, window);
        x += 3 * kStride;
      }
      if (left == 0) break;
      for (int i = 3 - kStride; i < 3; ++i, ++x) window[i] = LoadAny(x);
      Compute(window[0], window[1], window[2]);
      for (int i = 0; i < 3 - kStride; ++i) window[i] = window[i + kStride];
      --left;
    }
  }

 private:
  static constexpr int kRows = kOutputs + 2;

  // `at`: of the column in the rows.
  MACE_MEMBER_INLINE Column Load(ptrdiff_t at) const {
    sv::VDotBytes pixels[4];
    for (int i = 0; i < 4; ++i) {
      // The weights of the fourth row are 0 if there are three.
      pixels[i] =
          i < kRows ? sv::LoadDotBytes(rows_.image[i] + at) : pixels[kRows - 1];
    }
    Column column;
    sv::InterleaveDot(pixels, column.fours);
    return column;
  }
  MACE_MEMBER_INLINE Column LoadAny(ptrdiff_t x) const {
    if (x >= 0 && x < s_.in_w) return Load(x * s_.in_c);
    Column column;
    for (int v = 0; v < kVectors; ++v) column.fours[v] = padding_;
    return column;
  }

  // Moves the window, of which the first column is at kTurn * kStride, by one
  // output. Returns where the next column is.
  template <int kTurn>
  MACE_MEMBER_INLINE ptrdiff_t Step(ptrdiff_t at, Column (&window)[3]) {
    constexpr int kFirst = kTurn * kStride;
    for (int i = 3 - kStride; i < 3; ++i) {
      window[(kFirst + i) % 3] = Load(at);
      at = sv::Opaque(at + s_.in_c);
    }
    Compute(window[kFirst % 3], window[(kFirst + 1) % 3],
            window[(kFirst + 2) % 3]);
    return at;
  }

  MACE_MEMBER_INLINE void Compute(const Column &a,
                                  const Column &b,
                                  const Column &c) {
    sv::DotSum acc[kOutputs][kVectors];
    const int32_t *bias = rows_.bias;
    for (int j = 0; j < kOutputs; ++j) {
      bias = sv::Hidden(bias);
      sv::LoadDotSums(bias, acc[j]);
    }
    Add(a, 0, acc);
    Add(b, 1, acc);
    Add(c, 2, acc);
    for (int j = 0; j < kOutputs; ++j) Finish(acc[j], j);
    for (int j = 0; j < kOutputs; ++j) rows_.output[j] += output_stride_;
  }

  MACE_MEMBER_INLINE void Add(const Column &column,
                              ptrdiff_t kx,
                              sv::DotSum (&acc)[kOutputs][kVectors]) const {
    constexpr ptrdiff_t kBytes = kVectors * kBlock;
    constexpr ptrdiff_t kStored = kStride == 1 ? 2 : 1;  // outputs
    for (int j = 0; j < kOutputs; ++j) {
      sv::VDotBytes weights[kVectors];
      sv::LoadDotFours(reinterpret_cast<const uint8_t *>(rows_.filter) +
                           (kx * kStored + j) * kBytes,
                       weights);
      for (int v = 0; v < kVectors; ++v) {
        acc[j][v] =
            sv::Dot4(acc[j][v], sv::SetDotFours(column.fours[v]),
                     sv::PrepareDot(reinterpret_cast<sv::VDot>(weights[v])));
      }
    }
  }

  MACE_MEMBER_INLINE void Finish(const sv::DotSum (&acc)[kVectors],
                                 int j) const {
    sv::VI steps[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      steps[v] = sv::StepsOf(sv::DotLanes(acc[v]),
                             sv::Load(rows_.scale + v * sv::kLanes));
    }
    sv::VDotBytes bytes = sv::NarrowSteps(requantizer_, steps);
    if (has_limits_) bytes = sv::LimitBytes(requantizer_, bytes);
    __builtin_memcpy(rows_.output[j], &bytes, sizeof(bytes));
  }

  const conv::Shape s_;
  Rows rows_;
  const sv::Requantizer requantizer_;
  const bool has_limits_;
  const sv::VDotBytes padding_;
  const ptrdiff_t output_stride_;
};

template <int kStride, int kOutputs>
__attribute__((noinline)) void RunWindow(const QuantizedArgs &args,
                                         const Rows &rows) {
  Window<kStride, kOutputs>(args, rows).Run();
}

// Rows [begin, end) of all rows of all images. `outside`: memory for a row of
// the image.
void Run(const QuantizedArgs &args,
         const QuantizedFilter &filter,
         ptrdiff_t begin,
         ptrdiff_t end,
         uint8_t *outside) {
  const conv::Shape &s = args.shape;
  const ptrdiff_t row_bytes = s.in_w * s.in_c;
  bool padded = false;
  for (ptrdiff_t row = begin; row < end;) {
    const ptrdiff_t n = row / s.out_h;
    const ptrdiff_t y = row % s.out_h;
    const bool two = s.stride_h == 1 && y + 1 < s.out_h && row + 1 < end;
    const uint8_t *image[4];
    for (ptrdiff_t i = 0; i < 4; ++i) {
      const ptrdiff_t in_y = y * s.stride_h - s.pad_top + i;
      const bool inside = in_y >= 0 && in_y < s.in_h;
      if (!inside && !padded) {
        __builtin_memset(outside, args.padding, static_cast<size_t>(row_bytes));
        padded = true;
      }
      image[i] =
          inside ? args.input + (n * s.in_h + in_y) * row_bytes : outside;
    }
    uint8_t *output = args.output + row * s.out_w * args.output_stride;
    for (ptrdiff_t index = 0; index < filter.blocks; ++index) {
      const ptrdiff_t channel = BlockBegin(s, kBlock, index);
      Rows rows;
      for (int i = 0; i < 4; ++i) rows.image[i] = image[i] + channel;
      rows.filter = args.filter + index * filter.block_bytes;
      rows.bias = args.requantization->bias + channel;
      rows.scale = args.requantization->scale + channel;
      rows.output[0] = output + channel;
      rows.output[1] = rows.output[0] + s.out_w * args.output_stride;
      (s.stride_h == 2 ? &RunWindow<2, 1>
       : two           ? &RunWindow<1, 2>
                       : &RunWindow<1, 1>)(args, rows);
    }
    row += two ? 2 : 1;
  }
}

#undef MACE_MEMBER_INLINE
}  // namespace columns
}  // namespace
}  // namespace mace::dwconv::MACE_ISA

#endif

#endif  // MACE_KERNELS_CPU_DWCONV_QUANTIZED_COLUMNS_H_

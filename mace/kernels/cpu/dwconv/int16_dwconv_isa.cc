// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/int16_dwconv.h"

#include "mace/kernels/cpu/gemm/int16_gemm.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_int16.h"

#define MACE_UNROLL _Pragma("clang loop unroll(full)")

namespace mace::dwconv::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

// Vectors of channels, and outputs of a row, that are computed together.
constexpr int kMostVectors = 2;
constexpr int kOutputs = 4;
constexpr ptrdiff_t kLanes = sv::kLanes;
constexpr ptrdiff_t kMostChannels = kMostVectors * kLanes;

// Adjacent outputs of a row.
struct Place {
  const int16_t *image;
  ptrdiff_t y;
  ptrdiff_t x;
  int outputs;        // kOutputs, or fewer
  ptrdiff_t channel;  // the first one
  size_t channels;    // kVectors vectors, or fewer if there is one vector
  int16_t *to;        // of the first output and channel
};

template <int kVectors>
MACE_SIMD_INLINE void Load(const int16_t *from,
                           size_t channels,
                           sv::VI (&to)[kVectors]) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    to[v] = sv::WidenInt16(kVectors == 1 ? sv::LoadInt16N(from, channels)
                                         : sv::LoadInt16(from + v * kLanes));
  }
}
template <int kVectors>
MACE_SIMD_INLINE void Load(const int8_t *from,
                           size_t channels,
                           sv::VI (&to)[kVectors]) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    sv::VI8 weights{};
    __builtin_memcpy(&weights, from + v * kLanes,
                     kVectors == 1 ? channels : sizeof(weights));
    to[v] = __builtin_convertvector(weights, sv::VI);
  }
}

template <int kVectors>
MACE_SIMD_INLINE void Flush(sv::VI (&acc)[kOutputs][kVectors],
                            sv::VD (&sums)[kOutputs][kVectors]) {
  MACE_UNROLL for (int j = 0; j < kOutputs; ++j) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      sums[j][v] += sv::IntToDouble(acc[j][v]);
      acc[j][v] = sv::VI{};
    }
  }
}

template <int kVectors>
MACE_SIMD_INLINE void Finish(const Int16Args &args,
                             const Place &p,
                             const sv::VD (&sums)[kOutputs][kVectors]) {
  const sv::Int16Results results = sv::MakeInt16Results(*args.requantization);
  const double *scales = args.requantization->scale + p.channel;
  for (int v = 0; v < kVectors; ++v) {
    sv::VD scale;
    __builtin_memcpy(&scale, scales + v * kLanes, sizeof(scale));
    for (int j = 0; j < p.outputs; ++j) {
      sv::StoreInt16N(p.to + j * args.output_stride + v * kLanes,
                      sv::ToInt16(results, sums[j][v] * scale),
                      kVectors == 1 ? p.channels : sv::kLanes);
    }
  }
}

template <int kVectors>
void Run(const Int16Args &args, const int16_t *outside, const Place &p) {
  const conv::Shape &s = args.shape;
  sv::VI acc[kOutputs][kVectors] = {};
  sv::VD sums[kOutputs][kVectors];
  for (int j = 0; j < kOutputs; ++j) {
    __builtin_memcpy(sums[j], args.requantization->bias + p.channel,
                     sizeof(sums[j]));
  }
  size_t left = sv::kMostInt16Products;
  const int8_t *w = args.filter + p.channel;
  ptrdiff_t in_y = p.y * s.stride_h - s.pad_top;
  for (ptrdiff_t i = 0; i < s.kernel_h; ++i, in_y += s.dilation_h) {
    const bool row_inside = in_y >= 0 && in_y < s.in_h;
    const int16_t *row = p.image + in_y * s.in_w * s.in_c + p.channel;
    ptrdiff_t in_x = p.x * s.stride_w - s.pad_left;
#pragma clang loop unroll(disable)
    for (ptrdiff_t j = 0; j < s.kernel_w;
         ++j, in_x += s.dilation_w, w += s.in_c) {
      if (left == 0) {
        Flush<kVectors>(acc, sums);
        left = sv::kMostInt16Products;
      }
      --left;
      sv::VI weights[kVectors];
      Load<kVectors>(w, p.channels, weights);
      MACE_UNROLL for (int o = 0; o < kOutputs; ++o) {
        const ptrdiff_t x = in_x + o * s.stride_w;
        const bool inside = row_inside && x >= 0 && x < s.in_w;
        sv::VI pixel[kVectors];
        Load<kVectors>(inside ? row + x * s.in_c : outside, p.channels, pixel);
        MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
          acc[o][v] += pixel[v] * weights[v];
        }
      }
    }
  }
  Flush<kVectors>(acc, sums);
  Finish<kVectors>(args, p, sums);
}

void RunRows(const Int16Args &args, ptrdiff_t begin, ptrdiff_t end) {
  const conv::Shape &s = args.shape;
  int16_t outside[kMostChannels];
  for (int16_t &element : outside) element = args.padding;
  Place p;
  for (ptrdiff_t row = begin; row < end; ++row) {
    const ptrdiff_t n = row / s.out_h;
    p.image = args.input + n * s.in_h * s.in_w * s.in_c;
    p.y = row - n * s.out_h;
    for (p.channel = 0; p.channel < s.in_c;) {
      const ptrdiff_t channels = s.in_c - p.channel;
      const ptrdiff_t most = channels >= kMostChannels ? kMostChannels : kLanes;
      p.channels = static_cast<size_t>(channels < most ? channels : most);
      for (p.x = 0; p.x < s.out_w; p.x += kOutputs) {
        const ptrdiff_t left = s.out_w - p.x;
        p.outputs = left < kOutputs ? static_cast<int>(left) : kOutputs;
        p.to = args.output + (row * s.out_w + p.x) * args.output_stride +
               p.channel;
        (most == kMostChannels ? &Run<kMostVectors> : &Run<1>)(args, outside,
                                                               p);
      }
      p.channel += static_cast<ptrdiff_t>(p.channels);
    }
  }
}

}  // namespace

extern const Int16Kernels kInt16Kernels;
const Int16Kernels kInt16Kernels = {&RunRows};

}  // namespace mace::dwconv::MACE_ISA

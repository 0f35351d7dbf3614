// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products against packed constant weights.
//
//   C[m, n] = act(bias[n] + sum over t, k of A(t, m)[k] * W[n, t * depth + k]
//                 + residual[m, n])
//
// The rows of A are given by pointer, one per (tap, row): a matrix has one tap;
// a convolution has KH * KW taps whose pointers lead into the image itself, so
// nothing is unfolded. `act` is a clamp (none, relu, relu6, ...).
//
// Weights are PACKED_O16: columns in panels of 16, [ceil(N / 16)][K][16] with
// K = taps * depth, tap-major, columns beyond N zero. One layout serves every
// ISA: 16 floats are one AVX-512 register and one cache line.
//
// kBf16Pairs is PACKED_O16_PAIRS: [ceil(N / 16)][K / 2][16][2], of bf16, with
// `depth` even. bf16_gemm.h multiplies them as they are; here they are widened
// like the other 16-bit types.
//
// kI8 is PACKED_O16_SCALED: every panel is 16 float scales, 16 float offsets
// and then [K][16] of int8; weight [k][n] of a panel is scale[n] * q[k][n] +
// offset[n]. Where there are several rows the panel is widened to these floats,
// so that the sums have the bits which kF32 has for the same weights; a single
// row is multiplied by q, its sums by the scale, and the sum of the row by the
// offset.
//
// Order of summation: bias first, then K ascending in one chain per output,
// whatever the tile, block or thread count. Splitting the work therefore never
// changes a bit of the result; the ISA may (fused or separate rounding).
//
// Non-goals: packing A (rows are channels-last, thus contiguous in K already;
// measured on Zen 5 a 6x64 tile fed by plain row pointers sustains 123-126 of
// about 128 GMAC/s; Armv7 does, see neon32_tile.h) and a K-split across threads
// (it would change the bits).
//
// Aliasing: C must not overlap A, W or bias. residual may equal C if K runs in
// a single stretch (kDepthBlock below), else C holds partial sums meanwhile.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::gemm {

inline constexpr size_t kPanelColumns = 16;

enum class WeightType { kF32, kF16, kBf16, kBf16Pairs, kI8 };

// Bytes of the scales and offsets that every panel of kI8 begins with.
inline constexpr size_t kScaleBytes = 2 * kPanelColumns * sizeof(float);

// Bytes of one panel; `depth` is K, of kBf16Pairs rounded up to pairs.
inline constexpr size_t PanelBytes(WeightType type, size_t depth) {
  switch (type) {
    case WeightType::kF32:
      return depth * kPanelColumns * 4;
    case WeightType::kI8:
      return kScaleBytes + depth * kPanelColumns;
    default:
      return depth * kPanelColumns * 2;
  }
}

// Panels that `columns` need.
inline constexpr size_t PanelCount(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

// What happens to a sum before it is stored.
struct Epilogue {
  const float *bias = nullptr;      // one per column, or null for 0
  const float *residual = nullptr;  // [rows][columns], added before the clamp
  size_t residual_stride = 0;       // floats from row to row
  bool clamp = false;
  float low = 0.0f;
  float high = 0.0f;
};

struct Block;

// Products [k_begin, k_begin + count) of a panel of block.w as floats, to
// [count][16]. Not for kF32, which is used where it lies.
using WidenFunction = void (*)(
    const Block &block, size_t panel, size_t k_begin, size_t count, float *to);

// A block of rows times a range of panels.
struct Block {
  const float *const *a = nullptr;  // a[t * rows + m]: depth floats each
  size_t rows = 0;
  size_t taps = 1;
  size_t depth = 0;
  const void *w = nullptr;  // panel 0, not panel_begin
  WeightType w_type = WeightType::kF32;
  WidenFunction widen = nullptr;  // Kernels::widen; unused with kF32
  size_t columns = 0;  // of the whole product; the last panel may be partial
  size_t panel_begin = 0;
  size_t panel_end = 0;
  // The first panel that the caller multiplies by next, or null. As many as
  // here are fetched into cache meanwhile where w_type is kF32.
  const void *next_w = nullptr;
  float *c = nullptr;   // row 0, column 0
  size_t c_stride = 0;  // floats from row to row; more than `columns` writes
                        // into a part of a wider tensor (a concat)
  Epilogue epilogue;
  float *scratch = nullptr;  // kScratchFloats, 64-byte aligned; used only to
                             // widen weights, and for rows that are packed
                             // to meet them
};

// K runs in stretches of at most about this many products, so that a stretch
// of the widest column group, 512 x 64 floats = 128 KiB, stays in L2 while all
// rows of the block pass over it. Between stretches the sums rest in C.
inline constexpr size_t kDepthBlock = 512;
inline constexpr size_t kMaxGroupPanels = 4;
inline constexpr size_t kScratchFloats =
    kDepthBlock * kMaxGroupPanels * kPanelColumns;

// y[n] = act(bias[n] + sum over k of x[k] * W[n, k] + residual[n]): one row,
// bound by the bandwidth of the weights, which are widened in registers.
// Summation: four (AVX2: four, AVX-512: eight) interleaved chains per output.
struct Vector {
  const float *x = nullptr;
  size_t depth = 0;
  const void *w = nullptr;
  WeightType w_type = WeightType::kF32;
  size_t columns = 0;
  size_t panel_begin = 0;
  size_t panel_end = 0;
  float *y = nullptr;  // column 0
  Epilogue epilogue;
};

struct Kernels {
  void (*run)(const Block &block);
  void (*run_vector)(const Vector &vector);
  WidenFunction widen;
  size_t row_tile;  // rows of the tallest common register tile; blocks of a
                    // multiple of it waste nothing
};

// For all types of weights but kI8. Never null for an ISA other than
// CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// The same for kI8 alone; null, too, where these were not linked.
const Kernels *Int8WeightKernelsFor(CpuIsa isa);

// Made once by int8_weights.cc, which nothing else refers to.
struct Int8WeightRegistration {
  explicit Int8WeightRegistration(const Kernels *(*kernels_for)(CpuIsa));
};

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_H_

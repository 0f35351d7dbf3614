// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products against packed weights, in any arithmetic.
//
//   C[m, n] = act(bias[n] + sum over t, k of A(t, m)[k] * W[n, t * depth + k]
//                 + residual[m, n])
//
// The rows of A are given by pointers, one per (tap, row). A matrix has one
// tap; a convolution has KH * KW taps whose pointers point into the image, so
// no unfolded copy (im2col) is needed. `act` is a clamp (none, relu, relu6,
// ...).
//
// Weights are PACKED_O16: columns in panels of 16, [ceil(N / 16)][K][16] with K
// = taps * depth, tap-major; columns beyond N are zero. All ISAs use the same
// layout: 16 floats are one AVX-512 register and one cache line.
//
// kBf16Pairs is PACKED_O16_PAIRS: [ceil(N / 16)][K / 2][16][2], of bf16, with
// an even `depth`. The bf16 arithmetic multiplies the pairs directly; float
// arithmetic widens them like the other 16-bit types.
//
// kI8 is PACKED_O16_SCALED: every panel is 16 float scales, 16 float offsets
// and then [K][16] of int8; weight [k][n] of a panel is scale[n] * q[k][n] +
// offset[n]. With several rows, the panel is widened to these floats, so that
// the sums have the same bits as with kF32 and the same weights. A single row
// is multiplied by q directly; then its sums are multiplied by the scale, and
// the sum of the row times the offset is added.
//
// kI8Fours is for products of integers: [ceil(N / 16)][K / 4][16][4] of int8,
// with K rounded up to a multiple of 4; see int8_gemm.h. kI8Steps has the same
// weights for x86 without instructions for their products: see step_panels.h.
// Every panel has a size of its own; where panels have one size, it is that of
// the distance to it.
//
// Types and order of summation of each Arithmetic:
//
//   float   rows, residual and results of float; weights of every type, widened
//           where they are not float. Bias first, then K ascending in one chain
//           per output.
//   bf16    rows of bf16, weights kBf16Pairs, residual and results of bf16 or
//           float, sums of float: bias first (AMX: last), then K ascending by
//           pairs (AMX: what is left of all taps at the end) in one chain per
//           output and K-block.
//   fp16    rows, weights (kF16), residual and results of fp16. Sums are in
//           fp16, in chains of at most Block::chain products, starting from the
//           bias in the first one; chains are added in fp16 over a K-block,
//           K-blocks in float. Each addition rounds to 11 bits of the sum so
//           far, so the error grows with the root of the chain. fp16 ends at
//           65504; what is beyond it is infinite.
//   int8    rows of 8-bit integers, packed; weights kI8Fours, results of int32,
//           exact modulo 2^32. Zero points of both operands, as sums of rows
//           and columns; no bias, residual or clamp.
//   quantized  rows of 8-bit integers in place, weights kI8Fours, results of
//           8 bits; see quantized_gemm.h.
//   dynamic  the same rows and weights, a scale for each row, results of float;
//           see dynamic_gemm.h.
//   int16   rows of int16 in place, weights kI8Fours, results of int16; see
//           int16_gemm.h.
//
// The order does not depend on the tile, block or thread count: dividing the
// work differently never changes a bit of the result. It may depend on the ISA
// (fused or separate rounding).
//
// Non-goals: packing A (rows are channels-last and therefore already contiguous
// in K; on Zen 5 a 6x64 tile with plain row pointers reaches 123-126 of about
// 128 GMAC/s; only Armv7 packs, see neon32_tile.h), and dividing K between
// threads (it would change the bits).
//
// Aliasing: C must not overlap A, W or bias. residual may equal C if C has
// 16-bit elements or K is a single K-block (Arithmetic::depth_block); otherwise
// C holds partial sums during the product.

#ifndef MACE_KERNELS_CPU_GEMM_GEMM_H_
#define MACE_KERNELS_CPU_GEMM_GEMM_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::gemm {

inline constexpr size_t kPanelColumns = 16;

// Types of the numbers that are multiplied by weights, of residuals and of
// results. kI8 means int8 or uint8.
enum class Element { kF32, kI32, kF16, kBf16, kI8, kI16 };

inline constexpr size_t ElementBytes(Element element) {
  if (element <= Element::kI32) return 4;
  return element == Element::kI8 ? 1 : 2;
}

enum class WeightType {
  kF32,
  kF16,
  kBf16,
  kBf16Pairs,
  kI8,
  kI8Fours,
  kI8Steps
};

// Bytes of the scales and offsets that every panel of kI8 begins with.
inline constexpr size_t kScaleBytes = 2 * kPanelColumns * sizeof(float);

// Bytes of one panel; `depth` is K, rounded up to a multiple of 2 for
// kBf16Pairs and of 4 for kI8Fours.
inline constexpr size_t PanelBytes(WeightType type, size_t depth) {
  switch (type) {
    case WeightType::kF32:
      return depth * kPanelColumns * 4;
    case WeightType::kI8:
      return kScaleBytes + depth * kPanelColumns;
    case WeightType::kI8Fours:
      return depth * kPanelColumns;
#if defined(__x86_64__) || defined(__i386__)
    case WeightType::kI8Steps:
      return sizeof(int64_t);
#endif
    default:
      return depth * kPanelColumns * 2;
  }
}

// K as stored in rows and panels of 8-bit integers.
inline constexpr size_t DepthInFours(size_t depth) {
  return (depth + 3) / 4 * 4;
}

// The depth of a tap as it is stored in panels.
inline constexpr size_t StoredDepth(WeightType type, size_t depth) {
  return type == WeightType::kI8Fours ? DepthInFours(depth) : depth;
}

// Panels that `columns` need.
inline constexpr size_t PanelCount(size_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

// Values per column of a product of integers, from column 0 of panel 0, for
// whole panels.
struct IntegerColumns {
  const uint32_t *sums = nullptr;  // sums of the packed weights, minus K * zero
  const uint32_t *zeros = nullptr;  // zero points of the packed weights
};

struct Requantization;    // quantized_gemm.h
struct Dequantization;    // dynamic_gemm.h
struct Requantization16;  // int16_gemm.h

// What happens to a sum before it is stored.
struct Epilogue {
  const float *bias = nullptr;     // one per column, or null for 0
  const void *residual = nullptr;  // [rows][columns], of the type of results,
                                   // added before the clamp
  size_t residual_stride = 0;      // elements from row to row
  bool clamp = false;
  float low = 0.0f;
  float high = 0.0f;
  const IntegerColumns *integers = nullptr;            // not null: int8
  const Requantization *requantization = nullptr;      // not null: quantized
  const Dequantization *dequantization = nullptr;      // not null: dynamic
  const Requantization16 *requantization16 = nullptr;  // not null: int16
};

// Rows [begin, end) of a block, and the taps that they read: bit t is tap t.
struct TapRun {
  size_t begin = 0;
  size_t end = 0;
  uint64_t taps = 0;
};

// All rows of a block, divided into such runs, in order. The pointers of taps
// that a run does not have point to zeros, so that kernels may either skip or
// multiply them: the sums are equal as long as no weight is infinite or NaN.
// Every run has at least one tap; there are at most kMaxSkippedTaps taps. If
// `count` is 0, all rows read all taps.
struct TapRuns {
  const TapRun *run = nullptr;
  size_t count = 0;
};
inline constexpr size_t kMaxSkippedTaps = 64;

struct Block;

// Writes weights [k_begin, k_begin + count) of a panel of block.w as floats to
// [count][16]. Not for kF32, whose weights are used in place.
using WidenFunction = void (*)(
    const Block &block, size_t panel, size_t k_begin, size_t count, float *to);

// Products per chain of fp16. Ending a chain costs seven instructions for each
// row of a tile, compared with 286 instructions for its 128 products.
inline constexpr size_t kFp16Chain = 128;

// A block of rows times a range of panels.
struct Block {
  // a[t * rows + m]: `depth` numbers of Arithmetic::element each.
  const void *const *a = nullptr;
  const void *packed = nullptr;  // not null: what Arithmetic::pack wrote, and a
                                 // is not read; int8: always
  // Of int8: the sums that came with `packed`, and the zero points of the
  // packed numbers.
  const uint32_t *row_sums = nullptr;
  const uint32_t *row_zeros = nullptr;
  // Of quantized: added to the sums of each row; null: 0.
  const int32_t *row_bias = nullptr;
  size_t rows = 0;
  size_t taps = 1;
  size_t depth = 0;
  TapRuns tap_runs;
  const void *w = nullptr;  // panel 0, not panel_begin
  WeightType w_type = WeightType::kF32;
  WidenFunction widen = nullptr;  // Arithmetic::widen; unused with kF32
  size_t columns = 0;  // of the whole product; the last panel may be partial
  size_t panel_begin = 0;
  size_t panel_end = 0;
  // The first panel that the caller multiplies next, or null. With kF32, as
  // many panels as in this block are prefetched meanwhile.
  const void *next_w = nullptr;
  void *c = nullptr;  // row 0, column 0
  Element c_type = Element::kF32;
  size_t c_stride = 0;  // elements from row to row; more than `columns` writes
                        // into a part of a wider tensor (a concat)
  Epilogue epilogue;
  // 64-byte aligned. For float: kScratchFloats, used only to widen weights and
  // for rows that are packed to be multiplied by them. For results of 16 bits:
  // [rows][Arithmetic::sum_columns], for sums between K-blocks; unused if there
  // is only one K-block.
  float *scratch = nullptr;
  size_t chain = kFp16Chain;  // a multiple of 8
};

// A K-block of float has at most about this many products per output, so that
// the K-block of the widest column group, 512 x 64 floats = 128 KiB, stays in
// L2 while it is multiplied by all rows of the block. Between K-blocks, C holds
// the sums.
inline constexpr size_t kDepthBlock = 512;
inline constexpr size_t kMaxGroupPanels = 4;
inline constexpr size_t kScratchFloats =
    kDepthBlock * kMaxGroupPanels * kPanelColumns;

// y[n] = act(bias[n] + sum over k of x[k] * W[n, k] + residual[n]) for one row
// of floats. The time is limited by reading the weights, which are widened in
// registers. Summation: four interleaved chains per output (AVX-512: eight).
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

struct IntegerPacking;  // int8_gemm.h

// How products are computed with the instructions of one ISA.
struct Arithmetic {
  const char *name;  // for reports; null: float
  Element element;   // of rows; float makes results of float, fp16 of fp16
  void (*run)(const Block &block);
  // Null: `run` takes a single row, too.
  void (*run_vector)(const Vector &vector);
  WidenFunction widen;  // null: weights are read as they are
  size_t row_tile;      // rows of the tallest common register tile; blocks of a
                        // multiple of it waste nothing
  size_t depth_block;   // at most about so many products are a K-block
  size_t sum_columns;   // of Block::scratch, with results of 16 bits
  // Conversions between floats and `element`, rounding to nearest even;
  // subnormal numbers may become 0. Null unless bf16.
  void (*narrow)(const float *from, uint16_t *to, size_t count) = nullptr;
  void (*widen_row)(const uint16_t *from, float *to, size_t count) = nullptr;
  // For weights in pairs: converts `runs` runs of `count` numbers, an odd
  // count, and writes a 0 after each run.
  void (*narrow_padded)(const float *from,
                        uint16_t *to,
                        size_t runs,
                        size_t count) = nullptr;
  // If not null: converts `rows` rows of `count` numbers of float (pack) or
  // `element` (pack_half) with one tap to Block::packed. The packed depth of a
  // row is `count` rounded up to an even number.
  void (*pack)(const void *const *a,
               size_t rows,
               size_t count,
               uint16_t *to) = nullptr;
  void (*pack_half)(const void *const *a,
                    size_t rows,
                    size_t count,
                    uint16_t *to) = nullptr;
  // Whether rows must be equally far apart in all taps. Then images are copied
  // together with their padding, because row pointers must not point to a
  // separate row of zeros.
  bool pads_images = false;
  // Whether products with weights kI8Steps are faster than with kI8Fours.
  bool reads_steps = false;
  // int8 only, else null: how rows and panels are packed.
  const IntegerPacking *integers = nullptr;
  // The number of multiply-adds in the time of one float multiply-add on the
  // same ISA, for large products. Used to choose between methods; set only if
  // they differ in it.
  double rate = 1.0;
};

// The kinds of arithmetic that have tables, in the order of the tables.
enum class ArithmeticKind {
  kFloat,        // weights of any type but kI8; every ISA has it
  kInt8Weights,  // float with weights kI8
  kBf16,         // weights kBf16Pairs
  kFp16,         // weights kF16
  kInt8,         // weights kI8Fours; every ISA has it
  kQuantized,    // weights kI8Fours; every ISA has it
  kDynamic,      // weights kI8Fours; every ISA has it
  kInt16,        // weights kI8Fours; every ISA has it
};

// All kinds except float can be left out of the library (optional_kernels.h).
template <ArithmeticKind kKind>
struct LinkedArithmetic {
  const Arithmetic *(*find)(CpuIsa isa);
};

// Null if the ISA has no such instructions, or if the kernels were not linked;
// never null for float with an ISA other than CpuIsa::kNone. May request
// registers from the operating system: see PermittedIsa.
const Arithmetic *ArithmeticFor(ArithmeticKind kind, CpuIsa isa);

// Processors of other architectures have no bf16 arithmetic; code that would
// call it is not compiled for them.
#if defined(__x86_64__)
inline constexpr bool kBf16Exists = true;
#else
inline constexpr bool kBf16Exists = false;
#endif

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_GEMM_H_

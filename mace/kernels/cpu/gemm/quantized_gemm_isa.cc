// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/quantized_gemm.h"

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/gemm/quantized_tile.h"
#include "mace/kernels/cpu/simd_quantized.h"
#if defined(MACE_FLOAT_RESULTS)
#include "mace/kernels/cpu/gemm/float_results.h"
#endif
// Weights of products with results of float are not arranged in steps.
#if defined(MACE_SATURATING_BYTES) && !defined(MACE_FLOAT_RESULTS)
#define MACE_READS_STEPS
#include "mace/kernels/cpu/gemm/step_tile.h"
#endif

namespace mace::gemm::MACE_ISA {
namespace {

static_assert(sv::kDotRowsUnsigned == kUnsignedBytes);

constexpr size_t kFour = sv::kDotFour;

// Rows and vectors of a tile. The rows' pointers take registers, too.
#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD)
constexpr int kTileRows = 6;
constexpr int kTileVectors = 4;
#elif !defined(__SSE4_1__)
constexpr int kTileRows = kEightsRows;
constexpr int kTileVectors = kEightsVectors;
#else
constexpr int kTileRows = sv::kDotRows;
constexpr int kTileVectors = sv::kDotVectors;
#endif
constexpr int kPanelVectors = static_cast<int>(kPanelColumns) / sv::kLanes;

MACE_SIMD_INLINE sv::DotWeights LoadWeights(const int8_t *w) {
  sv::VDot bytes;
  __builtin_memcpy(&bytes, w, sizeof(bytes));
  return sv::PrepareDot(bytes);
}

// Elements of a row that has fewer than a four.
MACE_SIMD_INLINE int32_t FirstBits(const uint8_t *row, size_t count) {
  int32_t bits = 0;
  for (size_t i = 0; i < count; ++i) {
    bits |= static_cast<int32_t>(row[i]) << (8 * i);
  }
  return bits;
}

#if defined(__ARM_FEATURE_DOTPROD)
static_assert(kTileVectors * sv::kLanes == kPanelColumns);

// The four with the index kIndex in the rows' registers.
template <int kIndex, int kRows>
MACE_SIMD_INLINE void AddFourOf(const int8_t *w,
                                const sv::DotRow (&row)[kRows],
                                sv::DotSum (&acc)[kRows][kTileVectors]) {
  // Weights of one vector at a time: all would not fit beside the sums.
  MACE_UNROLL for (int v = 0; v < kTileVectors; ++v) {
    const sv::DotWeights weights =
        LoadWeights(w + kIndex * kPanelStep + v * sizeof(sv::VDot));
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      acc[r][v] = sv::Dot4(acc[r][v], sv::DotFourOf<kIndex>(row[r]), weights);
    }
  }
}

// The next kFours fours of each row; moves `a` and `w` behind them.
template <int kFours, int kRows>
MACE_SIMD_INLINE void AddFours(const int8_t *&w,
                               const uint8_t *(&a)[kRows],
                               sv::DotSum (&acc)[kRows][kTileVectors]) {
  if constexpr (kRows == kDotprodRows) {
    AddFoursOfSix<kFours>(w, a, acc);
    return;
  }
  sv::DotRow row[kRows];
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    row[r] = sv::LoadDotRow<kFours>(a[r]);
    a[r] += kFours * kFour;
  }
  AddFourOf<0>(w, row, acc);
  if constexpr (kFours > 1) AddFourOf<1>(w, row, acc);
  if constexpr (kFours > 2) {
    AddFourOf<2>(w, row, acc);
    AddFourOf<3>(w, row, acc);
  }
  w = sv::Advance(w, kFours * kPanelStep);
}

template <bool kFast, int kRows, int kVectors>
MACE_SIMD_INLINE void AddTaps(const Block &b,
                              const DotTile &t,
                              sv::DotSum (&acc)[kRows][kVectors]) {
  const int8_t *w = DotWeightsAt(b, t.column);
  const void *const *rows = b.a + t.row;
  const size_t rest = b.depth % kFour;
#pragma clang loop unroll(disable)
  for (size_t tap = b.taps; tap > 0; --tap, rows += b.rows) {
    const uint8_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = static_cast<const uint8_t *>(rows[r]);
    }
#pragma clang loop unroll(disable)
    for (size_t left = b.depth / (8 * kFour); left > 0; --left) {
      AddFours<4>(w, a, acc);
      AddFours<4>(w, a, acc);
    }
    if (b.depth & 4 * kFour) AddFours<4>(w, a, acc);
    if (b.depth & 2 * kFour) AddFours<2>(w, a, acc);
    if (b.depth & kFour) AddFours<1>(w, a, acc);
    if (rest == 0) continue;
    MACE_UNROLL for (int r = 0; r < kRows; ++r) a[r] -= kFour - rest;
    if (b.depth > kFour) {
      AddFours<1>(w, a, acc);
      continue;
    }
    sv::DotRow row[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      row[r] = sv::SetDotRow(FirstBits(a[r] + kFour - rest, rest));
    }
    AddFourOf<0>(w, row, acc);
    w += kPanelStep;
  }
}

#else

// Four elements of K at `at` of each row.
template <int kRows, int kVectors, typename Four>
MACE_SIMD_INLINE void AddFour(const int8_t *const (&w)[kVectors],
                              size_t at,
                              Four four,
                              sv::DotSum (&acc)[kRows][kVectors]) {
  sv::DotWeights wv[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    wv[v] = LoadWeights(w[v] + at);
  }
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    const sv::DotX x = four(r);
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = sv::Dot4(acc[r][v], x, wv[v]);
    }
  }
}

// As many elements of K as can be added faster than four at a time; returns
// their number and moves `at` behind their weights. No weight may be -128.
template <int kRows, int kVectors>
MACE_SIMD_INLINE size_t AddMany(const int8_t *const (&w)[kVectors],
                                const uint8_t *const (&a)[kRows],
                                size_t depth,
                                size_t *at,
                                sv::DotSum (&acc)[kRows][kVectors]) {
  size_t k = 0;
#if !defined(__SSE4_1__)
  if constexpr (kRows == kEightsRows && kVectors == kEightsVectors) {
    const uint8_t *rows[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) rows[r] = a[r];
    const size_t eights = depth / (2 * kFour);
    AddEights(w[0] + *at, rows, eights, acc);
    *at += eights * 2 * kPanelStep;
    return eights * 2 * kFour;
  }
#pragma clang loop unroll(disable)
  for (; k + 2 * kFour <= depth; k += 2 * kFour, *at += 2 * kPanelStep) {
    sv::DotWeights weights[kVectors][2];
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      weights[v][0] = LoadWeights(w[v] + *at);
      weights[v][1] = LoadWeights(w[v] + *at + kPanelStep);
    }
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      sv::DotX x[2] = {sv::SetDotRow(sv::DotBits(a[r] + k)),
                       sv::SetDotRow(sv::DotBits(a[r] + k + kFour))};
      // One row after the other: the registers are for the sums.
      __asm__("" : "+w"(x[0]), "+w"(x[1]));
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = sv::DotTwice(acc[r][v], x, weights[v]);
      }
    }
  }
#endif
  return k;
}

template <bool kFast, int kRows, int kVectors>
MACE_SIMD_INLINE void AddTaps(const Block &b,
                              const DotTile &t,
                              sv::DotSum (&acc)[kRows][kVectors]) {
  const int8_t *w[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    w[v] = DotWeightsAt(b, t.column + static_cast<size_t>(v) * sv::kLanes);
  }
  const size_t whole = b.depth / kFour * kFour;
  const size_t rest = b.depth - whole;
  const bool overlaps = b.depth >= kFour;
  size_t at = 0;  // in a panel
#pragma clang loop unroll(disable)
  for (size_t tap = 0; tap < b.taps; ++tap) {
    const uint8_t *a[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      a[r] = static_cast<const uint8_t *>(
          b.a[tap * b.rows + t.row + static_cast<size_t>(r)]);
    }
    size_t k = 0;
    if constexpr (kFast) {
      k = AddMany<kRows, kVectors>(w, a, whole, &at, acc);
    }
#pragma clang loop unroll(disable)
    for (; k < whole; k += kFour, at += kPanelStep) {
      AddFour<kRows, kVectors>(
          w, at,
          [&](int r) __attribute__((always_inline)) {
            return sv::SetDotRow(sv::DotBits(a[r] + k));
          },
          acc);
    }
    if (rest == 0) continue;
    AddFour<kRows, kVectors>(
        w, at,
        [&](int r) __attribute__((always_inline)) {
          return sv::SetDotRow(overlaps ? sv::DotBits(a[r] + b.depth - kFour)
                                        : FirstBits(a[r] + whole, rest));
        },
        acc);
    at += kPanelStep;
  }
}

#endif

#if defined(MACE_FLOAT_RESULTS)
// Results of float (dynamic_gemm.h): this file is compiled a second time.
template <int kRows, int kVectors>
MACE_SIMD_INLINE void Begin(const Block & /*b*/,
                            const DotTile & /*t*/,
                            sv::DotSum (&acc)[kRows][kVectors]) {
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = sv::SetDotSum(sv::VI{});
    }
  }
}

template <bool kBounded, int kRows, int kVectors>
MACE_SIMD_INLINE void Finish(const Block &b,
                             const DotTile &t,
                             const sv::DotSum (&acc)[kRows][kVectors]) {
  FinishFloats<kRows, kVectors>(b, t, acc);
}
#else
template <int kRows, int kVectors>
MACE_SIMD_INLINE void Begin(const Block &b,
                            const DotTile &t,
                            sv::DotSum (&acc)[kRows][kVectors]) {
  const int32_t *bias = b.epilogue.requantization->bias + t.column;
#if defined(__ARM_FEATURE_DOTPROD)
  // One load for each row instead of a copy of every register.
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    bias = sv::Hidden(bias);
    sv::LoadDotSums(bias, acc[r]);
  }
#else
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    sv::VI of_vector;
    __builtin_memcpy(&of_vector, bias + v * sv::kLanes, sizeof(of_vector));
    const sv::DotSum sum = sv::SetDotSum(of_vector);
    MACE_UNROLL for (int r = 0; r < kRows; ++r) acc[r][v] = sum;
  }
#endif
  if (b.row_bias == nullptr) return;
  MACE_UNROLL for (int r = 0; r < kRows; ++r) {
    const sv::VI of_row =
        sv::SetInt(b.row_bias[t.row + static_cast<size_t>(r)]);
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = sv::AddToDotSum(acc[r][v], of_row);
    }
  }
}

// The first `columns` elements of each row. A call of another function in
// Finish would leave no registers to the sums.
__attribute__((noinline)) void StorePart(const sv::VDotBytes *rows,
                                         int count,
                                         size_t columns,
                                         uint8_t *c,
                                         size_t c_stride) {
  for (int r = 0; r < count; ++r, c += c_stride) {
    sv::StoreDotBytesN(c, rows[r], columns);
  }
}

template <bool kBounded, int kRows, int kVectors>
MACE_SIMD_INLINE void Finish(const Block &b,
                             const DotTile &t,
                             const sv::DotSum (&acc)[kRows][kVectors]) {
  static_assert(kVectors <= 4);
  const Requantization &to = *b.epilogue.requantization;
  sv::V scale[kVectors];
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    __builtin_memcpy(&scale[v], to.scale + t.column + v * sv::kLanes,
                     sizeof(scale[v]));
  }
  const sv::Requantizer requantizer = sv::MakeRequantizer(to);
  constexpr size_t kColumns = static_cast<size_t>(kVectors) * sv::kLanes;
  const size_t columns = b.columns - t.column;
  auto *c = static_cast<uint8_t *>(b.c) + t.row * b.c_stride + t.column;
  // Four vectors become one of bytes: of as many rows, each of which has a part
  // of it. Vectors that do not exist are those of others.
  constexpr int kTogether =
      kUnsignedBytes && kRows % 2 == 0 && kVectors == 2 ? 2 : 1;
  constexpr int kParts = kRows / kTogether;
  sv::VDotBytes bytes[kParts];
  MACE_UNROLL for (int part = 0; part < kParts; ++part) {
    sv::VI steps[4];
    MACE_UNROLL for (int i = 0; i < 4; ++i) {
      const int r = part * kTogether + i / kVectors % kTogether;
      const int v = i % kVectors;
      steps[i] = i < kVectors * kTogether
                     ? sv::StepsOf<kBounded>(sv::DotLanes(acc[r][v]), scale[v])
                     : steps[v];
    }
    bytes[part] = sv::InOrder(sv::NarrowSteps(requantizer, steps));
  }
  if (sv::HasLimits(to)) {
    MACE_UNROLL for (int part = 0; part < kParts; ++part) {
      bytes[part] = sv::LimitBytes(requantizer, bytes[part]);
    }
  }
  if (columns >= kColumns) {
    MACE_UNROLL for (int r = 0; r < kRows; ++r, c += b.c_stride) {
      const auto *row =
          reinterpret_cast<const uint8_t *>(&bytes[r / kTogether]);
      __builtin_memcpy(c, row + r % kTogether * kColumns, kColumns);
    }
  } else {
    sv::VDotBytes rows[kRows];
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      rows[r] = bytes[r / kTogether];
      if (r % kTogether > 0) rows[r] = sv::UpperHalf(rows[r]);
    }
    StorePart(rows, kRows, columns, c, b.c_stride);
  }
}
#endif

// kFast: see IsFast.
template <bool kFast>
struct Kernel {
  template <int kRows, int kVectors>
  static void RunTile(const Block &b, const DotTile &t) {
    sv::DotSum acc[kRows][kVectors];
    Begin<kRows, kVectors>(b, t, acc);
    AddTaps<kFast, kRows, kVectors>(b, t, acc);
    Finish<kFast, kRows, kVectors>(b, t, acc);
  }
};

#if defined(MACE_FLOAT_RESULTS)
[[maybe_unused]] bool IsBounded(const Block & /*b*/) { return true; }
[[maybe_unused]] int32_t LeastWeight(const Block &b) {
  return b.epilogue.dequantization->least_weight;
}
#else
[[maybe_unused]] bool IsBounded(const Block &b) {
  return b.epilogue.requantization->bounded;
}
[[maybe_unused]] int32_t LeastWeight(const Block &b) {
  return b.epilogue.requantization->least_weight;
}
#endif

#if defined(MACE_READS_STEPS)
// Weights in steps (step_panels.h).
template <bool kBounded>
struct StepKernel {
  template <int kRows, int kVectors>
  static void RunTile(const Block &b, const DotTile &t) {
    sv::DotSum acc[kRows][kVectors];
    Begin<kRows, kVectors>(b, t, acc);
    AddSteps<kRows, kVectors>(b, t, acc);
    Finish<kBounded, kRows, kVectors>(b, t, acc);
  }
};

// Each panel has steps of its own, so that a tile is at most that wide.
constexpr int kStepVectors =
    kTileVectors < kPanelVectors ? kTileVectors : kPanelVectors;

template <bool kBounded, int kRows>
void RunSteps(const Block &b) {
  constexpr size_t kColumns = kStepVectors * static_cast<size_t>(sv::kLanes);
  const size_t begin = b.panel_begin * kPanelColumns;
  size_t end = b.panel_end * kPanelColumns;
  if (end > b.columns) end = b.columns;
  for (size_t column = begin; column < end; column += kColumns) {
    RunDotRows<StepKernel<kBounded>, kRows, kStepVectors>(
        b, {0, column}, NextStepPanel(b, column, b.rows / kRows));
  }
}
#endif

bool IsFast(const Block &b) {
#if defined(__SSE4_1__)
  return IsBounded(b);
#elif defined(__ARM_FEATURE_DOTPROD)
  return true;
#else
  return LeastWeight(b) > INT8_MIN;
#endif
}
// Rows of a tile where IsFast is false: so rare on x86 that little code is
// better. Weights of -128 are not rare.
#if defined(__SSE4_1__) || defined(__ARM_FEATURE_DOTPROD)
constexpr int kSlowRows = 1;
constexpr int kSlowVectors = kTileVectors;
#else
constexpr int kSlowRows = sv::kDotRows;
constexpr int kSlowVectors = sv::kDotVectors;
#endif

void Run(const Block &block) {
  // Copies, which results cannot overwrite: they need not be read again for
  // each tile.
  Block b = block;
#if defined(MACE_FLOAT_RESULTS)
  const Dequantization dequantization = *block.epilogue.dequantization;
  b.epilogue.dequantization = &dequantization;
#else
  const Requantization requantization = *block.epilogue.requantization;
  b.epilogue.requantization = &requantization;
#endif
  const size_t end = b.panel_end * kPanelColumns;
  DotTile t = {0, b.panel_begin * kPanelColumns};
#if defined(MACE_READS_STEPS)
  if (b.w_type == WeightType::kI8Steps) {
    if (IsFast(b)) {
      RunSteps<true, kTileRows>(b);
    } else {
      RunSteps<false, kSlowRows>(b);
    }
    return;
  }
#endif
  if (!IsFast(b)) {
    RunDotColumns < Kernel<false>, kSlowRows,
        kSlowVectors<kPanelVectors ? kSlowVectors : kPanelVectors>(b, end, &t);
    return;
  }
#if defined(MACE_READS_STEPS)
  // Of computed or very short rows: one panel at a time is less code.
  RunDotColumns<Kernel<true>, kTileRows, kStepVectors>(b, end, &t);
#else
  RunDotColumns<Kernel<true>, kTileRows, kTileVectors>(b, end, &t);
  if constexpr (kTileVectors > 2 * kPanelVectors) {
    // More rows for the registers of vectors that are missing.
    RunDotColumns<Kernel<true>, 2 * kTileRows, 2 * kPanelVectors>(b, end, &t);
  }
  if constexpr (kTileVectors > kPanelVectors) {
    // As few rows as for the other panels: in 16, they would be half a kernel
    // more for a single panel.
    constexpr int kRows = kTileRows > 6 ? kTileRows : 2 * kTileRows;
    RunDotColumns<Kernel<true>, kRows, kPanelVectors>(b, end, &t);
  }
#endif
}

}  // namespace

#if defined(MACE_FLOAT_RESULTS)
#define MACE_QUANTIZED_ARITHMETIC kDynamicArithmetic
#define MACE_QUANTIZED_KIND "dynamic"
#else
#define MACE_QUANTIZED_ARITHMETIC kQuantizedArithmetic
#define MACE_QUANTIZED_KIND "quantized"
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define MACE_QUANTIZED_NAME MACE_QUANTIZED_KIND " by vnni"
#elif defined(__ARM_FEATURE_DOTPROD)
#define MACE_QUANTIZED_NAME MACE_QUANTIZED_KIND " by dotprod"
#else
#define MACE_QUANTIZED_NAME MACE_QUANTIZED_KIND
#endif

#if defined(MACE_READS_STEPS)
constexpr bool kReadsSteps = true;
#else
constexpr bool kReadsSteps = false;
#endif

// All of K is one K-block.
extern const Arithmetic MACE_QUANTIZED_ARITHMETIC;
const Arithmetic MACE_QUANTIZED_ARITHMETIC = {
    MACE_QUANTIZED_NAME,       Element::kI8, &Run,
    /*run_vector=*/nullptr,
    /*widen=*/nullptr,         kTileRows,
    /*depth_block=*/SIZE_MAX,
    /*sum_columns=*/0,
    /*narrow=*/nullptr,
    /*widen_row=*/nullptr,
    /*narrow_padded=*/nullptr,
    /*pack=*/nullptr,
    /*pack_half=*/nullptr,
    /*pads_images=*/false,     kReadsSteps,
};

}  // namespace mace::gemm::MACE_ISA

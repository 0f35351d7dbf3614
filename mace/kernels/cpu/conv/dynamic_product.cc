// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/dynamic_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/conv/plan_of_direct.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/quantize/quantize.h"

namespace mace::conv {
using quantize::Range;

RowScale ScaleOf(const Range &range) {
  // Numbers so small could not be told from 0 with a scale that every processor
  // can compute with: some take subnormal numbers for 0.
  constexpr float kLeastSpan = 0x1p-100f;
  const float span = range.high - range.low;
  // Of numbers that are not finite, or infinitely far apart, no result is a
  // number.
  if (!std::isfinite(span)) {
    return {std::numeric_limits<float>::quiet_NaN(), 0};
  }
  if (span < kLeastSpan) return {1.0f, 0};
  const float scale = span / 255.0f;
  // To the nearest integer, ties to even: Android 5 is not known to have
  // nearbyintf.
  constexpr float kIntegers = 0x1.8p23f;
  const float zero = (-range.low / scale + kIntegers) - kIntegers;
  return {scale, static_cast<int32_t>(std::min(zero, 255.0f))};
}

Range Join(const Range &a, const Range &b) {
  if (std::isnan(a.low)) return a;
  if (std::isnan(b.low)) return b;
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

int32_t QuantizeRow(const quantize::Kernels &kernels,
                    const float *from,
                    size_t depth,
                    const RowScale &scale,
                    uint8_t *to,
                    size_t padded) {
  int32_t zero = scale.zero;
  if constexpr (kUnsignedBytes) {
    kernels.to_u8.uniform(from, to, depth, &scale.scale, &zero);
  } else {
    zero -= 128;
    kernels.to_i8.uniform(from, reinterpret_cast<int8_t *>(to), depth,
                          &scale.scale, &zero);
  }
  std::memset(to + depth, 0, padded - depth);
  return zero;
}

uint32_t SumOfRow(const uint8_t *row, size_t depth) {
  uint32_t sum = 0;
  for (size_t k = 0; k < depth; ++k) {
    sum += kUnsignedBytes
               ? uint32_t{row[k]}
               : static_cast<uint32_t>(int32_t{static_cast<int8_t>(row[k])});
  }
  return sum;
}

namespace {

// Dequantization::least_weight of `count` weights: INT8_MIN without a look at
// them if the kernels of that instruction set do not read it.
int32_t LeastWeight([[maybe_unused]] CpuIsa isa,
                    const int8_t *weights,
                    size_t count) {
#if defined(__aarch64__)
  const bool is_read = isa < CpuIsa::neon_dotprod;
#elif defined(__arm__)
  constexpr bool is_read = true;
#else
  constexpr bool is_read = false;
#endif
  if (!is_read) return INT8_MIN;
  int8_t least = 0;
  for (size_t i = 0; i < count; ++i) least = std::min(least, weights[i]);
  return least;
}

// The shape of the product of the padded rows.
Request ProductOf(const DynamicRequest &request) {
  Request product;
  product.shape = MatrixShape(request.rows,
                              static_cast<ptrdiff_t>(gemm::DepthInFours(
                                  static_cast<size_t>(request.depth))),
                              request.columns);
  product.weights = WeightType::kI8Fours;
  product.arithmetic = request.arithmetic;
  product.image = Element::kI8;
  product.results = Element::kF32;
  product.threads = request.threads;
  return product;
}

class DynamicProduct final : public PlanOfDirect {
 public:
  explicit DynamicProduct(const DynamicRequest &request)
      : PlanOfDirect(ProductOf(request)),
        rows_(request.rows),
        depth_(request.depth),
        padded_(gemm::DepthInFours(static_cast<size_t>(request.depth))),
        range_(request.range),
        columns_of_(*request.columns_of),
        kernels_(quantize::KernelsFor(request.isa)) {}

  size_t ScratchBytes(int threads) const override {
    return Lay(nullptr).bytes + PlanOfDirect::ScratchBytes(threads);
  }
  const RowPlan *rows() const override { return nullptr; }

  void Run(const Args &args,
           const OutputActivation *activation,
           ThreadPool *pool,
           void *scratch) const override {
    const Rows rows = Lay(static_cast<char *>(scratch));
    Quantize(static_cast<const float *>(args.input), rows, pool);
    gemm::Dequantization to = columns_of_;
    to.row_scales = rows.scales;
    to.row_zeros = rows.zeros;
    to.row_sums = rows.sums;
    Args own = args;
    own.input = rows.elements;
    own.epilogue.dequantization = &to;
    PlanOfDirect::Run(own, activation, pool,
                      static_cast<char *>(scratch) + rows.bytes);
  }

 private:
  struct Rows {
    uint8_t *elements = nullptr;  // [rows][padded depth]
    float *scales = nullptr;
    int32_t *zeros = nullptr;
    uint32_t *sums = nullptr;
    Range *ranges = nullptr;  // of a tensor's rows
    size_t bytes = 0;
  };

  // Computes the addresses in the scratch memory, and its size.
  Rows Lay(char *memory) const {
    Rows rows;
    const auto take = [&](size_t bytes) {
      char *at = memory == nullptr ? nullptr : memory + rows.bytes;
      rows.bytes += AlignUp(bytes);
      return at;
    };
    const auto count = static_cast<size_t>(rows_);
    rows.elements = reinterpret_cast<uint8_t *>(take(count * padded_));
    rows.scales = reinterpret_cast<float *>(take(count * sizeof(float)));
    rows.zeros = reinterpret_cast<int32_t *>(take(count * sizeof(int32_t)));
    rows.sums = reinterpret_cast<uint32_t *>(take(count * sizeof(uint32_t)));
    if (range_ == QuantizedRange::kTensor) {
      rows.ranges = reinterpret_cast<Range *>(take(count * sizeof(Range)));
    }
    return rows;
  }

  // Rows per grain, so that using another thread is worthwhile.
  int64_t Grain() const {
    constexpr int64_t kWorthwhile = 8 * 1024;
    return std::max<int64_t>(1, kWorthwhile / depth_);
  }

  void Quantize(const float *from, const Rows &rows, ThreadPool *pool) const {
    const auto range_of = [&](int64_t row) {
      return kernels_->range(from + row * depth_, static_cast<size_t>(depth_));
    };
    if (range_ == QuantizedRange::kRow) {
      pool->ParallelFor(
          rows_, Grain(), [&](int64_t begin, int64_t end, int /*thread*/) {
            for (int64_t row = begin; row < end; ++row) {
              QuantizeOne(from, row, ScaleOf(range_of(row)), rows);
            }
          });
      return;
    }
    pool->ParallelFor(rows_, Grain(),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        for (int64_t row = begin; row < end; ++row) {
                          rows.ranges[row] = range_of(row);
                        }
                      });
    Range whole = rows.ranges[0];
    for (int64_t row = 1; row < rows_; ++row) {
      whole = Join(whole, rows.ranges[row]);
    }
    const RowScale scale = ScaleOf(whole);
    pool->ParallelFor(rows_, Grain(),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        for (int64_t row = begin; row < end; ++row) {
                          QuantizeOne(from, row, scale, rows);
                        }
                      });
  }

  void QuantizeOne(const float *from,
                   int64_t row,
                   const RowScale &scale,
                   const Rows &rows) const {
    uint8_t *to = rows.elements + static_cast<size_t>(row) * padded_;
    const auto depth = static_cast<size_t>(depth_);
    rows.scales[row] = scale.scale;
    rows.zeros[row] =
        QuantizeRow(*kernels_, from + row * depth_, depth, scale, to, padded_);
    rows.sums[row] =
        columns_of_.column_zeros == nullptr ? 0 : SumOfRow(to, depth);
  }

  const ptrdiff_t rows_;
  const ptrdiff_t depth_;
  const size_t padded_;
  const QuantizedRange range_;
  const gemm::Dequantization &columns_of_;
  const quantize::Kernels *const kernels_;
};

}  // namespace

std::unique_ptr<Plan> MakeDynamicProduct(const DynamicRequest &request) {
  return std::make_unique<DynamicProduct>(request);
}

void DynamicColumns::Init(const Constants &from, CpuIsa isa) {
  if (from.depth == 0 || from.columns == 0) return;
  if (!from.scales.Fits(from.columns) || !from.zeros.Fits(from.columns) ||
      !from.bias.Fits(from.columns)) {
    return;
  }
  const size_t panels = gemm::PanelCount(from.columns);
  const size_t padded = panels * gemm::kPanelColumns;
  const size_t bytes =
      panels * gemm::PanelBytes(gemm::WeightType::kI8Fours,
                                gemm::DepthInFours(from.depth));
  const auto *sums = reinterpret_cast<const uint32_t *>(from.packed + bytes);
  scales_.assign(padded, 0.0f);
  bias_.assign(padded, 0.0f);
  for (size_t n = 0; n < from.columns; ++n) {
    scales_[n] = from.scales[n];
    if (from.bias.data != nullptr) bias_[n] = from.bias[n];
  }
  values_.column_scales = scales_.data();
  values_.bias = bias_.data();
  values_.column_sums = sums;
  if (from.zeros.data != nullptr) SetZeros(from, sums);
  values_.least_weight = LeastWeight(isa, from.packed, bytes);
}

void DynamicColumns::SetZeros(const Constants &from, const uint32_t *sums) {
  sums_.assign(scales_.size(), 0);
  zeros_.assign(scales_.size(), 0);
  for (size_t n = 0; n < from.columns; ++n) {
    zeros_[n] = static_cast<uint32_t>(int32_t{from.zeros[n]});
    sums_[n] = sums[n] - static_cast<uint32_t>(from.depth) * zeros_[n];
  }
  values_.column_sums = sums_.data();
  values_.column_zeros = zeros_.data();
}

}  // namespace mace::conv

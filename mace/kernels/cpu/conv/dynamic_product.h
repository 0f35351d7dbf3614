// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of float matrices with weights of 8 bits, for which every run
// quantizes the matrix: its rows become 8-bit integers, which `dynamic_gemm.h`
// multiplies. The arithmetic is specified in docs/reference/quantization.md.

#ifndef MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_
#define MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"
#include "mace/kernels/cpu/quantize/quantize.h"

namespace mace::conv {

// What rows have a scale and a zero point for: each for itself, or all for the
// whole matrix.
enum class QuantizedRange { kRow, kTensor };

// What the integers of a row stand for.
struct RowScale {
  float scale = 1.0f;
  int32_t zero = 0;  // of uint8
};
RowScale ScaleOf(const quantize::Range &range);
// The range of the numbers of both.
quantize::Range Join(const quantize::Range &a, const quantize::Range &b);
// Writes `depth` integers and then zeros, `padded` in all, in the signedness of
// rows (kUnsignedBytes); returns the zero point in it.
int32_t QuantizeRow(const quantize::Kernels &kernels,
                    const float *from,
                    size_t depth,
                    const RowScale &scale,
                    uint8_t *to,
                    size_t padded);
// Dequantization::row_sums.
uint32_t SumOfRow(const uint8_t *row, size_t depth);

// One number, or one for each column.
template <typename T>
struct NumbersOfColumns {
  const T *data = nullptr;  // null: absent
  size_t count = 0;

  T operator[](size_t n) const { return data[count == 1 ? 0 : n]; }
  bool Fits(size_t columns) const {
    return data == nullptr || count == 1 || count == columns;
  }
};

// The values of the columns of a matrix of weights, for whole panels.
class DynamicColumns {
 public:
  struct Constants {
    const int8_t *packed = nullptr;  // PACKED_N16_FOURS
    size_t depth = 0;
    size_t columns = 0;
    NumbersOfColumns<float> scales;
    NumbersOfColumns<int8_t> zeros;
    NumbersOfColumns<float> bias;
  };
  // Constants of other sizes than the matrix's leave it empty.
  void Init(const Constants &from, CpuIsa isa);

  const gemm::Dequantization &values() const { return values_; }

 private:
  void SetZeros(const Constants &from, const uint32_t *sums);

  std::vector<float> scales_;
  std::vector<float> bias_;
  // Empty without zero points: then the sums are those of the model file.
  std::vector<uint32_t> sums_;
  std::vector<uint32_t> zeros_;
  gemm::Dequantization values_;
};

struct DynamicRequest {
  ptrdiff_t rows = 0;  // none is 0
  ptrdiff_t depth = 0;
  ptrdiff_t columns = 0;
  QuantizedRange range = QuantizedRange::kRow;
  CpuIsa isa = CpuIsa::kNone;
  const Arithmetic *arithmetic = nullptr;  // dynamic
  // The values of the columns; rows are set by each run. It and its memory must
  // outlive the plan.
  const gemm::Dequantization *columns_of = nullptr;
  int threads = 1;
};

// Args of its runs: input is [rows][depth] of float, weights are panels of
// PACKED_N16_FOURS; Epilogue::bias is not read.
std::unique_ptr<Plan> MakeDynamicProduct(const DynamicRequest &request);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_

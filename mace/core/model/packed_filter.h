// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where the weights of packed constants are in the data file (mace.proto,
// ConstantLayout). Readers and writers of these layouts use this header, and so
// does the check of a model (StoredBytes). Kernels, which are made for blocks
// of one size, have its numbers too (mace/kernels/cpu/gemm/gemm.h); the test
// compares both.
//
// The place of a weight is a sum, one part for its output and one for its
// position k among the weights of that output, so that loops compute each part
// once. What a layout stores beside the weights has functions of its own.

#ifndef MACE_CORE_MODEL_PACKED_FILTER_H_
#define MACE_CORE_MODEL_PACKED_FILTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/core/base/shape.h"
#include "mace/core/model/tensor.h"

namespace mace {

// Outputs of a block, or columns of a matrix.
inline constexpr int64_t kPackedBlock = 16;
// Neighbours along K that the layouts of fours and pairs store together.
inline constexpr int64_t kPackedFour = 4;
inline constexpr int64_t kPackedPair = 2;

// A filter [O, ...] in one of the layouts CL_PACKED_O16*. Places count
// elements, from the start of the constant.
class PackedFilter {
 public:
  // O is a multiple of `groups`, and the last dimension of a filter in fours is
  // a multiple of 4, as the checks of a model demand.
  PackedFilter(ConstantLayout layout, const Shape &shape, int64_t groups);
  explicit PackedFilter(const Tensor &filter)
      : PackedFilter(filter.layout, filter.shape, filter.groups) {}

  // Of whole groups: 0 if there are more groups than outputs.
  int64_t outputs() const { return outputs_; }
  int64_t depth() const { return depth_; }  // weights of an output
  // With padding, and with the scales and offsets of CL_PACKED_O16_SCALED,
  // whose elements are bytes.
  int64_t stored() const { return blocks_ * groups_ * block_stride_; }

  // The place of a weight is the sum of both.
  int64_t OfOutput(int64_t output) const {
    return BlockOf(output) * block_stride_ + head_ +
           output % columns_ % kPackedBlock * together();
  }
  int64_t OfDepth(int64_t k) const {
    if (row_padding_ > 0) k += k / row_ * row_padding_;
    const int64_t rest = k & (together() - 1);
    return (k - rest) * kPackedBlock + rest;
  }
  int64_t At(int64_t output, int64_t k) const {
    return OfOutput(output) + OfDepth(k);
  }

  // Of CL_PACKED_O16_SCALED, whose weights are scale * q + offset: the places
  // of these float32, in bytes.
  int64_t ScaleAt(int64_t output) const {
    return BlockOf(output) * block_stride_ +
           output % columns_ % kPackedBlock *
               static_cast<int64_t>(sizeof(float));
  }
  int64_t OffsetAt(int64_t output) const {
    return ScaleAt(output) + kPackedBlock * static_cast<int64_t>(sizeof(float));
  }

  // Calls visit(output, k, place) for each weight, roughly in the order of the
  // file: what lies together is visited together.
  template <typename Visit>
  void ForEach(Visit visit) const {
    ForEachBlock([&](int64_t output, int64_t lanes, int64_t start) {
      for (int64_t k = 0; k < depth_; ++k) {
        const int64_t at = start + OfDepth(k);
        for (int64_t lane = 0; lane < lanes; ++lane) {
          visit(output + lane, k, at + lane * together());
        }
      }
    });
  }
  // Calls visit(first output, outputs, place of the first weight) for each
  // block, in the order of the file.
  template <typename Visit>
  void ForEachBlock(Visit visit) const {
    for (int64_t first = 0; first < outputs_; first += columns_) {
      for (int64_t n = 0; n < columns_; n += kPackedBlock) {
        visit(first + n, std::min(kPackedBlock, columns_ - n),
              OfOutput(first + n));
      }
    }
  }

 private:
  int64_t BlockOf(int64_t output) const {
    return output / columns_ * blocks_ + output % columns_ / kPackedBlock;
  }
  int64_t together() const { return int64_t{1} << together_log2_; }

  int64_t outputs_;
  int64_t groups_;
  int64_t columns_;  // outputs of a group
  int64_t blocks_;   // of a group
  int64_t depth_;
  int64_t block_stride_;
  int64_t head_ = 0;  // what a block begins with
  int together_log2_ = 0;
  int64_t row_ = 1;          // elements along the last dimension
  int64_t row_padding_ = 0;  // zeros after them
};

// Matrices [..., K, N] of 8-bit integers in CL_PACKED_N16_FOURS: weights and
// then the sum of each column, in bytes from the start of the constant.
class PackedMatrices {
 public:
  explicit PackedMatrices(const Shape &shape);

  int64_t stored() const { return weights_ + sums_ * kSumBytes; }
  int64_t At(int64_t matrix, int64_t k, int64_t n) const {
    const int64_t four =
        (BlockOf(matrix, n) * fours_ + k / kPackedFour) * kPackedBlock +
        n % kPackedBlock;
    return four * kPackedFour + k % kPackedFour;
  }
  int64_t SumAt(int64_t matrix, int64_t n) const {
    return weights_ +
           (BlockOf(matrix, n) * kPackedBlock + n % kPackedBlock) * kSumBytes;
  }

 private:
  static constexpr int64_t kSumBytes = sizeof(int32_t);

  int64_t BlockOf(int64_t matrix, int64_t n) const {
    return matrix * blocks_ + n / kPackedBlock;
  }

  int64_t blocks_;   // of a matrix
  int64_t fours_;    // along K
  int64_t weights_;  // bytes
  int64_t sums_;
};

}  // namespace mace

#endif  // MACE_CORE_MODEL_PACKED_FILTER_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_SHAPE_H_
#define MACE_CORE_BASE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace mace {

// Dimensions of a tensor, outermost first. A value type without heap memory:
// shapes are inferred in every run whose inputs changed.
class Shape {
 public:
  static constexpr size_t kMaxRank = 8;

  Shape() = default;
  // The rank must not exceed kMaxRank; model files are checked when they are
  // read.
  Shape(std::initializer_list<int64_t> dims) {
    for (int64_t dim : dims) Append(dim);
  }
  Shape(const int64_t *dims, size_t rank) {
    for (size_t i = 0; i < rank; ++i) Append(dims[i]);
  }

  size_t rank() const { return rank_; }
  int64_t operator[](size_t axis) const { return dims_[axis]; }
  int64_t &operator[](size_t axis) { return dims_[axis]; }
  const int64_t *begin() const { return dims_; }
  const int64_t *end() const { return dims_ + rank_; }
  // Innermost dimension; 1 for a scalar.
  int64_t back() const { return rank_ == 0 ? 1 : dims_[rank_ - 1]; }

  // Returns false and changes nothing if the shape is full.
  bool Append(int64_t dim) {
    if (rank_ == kMaxRank) return false;
    dims_[rank_++] = dim;
    return true;
  }

  // Product of dims [first, last); 1 for none. Callers that read dims from a
  // file use CheckedElements instead.
  int64_t Elements(size_t first, size_t last) const {
    int64_t product = 1;
    for (size_t i = first; i < last; ++i) product *= dims_[i];
    return product;
  }
  int64_t Elements() const { return Elements(0, rank_); }

  // Number of elements, or -1 if a dimension is negative or the product
  // exceeds `limit`.
  int64_t CheckedElements(int64_t limit = INT64_C(1) << 40) const;

  // Maps a negative axis to its positive one; -1 if out of range.
  int64_t NormalizeAxis(int64_t axis) const {
    const auto rank = static_cast<int64_t>(rank_);
    if (axis < -rank || axis >= rank) return -1;
    return axis < 0 ? axis + rank : axis;
  }

  bool operator==(const Shape &other) const;
  bool operator!=(const Shape &other) const { return !(*this == other); }

  // "[1, 224, 224, 3]"
  std::string ToString() const;

 private:
  int64_t dims_[kMaxRank] = {};
  size_t rank_ = 0;
};

}  // namespace mace

#endif  // MACE_CORE_BASE_SHAPE_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/search/non_zero_schema.h"

namespace mace {
namespace {

// Writes the columns of the innermost dimension where `x` is not 0, and returns
// how many there are.
template <typename T>
int64_t Columns(const T *x, int64_t count, int32_t *out) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    // Without a branch: what does not count is overwritten, or set to 0 later.
    out[found] = static_cast<int32_t>(i);
    found += static_cast<int64_t>(x[i] != 0);
  }
  return found;
}

// There is room for a column at `out` while `x` has elements.
int64_t Columns(const Tensor &input, int64_t at, int64_t count, int32_t *out) {
  switch (input.data_type) {
    case DataType::kFloat32:
      return Columns(input.As<float>() + at, count, out);
    case DataType::kInt32:
      return Columns(input.As<int32_t>() + at, count, out);
    default:
      return Columns(input.As<uint8_t>() + at, count, out);
  }
}

class NonZeroOp final : public CpuOp {
 public:
  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kNonZeroInputInput);
    const Shape &shape = input->shape;
    const int64_t most = input->elements();
    const size_t last = shape.rank() - 1;
    auto *positions = context->output(0)->MutableAs<int32_t>();
    std::array<int32_t, Shape::kMaxRank> row{};
    int64_t total = 0;
    for (int64_t at = 0; at < most; at += shape[last]) {
      const int64_t found =
          Columns(*input, at, shape[last], positions + last * most + total);
      for (size_t d = 0; d < last; ++d) {
        std::fill_n(positions + d * most + total, found, row[d]);
      }
      total += found;
      for (size_t d = last; d-- > 0;) {
        if (++row[d] < shape[d]) break;
        row[d] = 0;
      }
    }
    for (size_t d = 0; d <= last; ++d) {
      std::fill_n(positions + d * most + total, most - total, 0);
    }
    if (Tensor *count = context->output(1); count != nullptr) {
      *count->MutableAs<int32_t>() = static_cast<int32_t>(total);
    }
    return MaceStatus();
  }
};

MACE_REGISTER_OP(NonZero, CPU, NonZeroOp);

}  // namespace
}  // namespace mace

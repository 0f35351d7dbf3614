// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/search/unique_schema.h"

namespace mace {
namespace {

constexpr uint32_t kSign = 0x80000000u;

// A key that is larger for a larger number, and the same for equal ones.
uint32_t KeyOf(uint32_t bits, bool is_float) {
  if (!is_float) return bits ^ kSign;
  if ((bits & ~kSign) > 0x7f800000u) return UINT32_MAX;  // NaN
  if (bits == kSign) bits = 0;                           // -0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

struct Rows {
  const uint32_t *keys;
  int64_t size;

  // -1, 0 or 1
  int Compare(int32_t a, int32_t b) const {
    const uint32_t *x = keys + a * size;
    const uint32_t *y = keys + b * size;
    for (int64_t i = 0; i < size; ++i) {
      if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    }
    return 0;
  }
};

class UniqueOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    sorted_ = context->AttributesAs<UniqueAttributes>().sorted;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor *input = context->input(kUniqueInputInput);
    // A key of each element; of each row its place in the order, and its group.
    context->RequestScratch(
        static_cast<size_t>(input->elements() + 2 * input->shape[0]) *
        sizeof(uint32_t));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kUniqueInputInput);
    const int64_t count = input->shape[0];
    const int64_t size = input->shape.Elements(1, input->shape.rank());
    const auto *x = input->As<uint32_t>();
    auto *keys = static_cast<uint32_t *>(context->scratch());
    auto *order = reinterpret_cast<int32_t *>(keys + count * size);
    int32_t *group_of = order + count;
    const bool is_float = input->data_type == DataType::kFloat32;
    for (int64_t i = 0; i < count * size; ++i) keys[i] = KeyOf(x[i], is_float);
    for (int64_t i = 0; i < count; ++i) order[i] = static_cast<int32_t>(i);
    const Rows rows{keys, size};
    std::sort(order, order + count, [&rows](int32_t a, int32_t b) {
      const int compared = rows.Compare(a, b);
      return compared != 0 ? compared < 0 : a < b;
    });
    const int32_t groups = sorted_ ? SortedGroups(rows, order, count, group_of)
                                   : GivenGroups(rows, order, count, group_of);
    Write(context, group_of, groups, order);
    return MaceStatus();
  }

 private:
  // Numbers the groups of equal rows in the order of their values.
  static int32_t SortedGroups(const Rows &rows,
                              const int32_t *order,
                              int64_t count,
                              int32_t *group_of) {
    int32_t groups = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0 && rows.Compare(order[i - 1], order[i]) == 0) --groups;
      group_of[order[i]] = groups++;
    }
    return groups;
  }

  // Numbers them in the order of the first row of each one.
  static int32_t GivenGroups(const Rows &rows,
                             const int32_t *order,
                             int64_t count,
                             int32_t *group_of) {
    for (int64_t i = 0; i < count; ++i) {
      const bool same = i > 0 && rows.Compare(order[i - 1], order[i]) == 0;
      group_of[order[i]] = same ? group_of[order[i - 1]] : order[i];
    }
    int32_t groups = 0;
    for (int64_t i = 0; i < count; ++i) {
      // The first row of a group comes before the others.
      const int32_t first = group_of[i];
      group_of[i] = first == i ? groups++ : group_of[first];
    }
    return groups;
  }

  // `first` has room for the first row of each group.
  static void Write(RunContext *context,
                    const int32_t *group_of,
                    int32_t groups,
                    int32_t *first) {
    const Tensor *input = context->input(kUniqueInputInput);
    const int64_t count = input->shape[0];
    std::fill_n(first, count, -1);
    for (int64_t i = 0; i < count; ++i) {
      int32_t &row = first[group_of[i]];
      if (row < 0) row = static_cast<int32_t>(i);
    }
    const size_t bytes =
        static_cast<size_t>(input->shape.Elements(1, input->shape.rank())) *
        sizeof(uint32_t);
    if (Tensor *output = context->output(0); output != nullptr && bytes > 0) {
      auto *to = output->MutableAs<uint8_t>();
      for (int32_t g = 0; g < groups; ++g) {
        std::memcpy(to + g * bytes, input->As<uint8_t>() + first[g] * bytes,
                    bytes);
      }
      std::memset(to + groups * bytes, 0, (count - groups) * bytes);
    }
    if (Tensor *output = context->output(1); output != nullptr) {
      for (int64_t i = 0; i < count; ++i) {
        output->MutableAs<int32_t>()[i] = std::max(first[i], 0);
      }
    }
    if (Tensor *output = context->output(2); output != nullptr) {
      std::copy_n(group_of, count, output->MutableAs<int32_t>());
    }
    if (Tensor *output = context->output(3); output != nullptr) {
      auto *counts = output->MutableAs<int32_t>();
      std::fill_n(counts, count, 0);
      for (int64_t i = 0; i < count; ++i) ++counts[group_of[i]];
    }
    if (Tensor *output = context->output(4); output != nullptr) {
      *output->MutableAs<int32_t>() = groups;
    }
  }

  bool sorted_ = true;
};

MACE_REGISTER_OP(Unique, CPU, UniqueOp);

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"
#include "mace/ops/cum_sum/cum_sum_schema.h"

namespace mace {
namespace {

// Adjacent sums per task if the axis is not the innermost one: 1 KiB on the
// stack, whole vectors on every ISA.
constexpr int64_t kColumnBlock = 256;
static_assert(kColumnBlock <= kHalfBlock);
// The same if the sums so far are in the output: rows of some pages, which the
// processor reads ahead.
constexpr int64_t kWideBlock = 2048;

// The path along the axis, in elements.
struct Walk {
  int64_t length = 0;
  int64_t first = 0;
  int64_t step = 0;
  bool exclusive = false;
};

// Continues from `sum` and returns the last sum. T is float, or uint32_t for
// integers, whose sums are modulo 2^32. y may be x.
template <typename T>
T SumAlong(const Walk &walk, const T *x, T *y, T sum) {
  int64_t at = walk.first;
  for (int64_t k = 0; k < walk.length; ++k, at += walk.step) {
    const T next = sum + x[at];
    y[at] = walk.exclusive ? sum : next;
    sum = next;
  }
  return sum;
}

// Adds one element to each of `count` sums.
template <typename T>
void SumStep(bool exclusive, const T *x, T *y, T *sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T next = sums[i] + x[i];
    y[i] = exclusive ? sums[i] : next;
    sums[i] = next;
  }
}

// Adds one element to each of `count` sums: y is x or overlaps neither.
template <typename T>
void AddStep(const T *before, const T *x, T *y, int64_t count) {
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) y[i] = before[i] + x[i];
}

// Computes `count` sums of adjacent columns.
template <typename T>
void SumColumns(const Walk &walk, const T *x, T *y, int64_t count) {
  if (count == 1) {
    SumAlong(walk, x, y, T{0});
    return;
  }
  int64_t at = walk.first;
  if (!walk.exclusive) {  // the sums so far are in y
    for (int64_t i = 0; i < count; ++i) y[at + i] = T{0} + x[at + i];
    for (int64_t k = 1; k < walk.length; ++k) {
      at += walk.step;
      AddStep(y + at - walk.step, x + at, y + at, count);
    }
    return;
  }
  T sums[kColumnBlock] = {};
  for (int64_t k = 0; k < walk.length; ++k, at += walk.step) {
    SumStep(true, x + at, y + at, sums, count);
  }
}

// Whether int32 cannot hold one of these sums.
bool ExceedsColumns(const Walk &walk, const int32_t *x, int64_t count) {
  const int64_t terms = walk.length - (walk.exclusive ? 1 : 0);
  bool exceeds = false;
  for (int64_t first = 0; first < count; first += kColumnBlock) {
    const int64_t columns = std::min(kColumnBlock, count - first);
    int64_t sums[kColumnBlock] = {};
    int64_t at = walk.first + first;
    for (int64_t k = 0; k < terms; ++k, at += walk.step) {
      for (int64_t i = 0; i < columns; ++i) {
        sums[i] += x[at + i];
        exceeds |= sums[i] != static_cast<int32_t>(sums[i]);
      }
    }
  }
  return exceeds;
}

// Like SumColumns, for 16-bit elements: sums are floats, and are rounded when
// they are stored.
void SumHalfColumns(const convert::HalfKernels &convert,
                    const Walk &walk,
                    const uint16_t *x,
                    uint16_t *y,
                    int64_t count) {
  alignas(64) float block[kHalfBlock];
  float sums[kColumnBlock] = {};
  const auto n = static_cast<size_t>(count);
  int64_t at = walk.first;
  for (int64_t k = 0; k < walk.length; ++k, at += walk.step) {
    convert.widen(x + at, block, n);
    SumStep(walk.exclusive, block, block, sums, count);
    convert.narrow(block, y + at, n);
  }
}

// Computes one sum along the innermost axis.
void SumHalfRow(const convert::HalfKernels &convert,
                const Walk &walk,
                const uint16_t *x,
                uint16_t *y) {
  alignas(64) float block[kHalfBlock];
  float sum = 0;
  for (int64_t done = 0; done < walk.length; done += kHalfBlock) {
    Walk part = walk;
    part.length = std::min(kHalfBlock, walk.length - done);
    part.first = walk.step < 0 ? part.length - 1 : 0;
    const int64_t at = walk.step < 0 ? walk.length - done - part.length : done;
    const auto n = static_cast<size_t>(part.length);
    convert.widen(x + at, block, n);
    sum = SumAlong<float>(part, block, block, sum);
    convert.narrow(block, y + at, n);
  }
}

class CumSumOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    half_ = HalfActivations::Of(context->hints(), isa());
    attributes_ = context->AttributesAs<CumSumAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kCumSumInputInput);
    Tensor *output = context->output(0);
    const Shape &shape = input->shape;
    if (shape.Elements() == 0) return MaceStatus();
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    Walk walk;
    walk.length = shape[axis];
    walk.first = attributes_.reverse ? (walk.length - 1) * inner : 0;
    walk.step = attributes_.reverse ? -inner : inner;
    walk.exclusive = attributes_.exclusive;
    const bool in_output = !walk.exclusive && !IsHalf(input->data_type);
    const int64_t block = in_output ? kWideBlock : kColumnBlock;
    const int64_t blocks = (inner + block - 1) / block;
    const auto each = [&](auto call) {
      context->thread_pool()->ParallelFor(
          shape.Elements(0, axis) * blocks,
          RowGrain(walk.length * std::min(inner, block)),
          [&](int64_t begin, int64_t end, int /*thread*/) {
            for (int64_t item = begin; item < end; ++item) {
              const int64_t column = item % blocks * block;
              call(item / blocks * walk.length * inner + column,
                   std::min(inner - column, block));
            }
          });
    };
    if (attributes_.wide && input->data_type == DataType::kInt32) {
      // Before they are computed, perhaps in place.
      std::atomic<bool> exceeds{false};
      each([&](int64_t at, int64_t count) {
        if (ExceedsColumns(walk, input->As<int32_t>() + at, count)) {
          exceeds.store(true, std::memory_order_relaxed);
        }
      });
      if (exceeds.load()) return ExceedsInt32();
    }
    each([&](int64_t at, int64_t count) {
      Sum(walk, input, at, count, output);
    });
    return MaceStatus();
  }

 private:
  // Computes `count` sums; the first one begins at element `at`.
  void Sum(const Walk &walk,
           const Tensor *input,
           int64_t at,
           int64_t count,
           Tensor *output) const {
    if (IsHalf(input->data_type)) {
      const uint16_t *x = input->As<uint16_t>() + at;
      uint16_t *y = output->MutableAs<uint16_t>() + at;
      if (walk.step == 1 || walk.step == -1) {
        SumHalfRow(*half_.convert, walk, x, y);
      } else {
        SumHalfColumns(*half_.convert, walk, x, y, count);
      }
    } else if (input->data_type == DataType::kInt32) {
      SumColumns(walk, input->As<uint32_t>() + at,
                 output->MutableAs<uint32_t>() + at, count);
    } else {
      SumColumns(walk, input->As<float>() + at, output->MutableAs<float>() + at,
                 count);
    }
  }

  CumSumAttributes attributes_;
  HalfActivations half_;
};

MACE_REGISTER_OP(CumSum, CPU, CumSumOp);

}  // namespace
}  // namespace mace

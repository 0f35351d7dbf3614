// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cumulate/cumulate_schema.h"

namespace mace {
namespace {

// Adjacent results per task if the axis is not the innermost one: rows of some
// pages, which the processor reads ahead.
constexpr int64_t kColumnBlock = 2048;

// The path along the axis, in elements.
struct Walk {
  int64_t length = 0;
  int64_t first = 0;
  int64_t step = 0;
  bool exclusive = false;
};

// uint32_t stands for integers, whose products are modulo 2^32.
struct Product {
  template <typename T>
  static constexpr T kOfNone = 1;
  template <typename T>
  static T Of(T a, T b) {
    return a * b;
  }
};

template <typename T>
constexpr bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(x);
  } else {
    return false;
  }
}

template <typename T>
constexpr T LeastOf() {
  return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::min();
}

template <typename T>
constexpr T LargestOf() {
  return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();
}

struct Largest {
  template <typename T>
  static constexpr T kOfNone = LeastOf<T>();
  template <typename T>
  static T Of(T a, T b) {
    return b > a || IsNan(b) ? b : a;
  }
};

struct Smallest {
  template <typename T>
  static constexpr T kOfNone = LargestOf<T>();
  template <typename T>
  static T Of(T a, T b) {
    return b < a || IsNan(b) ? b : a;
  }
};

struct LogSumExp {
  template <typename T>
  static constexpr T kOfNone = LeastOf<T>();
  template <typename T>
  static T Of(T a, T b) {
    const T high = Largest::Of(a, b);
    const T low = high == a ? b : a;
    if (low == kOfNone<T> || !std::isfinite(high)) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

// Computes `count` adjacent columns. y does not overlap x.
template <typename Function, typename T>
void Columns(const Walk &walk, const T *x, T *y, int64_t count) {
  int64_t at = walk.first;
  // A vector at a time: there are seven copies of this.
#pragma clang loop interleave_count(1) unroll(disable)
  for (int64_t i = 0; i < count; ++i) {
    y[at + i] = walk.exclusive ? Function::template kOfNone<T> : T(x[at + i]);
  }
  for (int64_t k = 1; k < walk.length; ++k) {
    const T *before = y + at;
    const T *next = x + at + (walk.exclusive ? 0 : walk.step);
    at += walk.step;
#pragma clang loop interleave_count(1) unroll(disable)
    for (int64_t i = 0; i < count; ++i) {
      y[at + i] = Function::template Of<T>(before[i], next[i]);
    }
  }
}

// Whether int32 cannot hold one of the products.
bool ExceedsColumns(const Walk &walk, const int32_t *x, int64_t count) {
  const int64_t factors = walk.length - (walk.exclusive ? 1 : 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t product = 1;
    int64_t at = walk.first + i;
    for (int64_t k = 0; k < factors; ++k, at += walk.step) {
      product *= x[at];
      if (product != static_cast<int32_t>(product)) return true;
    }
  }
  return false;
}

class CumulateOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<CumulateAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kCumulateInputInput);
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
    const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
    std::atomic<bool> exceeds{false};
    context->thread_pool()->ParallelFor(
        shape.Elements(0, axis) * blocks,
        RowGrain(walk.length * std::min(inner, kColumnBlock)),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * kColumnBlock;
            const int64_t at = item / blocks * walk.length * inner + column;
            const int64_t count = std::min(inner - column, kColumnBlock);
            if (!Block(walk, input, at, count, output)) {
              exceeds.store(true, std::memory_order_relaxed);
            }
          }
        });
    return exceeds.load() ? ExceedsInt32() : MaceStatus();
  }

 private:
  // Computes `count` columns; the first one begins at element `at`. False if
  // the results exceed their type.
  bool Block(const Walk &walk,
             const Tensor *input,
             int64_t at,
             int64_t count,
             Tensor *output) const {
    if (input->data_type == DataType::kFloat32) {
      const float *x = input->As<float>() + at;
      float *y = output->MutableAs<float>() + at;
      switch (attributes_.mode) {
        case CumulateMode::PROD:
          Columns<Product>(walk, x, y, count);
          break;
        case CumulateMode::MAX:
          Columns<Largest>(walk, x, y, count);
          break;
        case CumulateMode::MIN:
          Columns<Smallest>(walk, x, y, count);
          break;
        case CumulateMode::LOG_SUM_EXP:
          Columns<LogSumExp>(walk, x, y, count);
          break;
      }
      return true;
    }
    const int32_t *x = input->As<int32_t>() + at;
    int32_t *y = output->MutableAs<int32_t>() + at;
    if (attributes_.mode == CumulateMode::MAX) {
      Columns<Largest>(walk, x, y, count);
    } else if (attributes_.mode == CumulateMode::MIN) {
      Columns<Smallest>(walk, x, y, count);
    } else {
      if (attributes_.wide && ExceedsColumns(walk, x, count)) return false;
      Columns<Product>(walk, input->As<uint32_t>() + at,
                       output->MutableAs<uint32_t>() + at, count);
    }
    return true;
  }

  CumulateAttributes attributes_;
};

MACE_REGISTER_OP(Cumulate, CPU, CumulateOp);

}  // namespace
}  // namespace mace

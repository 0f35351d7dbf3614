// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/search/top_k_schema.h"

namespace mace {
namespace {

// Elements that are compared with the bar at once; few blocks have any above.
constexpr int64_t kBlock = 32;
// Candidates are kept until there are this many more than k, so that the
// selection among them costs little for each element.
constexpr int64_t kSpare = 64;
// Up to here, and in rows of at most a block, no branch depends on elements: it
// would be mispredicted in every row.
constexpr int64_t kVeryFew = 4;
// Up to here, the candidates are exactly the first k so far, in order: few
// elements are inserted, and a selection among more of them would take longer.
constexpr int64_t kFew = 16;

// An integer for each element in the order in which they are wanted: larger
// ones first. -0 equals 0, and NaN is above all numbers.
struct KeyOf {
  int32_t flip = 0;  // -1 for the smallest elements

  int32_t operator()(float x) const {
    const float v = x + 0.0f;
    int32_t bits;
    std::memcpy(&bits, &v, sizeof(bits));
    const int32_t key = bits ^ ((bits >> 31) & INT32_MAX);
    return (v != v ? INT32_MAX : key) ^ flip;
  }
  int32_t operator()(int32_t x) const { return x ^ flip; }
};

// The key, then the position, lower ones first.
uint64_t Candidate(int32_t key, int64_t position) {
  const uint32_t order = static_cast<uint32_t>(key) ^ 0x80000000u;
  return uint64_t{order} << 32 |
         (0xffffffffu - static_cast<uint32_t>(position));
}
int32_t KeyIn(uint64_t candidate) {
  return static_cast<int32_t>(static_cast<uint32_t>(candidate >> 32) ^
                              0x80000000u);
}
int64_t PositionIn(uint64_t candidate) {
  return 0xffffffffu - static_cast<uint32_t>(candidate);
}

// Leaves the first k of `count` candidates, in any order.
void Select(uint64_t *candidates, int64_t k, int64_t count) {
  if (count > k) {
    std::nth_element(candidates, candidates + k - 1, candidates + count,
                     std::greater<uint64_t>());
  }
}

// Replaces the last of k candidates in order by one that comes before it.
void Insert(uint64_t candidate, uint64_t *candidates, int64_t k) {
  int64_t i = k - 1;
  for (; i > 0 && candidates[i - 1] < candidate; --i) {
    candidates[i] = candidates[i - 1];
  }
  candidates[i] = candidate;
}

int64_t Capacity(int64_t k, int64_t length) {
  if (k <= kFew) return k;
  return std::min(length, k + std::max(k, kSpare));
}

// Finds the first k of at least kCount elements, at most kVeryFew, which are in
// registers meanwhile.
template <int kCount, typename T>
void FindVeryFew(const KeyOf &key_of,
                 const T *x,
                 int64_t length,
                 int64_t stride,
                 int64_t k,
                 uint64_t *candidates) {
  if constexpr (kCount < kVeryFew) {
    if (k > kCount) {
      return FindVeryFew<kCount + 1>(key_of, x, length, stride, k, candidates);
    }
  }
  uint64_t best[kCount] = {};  // 0 comes after every candidate
  for (int64_t i = 0; i < length; ++i) {
    uint64_t next = Candidate(key_of(x[i * stride]), i);
#pragma clang loop unroll(full)
    for (uint64_t &other : best) {
      const uint64_t last = std::min(other, next);
      other = std::max(other, next);
      next = last;
    }
  }
  std::copy_n(best, kCount, candidates);
}

// Finds the first k > 0 of `length` elements, `stride` apart, in their order.
template <typename T>
void FindFirst(const KeyOf &key_of,
               const T *x,
               int64_t length,
               int64_t stride,
               int64_t k,
               uint64_t *candidates) {
  if (k <= kVeryFew && length <= kBlock) {
    return FindVeryFew<1>(key_of, x, length, stride, k, candidates);
  }
  const int64_t capacity = Capacity(k, length);
  for (int64_t i = 0; i < capacity; ++i) {
    candidates[i] = Candidate(key_of(x[i * stride]), i);
  }
  const bool few = k <= kFew;
  if (few) {
    std::sort(candidates, candidates + k, std::greater<uint64_t>());
  } else {
    Select(candidates, k, capacity);
  }
  int64_t count = k;
  // Of equal elements, the later ones are not wanted.
  int32_t bar = KeyIn(candidates[k - 1]);
  for (int64_t begin = capacity; begin < length; begin += kBlock) {
    const int64_t size = std::min(kBlock, length - begin);
    const T *block = x + begin * stride;
    int32_t keys[kBlock];
    int32_t any = 0;
    if (stride == 1 && size == kBlock) {
      for (int64_t i = 0; i < kBlock; ++i) {
        keys[i] = key_of(block[i]);
        any |= keys[i] > bar ? -1 : 0;
      }
    } else {
      for (int64_t i = 0; i < size; ++i) {
        keys[i] = key_of(block[i * stride]);
        any |= keys[i] > bar ? -1 : 0;
      }
    }
    if (any == 0) continue;
    for (int64_t i = 0; i < size; ++i) {
      if (keys[i] <= bar) continue;
      if (few) {
        Insert(Candidate(keys[i], begin + i), candidates, k);
        bar = KeyIn(candidates[k - 1]);
        continue;
      }
      if (count == capacity) {
        Select(candidates, k, count);
        count = k;
        bar = KeyIn(candidates[k - 1]);
        if (keys[i] <= bar) continue;
      }
      candidates[count++] = Candidate(keys[i], begin + i);
    }
  }
  if (few) return;
  Select(candidates, k, count);
  std::sort(candidates, candidates + k, std::greater<uint64_t>());
}

class TopKOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<TopKAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &shape = context->input(kTopKInputInput)->shape;
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    context->RequestScratch(
        static_cast<size_t>(context->thread_pool()->thread_count() *
                            Capacity(Wanted(context, axis), shape[axis])) *
        sizeof(uint64_t));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    if (context->output(0)->elements() == 0) return MaceStatus();
    if (context->input(kTopKInputInput)->data_type == DataType::kInt32) {
      Find<int32_t>(context);
    } else {
      Find<float>(context);
    }
    return MaceStatus();
  }

 private:
  // How many elements are found.
  template <typename Context>
  static int64_t Wanted(Context *context, size_t axis) {
    return context->output(0)->shape[axis];
  }

  template <typename T>
  void Find(RunContext *context) const {
    const Tensor *input = context->input(kTopKInputInput);
    const Shape &shape = input->shape;
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t length = shape[axis];
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    const int64_t k = Wanted(context, axis);
    const KeyOf key_of = {attributes_.largest ? 0 : -1};
    const T *x = input->As<T>();
    T *values = context->output(0)->MutableAs<T>();
    auto *indices = context->output(1)->MutableAs<int32_t>();
    auto *scratch = static_cast<uint64_t *>(context->scratch());
    const int64_t capacity = Capacity(k, length);
    context->thread_pool()->ParallelFor(
        shape.Elements(0, axis) * inner, RowGrain(length + 16 * k),
        [=](int64_t begin, int64_t end, int thread) {
          uint64_t *candidates = scratch + thread * capacity;
          int64_t outer = begin / inner;
          int64_t column = begin % inner;
          for (int64_t item = begin; item < end; ++item) {
            const T *from = x + outer * length * inner + column;
            FindFirst(key_of, from, length, inner, k, candidates);
            for (int64_t i = 0; i < k; ++i) {
              const int64_t at = PositionIn(candidates[i]);
              const int64_t to = (outer * k + i) * inner + column;
              values[to] = from[at * inner];
              indices[to] = static_cast<int32_t>(at);
            }
            if (++column == inner) {
              column = 0;
              ++outer;
            }
          }
        });
  }

  TopKAttributes attributes_;
};

MACE_REGISTER_OP(TopK, CPU, TopKOp);

}  // namespace
}  // namespace mace

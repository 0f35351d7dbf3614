// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/gather/gather_nd_schema.h"

namespace mace {
namespace {

// The axes that an index gives positions along.
struct Axes {
  const int32_t *index = nullptr;
  size_t count = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t steps[Shape::kMaxRank] = {};  // in slices
  int64_t per_batch = 0;                // indices in a batch
  int64_t batch_step = 0;               // slices of params in a batch

  // The slice that index `item` selects; -1 if it is out of range.
  int64_t Slice(int64_t item) const {
    const int32_t *at = index + item * static_cast<int64_t>(count);
    int64_t slice = batch_step == 0 ? 0 : item / per_batch * batch_step;
    for (size_t i = 0; i < count; ++i) {
      const int64_t position = at[i] < 0 ? at[i] + dims[i] : at[i];
      if (position < 0 || position >= dims[i]) return -1;
      slice += position * steps[i];
    }
    return slice;
  }
};

// Copies the slices of indices [begin, end), each of `size` elements of T.
// Returns the first index that is out of range, or -1.
template <typename T>
int64_t Copy(const Axes &axes,
             int64_t begin,
             int64_t end,
             const void *from,
             int64_t size,
             void *to) {
  const T *params = static_cast<const T *>(from);
  T *output = static_cast<T *>(to);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t slice = axes.Slice(item);
    if (slice < 0) return item;
    if (size == 1) {
      output[item] = params[slice];
    } else {
      std::memcpy(output + item * size, params + slice * size,
                  static_cast<size_t>(size) * sizeof(T));
    }
  }
  return -1;
}

class GatherNdOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<GatherNdAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *params = context->input(kGatherNdParamsInput);
    const Tensor *indices = context->input(kGatherNdIndicesInput);
    const Shape &from = params->shape;
    const auto batch = static_cast<size_t>(attributes_.batch_dims);
    Axes axes;
    axes.index = indices->As<int32_t>();
    axes.count = static_cast<size_t>(indices->shape.back());
    int64_t step = 1;
    for (size_t i = axes.count; i-- > 0;) {
      axes.dims[i] = from[batch + i];
      axes.steps[i] = step;
      step *= axes.dims[i];
    }
    const size_t index_rank = indices->shape.rank() - 1;
    const int64_t count = indices->shape.Elements(0, index_rank);
    axes.per_batch = indices->shape.Elements(batch, index_rank);
    if (batch > 0) axes.batch_step = step;
    const int64_t size = from.Elements(batch + axes.count, from.rank());
    const size_t bytes = DataTypeSize(params->data_type);
    // Slices of 4-byte elements, or of bytes.
    const bool words = bytes == 4;
    const int64_t units = words ? size : size * static_cast<int64_t>(bytes);
    const void *source = params->data;
    void *target = context->output(0)->data;
    std::atomic<int64_t> wrong(count);
    context->thread_pool()->ParallelFor(
        count, RowGrain(size + 4 * static_cast<int64_t>(axes.count)),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          const int64_t found =
              words ? Copy<uint32_t>(axes, begin, end, source, units, target)
                    : Copy<uint8_t>(axes, begin, end, source, units, target);
          if (found < 0) return;
          int64_t first = wrong.load(std::memory_order_relaxed);
          while (found < first && !wrong.compare_exchange_weak(first, found)) {
          }
        });
    if (wrong < count) return OutOfRange(axes, wrong);
    return MaceStatus();
  }

 private:
  MaceStatus OutOfRange(const Axes &axes, int64_t item) const {
    const int32_t *at = axes.index + item * static_cast<int64_t>(axes.count);
    size_t i = 0;
    while (at[i] >= -axes.dims[i] && at[i] < axes.dims[i]) ++i;
    return Invalid("index ", at[i], " is not within [", -axes.dims[i], ", ",
                   axes.dims[i], ") of axis ",
                   attributes_.batch_dims + static_cast<int64_t>(i),
                   " of params");
  }

  GatherNdAttributes attributes_;
};

MACE_REGISTER_OP(GatherNd, CPU, GatherNdOp);

}  // namespace
}  // namespace mace

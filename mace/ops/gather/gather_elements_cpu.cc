// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/gather/gather_elements_schema.h"

namespace mace {

namespace {

// Where the rows of the indices read: a row is along the last axis.
struct Walk {
  const int32_t *index;
  Shape indices;
  Shape params;
  size_t axis;
  int64_t stride;  // of the axis in params, in elements
  bool wraps;      // whether there are negative indices

  int64_t columns() const { return indices.back(); }
  int64_t length() const { return params[axis]; }

  // The first element of params for row `row`, at index 0 of the axis.
  int64_t Base(int64_t row) const {
    int64_t base = 0;
    int64_t step = params.back();
    for (size_t i = indices.rank() - 1; i-- > 0;) {
      if (i != axis) base += row % indices[i] * step;
      row /= indices[i];
      step *= params[i];
    }
    return base;
  }
};

// Element i of a row is at index[i] * stride + i * kStep. kWraps: there are
// negative indices.
template <typename T, int kStep, bool kWraps>
void GatherRow(const int32_t *index,
               int64_t columns,
               int64_t length,
               int64_t stride,
               const T *base,
               T *to) {
  for (int64_t i = 0; i < columns; ++i) {
    int64_t at = index[i];
    if (kWraps && at < 0) at += length;
    to[i] = base[at * stride + i * kStep];
  }
}

template <typename T, bool kWraps>
void GatherRows(
    const Walk &walk, int64_t begin, int64_t end, const void *from, void *to) {
  const int64_t columns = walk.columns();
  const bool along_row = walk.axis + 1 == walk.indices.rank();
  for (int64_t row = begin; row < end; ++row) {
    const int32_t *index = walk.index + row * columns;
    const T *base = static_cast<const T *>(from) + walk.Base(row);
    T *out = static_cast<T *>(to) + row * columns;
    if (along_row) {
      GatherRow<T, 0, kWraps>(index, columns, walk.length(), 1, base, out);
    } else {
      GatherRow<T, 1, kWraps>(index, columns, walk.length(), walk.stride, base,
                              out);
    }
  }
}

template <typename T>
void GatherRows(
    const Walk &walk, int64_t begin, int64_t end, const void *from, void *to) {
  (walk.wraps ? GatherRows<T, true> : GatherRows<T, false>)(walk, begin, end,
                                                            from, to);
}

struct Range {
  int32_t least = 0;
  int32_t most = 0;
};

// The range of the indices and 0.
Range RangeOf(const int32_t *index, int64_t count) {
  Range range;
  for (int64_t i = 0; i < count; ++i) {
    range.least = index[i] < range.least ? index[i] : range.least;
    range.most = index[i] > range.most ? index[i] : range.most;
  }
  return range;
}

class GatherElementsOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<GatherElementsAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *params = context->input(kGatherElementsParamsInput);
    const Tensor *indices = context->input(kGatherElementsIndicesInput);
    if (indices->elements() == 0) return MaceStatus();
    Walk walk;
    walk.index = indices->As<int32_t>();
    walk.indices = indices->shape;
    walk.params = params->shape;
    walk.axis =
        static_cast<size_t>(params->shape.NormalizeAxis(attributes_.axis));
    walk.stride = params->shape.Elements(walk.axis + 1, params->shape.rank());
    const int64_t length = walk.length();
    const int64_t count = indices->elements();
    const Range range = RangeOf(walk.index, count);
    walk.wraps = range.least < 0;
    if (range.least < -length || range.most >= length) {
      const int32_t *wrong =
          std::find_if(walk.index, walk.index + count, [length](int32_t index) {
            return index < -length || index >= length;
          });
      return Invalid("index ", *wrong, " is not within [", -length, ", ",
                     length, ") of axis ", walk.axis, " of params");
    }
    const size_t size = DataTypeSize(params->data_type);
    const void *from = params->data;
    void *to = context->output(0)->data;
    context->thread_pool()->ParallelFor(
        count / walk.columns(), RowGrain(4 * walk.columns()),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          switch (size) {
            case 1:
              return GatherRows<uint8_t>(walk, begin, end, from, to);
            case 2:
              return GatherRows<uint16_t>(walk, begin, end, from, to);
            default:
              return GatherRows<uint32_t>(walk, begin, end, from, to);
          }
        });
    return MaceStatus();
  }

 private:
  GatherElementsAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(GatherElements, CPU, GatherElementsOp);

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/gather/scatter_schema.h"

namespace mace {
namespace {

// The updates as a matrix: each row changes `columns` elements of the output.
// Columns of different rows never collide, unless they are the same column, so
// threads divide the columns, or the rows if `rows_apart`.
struct Walk {
  ScatterMode mode = ScatterMode::SET;
  const int32_t *index = nullptr;
  size_t axes = 0;  // positions in an index
  int64_t dims[Shape::kMaxRank] = {};
  int64_t steps[Shape::kMaxRank] = {};  // in elements
  int64_t rows = 0;
  int64_t columns = 0;
  bool rows_apart = false;
  std::atomic<bool> *exceeds = nullptr;  // of integers; null: not asked
};

// MIN and MAX are NaN if either is.
float Combine(ScatterMode mode,
              float old,
              float v,
              std::atomic<bool> * /*exceeds*/) {
  switch (mode) {
    case ScatterMode::ADD:
      return old + v;
    case ScatterMode::MUL:
      return old * v;
    case ScatterMode::MIN:
      return v < old || std::isnan(v) ? v : old;
    case ScatterMode::MAX:
      return v > old || std::isnan(v) ? v : old;
    default:
      return v;
  }
}

// Integers wrap around, which is noted if `exceeds` is given.
int32_t Combine(ScatterMode mode,
                int32_t old,
                int32_t v,
                std::atomic<bool> *exceeds) {
  int32_t result = 0;
  bool lost = false;
  switch (mode) {
    case ScatterMode::ADD:
      lost = __builtin_add_overflow(old, v, &result);
      break;
    case ScatterMode::MUL:
      lost = __builtin_mul_overflow(old, v, &result);
      break;
    case ScatterMode::MIN:
      return std::min(old, v);
    case ScatterMode::MAX:
      return std::max(old, v);
    default:
      return v;
  }
  if (lost && exceeds != nullptr) {
    exceeds->store(true, std::memory_order_relaxed);
  }
  return result;
}

// Bytes are only replaced.
uint8_t Combine(ScatterMode /*mode*/,
                uint8_t /*old*/,
                uint8_t v,
                std::atomic<bool> * /*exceeds*/) {
  return v;
}

template <typename T>
void UpdateRow(const Walk &walk, const T *updates, T *output, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    output[i] = Combine(walk.mode, output[i], updates[i], walk.exceeds);
  }
}

int64_t At(int64_t position, int64_t length) {
  return position < 0 ? position + length : position;
}

// Applies columns [begin, end) of the slice updates of all rows.
template <typename T>
void UpdateSlices(
    const Walk &walk, int64_t begin, int64_t end, const T *updates, T *output) {
  const int32_t *at = walk.index;
  for (int64_t row = 0; row < walk.rows; ++row) {
    int64_t offset = begin;
    for (size_t i = 0; i < walk.axes; ++i) {
      offset += At(*at++, walk.dims[i]) * walk.steps[i];
    }
    const T *from = updates + row * walk.columns + begin;
    if (walk.mode == ScatterMode::SET) {
      std::memcpy(output + offset, from,
                  static_cast<size_t>(end - begin) * sizeof(T));
    } else {
      UpdateRow(walk, from, output + offset, end - begin);
    }
  }
}

// The last axis of the indices is the columns. `dims` and `steps` are those of
// the output.
struct ElementWalk : Walk {
  Shape indices;
  size_t axis = 0;

  // The first element that row `row` can change, at position 0 of the axis.
  int64_t Base(int64_t row) const {
    int64_t base = 0;
    for (size_t i = indices.rank() - 1; i-- > 0;) {
      if (i != axis) base += row % indices[i] * steps[i];
      row /= indices[i];
    }
    return base;
  }
};

struct Range {
  int64_t begin;
  int64_t end;
};

// Applies the updates of a part of the rows and columns.
template <typename T>
void UpdateElements(const ElementWalk &walk,
                    const Range &rows,
                    const Range &columns,
                    const T *updates,
                    T *output) {
  const int64_t length = walk.dims[walk.axis];
  const int64_t step = walk.steps[walk.axis];
  const int64_t along = walk.rows_apart ? 0 : 1;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    T *to = output + walk.Base(row);
    const int32_t *at = walk.index + row * walk.columns;
    const T *from = updates + row * walk.columns;
    for (int64_t i = columns.begin; i < columns.end; ++i) {
      T *element = to + At(at[i], length) * step + i * along;
      *element = Combine(walk.mode, *element, from[i], walk.exceeds);
    }
  }
}

class ScatterOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<ScatterAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, kScatterDataInput);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *data = context->input(kScatterDataInput);
    const Tensor *indices = context->input(kScatterIndicesInput);
    const Tensor *updates = context->input(kScatterUpdatesInput);
    ElementWalk walk;
    walk.mode = attributes_.mode;
    walk.index = indices->As<int32_t>();
    int64_t step = 1;
    for (size_t i = data->shape.rank(); i-- > 0;) {
      walk.dims[i] = data->shape[i];
      walk.steps[i] = step;
      step *= walk.dims[i];
    }
    const bool slices = attributes_.form == ScatterForm::SLICES;
    const size_t rank = indices->shape.rank();
    if (slices) {
      walk.axes = static_cast<size_t>(indices->shape.back());
      walk.rows = indices->shape.Elements(0, rank - 1);
      walk.columns = data->shape.Elements(walk.axes, data->shape.rank());
    } else {
      walk.indices = indices->shape;
      walk.axis =
          static_cast<size_t>(data->shape.NormalizeAxis(attributes_.axis));
      walk.rows = indices->shape.Elements(0, rank - 1);
      walk.columns = indices->shape.back();
      walk.rows_apart = walk.axis + 1 == rank;
    }
    MACE_RETURN_IF_ERROR(Check(walk, indices->elements(), slices));
    Copy(*data, context);
    if (updates->elements() == 0) return MaceStatus();
    Tensor *output = context->output(0);
    switch (data->data_type) {
      case DataType::kFloat32:
        Update<float>(walk, slices, updates, context->thread_pool(), output);
        break;
      case DataType::kInt32:
        return UpdateIntegers(walk, slices, updates, context->thread_pool(),
                              output);
      default:
        Update<uint8_t>(walk, slices, updates, context->thread_pool(), output);
    }
    return MaceStatus();
  }

 private:
  MaceStatus Check(const ElementWalk &walk, int64_t count, bool slices) const {
    const size_t axes = slices ? walk.axes : 1;
    const int64_t *dims = walk.dims + (slices ? 0 : walk.axis);
    for (size_t axis = 0; axis < axes; ++axis) {
      const int64_t n = dims[axis];
      for (int64_t i = static_cast<int64_t>(axis); i < count;
           i += static_cast<int64_t>(axes)) {
        const int64_t index = walk.index[i];
        if (index < -n || index >= n) {
          return Invalid("index ", index, " is not within [", -n, ", ", n,
                         ") of axis ", slices ? axis : walk.axis, " of data");
        }
      }
    }
    return MaceStatus();
  }

  static void Copy(const Tensor &data, RunContext *context) {
    auto *to = context->output(0)->MutableAs<uint8_t>();
    const auto *from = data.As<uint8_t>();
    if (to == from) return;
    const auto size = static_cast<int64_t>(DataTypeSize(data.data_type));
    context->thread_pool()->ParallelFor(
        data.elements() * size, 4 * kElementGrain,
        [=](int64_t begin, int64_t end, int /*thread*/) {
          std::memcpy(to + begin, from + begin,
                      static_cast<size_t>(end - begin));
        });
  }

  MaceStatus UpdateIntegers(ElementWalk walk,
                            bool slices,
                            const Tensor *updates,
                            ThreadPool *pool,
                            Tensor *output) const {
    std::atomic<bool> exceeds{false};
    if (attributes_.wide) walk.exceeds = &exceeds;
    Update<int32_t>(walk, slices, updates, pool, output);
    if (!exceeds.load()) return MaceStatus();
    return ExceedsInt32();
  }

  template <typename T>
  static void Update(const ElementWalk &walk,
                     bool slices,
                     const Tensor *given,
                     ThreadPool *pool,
                     Tensor *output) {
    const T *updates = given->As<T>();
    T *to = output->MutableAs<T>();
    if (walk.rows_apart) {
      pool->ParallelFor(walk.rows, RowGrain(4 * walk.columns),
                        [&](int64_t begin, int64_t end, int /*thread*/) {
                          UpdateElements(walk, {begin, end}, {0, walk.columns},
                                         updates, to);
                        });
      return;
    }
    // At least one line of the cache for each thread.
    const int64_t grain = std::max<int64_t>(64, RowGrain(4 * walk.rows));
    pool->ParallelFor(
        walk.columns, grain, [&](int64_t begin, int64_t end, int /*thread*/) {
          if (slices) {
            UpdateSlices(walk, begin, end, updates, to);
          } else {
            UpdateElements(walk, {0, walk.rows}, {begin, end}, updates, to);
          }
        });
  }

  ScatterAttributes attributes_;
};

MACE_REGISTER_OP(Scatter, CPU, ScatterOp);

}  // namespace
}  // namespace mace

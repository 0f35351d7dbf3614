// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/copy.h"

#include <algorithm>
#include <cstring>

namespace mace {

namespace {

// Bytes per task: about as much as a core copies in the time of starting a task
// on another thread.
constexpr int64_t kByteGrain = 65536;

int64_t GrainFor(int64_t bytes) {
  return std::max<int64_t>(1, kByteGrain / std::max<int64_t>(1, bytes));
}

void CopyFlat(ThreadPool *pool,
              const uint8_t *source,
              uint8_t *target,
              int64_t bytes) {
  pool->ParallelFor(bytes, kByteGrain,
                    [=](int64_t begin, int64_t end, int /*thread*/) {
                      std::memcpy(target + begin, source + begin,
                                  static_cast<size_t>(end - begin));
                    });
}

// One row of a view, whose blocks are `stride` apart.
void CopyRow(const uint8_t *source,
             int64_t stride,
             int64_t count,
             int64_t block,
             uint8_t *target) {
  if (block == 4) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(target + i * 4, source + i * stride, 4);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(target + i * block, source + i * stride,
                static_cast<size_t>(block));
  }
}

}  // namespace

void CopyInputToOutput(RunContext *context) {
  const Tensor *input = context->input(0);
  Tensor *output = context->output(0);
  if (input->data == output->data || output->bytes() == 0) return;
  CopyFlat(context->thread_pool(), input->As<uint8_t>(),
           output->MutableAs<uint8_t>(), output->bytes());
}

void CopyRows(ThreadPool *pool, const RowCopy &copy) {
  if (copy.bytes == 0 || copy.rows == 0) return;
  const bool dense =
      copy.source_stride == copy.bytes && copy.target_stride == copy.bytes;
  if (dense || copy.rows == 1) {
    CopyFlat(pool, copy.source, copy.target, copy.bytes * copy.rows);
    return;
  }
  pool->ParallelFor(copy.rows, GrainFor(copy.bytes),
                    [&copy](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t r = begin; r < end; ++r) {
                        std::memcpy(copy.target + r * copy.target_stride,
                                    copy.source + r * copy.source_stride,
                                    static_cast<size_t>(copy.bytes));
                      }
                    });
}

void CopyParts(ThreadPool *pool, const RowCopy *parts, size_t count) {
  RowCopy moved[kMaxParts];
  size_t moves = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].source == parts[i].target || parts[i].bytes == 0) continue;
    moved[moves++] = parts[i];
    bytes += parts[i].bytes;
  }
  if (moves == 0) return;
  const int64_t rows = moved[0].rows;
  if (moves == 1 || rows == 1) {
    for (size_t i = 0; i < moves; ++i) CopyRows(pool, moved[i]);
    return;
  }
  pool->ParallelFor(rows, GrainFor(bytes),
                    [&](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t r = begin; r < end; ++r) {
                        for (size_t i = 0; i < moves; ++i) {
                          const RowCopy &part = moved[i];
                          std::memcpy(part.target + r * part.target_stride,
                                      part.source + r * part.source_stride,
                                      static_cast<size_t>(part.bytes));
                        }
                      }
                    });
}

void CopyStrided(ThreadPool *pool,
                 const StridedView &view,
                 const uint8_t *source,
                 uint8_t *target) {
  const size_t outer_rank = view.rank > 0 ? view.rank - 1 : 0;
  const int64_t columns = view.rank > 0 ? view.dims[outer_rank] : 1;
  const int64_t stride = view.rank > 0 ? view.strides[outer_rank] : 0;
  int64_t rows = 1;
  for (size_t i = 0; i < outer_rank; ++i) rows *= view.dims[i];
  if (rows == 0 || columns == 0 || view.block == 0) return;
  const int64_t row_bytes = columns * view.block;
  pool->ParallelFor(rows, GrainFor(row_bytes),
                    [&](int64_t begin, int64_t end, int /*thread*/) {
                      for (int64_t row = begin; row < end; ++row) {
                        int64_t offset = 0;
                        int64_t rest = row;
                        for (size_t i = outer_rank; i-- > 0;) {
                          offset += rest % view.dims[i] * view.strides[i];
                          rest /= view.dims[i];
                        }
                        CopyRow(source + offset, stride, columns, view.block,
                                target + row * row_bytes);
                      }
                    });
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized tensors of one scale, as kernels see them. Those of 8 bits are
// uint8 on x86 and int8 elsewhere (kUnsignedBytes): a tensor of the other
// type has the same numbers with another zero point, once the highest bit of
// each element is changed. Those of 16 bits are int16.

#ifndef MACE_OPS_CPU_OP_QUANTIZED_TENSOR_H_
#define MACE_OPS_CPU_OP_QUANTIZED_TENSOR_H_

#include <cstdint>
#include <initializer_list>

#include "mace/core/base/status.h"
#include "mace/core/base/thread_pool.h"
#include "mace/core/model/tensor.h"
#include "mace/ops/quantized_product/limits.h"

namespace mace {

struct QuantizedSide : IntegerRange {
  bool flipped = false;  // kernels see the elements with another highest bit
  // By exclusive or, elements as kernels see them, and the reverse.
  uint8_t mask() const { return flipped ? 0x80 : 0; }
};

// `tensor` is uint8, int8 or int16, with one scale.
QuantizedSide KernelSide(const Tensor &tensor);

// Whether an operator computes in 16 bits, which its declaration allows. All
// its computed tensors do, or none: INVALID_ARGS names one that differs.
inline bool IsInt16(const Tensor &tensor) {
  return tensor.data_type == DataType::kInt16;
}
MaceStatus CheckWidths(std::initializer_list<const Tensor *> tensors);

// Copies with the highest bit of each byte changed.
void FlipSigns(const uint8_t *from,
               uint8_t *to,
               int64_t count,
               ThreadPool *pool);
// Changes those of a tensor, whose rows may be strided.
void FlipRows(const Tensor &tensor, ThreadPool *pool);

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_QUANTIZED_TENSOR_H_

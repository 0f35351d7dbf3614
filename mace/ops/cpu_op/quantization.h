// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Code shared by Quantize and Dequantize: the loop over elements with the same
// scale and zero point.

#ifndef MACE_OPS_CPU_OP_QUANTIZATION_H_
#define MACE_OPS_CPU_OP_QUANTIZATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/core/base/thread_pool.h"
#include "mace/core/model/tensor.h"
#include "mace/kernels/cpu/quantize/quantize.h"

namespace mace {

class QuantizationLoop {
 public:
  // The shapes must be valid.
  QuantizationLoop(const Shape &shape, const Shape &scale, int64_t axis);
  size_t ScratchBytes() const;

  // Processes all elements. `zero` is the model's and `shift` that of the
  // quantized tensor (Tensor::shift); `scratch` has ScratchBytes() bytes and
  // the alignment of int32_t.
  template <typename From, typename To>
  void Run(const quantize::Functions<From, To> &functions,
           const From *x,
           To *y,
           const float *scales,
           const Tensor *zero,
           int32_t shift,
           void *scratch,
           ThreadPool *pool) const {
    if (elements_ == 0) return;  // there may be no scale
    auto *zeros = static_cast<int32_t *>(scratch);
    Widen(zero, shift, zeros);
    pool->ParallelFor(
        elements_, kGrain, [&](int64_t begin, int64_t end, int /*thread*/) {
          while (begin < end) {
            // Up to the end of the elements with this scale, or of all scales.
            const int64_t at = begin / inner_ % length_;
            const int64_t row =
                inner_ == 1 ? length_ - at : inner_ - begin % inner_;
            const int64_t count =
                length_ == 1 ? end - begin : std::min(end - begin, row);
            const bool each = length_ > 1 && inner_ == 1;
            (each ? functions.each : functions.uniform)(
                x + begin, y + begin, static_cast<size_t>(count), scales + at,
                zeros + at);
            begin += count;
          }
        });
  }

 private:
  // Elements per grain, so that using another thread is worthwhile.
  static constexpr int64_t kGrain = 16384;

  void Widen(const Tensor *zero, int32_t shift, int32_t *to) const;

  int64_t elements_ = 0;
  int64_t length_ = 1;  // scales
  int64_t inner_ = 1;   // consecutive elements with the same scale
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_QUANTIZATION_H_

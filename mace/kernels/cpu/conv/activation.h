// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// An activation that is not a clamp: a second pass over each part of an output
// as soon as the part is computed, while it is in cache.

#ifndef MACE_KERNELS_CPU_CONV_ACTIVATION_H_
#define MACE_KERNELS_CPU_CONV_ACTIVATION_H_

#include <cstddef>

#include "mace/kernels/cpu/conv/conv.h"

namespace mace::conv {

class OutputActivation {
 public:
  // Applies it to `rows` runs of `columns` elements, which are `stride` apart.
  virtual void ApplyTo(void *results,
                       Element type,
                       ptrdiff_t rows,
                       ptrdiff_t columns,
                       ptrdiff_t stride) const = 0;

 protected:
  ~OutputActivation() = default;
};

// Applies `activation` to a region of args.output; does nothing if it is null.
inline void Activate(const OutputActivation *activation,
                     const Args &args,
                     Element type,
                     const Region &region) {
  if (activation == nullptr) return;
  const auto stride = static_cast<ptrdiff_t>(args.output_stride);
  const ptrdiff_t at = region.row_begin * stride + region.column_begin;
  const auto bytes = static_cast<ptrdiff_t>(ElementBytes(type));
  activation->ApplyTo(static_cast<char *>(args.output) + at * bytes, type,
                      region.row_end - region.row_begin,
                      region.column_end - region.column_begin, stride);
}

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_ACTIVATION_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CPU_OP_PIXELS_H_
#define MACE_OPS_CPU_OP_PIXELS_H_

#include <cstdint>

namespace mace {

// Pixels of an image that is a tensor, or some rows of one: where the first
// lies, or some of its channels, and how many elements it is to the next.
template <typename T>
struct Pixels {
  T *data = nullptr;
  int64_t stride = 0;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_PIXELS_H_

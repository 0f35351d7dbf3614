// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_CPU_OP_PIXELS_H_
#define MACE_OPS_CPU_OP_PIXELS_H_

#include <cstdint>

namespace mace {

// The pixels of an image, which is a tensor or some rows of one: the address of
// the first pixel, or of some of its channels, and the distance to the next in
// elements.
template <typename T>
struct Pixels {
  T *data = nullptr;
  int64_t stride = 0;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_PIXELS_H_

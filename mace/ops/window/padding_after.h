// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_WINDOW_PADDING_AFTER_H_
#define MACE_OPS_WINDOW_PADDING_AFTER_H_

#include <algorithm>
#include <cstdint>

#include "mace/ops/window/window.h"

namespace mace {

// Elements after the image that windows read, whatever rounding made their
// number: more than the declared padding with ceil_mode, or less.
inline int64_t PaddingAfter(const WindowAxis &axis) {
  const int64_t end =
      axis.Begin(axis.output - 1) + WindowExtent(axis.kernel, axis.dilation);
  return std::max<int64_t>(end - axis.size, 0);
}

}  // namespace mace

#endif  // MACE_OPS_WINDOW_PADDING_AFTER_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/row_bands.h"

#include <algorithm>

namespace mace {

RowRange RowsUnder(const WindowAxis &windows, const RowRange &output) {
  const int64_t size = windows.size;
  const int64_t bottom = windows.Begin(output.end - 1) +
                         WindowExtent(windows.kernel, windows.dilation);
  RowRange rows;
  rows.begin =
      std::min(std::max<int64_t>(windows.Begin(output.begin), 0), size - 1);
  rows.end = std::max(rows.begin + 1, std::min(bottom, size));
  return rows;
}

}  // namespace mace

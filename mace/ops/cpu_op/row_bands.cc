// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/row_bands.h"

#include <algorithm>

namespace mace {

RowRange RowWindow::InputRows(const RowRange &output) const {
  const int64_t bottom = Top(output.end - 1) + (kernel - 1) * dilation + 1;
  RowRange rows;
  rows.begin = std::min(std::max<int64_t>(Top(output.begin), 0), size - 1);
  rows.end = std::max(rows.begin + 1, std::min(bottom, size));
  return rows;
}

}  // namespace mace

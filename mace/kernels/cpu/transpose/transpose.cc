// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::transpose {

Matrix MatrixOf(const Kernels &kernels, int64_t size) {
  switch (size) {
    case 1:
      return kernels.matrix8;
    case 2:
      return kernels.matrix16;
    case 4:
      return kernels.matrix32;
    default:
      return kernels.matrix64;
  }
}

}  // namespace mace::transpose

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Filters 5 wide, see FiveWideKernels in dwconv.h.

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/dwconv/dwconv_strip.h"

namespace mace::dwconv::MACE_ISA {

extern const FiveWideKernels kFiveWide;
const FiveWideKernels kFiveWide = {&RunMiddle<Fixed<5, 1>::Body>,
                                   &RunMiddle<Fixed<5, 2>::Body>};

}  // namespace mace::dwconv::MACE_ISA

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions with the instructions of processors that multiply bf16.

#include "mace/kernels/cpu/bf16_rows.h"
#include "mace/kernels/cpu/convert/convert.h"

namespace mace::convert::MACE_ISA {

extern const HalfKernels kBf16Kernels = {&simd::MACE_ISA::Narrow,
                                         &simd::MACE_ISA::WidenRow};

}  // namespace mace::convert::MACE_ISA

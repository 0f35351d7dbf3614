// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Gives operators the kernels for 16-bit activations. These are an optional
// part of the library (half_kernels.cc, 40 KB on arm64), which is linked with
// the operator Cast: without Cast, nothing could convert their inputs and
// outputs, and models in float32 do not need them.

#ifndef MACE_KERNELS_CPU_HALF_ARITHMETIC_H_
#define MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

#include "mace/core/base/precision.h"
#include "mace/kernels/cpu/isa.h"

namespace mace {

namespace dwconv {
struct Kernels;
}
namespace pool {
struct Kernels;
}

// Both are set, or none. Products have separate tables (gemm::ArithmeticFor),
// and so has Winograd's method, which would lose too much accuracy in bf16.
struct HalfTables {
  const dwconv::Kernels *dwconv = nullptr;
  const pool::Kernels *pool = nullptr;
};

// The functions that half_kernels.cc registers. Called only for float16 and
// bfloat16.
struct HalfKernels {
  HalfTables (*find)(CpuIsa isa, Precision precision);
  bool (*exist)(const char *family, CpuIsa isa, Precision precision);
};

// The tables are null for float32, if the ISA has no such arithmetic, and if
// this library was built without the kernels.
HalfTables HalfTablesFor(CpuIsa isa, Precision precision);
bool HalfKernelsAreLinked();
// Whether a family of kernels has arithmetic of that precision on the ISA.
// `family` is its name in operator signatures: "gemm", "dwconv", "pool". May
// request registers from the operating system: see PermittedIsa.
bool HalfKernelsExist(const char *family, CpuIsa isa, Precision precision);

}  // namespace mace

#endif  // MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

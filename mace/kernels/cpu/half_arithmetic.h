// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where operators find the kernels whose activations are of 16 bits. These are
// a part of the library of their own (half_kernels.cc, 40 KB on arm64), which
// is linked with the operator Cast: without it nothing could convert what they
// take and give, so a library for models in float32 has no use for them.

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

// Both, or none. Products have tables of their own (gemm::ArithmeticFor), and
// so has Winograd's method, which would lose too much of bf16.
struct HalfTables {
  const dwconv::Kernels *dwconv = nullptr;
  const pool::Kernels *pool = nullptr;
};

// What half_kernels.cc registers. Called for float16 and bfloat16 alone.
struct HalfKernels {
  HalfTables (*find)(CpuIsa isa, Precision precision);
  bool (*exist)(const char *family, CpuIsa isa, Precision precision);
};

// Null ones for float32, and where the ISA has no such arithmetic or this
// library no kernels.
HalfTables HalfTablesFor(CpuIsa isa, Precision precision);
bool HalfKernelsAreLinked();
// Whether a family of kernels has the arithmetic of that precision on the ISA,
// by the name that signatures of operators call it: "gemm", "dwconv", "pool".
// May ask the operating system for registers: PermittedIsa.
bool HalfKernelsExist(const char *family, CpuIsa isa, Precision precision);

}  // namespace mace

#endif  // MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

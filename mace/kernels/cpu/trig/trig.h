// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Inverse trigonometric and hyperbolic functions of floats. Errors in units in
// the last place, which trig_test measures on every instruction set:
//
//   Asin, Acos, Atan, Asinh, Acosh, Atanh  3 ulp
//   Sinh, Cosh                             4 ulp
//
// NaN, and arguments outside the domain of a function, give NaN. On Armv7,
// whose NEON flushes denormals, denormal arguments and results count as 0.

#ifndef MACE_KERNELS_CPU_TRIG_TRIG_H_
#define MACE_KERNELS_CPU_TRIG_TRIG_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::trig {

enum class Function : uint8_t {
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
};

struct Kernels {
  // y[i] = function(x[i]); y may be x. The bits do not depend on where a range
  // begins.
  void (*run)(Function function, const float *x, float *y, size_t n);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::trig

#endif  // MACE_KERNELS_CPU_TRIG_TRIG_H_

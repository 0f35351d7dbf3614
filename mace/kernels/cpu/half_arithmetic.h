// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where operators find the kernels that compute in fp16. These are a part of
// the library of their own (half_kernels.cc, 40 KB on arm64), which is linked
// with the operator Cast: without it nothing could convert what they take and
// give, so a library for models in float32 has no use for them.

#ifndef MACE_KERNELS_CPU_HALF_ARITHMETIC_H_
#define MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

#include "mace/kernels/cpu/isa.h"

namespace mace {

namespace dwconv {
struct Kernels;
}
namespace gemm {
struct Fp16Kernels;
}
namespace pool {
struct Kernels;
}
namespace winograd {
struct Kernels;
}

// All of them, or all null.
struct HalfTables {
  const dwconv::Kernels *dwconv = nullptr;
  const gemm::Fp16Kernels *gemm = nullptr;
  const pool::Kernels *pool = nullptr;
  const winograd::Kernels *winograd = nullptr;
};

// Static objects only.
class HalfArithmetic {
 public:
  using Finder = HalfTables (*)(CpuIsa isa);
  explicit HalfArithmetic(Finder finder) { finder_ = finder; }

  // Null ones where the ISA has no such arithmetic or this library no kernels.
  static HalfTables For(CpuIsa isa) {
    return finder_ == nullptr ? HalfTables() : finder_(isa);
  }
  static bool IsLinked() { return finder_ != nullptr; }

 private:
  static Finder finder_;
};

}  // namespace mace

#endif  // MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

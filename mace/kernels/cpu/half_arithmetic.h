// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Where operators find the kernels whose activations are of 16 bits. These are
// a part of the library of their own (half_kernels.cc, 40 KB on arm64), which
// is linked with the operator Cast: without it nothing could convert what they
// take and give, so a library for models in float32 has no use for them.

#ifndef MACE_KERNELS_CPU_HALF_ARITHMETIC_H_
#define MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

#include <string>

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

// For fp16 all of them; for bf16, whose products have tables of their own
// (gemm/half_gemm.h), those of dwconv and pool; or none. Winograd's method,
// which would lose too much of bf16, is a part of the library by itself.
struct HalfTables {
  const dwconv::Kernels *dwconv = nullptr;
  const gemm::Fp16Kernels *gemm = nullptr;
  const pool::Kernels *pool = nullptr;
};

// Static objects only.
class HalfArithmetic {
 public:
  enum class Type { kFp16, kBf16 };
  using Finder = HalfTables (*)(CpuIsa isa, Type type);
  explicit HalfArithmetic(Finder finder) { finder_ = finder; }

  // Those that `data_type` of the deployment asks for ("fp16_fp16"). Null ones
  // where it does not, the ISA has no such arithmetic or this library no
  // kernels.
  static HalfTables For(CpuIsa isa, const std::string &data_type);
  static bool IsLinked() { return finder_ != nullptr; }

 private:
  static Finder finder_;
};

}  // namespace mace

#endif  // MACE_KERNELS_CPU_HALF_ARITHMETIC_H_

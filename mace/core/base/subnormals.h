// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_CORE_BASE_SUBNORMALS_H_
#define MACE_CORE_BASE_SUBNORMALS_H_

#include <cstdint>

namespace mace {

// While one exists, results of the calling thread that are too small for a
// normal float (below 2^-126) are 0, on x86; elsewhere it does nothing. Intel's
// processors take over a hundred cycles for an instruction that makes or reads
// such a number, and a softmax with a mask makes one for every masked element:
// without this the attention of Swin took 35 ms of 106 ms on Sapphire Rapids.
// ARM's processors compute with them as fast, and 32-bit NEON has none.
//
// Operands keep their values: float16 is widened by way of subnormal floats.
class FlushSubnormals {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FlushSubnormals() : saved_(__builtin_ia32_stmxcsr()) {
    if ((saved_ & kFlushToZero) == 0) {
      __builtin_ia32_ldmxcsr(saved_ | kFlushToZero);
    }
  }
  ~FlushSubnormals() {
    if ((saved_ & kFlushToZero) == 0) __builtin_ia32_ldmxcsr(saved_);
  }
#else
  FlushSubnormals() : saved_(0) {}
  ~FlushSubnormals() {}
#endif
  FlushSubnormals(const FlushSubnormals &) = delete;
  FlushSubnormals &operator=(const FlushSubnormals &) = delete;

 private:
  static constexpr uint32_t kFlushToZero = 1u << 15;  // of MXCSR

  [[maybe_unused]] const uint32_t saved_;
};

}  // namespace mace

#endif  // MACE_CORE_BASE_SUBNORMALS_H_

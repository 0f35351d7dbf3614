// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the engine is told of the time that a vendor's accelerator takes.

#ifndef MACE_RUNTIMES_ADAPTERS_CALL_COST_H_
#define MACE_RUNTIMES_ADAPTERS_CALL_COST_H_

#include <cstdint>

namespace mace {

// Half of the least that a call of the accelerator takes, whatever it computes,
// and the copy of one tensor: what a copy before or after a segment is counted
// as. A remote call of Qualcomm's DSPs takes 100 us and more; nothing is public
// of an APU's, and how fast the accelerators compute, each library keeps to
// itself. So operators are estimated to take no time there: only those return
// to the CPU that it computes while the call is on its way.
inline double HalfCallNanos(int64_t bytes) {
  constexpr double kCallNanos = 100000;
  constexpr double kBytesPerNano = 8;
  return kCallNanos / 2 + static_cast<double>(bytes) / kBytesPerNano;
}

}  // namespace mace

#endif  // MACE_RUNTIMES_ADAPTERS_CALL_COST_H_

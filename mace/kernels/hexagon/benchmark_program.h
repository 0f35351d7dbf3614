// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What programs that compute layers share: numbers as arguments, and the
// packets that a round took, which they print.

#ifndef MACE_KERNELS_HEXAGON_BENCHMARK_PROGRAM_H_
#define MACE_KERNELS_HEXAGON_BENCHMARK_PROGRAM_H_

#include "mace/kernels/hexagon/platform/emulated.h"

namespace mace::hexagon {

inline int Number(const char *text) {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + *text - '0';
  }
  return number;
}

// Calls round() so often, and prints the packets of the last one as "round N",
// which are less than 2^32.
template <typename Round>
void RunRounds(int rounds, const Round &round) {
  uint32_t packets = 0;
  for (int i = 0; i < rounds; ++i) {
    const uint32_t before = emulated::PacketCount();
    round();
    packets = emulated::PacketCount() - before;
  }
  char text[] = "round 0000000000\n";
  constexpr int kLast = sizeof(text) - 3;
  for (int at = kLast; packets > 0; --at, packets /= 10) {
    text[at] = static_cast<char>('0' + packets % 10);
  }
  constexpr int kErrors = 2;
  emulated::Write(kErrors, text, sizeof(text) - 1);
}

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_BENCHMARK_PROGRAM_H_

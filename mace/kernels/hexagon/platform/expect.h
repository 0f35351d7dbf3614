// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests on the DSP: no googletest, which needs a C library.

#ifndef MACE_KERNELS_HEXAGON_PLATFORM_EXPECT_H_
#define MACE_KERNELS_HEXAGON_PLATFORM_EXPECT_H_

#include <stdint.h>

namespace mace::hexagon {

// Prints the place and both numbers of a difference; the first 20 are shown.
void Expect(int64_t found, int64_t wanted, const char *file, int line);

// Prints how much was compared. The status of the program: 0 if there was no
// difference and something was compared.
int Finish();

}  // namespace mace::hexagon

#define MACE_EXPECT_EQ(found, wanted)                  \
  ::mace::hexagon::Expect(static_cast<int64_t>(found), \
                          static_cast<int64_t>(wanted), __FILE__, __LINE__)

#endif  // MACE_KERNELS_HEXAGON_PLATFORM_EXPECT_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Reads as many floats of its memory as it is told to: of four, five are one
// too many, which the address sanitizer has to find on every target.

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::vector<float> values(4, 0.25f);
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += values.data()[i];
  std::printf("sum %.2f\n", static_cast<double>(sum));
  return 0;
}

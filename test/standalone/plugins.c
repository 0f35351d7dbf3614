/* Copyright 2026 The MACE Authors
   SPDX-License-Identifier: Apache-2.0

   An application with two libraries, each of which has MACE inside. */

#include <stdio.h>

float first(void);
float second(void);

int main(void) {
  const float a = first();
  const float b = second();
  printf("%g %g\n", a, b);
  return a > 0 && a < 1 && a == b ? 0 : 1;
}

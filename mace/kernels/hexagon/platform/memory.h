// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the compiler may call for copies and comparisons, as in C. DSP programs
// have no C library.

#ifndef MACE_KERNELS_HEXAGON_PLATFORM_MEMORY_H_
#define MACE_KERNELS_HEXAGON_PLATFORM_MEMORY_H_

#include <stddef.h>

extern "C" {

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
}

#endif  // MACE_KERNELS_HEXAGON_PLATFORM_MEMORY_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of libdl.so.2 before glibc 2.34, which moved them to libc and
// gave them a new version. libmace.so is linked with this file, but runs with
// the system's: newer ones still answer to the old version.

#if defined(__x86_64__)
#define MACE_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define MACE_VERSION "GLIBC_2.17"
#elif defined(__arm__)
#define MACE_VERSION "GLIBC_2.4"
#endif

#define MACE_OLD(name)                                             \
  __attribute__((visibility("default"))) void mace_##name(void) {} \
  __asm__(".symver mace_" #name "," #name "@@" MACE_VERSION)

MACE_OLD(dlerror);
MACE_OLD(dlopen);
MACE_OLD(dlsym);

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel family of one function, which shows that each instruction set of
// the target is compiled with its own flags into its own namespace.

#ifndef TOOLCHAINS_TEST_ISA_PROBE_H_
#define TOOLCHAINS_TEST_ISA_PROBE_H_

namespace mace {

struct IsaProbe {
  const char *name;
  int vector_bytes;
  // Returns a * b + c for the first vector_bytes / 4 elements.
  void (*multiply_add)(const float *a,
                       const float *b,
                       const float *c,
                       float *out);
};

#if defined(__x86_64__)
namespace sse41 {
extern const IsaProbe kProbe;
}
namespace avx2 {
extern const IsaProbe kProbe;
}
namespace avx512 {
extern const IsaProbe kProbe;
}
#else
namespace neon {
extern const IsaProbe kProbe;
}
#endif

}  // namespace mace

#endif  // TOOLCHAINS_TEST_ISA_PROBE_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the table of a kernel family for an ISA. The source that
// mace_isa_library compiles defines a constant, the table, in the namespace of
// each ISA; what `tables` of mace_isa_kernels generates, or a file of the
// family that has to do more, chooses:
//
//   namespace mace::pool {
//
//   MACE_DECLARE_TABLES(BASE, Kernels, kKernels)
//
//   const Kernels *KernelsFor(CpuIsa isa) {
//     return MACE_FIND_TABLE(BASE, isa, kKernels);
//   }
//
// The first argument says which ISAs have a copy of the source; for others the
// result is null:
//
//   BASE          without `extension`: every ISA, an extension its base's
//   FP16          extension = "fp16": neon_dotprod runs that of neon_fp16
//   INT8          extension = "int8": bf16's ISAs run that of avx512_vnni
//   INT8_OR_BASE  two targets, with "int8" and without: the former if it exists
//   NO_DOTS       extension = "no_dots": ISAs that find none of "int8"
//   BF16          extension = "bf16": amx_bf16 runs that of avx512_bf16
//   BF16_AND_AMX  "bf16" and "amx": each has its own copy
//
// A function that names a table links its kernels. Kernels of an extension
// therefore have separate functions, which are linked by half_kernels.cc.

#ifndef MACE_KERNELS_CPU_ISA_TABLE_H_
#define MACE_KERNELS_CPU_ISA_TABLE_H_

#include "mace/kernels/cpu/isa.h"

// X(isa, copy, ...) for every ISA that finds a table: in namespace `copy`.
#define MACE_COPIES_BASE(X, ...) MACE_FOR_EACH_ISA_AND_BASE(X, __VA_ARGS__)
#define MACE_COPIES_FP16(X, ...) MACE_FOR_EACH_FP16_ISA(X, __VA_ARGS__)
#define MACE_COPIES_INT8(X, ...) MACE_FOR_EACH_INT8_ISA(X, __VA_ARGS__)
#define MACE_COPIES_INT8_OR_BASE(X, ...) \
  MACE_COPIES_INT8(X, __VA_ARGS__)       \
  MACE_COPIES_BASE(X, __VA_ARGS__)
#define MACE_COPIES_NO_DOTS(X, ...) MACE_FOR_EACH_NO_DOTS_ISA(X, __VA_ARGS__)
#define MACE_COPIES_BF16(X, ...) \
  MACE_FOR_EACH_BF16_EXTENSION(MACE_COPY_OF_AVX512_BF16, X, __VA_ARGS__)
#define MACE_COPIES_BF16_AND_AMX(X, ...) \
  MACE_FOR_EACH_BF16_EXTENSION(MACE_COPY_OF_ITSELF, X, __VA_ARGS__)

#define MACE_COPY_OF_ITSELF(name, base, X, ...) X(name, name, __VA_ARGS__)
#define MACE_COPY_OF_AVX512_BF16(name, base, X, ...) \
  X(name, avx512_bf16, __VA_ARGS__)

#define MACE_DECLARE_TABLE(name, copy, Type, table) \
  namespace copy {                                  \
  extern const Type table;                          \
  }
#define MACE_TABLE_IF(name, copy, isa, table) \
  (isa) == ::mace::CpuIsa::name ? &copy::table:

// In the namespace of the family, in none without a name.
#define MACE_DECLARE_TABLES(which, Type, table) \
  MACE_COPIES_##which(MACE_DECLARE_TABLE, Type, table)

// An expression: a pointer to the table, or null.
#define MACE_FIND_TABLE(which, isa, table) \
  (MACE_COPIES_##which(MACE_TABLE_IF, isa, table) nullptr)

#endif  // MACE_KERNELS_CPU_ISA_TABLE_H_

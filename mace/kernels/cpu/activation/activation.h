// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Elementwise non-linearities, as op_enums.yaml defines them.

#ifndef MACE_KERNELS_CPU_ACTIVATION_ACTIVATION_H_
#define MACE_KERNELS_CPU_ACTIVATION_ACTIVATION_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::activation {

enum class Kind : uint8_t {
  kNone,
  kRelu,
  kRelux,
  kLeakyRelu,
  kPrelu,  // by prelu() only
  kSigmoid,
  kTanh,
  kElu,
  kHardSigmoid,
  kHardSwish,
  kSwish,
  kGelu,
  kSoftplus,
  kSoftsign,
  kGeluTanh,
};

struct Params {
  Kind kind = Kind::kNone;
  float limit = 0;  // kRelux
  float alpha = 0;  // kLeakyRelu, kElu, kHardSigmoid
  float beta = 0;   // kHardSigmoid
};

struct Kernels {
  // y[i] = f(x[i]) for i < n. y may equal x.
  void (*run)(const Params &params, const float *x, float *y, size_t n);
  // x, y: [rows][channels] dense; y = x < 0 ? slope[channel] * x : x.
  void (*prelu)(const float *x,
                const float *slope,
                float *y,
                size_t rows,
                size_t channels);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// For numbers of bf16, without conversions to float in memory; y may equal x.
struct Bf16Kernels {
  // kGelu, to 1.3e-4 of the result, before it is rounded to 2^-8 of it.
  void (*gelu)(const uint16_t *x, uint16_t *y, size_t n);
};

// Null if the ISA has no instructions for bf16.
const Bf16Kernels *Bf16KernelsFor(CpuIsa isa);

}  // namespace mace::activation

#endif  // MACE_KERNELS_CPU_ACTIVATION_ACTIVATION_H_

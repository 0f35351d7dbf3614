// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

namespace {

const Part *linked_part = nullptr;
const Kernels *(*linked_half)(CpuIsa) = nullptr;

}  // namespace

Registration::Registration(const Part *part) { linked_part = part; }

HalfRegistration::HalfRegistration(const Kernels *(*kernels_for)(CpuIsa)) {
  linked_half = kernels_for;
}

const Part *LinkedPart() { return linked_part; }

const Kernels *KernelsFor(CpuIsa isa) {
  return linked_part == nullptr ? nullptr : linked_part->kernels_for(isa);
}

const Kernels *HalfKernelsFor(CpuIsa isa) {
  return linked_half == nullptr ? nullptr : linked_half(isa);
}

}  // namespace mace::winograd

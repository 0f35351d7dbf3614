// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/winograd.h"

#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

const Part *LinkedPart() { return OptionalKernels<Part>::linked(); }

const Kernels *KernelsFor(CpuIsa isa, gemm::Element image) {
  if (image != gemm::Element::kF32) {
    const HalfPart *part = OptionalKernels<HalfPart>::linked();
    return part == nullptr ? nullptr : part->kernels_for(isa, image);
  }
  const Part *part = LinkedPart();
  return part == nullptr ? nullptr : part->kernels_for(isa);
}

}  // namespace mace::winograd

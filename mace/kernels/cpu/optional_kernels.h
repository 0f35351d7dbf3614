// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that a library may be built without: arithmetic of 16 bits, weights
// of 8 bits, Winograd. Whoever has them defines, in a source that nothing
// refers to and that is linked where a model needs it (alwayslink),
//
//   const OptionalKernels<Part> registration(&kPart);
//
// and whoever would use them asks for OptionalKernels<Part>::linked(). A Part
// is a struct of functions, one type for each such part of the library.

#ifndef MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_
#define MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_

namespace mace {

// Static objects only.
template <typename Part>
class OptionalKernels {
 public:
  explicit OptionalKernels(const Part *part) { linked_ = part; }
  // Null in a library without.
  static const Part *linked() { return linked_; }

 private:
  // Initialised before any object registers itself.
  static inline const Part *linked_ = nullptr;
};

}  // namespace mace

#endif  // MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that a library may be built without: 16-bit arithmetic, 8-bit
// weights, Winograd. A source file that nothing refers to, and that is linked
// only if a model needs it (alwayslink), defines
//
//   const OptionalKernels<Part> registration(&kPart);
//
// and callers use OptionalKernels<Part>::linked(). A Part is a struct of
// function pointers, with its own type for each optional part of the library.

#ifndef MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_
#define MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_

namespace mace {

// Only for static objects.
template <typename Part>
class OptionalKernels {
 public:
  explicit OptionalKernels(const Part *part) { linked_ = part; }
  // Null if the library was built without the part.
  static const Part *linked() { return linked_; }

 private:
  // Initialised before any object registers itself.
  static inline const Part *linked_ = nullptr;
};

}  // namespace mace

#endif  // MACE_KERNELS_CPU_OPTIONAL_KERNELS_H_

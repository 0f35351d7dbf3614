// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and products as data: a case, random numbers for it, its run
// with the kernels of any ISA, and sums in double precision to compare with.

#ifndef MACE_KERNELS_CPU_CONV_DIRECT_TESTING_H_
#define MACE_KERNELS_CPU_CONV_DIRECT_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::conv {

inline constexpr WeightType kWeightTypes[] = {
    WeightType::kF32, WeightType::kF16, WeightType::kBf16,
    WeightType::kBf16Pairs, WeightType::kI8};

struct Case {
  Shape shape;
  WeightType w_type = WeightType::kF32;
  bool bias = true;
  bool residual = false;
  bool clamp = false;
  size_t extra_stride = 0;
  int threads = 1;
  // Whole numbers from -2 to 2. fp16 can represent the sums of a K-block
  // exactly; only results above 2048 are rounded.
  bool whole = false;
  // Residual and output are bf16 if the products are bf16; the image too,
  // unless it is float.
  bool keeps_bf16 = false;
  bool of_floats = false;
  const TapSkipping *skipping = nullptr;  // argument of PlanDirect
};

// A square image and filter; matrix products use MatrixShape.
Shape Square(ptrdiff_t size,
             ptrdiff_t in_c,
             ptrdiff_t kernel,
             ptrdiff_t stride,
             ptrdiff_t pad,
             ptrdiff_t out_c);

// The same with a dilated 3x3 kernel, whose output has the size of the image.
Shape Dilated(ptrdiff_t size,
              ptrdiff_t in_c,
              ptrdiff_t dilation,
              ptrdiff_t out_c);

// The kernels of an instruction set, or those of amx_bf16 with emulated tiles.
struct Kind {
  // Implicit: an ISA is a kind.
  Kind(CpuIsa of, bool with_emulation = false)
      : isa(of), emulated(with_emulation) {}
  CpuIsa isa;
  bool emulated;
};

// The kinds that this machine can run.
std::vector<Kind> RunnableKinds();

std::string Describe(const Case &c, const Kind &kind, uint32_t seed);

struct Data {
  std::vector<float> input;
  std::vector<float> filter;  // [O][KH * KW * I / groups], as stored values
  std::vector<float> bias;
  std::vector<float> residual;
  std::vector<char> packed;
};

// Packs [O][K] into [groups] panels of the storage type (WeightType), and
// rounds data->filter to the stored values.
void Pack(const Case &c, Data *data);

Data MakeData(const Case &c, Random *random);

// Whether the case has bf16 activations and the kernels have bf16 products.
bool KeepsBf16(const Case &c, const Kind &kind);

DirectPlan PlanFor(const Case &c, const Kind &kind);

// Converts to bf16 or fp16.
std::vector<uint16_t> AllToHalf(const std::vector<float> &values, bool bf16);

struct FreeDeleter {
  void operator()(void *p) const { std::free(p); }
};

struct Memory {
  explicit Memory(size_t size)
      : bytes((size + 63) / 64 * 64 + 64), p(std::aligned_alloc(64, bytes)) {
    std::memset(p.get(), 0xff,
                bytes);  // NaN, to detect reads of unwritten memory
  }
  size_t bytes;
  std::unique_ptr<void, FreeDeleter> p;
};

// Runs all tasks in reverse order and returns the output as float. Checks that
// nothing was written between its rows.
std::vector<float> RunAll(const Case &c, const Data &d, const Kind &kind);

// Runs the case with every kind of kernels and compares: in float, in 16 bits,
// and with 16-bit results.
void Check(Case c, uint32_t seed);

inline size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DIRECT_TESTING_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Test cases of depthwise convolution, their expected results, and their runs.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_TESTING_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::dwconv {

// The value between the pixels of the output.
inline constexpr float kGuard = 12345.0f;
// Changes many of the results.
inline constexpr float kLow = -0.25f;
inline constexpr float kHigh = 0.75f;

inline size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

// Channels per group.
inline ptrdiff_t Depth(const Shape &s) { return s.in_c / s.groups; }
inline ptrdiff_t Multiplier(const Shape &s) { return s.out_c / s.groups; }

enum class Stored { kFloat, kF16, kBf16 };
inline constexpr Stored kAllStored[] = {Stored::kFloat, Stored::kF16,
                                        Stored::kBf16};

// Returns `x` rounded to this storage type.
float Rounded(Stored stored, float x);

struct Case {
  Shape shape;
  WeightType type = WeightType::kF32;
  bool bias = true;
  bool clamp = false;
  ptrdiff_t extra_stride = 0;
  ptrdiff_t row_part = 1000;       // rows of outputs per call
  ptrdiff_t group_part = 1000;     // groups per call
  Stored stored = Stored::kFloat;  // image and output
};

// An image of `groups` channels; each group has one channel and one output.
Shape Square(ptrdiff_t size,
             ptrdiff_t groups,
             ptrdiff_t kernel,
             ptrdiff_t stride,
             ptrdiff_t pad);

// Sets the channels and outputs of each group.
void SetGroup(ptrdiff_t depth, ptrdiff_t multiplier, Shape *shape);

// The ISAs of this machine that can run a case.
std::vector<CpuIsa> IsasFor(const Case &c);

std::string Describe(const Case &c, CpuIsa isa, uint32_t seed);

struct Data {
  std::vector<float> input;
  std::vector<uint16_t> half_input;  // the same in 16 bits
  std::vector<float> filter;         // as stored
  std::vector<uint16_t> halves;      // the storage of 16-bit types
  std::vector<float> bias;
};

Data MakeData(const Case &c, Random *random);

// Runs the case in the parts that it specifies. Pixels of the output are out_c
// + extra_stride apart.
std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa);

struct Expected {
  double value;
  double bound;
};

// Output `o` of a pixel by the definition, in double precision.
Expected Reference(const Case &c, const Data &d, ptrdiff_t pixel, ptrdiff_t o);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_TESTING_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Test cases of Winograd convolution, their expected results, and their runs.

#ifndef MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_
#define MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

// The value between the pixels of the output.
inline constexpr float kGuard = 12345.0f;
// Changes many of the results.
inline constexpr float kLow = -0.25f;
inline constexpr float kHigh = 0.75f;

inline size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

struct Case {
  conv::Shape shape;
  int tile = 4;
  gemm::WeightType type = gemm::WeightType::kF32;
  bool bias = true;
  bool residual = false;
  bool clamp = false;
  size_t extra_stride = 0;
  int threads = 1;
  // Type of input, residual and output; intermediate values are fp16 for kF16,
  // otherwise float.
  gemm::Element image = gemm::Element::kF32;
  bool each_run = false;
};

// A 3x3 kernel over one image.
Case MakeCase(int tile,
              ptrdiff_t height,
              ptrdiff_t width,
              ptrdiff_t in_c,
              ptrdiff_t out_c,
              ptrdiff_t pad);

std::string Describe(const Case &c, CpuIsa isa, uint32_t seed);

// Rounds a value to the type of an image.
float Stored(gemm::Element type, float value);

// The ISAs of this machine that can run a case.
std::vector<CpuIsa> IsasFor(const Case &c);

struct Data {
  std::vector<float> input;
  std::vector<float> filter;  // [O][3][3][C], as stored
  std::vector<float> bias;
  std::vector<float> residual;
  std::vector<char> packed;
};

Data MakeData(const Case &c, Random *random);

ConvPlan MakePlan(const Case &c, CpuIsa isa);

// Runs all tasks of the plan in reverse order. Pixels of the output are out_c +
// extra_stride apart.
std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa);

struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
};

// The error of a value after s roundings is at most s * 2^-24 of the sum of the
// absolute values that it is computed from. Roundings: transforms of the input
// (two of at most 5), of the filter (two of 4), of the output (two of 5), in_c
// products and sums (two each if the ISA does not fuse), bias, residual. In
// fp16: s * 2^-11. With bf16 images the result is rounded to bf16.
Expected Reference(const Case &c, const Data &d);

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_

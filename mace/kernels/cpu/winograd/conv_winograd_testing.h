// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Cases of Winograd convolution, what they should give and what they do.

#ifndef MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_
#define MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"
#include "mace/kernels/cpu/winograd/conv_winograd.h"

namespace mace::winograd {

// Between the pixels of the output.
inline constexpr float kGuard = 12345.0f;
// Cuts off a good part of the results.
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
  // Of input, residual and output; what is between them is fp16 for kF16, else
  // float.
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

// What a value becomes in an image.
float Stored(gemm::Element type, float value);

// Those of this machine that can run a case.
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

// All tasks of the plan, the last first. Pixels of the output are out_c +
// extra_stride apart.
std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa);

struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
};

// A value that passes through s roundings errs by at most s * 2^-24 of the sum
// of absolute values that enter it. Roundings: transforms of the input (two of
// at most 5), of the filter (two of 4), of the output (two of 5), in_c
// products and sums (two each where the ISA does not fuse), bias, residual. In
// fp16 by s * 2^-11. With images of bf16 the result is rounded to them.
Expected Reference(const Case &c, const Data &d);

}  // namespace mace::winograd

#endif  // MACE_KERNELS_CPU_WINOGRAD_CONV_WINOGRAD_TESTING_H_

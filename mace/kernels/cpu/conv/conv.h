// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolution of NHWC images: the geometry, the tensors and the parts of the
// output, in the form that all strategies use.

#ifndef MACE_KERNELS_CPU_CONV_CONV_H_
#define MACE_KERNELS_CPU_CONV_CONV_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::conv {

using gemm::Arithmetic;
using gemm::Element;
using gemm::ElementBytes;
using gemm::WeightType;

// All values are positive, except pads, which may be 0, or negative if the
// first window begins inside the image. in_c and out_c are multiples of groups.
// The pads at the bottom and on the right follow from out_h and out_w.
struct Shape {
  ptrdiff_t batch = 1;
  ptrdiff_t in_h = 1;
  ptrdiff_t in_w = 1;
  ptrdiff_t in_c = 1;
  ptrdiff_t kernel_h = 1;
  ptrdiff_t kernel_w = 1;
  ptrdiff_t stride_h = 1;
  ptrdiff_t stride_w = 1;
  ptrdiff_t dilation_h = 1;
  ptrdiff_t dilation_w = 1;
  ptrdiff_t pad_top = 0;
  ptrdiff_t pad_left = 0;
  ptrdiff_t out_h = 1;
  ptrdiff_t out_w = 1;
  ptrdiff_t out_c = 1;
  ptrdiff_t groups = 1;
};

// The shape of a product of [rows, depth] and [depth, columns].
Shape MatrixShape(ptrdiff_t rows, ptrdiff_t depth, ptrdiff_t columns);

struct Args {
  const void *input = nullptr;    // [batch][in_h][in_w][in_c]
  const void *weights = nullptr;  // Request::layout
  void *output = nullptr;
  size_t output_stride = 0;  // elements from pixel to pixel, >= out_c
  gemm::Epilogue epilogue;   // bias: [out_c]
  // What is outside an image of integers: a zero point of 16 bits, or twice
  // one of 8.
  uint16_t padding = 0;
  // For direct products: DirectPlan::staged_bytes, 64-byte aligned.
  void *staged = nullptr;
};

// A part of the output. A row is a pixel; pixels are counted through the whole
// batch.
struct Region {
  ptrdiff_t row_begin;
  ptrdiff_t row_end;
  ptrdiff_t column_begin;  // within out_c
  ptrdiff_t column_end;
};
}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_CONV_H_

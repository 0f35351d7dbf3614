// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Depthwise convolution over NHWC images:
//
//   out[n, h, w, g * M + m] = act(bias[g * M + m] + sum over i, j, d of
//       in[n, h * stride_h - pad_top + i * dilation_h,
//             w * stride_w - pad_left + j * dilation_w, g * D + d]
//       * filter[i, j, d, g * M + m])
//
// where each of `groups` groups g has D = in_c / groups channels of the image
// and M = out_c / groups outputs; plain depthwise convolution has 1 of both.
// Pixels outside the image count as 0; `act` is a clamp. Vectors run over all
// outputs, so every kernel size, stride and padding is as regular as another;
// up to 8 neighbouring outputs of a row share their loads.
//
// With D or M other than 1 a band of the image is copied first, every pixel to
// D pixels of as many channels as there are outputs: what remains is a plain
// convolution by a filter D times as wide.
//
// Order of summation: bias, then i, j, d ascending, one chain per output, in
// the type of Kernels::type. Image and output are of float, or of the 16 bits
// that Fp16KernelsFor and Bf16KernelsFor name.
// Aliasing: none between output and anything else.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::dwconv {

using conv::Shape;
using conv::WeightType;

// Outputs of the columns [begin, end) of a row, where all columns of the filter
// are inside the image. Geometry and strip are those of dwconv_strip.h.
using Middle = void (*)(const Shape &shape,
                        const void *geometry,
                        const void *strip,
                        ptrdiff_t begin,
                        ptrdiff_t end);

// Code for filters that are 5 wide, by their stride, instead of that for all. A
// library may be built without it, see FiveWideKernelsFor.
struct FiveWideKernels {
  Middle stride1;
  Middle stride2;
};

struct Args {
  Shape shape;  // with several channels in a group, dilation_w is 1
  const void *input = nullptr;  // [batch][in_h][in_w][in_c]
  // [kernel_h][kernel_w][in_c / groups][out_c]
  const void *filter = nullptr;
  WeightType type = WeightType::kF32;  // kF32, kF16 or kBf16
  void *output = nullptr;
  ptrdiff_t output_stride = 0;  // elements from pixel to pixel
  gemm::Epilogue epilogue;      // no residual
  // Of the same table as the kernels; null: by the code for all.
  const FiveWideKernels *five_wide = nullptr;
};

// What one call computes: rows of outputs, counted through the batch
// (batch * out_h of them), of some groups.
struct Range {
  ptrdiff_t row_begin = 0;
  ptrdiff_t row_end = 0;
  ptrdiff_t group_begin = 0;
  ptrdiff_t group_end = 0;
};

struct Kernels {
  // Parts that do not overlap may run at the same time. `scratch` has
  // scratch_bytes(shape, type), 64-byte aligned, for this call alone.
  void (*run)(const Args &args, const Range &range, void *scratch);
  // What it multiplies in, kF32 or kF16. A filter of another type is converted
  // to it by every call.
  WeightType type;
  // Room for the converted filter and the copied band; 0 without either.
  size_t (*scratch_bytes)(const Shape &shape, WeightType filter);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// Those for fp16; null for an ISA without arithmetic of it.
const Kernels *Fp16KernelsFor(CpuIsa isa);
// Those for bf16, with sums of float; null for an ISA without instructions for
// it.
const Kernels *Bf16KernelsFor(CpuIsa isa);

// Those for images of that type; null for an ISA without, and where they were
// not linked (optional_kernels.h).
const FiveWideKernels *FiveWideKernelsFor(CpuIsa isa, gemm::Element element);

// The parts that a library may have, for float and for 16 bits.
struct FiveWidePart {
  const FiveWideKernels *(*f32)(CpuIsa isa);
};
struct HalfFiveWidePart {
  const FiveWideKernels *(*fp16)(CpuIsa isa);
  const FiveWideKernels *(*bf16)(CpuIsa isa);
};

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_H_

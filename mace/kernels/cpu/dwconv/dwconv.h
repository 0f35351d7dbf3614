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
// and M = out_c / groups outputs; in plain depthwise convolution both are 1.
// Pixels outside the image count as 0; `act` is a clamp. Vectors run over all
// outputs, so every kernel size, stride and padding is equally regular; up to 8
// adjacent outputs of a row share their loads.
//
// If D or M is not 1, a band of the image is copied first: every pixel becomes
// D pixels, each with as many channels as there are outputs. The result is a
// plain convolution with a filter that is D times as wide.
//
// Order of summation: bias, then i, j, d ascending, one chain per output, in
// the type Kernels::type. Image and output are float, or the 16-bit type of
// Fp16KernelsFor and Bf16KernelsFor. Aliasing: the output must not overlap an
// input.

#ifndef MACE_KERNELS_CPU_DWCONV_DWCONV_H_
#define MACE_KERNELS_CPU_DWCONV_DWCONV_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::dwconv {

using conv::Shape;
using conv::WeightType;

// Computes the outputs of columns [begin, end) of a row for which all columns
// of the filter are inside the image. Geometry and strip are those of
// dwconv_strip.h.
using Middle = void (*)(const Shape &shape,
                        const void *geometry,
                        const void *strip,
                        ptrdiff_t begin,
                        ptrdiff_t end);

// Code for filters that are 5 wide, by stride, which is faster than the general
// code. A library may be built without it, see FiveWideKernelsFor.
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
  // From the same table as the kernels; null: the general code is used.
  const FiveWideKernels *five_wide = nullptr;
};

// The part that one call computes: some groups of some rows of outputs; rows
// are counted through the whole batch (batch * out_h of them).
struct Range {
  ptrdiff_t row_begin = 0;
  ptrdiff_t row_end = 0;
  ptrdiff_t group_begin = 0;
  ptrdiff_t group_end = 0;
};

struct Kernels {
  // Parts that do not overlap may run at the same time. `scratch` has
  // scratch_bytes(shape, type), is 64-byte aligned and used only by this call.
  void (*run)(const Args &args, const Range &range, void *scratch);
  // The type of the multiplications, kF32 or kF16. Every call converts a filter
  // of another type.
  WeightType type;
  // Memory for the converted filter and the copied band; 0 if neither is
  // needed.
  size_t (*scratch_bytes)(const Shape &shape, WeightType filter);
  // With more outputs per group, a product per group (../gemm) is faster.
  ptrdiff_t most_outputs = 0;
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// The kernels for fp16; null for an ISA without fp16 arithmetic.
const Kernels *Fp16KernelsFor(CpuIsa isa);
// The kernels for bf16, with sums in float; null for an ISA without bf16
// instructions.
const Kernels *Bf16KernelsFor(CpuIsa isa);

// The kernels for images of that type; null if the ISA has none, or if they
// were not linked (optional_kernels.h).
const FiveWideKernels *FiveWideKernelsFor(CpuIsa isa, gemm::Element element);

// The optional parts of a library, for float and for 16 bits.
struct FiveWidePart {
  const FiveWideKernels *(*f32)(CpuIsa isa);
};
struct HalfFiveWidePart {
  const FiveWideKernels *(*fp16)(CpuIsa isa);
  const FiveWideKernels *(*bf16)(CpuIsa isa);
};

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_DWCONV_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv_testing.h"

#include <algorithm>
#include <cmath>

namespace mace::dwconv {

namespace {

uint16_t Narrow(Stored stored, float x) {
  return stored == Stored::kBf16 ? ToBf16(x) : ToF16(x);
}
float Widen(Stored stored, uint16_t bits) {
  return stored == Stored::kBf16 ? FromBf16(bits) : FromF16(bits);
}
const Kernels *KernelsOf(const Case &c, CpuIsa isa) {
  switch (c.stored) {
    case Stored::kF16:
      return Fp16KernelsFor(isa);
    case Stored::kBf16:
      return Bf16KernelsFor(isa);
    case Stored::kFloat:
      break;
  }
  return KernelsFor(isa);
}

gemm::Element ElementOf(Stored stored) {
  switch (stored) {
    case Stored::kF16:
      return gemm::Element::kF16;
    case Stored::kBf16:
      return gemm::Element::kBf16;
    case Stored::kFloat:
      break;
  }
  return gemm::Element::kF32;
}

}  // namespace

float Rounded(Stored stored, float x) {
  return stored == Stored::kFloat ? x : Widen(stored, Narrow(stored, x));
}

Shape Square(ptrdiff_t size,
             ptrdiff_t groups,
             ptrdiff_t kernel,
             ptrdiff_t stride,
             ptrdiff_t pad) {
  Shape s;
  s.in_h = s.in_w = size;
  s.in_c = s.out_c = s.groups = groups;
  s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = pad;
  s.out_h = s.out_w = (size + 2 * pad - kernel) / stride + 1;
  return s;
}

void SetGroup(ptrdiff_t depth, ptrdiff_t multiplier, Shape *shape) {
  shape->in_c = shape->groups * depth;
  shape->out_c = shape->groups * multiplier;
}

std::vector<CpuIsa> IsasFor(const Case &c) {
  if (c.stored == Stored::kFloat) return RunnableIsas();
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : RunnableFloatIsas()) {
    if (KernelsOf(c, isa) != nullptr) isas.push_back(isa);
  }
  return isas;
}

std::string Describe(const Case &c, CpuIsa isa, uint32_t seed) {
  const Shape &s = c.shape;
  std::string text = std::string(CpuIsaName(isa)) + " shape";
  for (ptrdiff_t v :
       {s.batch, s.in_h, s.in_w, s.in_c, s.groups, s.out_c, s.kernel_h,
        s.kernel_w, s.stride_h, s.stride_w, s.dilation_h, s.dilation_w,
        s.pad_top, s.pad_left, s.out_h, s.out_w, c.extra_stride, c.row_part,
        c.group_part}) {
    text += " " + std::to_string(v);
  }
  return text + " type " + std::to_string(static_cast<int>(c.type)) + " bias " +
         std::to_string(c.bias) + " clamp " + std::to_string(c.clamp) +
         " stored " + std::to_string(static_cast<int>(c.stored)) + " seed " +
         std::to_string(seed);
}

Data MakeData(const Case &c, Random *random) {
  const Shape &s = c.shape;
  const size_t out_c = Size(s.out_c);
  Data d;
  d.input = random->Floats(Size(s.batch * s.in_h * s.in_w * s.in_c));
  if (c.stored != Stored::kFloat) {
    for (float &x : d.input) {
      d.half_input.push_back(Narrow(c.stored, x));
      x = Widen(c.stored, d.half_input.back());
    }
  }
  d.filter = random->Floats(Size(s.kernel_h * s.kernel_w * Depth(s)) * out_c);
  d.bias = random->Floats(out_c);
  if (c.type == WeightType::kF32) return d;
  for (float &f : d.filter) {
    const bool half = c.type == WeightType::kF16;
    d.halves.push_back(half ? ToF16(f) : ToBf16(f));
    f = half ? FromF16(d.halves.back()) : FromBf16(d.halves.back());
  }
  return d;
}

std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa) {
  const Shape &s = c.shape;
  const ptrdiff_t stride = s.out_c + c.extra_stride;
  const ptrdiff_t rows = s.batch * s.out_h;
  std::vector<float> out(Size(rows * s.out_w * stride), kGuard);
  const bool half = c.stored != Stored::kFloat;
  std::vector<uint16_t> half_out(half ? out.size() : 0,
                                 Narrow(c.stored, kGuard));
  Args args;
  args.shape = s;
  args.input = d.input.data();
  if (half) args.input = d.half_input.data();
  args.filter = d.filter.data();
  if (c.type != WeightType::kF32) args.filter = d.halves.data();
  args.type = c.type;
  args.epilogue.bias = c.bias ? d.bias.data() : nullptr;
  args.output = out.data();
  if (half) args.output = half_out.data();
  args.output_stride = stride;
  args.epilogue.clamp = c.clamp;
  args.epilogue.low = kLow;
  args.epilogue.high = kHigh;
  for (ptrdiff_t row = 0; row < rows; row += c.row_part) {
    for (ptrdiff_t ch = 0; ch < s.groups; ch += c.group_part) {
      const Kernels *kernels = KernelsOf(c, isa);
      // Every second part runs without the optional code, as in a library
      // without it.
      const bool linked = row / c.row_part % 2 == 0;
      args.five_wide =
          linked ? FiveWideKernelsFor(isa, ElementOf(c.stored)) : nullptr;
      std::vector<unsigned char> scratch(kernels->scratch_bytes(s, c.type),
                                         0xff);  // NaN
      Range range;
      range.row_begin = row;
      range.row_end = std::min(rows, row + c.row_part);
      range.group_begin = ch;
      range.group_end = std::min(s.groups, ch + c.group_part);
      kernels->run(args, range, scratch.data());
    }
  }
  for (size_t i = 0; i < half_out.size(); ++i) {
    out[i] = Widen(c.stored, half_out[i]);
  }
  return out;
}

Expected Reference(const Case &c, const Data &d, ptrdiff_t pixel, ptrdiff_t o) {
  const Shape &s = c.shape;
  const ptrdiff_t n = pixel / (s.out_h * s.out_w);
  const ptrdiff_t oh = pixel / s.out_w % s.out_h;
  const ptrdiff_t ow = pixel % s.out_w;
  double sum = c.bias ? d.bias[Size(o)] : 0.0;
  double magnitude = std::fabs(sum);
  for (ptrdiff_t i = 0; i < s.kernel_h; ++i) {
    for (ptrdiff_t j = 0; j < s.kernel_w; ++j) {
      const ptrdiff_t h = oh * s.stride_h - s.pad_top + i * s.dilation_h;
      const ptrdiff_t w = ow * s.stride_w - s.pad_left + j * s.dilation_w;
      if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) continue;
      for (ptrdiff_t k = 0; k < Depth(s); ++k) {
        const double product =
            static_cast<double>(
                d.input[Size(((n * s.in_h + h) * s.in_w + w) * s.in_c +
                             o / Multiplier(s) * Depth(s) + k)]) *
            d.filter[Size(((i * s.kernel_w + j) * Depth(s) + k) * s.out_c + o)];
        sum += product;
        magnitude += std::fabs(product);
      }
    }
  }
  if (c.clamp) sum = std::min(std::max(sum, double{kLow}), double{kHigh});
  // Two roundings per product if the ISA does not fuse; in fp16 also the
  // rounding of filter and sum, including below its normal numbers.
  const double steps =
      2.0 * static_cast<double>(s.kernel_h * s.kernel_w * Depth(s)) + 2;
  if (c.stored == Stored::kF16) {
    return {sum, steps * (std::ldexp(magnitude, -11) + 0x1p-24)};
  }
  const double bound = steps * std::ldexp(magnitude, -24);
  // Sums of bf16 products are float.
  const bool rounded = c.stored == Stored::kBf16;
  return {sum, rounded ? bound + std::fabs(sum) * 0x1p-8 : bound};
}

}  // namespace mace::dwconv

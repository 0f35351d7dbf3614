// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/dwconv/dwconv.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::dwconv {
namespace {

constexpr float kGuard = 12345.0f;
constexpr float kLow = -0.25f;
constexpr float kHigh = 0.75f;

size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

ptrdiff_t Groups(const Shape &s) { return s.in_c / s.depth; }
ptrdiff_t Outputs(const Shape &s) { return Groups(s) * s.multiplier; }

enum class Stored { kFloat, kF16, kBf16 };
constexpr Stored kAllStored[] = {Stored::kFloat, Stored::kF16, Stored::kBf16};

uint16_t Narrow(Stored stored, float x) {
  return stored == Stored::kBf16 ? ToBf16(x) : ToF16(x);
}
float Widen(Stored stored, uint16_t bits) {
  return stored == Stored::kBf16 ? FromBf16(bits) : FromF16(bits);
}
float Rounded(Stored stored, float x) {
  return stored == Stored::kFloat ? x : Widen(stored, Narrow(stored, x));
}

struct Case {
  Shape shape;
  WeightType type = WeightType::kF32;
  bool bias = true;
  bool clamp = false;
  ptrdiff_t extra_stride = 0;
  ptrdiff_t row_part = 1000;       // rows of outputs per call
  ptrdiff_t channel_part = 1000;   // groups per call
  Stored stored = Stored::kFloat;  // image and output
};

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
       {s.batch, s.in_h, s.in_w, s.in_c, s.depth, s.multiplier, s.kernel_h,
        s.kernel_w, s.stride_h, s.stride_w, s.dilation_h, s.dilation_w,
        s.pad_top, s.pad_left, s.out_h, s.out_w, c.extra_stride, c.row_part,
        c.channel_part}) {
    text += " " + std::to_string(v);
  }
  return text + " type " + std::to_string(static_cast<int>(c.type)) + " bias " +
         std::to_string(c.bias) + " clamp " + std::to_string(c.clamp) +
         " stored " + std::to_string(static_cast<int>(c.stored)) + " seed " +
         std::to_string(seed);
}

struct Data {
  std::vector<float> input;
  std::vector<uint16_t> half_input;  // the same in 16 bits
  std::vector<float> filter;         // as stored
  std::vector<uint16_t> halves;      // the storage of 16-bit types
  std::vector<float> bias;
};

Data MakeData(const Case &c, Random *random) {
  const Shape &s = c.shape;
  const size_t out_c = Size(Outputs(s));
  Data d;
  d.input = random->Floats(Size(s.batch * s.in_h * s.in_w * s.in_c));
  if (c.stored != Stored::kFloat) {
    for (float &x : d.input) {
      d.half_input.push_back(Narrow(c.stored, x));
      x = Widen(c.stored, d.half_input.back());
    }
  }
  d.filter = random->Floats(Size(s.kernel_h * s.kernel_w * s.depth) * out_c);
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
  const ptrdiff_t stride = Outputs(s) + c.extra_stride;
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
  args.bias = c.bias ? d.bias.data() : nullptr;
  args.output = out.data();
  if (half) args.output = half_out.data();
  args.output_stride = stride;
  args.clamp = c.clamp;
  args.low = kLow;
  args.high = kHigh;
  for (ptrdiff_t row = 0; row < rows; row += c.row_part) {
    for (ptrdiff_t ch = 0; ch < Groups(s); ch += c.channel_part) {
      const Kernels *kernels = KernelsOf(c, isa);
      std::vector<unsigned char> scratch(kernels->scratch_bytes(s, c.type),
                                         0xff);  // NaN
      Range range;
      range.row_begin = row;
      range.row_end = std::min(rows, row + c.row_part);
      range.group_begin = ch;
      range.group_end = std::min(Groups(s), ch + c.channel_part);
      kernels->run(args, range, scratch.data());
    }
  }
  for (size_t i = 0; i < half_out.size(); ++i) {
    out[i] = Widen(c.stored, half_out[i]);
  }
  return out;
}

struct Expected {
  double value;
  double bound;
};

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
      for (ptrdiff_t k = 0; k < s.depth; ++k) {
        const double product =
            static_cast<double>(
                d.input[Size(((n * s.in_h + h) * s.in_w + w) * s.in_c +
                             o / s.multiplier * s.depth + k)]) *
            d.filter[Size(((i * s.kernel_w + j) * s.depth + k) * Outputs(s) +
                          o)];
        sum += product;
        magnitude += std::fabs(product);
      }
    }
  }
  if (c.clamp) sum = std::min(std::max(sum, double{kLow}), double{kHigh});
  // Two roundings per product where the ISA does not fuse; in fp16 those of
  // filter and sum, also below its normal numbers.
  const double steps =
      2.0 * static_cast<double>(s.kernel_h * s.kernel_w * s.depth) + 2;
  if (c.stored == Stored::kF16) {
    return {sum, steps * (std::ldexp(magnitude, -11) + 0x1p-24)};
  }
  const double bound = steps * std::ldexp(magnitude, -24);
  // Sums of bf16 are float.
  const bool rounded = c.stored == Stored::kBf16;
  return {sum, rounded ? bound + std::fabs(sum) * 0x1p-8 : bound};
}

void CheckType(const Case &c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const Shape &s = c.shape;
  const ptrdiff_t pixels = s.batch * s.out_h * s.out_w;
  const ptrdiff_t out_c = Outputs(s);
  const ptrdiff_t stride = out_c + c.extra_stride;
  for (CpuIsa isa : IsasFor(c)) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    const std::vector<float> got = RunAll(c, d, isa);
    for (ptrdiff_t pixel = 0; pixel < pixels; ++pixel) {
      for (ptrdiff_t o = 0; o < stride; ++o) {
        const float x = got[Size(pixel * stride + o)];
        if (o >= out_c) {
          ASSERT_EQ(x, Rounded(c.stored, kGuard))
              << "written beyond pixel " << pixel;
          continue;
        }
        const Expected e = Reference(c, d, pixel, o);
        ASSERT_TRUE(Near(x, e.value, e.bound))
            << "pixel " << pixel << " channel " << o << ": " << x
            << " instead of " << e.value << " +- " << e.bound;
      }
    }
  }
}

void Check(Case c, uint32_t seed) {
  for (Stored stored : kAllStored) {
    c.stored = stored;
    CheckType(c, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

Shape Square(ptrdiff_t size,
             ptrdiff_t channels,
             ptrdiff_t kernel,
             ptrdiff_t stride,
             ptrdiff_t pad) {
  Shape s;
  s.in_h = s.in_w = size;
  s.in_c = channels;
  s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = pad;
  s.out_h = s.out_w = (size + 2 * pad - kernel) / stride + 1;
  return s;
}

TEST(DwConv, EveryWidthAndChannelTail) {
  uint32_t seed = 1;
  for (ptrdiff_t size = 1; size <= 21; ++size) {
    for (ptrdiff_t channels : {1, 3, 4, 7, 16, 19, 40}) {
      for (ptrdiff_t stride : {1, 2}) {
        Case c;
        c.shape = Square(size, channels, 3, stride, 1);
        c.clamp = seed % 2 == 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DwConv, KernelSizes) {
  uint32_t seed = 500;
  for (ptrdiff_t kernel : {1, 2, 3, 4, 5, 7}) {
    for (ptrdiff_t stride : {1, 2, 3}) {
      for (ptrdiff_t pad : {0, 1, 3}) {
        for (WeightType type :
             {WeightType::kF32, WeightType::kF16, WeightType::kBf16}) {
          Case c;
          c.shape = Square(13, 21, kernel, stride, pad);
          c.type = type;
          c.bias = seed % 4 != 0;
          Check(c, seed++);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(DwConv, RandomGeometry) {
  Random random(3);
  for (uint32_t i = 0; i < 300; ++i) {
    Case c;
    Shape &s = c.shape;
    s.batch = random.Int(1, 2);
    s.in_h = random.Int(1, 14);
    s.in_w = random.Int(1, 14);
    s.in_c = random.Int(1, 40);
    s.multiplier = random.Int(0, 3) == 0 ? random.Int(2, 19) : 1;
    s.kernel_h = random.Int(1, 5);
    s.kernel_w = random.Int(1, 5);
    s.stride_h = random.Int(1, 3);
    s.stride_w = random.Int(1, 3);
    s.dilation_h = random.Int(1, 3);
    s.dilation_w = random.Int(0, 2) == 0 ? 2 : 1;
    s.pad_top = random.Int(0, 4);
    s.pad_left = random.Int(0, 4);
    const ptrdiff_t full_h =
        s.in_h + s.pad_top + random.Int(0, 4) - (s.kernel_h - 1) * s.dilation_h;
    const ptrdiff_t full_w = s.in_w + s.pad_left + random.Int(0, 4) -
                             (s.kernel_w - 1) * s.dilation_w;
    if (full_h < 1 || full_w < 1) continue;
    s.out_h = (full_h - 1) / s.stride_h + 1;
    s.out_w = (full_w - 1) / s.stride_w + 1;
    if (s.dilation_w == 1 && random.Int(0, 1) == 0) {
      s.depth = random.Int(2, 6);
      s.in_c = s.depth * random.Int(1, 12);
    }
    c.type = static_cast<WeightType>(random.Int(0, 2));
    c.bias = random.Int(0, 3) != 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = random.Int(0, 1) * 3;
    c.row_part = random.Int(1, 5);
    c.channel_part = random.Int(0, 1) == 0 ? 1000 : random.Int(1, 24);
    Check(c, 1000 + i);
    if (HasFatalFailure()) return;
  }
}

// Where pixels of the output lie 2 KiB apart, also in 16 bits, some kernels
// collect results.
TEST(DwConv, OutputsApartByManyChannels) {
  uint32_t seed = 2000;
  for (ptrdiff_t channels : {20, 64, 100, 512}) {
    for (ptrdiff_t size : {1, 7, 18}) {
      for (ptrdiff_t parts : {1, 2}) {
        Case c;
        c.shape = Square(size, channels, 3, 1, 1);
        c.shape.batch = 2;
        c.extra_stride = 1024 - channels;
        c.clamp = seed % 2 == 0;
        c.row_part = parts == 1 ? 1000 : 5;
        c.channel_part = parts == 1 ? 1000 : 40;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Several bands of rows, and counts that have code of their own.
TEST(DwConv, GroupsOfSeveral) {
  uint32_t seed = 3000;
  for (ptrdiff_t depth : {1, 2, 4}) {
    for (ptrdiff_t multiplier : {1, 2, 3, 4, 8, 17}) {
      for (ptrdiff_t stride : {1, 2}) {
        Case c;
        c.shape = Square(23, 6 * depth, 3, stride, 1);
        c.shape.in_w = 64;
        c.shape.out_w = (64 + 2 - 3) / stride + 1;
        c.shape.depth = depth;
        c.shape.multiplier = multiplier;
        c.clamp = true;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(DwConv, PartsDoNotChangeABit) {
  for (int kind = 0; kind < 9; ++kind) {
    Case c;
    c.shape = Square(15, 67, 3, 1, 1);
    if (kind / 3 == 1) c.shape.multiplier = 3;
    if (kind / 3 == 2) {
      c.shape.in_c = 4 * 67;
      c.shape.depth = 4;
      c.shape.multiplier = 2;
    }
    c.stored = kAllStored[kind % 3];
    Random random(5);
    const Data d = MakeData(c, &random);
    for (CpuIsa isa : IsasFor(c)) {
      c.row_part = 1000;
      c.channel_part = 1000;
      const std::vector<float> whole = RunAll(c, d, isa);
      for (ptrdiff_t part : {1, 2, 7}) {
        c.row_part = part;
        c.channel_part = 16 * part;
        EXPECT_EQ(0, std::memcmp(whole.data(), RunAll(c, d, isa).data(),
                                 whole.size() * sizeof(float)))
            << CpuIsaName(isa);
      }
    }
  }
}

TEST(DwConv, NanSurvivesTheClamp) {
  for (Stored stored : kAllStored) {
    Case c;
    c.shape = Square(6, 20, 3, 1, 1);
    c.clamp = true;
    c.stored = stored;
    Random random(6);
    Data d = MakeData(c, &random);
    d.input[0] = std::numeric_limits<float>::quiet_NaN();
    if (stored != Stored::kFloat) d.half_input[0] = 0x7fc0;  // in both
    for (CpuIsa isa : IsasFor(c)) {
      const std::vector<float> out = RunAll(c, d, isa);
      EXPECT_TRUE(std::isnan(out[0])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out[1])) << CpuIsaName(isa);
    }
  }
}

}  // namespace
}  // namespace mace::dwconv

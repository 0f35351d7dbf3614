// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Convolution, matrix and vector products against sums in double precision,
// over every ISA of this machine.

#include "mace/kernels/cpu/gemm/conv_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::gemm {

#if defined(__x86_64__)
namespace amx_emulated {
extern const HalfKernels kBf16Kernels;
}
#endif

namespace {

constexpr float kGuard = 12288.0f;  // fp16 and bf16 have it too
constexpr WeightType kWeightTypes[] = {WeightType::kF32, WeightType::kF16,
                                       WeightType::kBf16,
                                       WeightType::kBf16Pairs, WeightType::kI8};

struct Case {
  ConvShape shape;
  WeightType w_type = WeightType::kF32;
  bool bias = true;
  bool residual = false;
  bool clamp = false;
  size_t extra_stride = 0;
  int threads = 1;
  // Whole numbers from -2 to 2, of which fp16 holds the sums of a stretch: only
  // results of more than 2048 are rounded.
  bool whole = false;
  // Residual and output are bf16 where products are, the image too unless it is
  // of floats.
  bool keeps_bf16 = false;
  bool of_floats = false;
};

// Kernels of an instruction set, or those of amx_bf16 with emulated tiles.
struct Kind {
  // NOLINTNEXTLINE(google-explicit-constructor): an ISA is a kind.
  Kind(CpuIsa of, bool with_emulation = false)
      : isa(of), emulated(with_emulation) {}
  CpuIsa isa;
  bool emulated;
};

std::vector<Kind> RunnableKinds() {
  std::vector<Kind> kinds;
  for (CpuIsa isa : RunnableIsasAndExtensions()) kinds.emplace_back(isa);
#if defined(__x86_64__)
  if (CpuSupports(CpuIsa::avx512_bf16)) {
    kinds.emplace_back(CpuIsa::amx_bf16, true);
  }
#endif
  return kinds;
}

const HalfKernels *HalfKernelsOf(const Kind &kind, WeightType type) {
#if defined(__x86_64__)
  if (kind.emulated) {
    const bool pairs = type == WeightType::kBf16Pairs;
    return pairs ? &amx_emulated::kBf16Kernels : nullptr;
  }
#endif
  return HalfKernelsFor(kind.isa, type);
}

std::string Describe(const Case &c, const Kind &kind, uint32_t seed) {
  const ConvShape &s = c.shape;
  std::string text = std::string(CpuIsaName(kind.isa)) +
                     (kind.emulated ? ", emulated, in" : " in");
  for (ptrdiff_t v :
       {s.batch, s.in_h, s.in_w, s.in_c, s.kernel_h, s.kernel_w, s.stride_h,
        s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, s.out_h,
        s.out_w, s.out_c, s.groups}) {
    text += " " + std::to_string(v);
  }
  return text + " type " + std::to_string(static_cast<int>(c.w_type)) +
         " bias " + std::to_string(c.bias) + " residual " +
         std::to_string(c.residual) + " clamp " + std::to_string(c.clamp) +
         " extra " + std::to_string(c.extra_stride) + " threads " +
         std::to_string(c.threads) + " keeps bf16 " +
         std::to_string(c.keeps_bf16) + " seed " + std::to_string(seed);
}

struct FreeDeleter {
  void operator()(void *p) const { std::free(p); }
};

struct Data {
  std::vector<float> input;
  std::vector<float> filter;  // [O][KH * KW * I / groups], as stored values
  std::vector<float> bias;
  std::vector<float> residual;
  std::vector<char> packed;
};

size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

// Where weight i of [KH * KW][channels] lies within a panel of 16 columns.
size_t PanelOffset(WeightType type, size_t i, size_t channels, size_t column) {
  if (type != WeightType::kBf16Pairs) return i * 16 + column;
  const size_t k = i / channels * (channels + channels % 2) + i % channels;
  return k / 2 * 32 + column * 2 + k % 2;
}

// [O][K] to [groups] panels of the storage type (WeightType); rounds
// data->filter to what the storage holds.
void Pack(const Case &c, Data *data) {
  const ConvShape &s = c.shape;
  const size_t channels = Size(s.in_c / s.groups);
  const size_t k = Size(s.kernel_h * s.kernel_w) * channels;
  const bool pairs = c.w_type == WeightType::kBf16Pairs;
  const size_t stored = pairs ? k / channels * (channels + channels % 2) : k;
  const size_t columns = Size(s.out_c / s.groups);
  const size_t panels = PanelCount(columns);
  const size_t panel_bytes = PanelBytes(c.w_type, stored);
  data->packed.assign(Size(s.groups) * panels * panel_bytes, 0);
  for (size_t o = 0; o < Size(s.out_c); ++o) {
    const size_t n = o % columns;
    char *panel =
        data->packed.data() + (o / columns * panels + n / 16) * panel_bytes;
    float *row = &data->filter[o * k];
    if (c.w_type == WeightType::kI8) {
      ToInt8Weights(row, k, n % 16, panel);
      continue;
    }
    for (size_t i = 0; i < k; ++i) {
      const size_t at = PanelOffset(c.w_type, i, channels, n % 16);
      if (c.w_type == WeightType::kF32) {
        std::memcpy(panel + at * 4, &row[i], 4);
        continue;
      }
      const bool half = c.w_type == WeightType::kF16;
      const uint16_t bits = half ? ToF16(row[i]) : ToBf16(row[i]);
      row[i] = half ? FromF16(bits) : FromBf16(bits);
      std::memcpy(panel + at * 2, &bits, 2);
    }
  }
}

std::vector<float> Numbers(const Case &c, size_t count, Random *random) {
  if (!c.whole) return random->Floats(count);
  std::vector<float> v = random->Floats(count, -2.5f, 2.5f);
  for (float &x : v) x = std::nearbyint(x);
  return v;
}

Data MakeData(const Case &c, Random *random) {
  const ConvShape &s = c.shape;
  Data d;
  d.input = Numbers(c, Size(s.batch * s.in_h * s.in_w * s.in_c), random);
  d.filter = Numbers(
      c, Size(s.out_c * s.kernel_h * s.kernel_w * (s.in_c / s.groups)), random);
  d.bias = Numbers(c, Size(s.out_c), random);
  d.residual = Numbers(c, Size(s.batch * s.out_h * s.out_w * s.out_c), random);
  Pack(c, &d);
  return d;
}

// The clamp of the tests cuts off a good part of the results.
constexpr float kLow = -0.25f;
constexpr float kHigh = 0.75f;

// Whether the case is about activations of bf16 and the kernels have products
// of them.
bool KeepsBf16(const Case &c, const Kind &kind) {
  return c.keeps_bf16 && HalfKernelsOf(kind, c.w_type) != nullptr;
}

ConvPlan PlanFor(const Case &c, const Kind &kind) {
  const Kernels *kernels = c.w_type == WeightType::kI8
                               ? Int8WeightKernelsFor(kind.isa)
                               : KernelsFor(kind.isa);
  return PlanConv(
      c.shape, c.w_type, kernels, HalfKernelsOf(kind, c.w_type), c.threads,
      c.w_type == WeightType::kF16 ? Fp16KernelsFor(kind.isa) : nullptr,
      !KeepsBf16(c, kind) ? Stored::kFloat
      : c.of_floats       ? Stored::kBf16OfFloats
                          : Stored::kBf16);
}

std::vector<uint16_t> AllToHalf(const std::vector<float> &values, bool bf16) {
  std::vector<uint16_t> halves;
  halves.reserve(values.size());
  for (float x : values) halves.push_back(bf16 ? ToBf16(x) : ToF16(x));
  return halves;
}

struct Memory {
  explicit Memory(size_t size)
      : bytes((size + 63) / 64 * 64 + 64), p(std::aligned_alloc(64, bytes)) {
    std::memset(p.get(), 0xff, bytes);  // NaN, should anything leak
  }
  size_t bytes;
  std::unique_ptr<void, FreeDeleter> p;
};

// Every pixel, in parts of odd sizes.
void StageAll(const ConvPlan &plan, const ConvArgs &args) {
  for (ptrdiff_t at = 0; at < plan.staged_pixels;) {
    const ptrdiff_t end = std::min(plan.staged_pixels, at + 37);
    StagePixels(plan, args, at, end);
    at = end;
  }
}

std::vector<float> RunAll(const Case &c, const Data &d, const Kind &kind) {
  const ConvShape &s = c.shape;
  const ConvPlan plan = PlanFor(c, kind);
  const size_t stride = Size(s.out_c) + c.extra_stride;
  std::vector<float> out(Size(plan.rows) * stride, kGuard);
  const Memory scratch(plan.scratch_bytes);
  const Memory staged(plan.staged_bytes);
  ConvArgs args;
  args.input = d.input.data();
  args.weights = d.packed.data();
  args.output = out.data();
  args.output_stride = stride;
  args.epilogue.bias = c.bias ? d.bias.data() : nullptr;
  args.epilogue.residual = c.residual ? d.residual.data() : nullptr;
  args.epilogue.residual_stride = Size(s.out_c);
  args.epilogue.clamp = c.clamp;
  args.epilogue.low = kLow;
  args.epilogue.high = kHigh;
  args.staged = staged.p.get();
  std::vector<uint16_t> half_out;
  std::vector<uint16_t> half_input;
  std::vector<uint16_t> half_residual;
  const bool bf16 = plan.fp16 == nullptr;
  if (plan.half_activations) {
    half_out = AllToHalf(out, bf16);
    half_residual = AllToHalf(d.residual, bf16);
    args.output = nullptr;
    args.output_half = half_out.data();
    args.residual_half = c.residual ? half_residual.data() : nullptr;
    args.epilogue.residual = nullptr;
  }
  if (plan.half_image) {
    half_input = AllToHalf(d.input, bf16);
    args.input_half = half_input.data();
    args.input = nullptr;
  }
  StageAll(plan, args);
  for (ptrdiff_t task = plan.tasks; task-- > 0;) {
    RunConvTask(plan, args, task, scratch.p.get());
  }
  for (size_t i = 0; i < half_out.size(); ++i) {
    out[i] = bf16 ? FromBf16(half_out[i]) : FromF16(half_out[i]);
  }
  return out;
}

struct Expected {
  double value;
  double bound;
};

// `input` is d.input, or that as bf16.
Expected Reference(const Case &c,
                   const Data &d,
                   const std::vector<float> &input,
                   ptrdiff_t row,
                   ptrdiff_t o) {
  const ConvShape &s = c.shape;
  const ptrdiff_t n = row / (s.out_h * s.out_w);
  const ptrdiff_t oh = row / s.out_w % s.out_h;
  const ptrdiff_t ow = row % s.out_w;
  const ptrdiff_t channels = s.in_c / s.groups;
  const ptrdiff_t group = o / (s.out_c / s.groups);
  double sum = c.bias ? d.bias[Size(o)] : 0.0;
  double magnitude = std::fabs(sum);
  for (ptrdiff_t i = 0; i < s.kernel_h; ++i) {
    for (ptrdiff_t j = 0; j < s.kernel_w; ++j) {
      const ptrdiff_t h = oh * s.stride_h - s.pad_top + i * s.dilation_h;
      const ptrdiff_t w = ow * s.stride_w - s.pad_left + j * s.dilation_w;
      if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) continue;
      const float *x = input.data() + ((n * s.in_h + h) * s.in_w + w) * s.in_c +
                       group * channels;
      const float *f =
          d.filter.data() + ((o * s.kernel_h + i) * s.kernel_w + j) * channels;
      for (ptrdiff_t k = 0; k < channels; ++k) {
        const double product = static_cast<double>(x[k]) * f[k];
        sum += product;
        magnitude += std::fabs(product);
      }
    }
  }
  if (c.residual) {
    const double r = d.residual[Size(row * s.out_c + o)];
    sum += r;
    magnitude += std::fabs(r);
  }
  if (c.clamp) sum = std::min(std::max(sum, double{kLow}), double{kHigh});
  // Two roundings per product (no fused form on sse41) and two more.
  const double steps =
      2.0 * static_cast<double>(s.kernel_h * s.kernel_w * channels) + 2.0;
  const double bound = steps * std::ldexp(magnitude, -24);
  if (c.keeps_bf16) return {sum, bound + std::fabs(sum) * 0x1p-8};
  return {sum, c.whole ? bound + std::fabs(sum) * 0x1p-11 : bound};
}

std::vector<Expected> References(const Case &c,
                                 const Data &d,
                                 const std::vector<float> &input) {
  const ConvShape &s = c.shape;
  const ptrdiff_t rows = s.batch * s.out_h * s.out_w;
  std::vector<Expected> want;
  want.reserve(Size(rows * s.out_c));
  for (ptrdiff_t row = 0; row < rows; ++row) {
    for (ptrdiff_t o = 0; o < s.out_c; ++o) {
      want.push_back(Reference(c, d, input, row, o));
    }
  }
  return want;
}

// Whether `got` is as wanted, with nothing written between the rows.
bool Compare(const Case &c,
             const std::vector<Expected> &want,
             const std::vector<float> &got) {
  const size_t columns = Size(c.shape.out_c);
  const size_t stride = columns + c.extra_stride;
  int wrong = 0;
  for (size_t at = 0; at < got.size() && wrong < 5; ++at) {
    const size_t row = at / stride;
    const size_t o = at % stride;
    const float x = got[at];
    if (o >= columns) {
      EXPECT_EQ(x, kGuard) << "written beyond the row, row " << row;
      wrong += x != kGuard;
      continue;
    }
    const Expected &e = want[row * columns + o];
    const bool near = Near(x, e.value, e.bound);
    EXPECT_TRUE(near) << "row " << row << " column " << o << ": " << x
                      << " instead of " << e.value << " +- " << e.bound;
    wrong += !near;
  }
  return wrong == 0;
}

void CheckOn(const std::vector<Kind> &isas, const Case &c, uint32_t seed) {
  Random random(seed);
  Data d = MakeData(c, &random);
  if (isas.empty()) return;
  std::vector<float> rounded = d.input;
  // Nothing is lost of whole numbers.
  const ConvPlan plan = PlanFor(c, isas.front());
  const bool as_it_is =
      plan.vector && !plan.half_image && plan.staged_pixels == 0;
  if (plan.half != nullptr && !c.whole && !as_it_is) {
    for (float &x : rounded) x = FromBf16(ToBf16(x));
  }
  if (c.keeps_bf16) {
    for (float &x : d.residual) x = FromBf16(ToBf16(x));
  }
  const std::vector<Expected> want = References(c, d, rounded);
  for (const Kind &isa : isas) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    if (!Compare(c, want, RunAll(c, d, isa))) return;
  }
}

void Check(Case c, uint32_t seed) {
  std::vector<Kind> in_float;
  std::vector<Kind> in_half;
  for (const Kind &isa : RunnableKinds()) {
    if (PlanFor(c, isa).half != nullptr || PlanFor(c, isa).fp16 != nullptr) {
      in_half.push_back(isa);
    } else if (c.w_type == WeightType::kBf16Pairs || IsBase(isa.isa)) {
      in_float.push_back(isa);
    }
  }
  CheckOn(in_float, c, seed);
  if (c.w_type == WeightType::kBf16Pairs) {
    std::vector<Kind> in_bf16;
    Case kept = c;
    kept.keeps_bf16 = true;
    for (const Kind &isa : RunnableKinds()) {
      if (KeepsBf16(kept, isa)) in_bf16.push_back(isa);
    }
    CheckOn(in_bf16, kept, seed);
    kept.of_floats = true;
    CheckOn(in_bf16, kept, seed);
  }
  c.whole = c.w_type == WeightType::kF16;
  CheckOn(in_half, c, seed);
}

ConvShape Square(ptrdiff_t size,
                 ptrdiff_t in_c,
                 ptrdiff_t kernel,
                 ptrdiff_t stride,
                 ptrdiff_t pad,
                 ptrdiff_t out_c) {
  ConvShape s;
  s.in_h = size;
  s.in_w = size;
  s.in_c = in_c;
  s.kernel_h = kernel;
  s.kernel_w = kernel;
  s.stride_h = stride;
  s.stride_w = stride;
  s.pad_top = pad;
  s.pad_left = pad;
  s.out_h = (size + 2 * pad - kernel) / stride + 1;
  s.out_w = s.out_h;
  s.out_c = out_c;
  return s;
}

TEST(ConvGemm, EveryRowCountAndColumnTail) {
  uint32_t seed = 1;
  for (ptrdiff_t rows = 1; rows <= 30; ++rows) {
    for (ptrdiff_t columns :
         {1, 7, 8, 15, 16, 17, 31, 33, 48, 63, 64, 80, 97}) {
      Case c;
      c.shape = MatrixShape(rows, 5 + rows % 4, columns);
      c.residual = rows % 2 == 0;
      c.clamp = rows % 3 == 0;
      c.extra_stride = rows % 5 == 0 ? 3 : 0;
      c.bias = rows % 7 != 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(ConvGemm, EveryRowCountAndColumnTailOfNarrowWeights) {
  constexpr WeightType kTypes[] = {WeightType::kBf16Pairs, WeightType::kF16,
                                   WeightType::kI8};
  uint32_t seed = 600;
  for (ptrdiff_t rows = 1; rows <= 30; ++rows) {
    for (ptrdiff_t columns : {1, 15, 16, 33, 48, 63, 80, 97}) {
      Case c;
      c.shape = MatrixShape(rows, 5 + rows % 13, columns);
      c.w_type = kTypes[seed % 3];
      c.residual = columns % 2 == 0;
      c.clamp = rows % 3 == 0;
      c.extra_stride = rows % 5 == 0 ? 3 : 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

TEST(ConvGemm, DepthAcrossStretches) {
  uint32_t seed = 100;
  for (ptrdiff_t depth :
       {1, 3, 34, 74, 144, 320, 512, 513, 600, 1026, 1537, 2601}) {
    for (WeightType type : kWeightTypes) {
      for (ptrdiff_t rows : {1, 9}) {
        Case c;
        c.shape = MatrixShape(rows, depth, 24);
        c.w_type = type;
        c.clamp = true;
        c.residual = true;
        Check(c, seed++);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(ConvGemm, KernelsOfNetworks) {
  uint32_t seed = 200;
  std::vector<ConvShape> shapes = {
      Square(23, 3, 7, 2, 3, 64),   // ResNet's first
      Square(23, 3, 3, 2, 1, 32),   // MobileNet's first
      Square(31, 3, 11, 4, 2, 24),  // AlexNet's first
      Square(9, 64, 3, 1, 1, 64),  Square(9, 64, 3, 2, 1, 40),
      Square(7, 20, 5, 1, 2, 20),  Square(7, 128, 1, 2, 0, 96),
      Square(7, 70, 7, 1, 0, 50),   // the whole image: one row
      Square(5, 600, 3, 1, 1, 17),  // a tap longer than a stretch
      Square(1, 33, 3, 1, 1, 9),    // more padding than image
      Square(2, 3, 5, 1, 3, 9),
  };
  for (const ConvShape &shape : shapes) {
    for (WeightType type : kWeightTypes) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.clamp = seed % 2 == 0;
      Check(c, seed++);
      if (HasFailure()) return;
    }
  }
}

// More rows than a group of tiles has, and steps of every kind.
TEST(ConvGemm, ManyTiles) {
  uint32_t seed = 300;
  std::vector<ConvShape> shapes = {
      MatrixShape(150, 144, 40),   MatrixShape(530, 46, 33),
      MatrixShape(67, 1400, 70),   Square(20, 38, 3, 1, 1, 40),
      Square(35, 16, 3, 2, 1, 18), Square(14, 96, 3, 1, 2, 48),
      Square(9, 80, 3, 1, 1, 24),   // steps of two lengths in many taps
      MatrixShape(40, 30, 300),     // more columns than wait for their rows
      MatrixShape(35, 2080, 130),   // more weights than stay
      Square(19, 40, 1, 2, 0, 20),  // rows far apart: packed
  };
  for (const ConvShape &shape : shapes) {
    Case c;
    c.shape = shape;
    c.w_type = WeightType::kBf16Pairs;
    c.clamp = true;
    c.residual = true;
    c.threads = 1 + static_cast<int>(seed % 2);
    Check(c, seed++);
    if (HasFailure()) return;
  }
}

TEST(ConvGemm, RandomGeometry) {
  Random random(7);
  for (uint32_t i = 0; i < 150; ++i) {
    Case c;
    ConvShape &s = c.shape;
    s.groups = random.Int(0, 3) == 0 ? random.Int(2, 4) : 1;
    s.batch = random.Int(1, 2);
    s.in_h = random.Int(1, 12);
    s.in_w = random.Int(1, 12);
    s.in_c = s.groups * random.Int(1, random.Int(0, 1) == 0 ? 6 : 40);
    s.out_c = s.groups * random.Int(1, 70);
    s.kernel_h = random.Int(1, 4);
    s.kernel_w = random.Int(1, 4);
    s.stride_h = random.Int(1, 3);
    s.stride_w = random.Int(1, 3);
    s.dilation_h = random.Int(1, 2);
    s.dilation_w = random.Int(0, 2) == 0 ? 2 : 1;
    s.pad_top = random.Int(0, 3);
    s.pad_left = random.Int(0, 3);
    const ptrdiff_t full_h =
        s.in_h + s.pad_top + random.Int(0, 3) - (s.kernel_h - 1) * s.dilation_h;
    const ptrdiff_t full_w = s.in_w + s.pad_left + random.Int(0, 3) -
                             (s.kernel_w - 1) * s.dilation_w;
    if (full_h < 1 || full_w < 1) continue;
    s.out_h = (full_h - 1) / s.stride_h + 1;
    s.out_w = (full_w - 1) / s.stride_w + 1;
    c.w_type = static_cast<WeightType>(random.Int(0, 4));
    c.bias = random.Int(0, 3) != 0;
    c.residual = random.Int(0, 2) == 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = Size(random.Int(0, 2) * 5);
    c.threads = static_cast<int>(random.Int(1, 4));
    Check(c, 1000 + i);
    if (HasFailure()) return;
  }
}

TEST(ConvGemm, ThreadCountDoesNotChangeABit) {
  for (const ConvShape &shape :
       {Square(14, 20, 3, 1, 1, 100), Square(30, 3, 3, 2, 1, 40),
        MatrixShape(49, 520, 70), MatrixShape(1, 513, 1001),
        MatrixShape(2000, 6, 70)}) {
    for (WeightType type : {WeightType::kF32, WeightType::kF16,
                            WeightType::kBf16Pairs, WeightType::kI8}) {
      Case c;
      c.shape = shape;
      c.w_type = type;
      c.residual = true;
      Random random(11);
      const Data d = MakeData(c, &random);
      for (const Kind &isa : RunnableKinds()) {
        c.threads = 1;
        c.keeps_bf16 = !c.keeps_bf16;  // by turns
        const std::vector<float> one = RunAll(c, d, isa);
        // Halves share their plan with floats; emulated ones take long.
        const std::vector<int> counts = type == WeightType::kF32
                                            ? std::vector<int>{2, 3, 4, 8}
                                            : std::vector<int>{3};
        for (int threads : counts) {
          c.threads = threads;
          EXPECT_EQ(0, std::memcmp(one.data(), RunAll(c, d, isa).data(),
                                   one.size() * sizeof(float)))
              << Describe(c, isa, random.seed());
        }
      }
    }
  }
}

TEST(ConvGemm, SinglePassMayAddInPlace) {
  for (ptrdiff_t depth : {64, 511, 512, 513}) {
    for (ptrdiff_t rows : {1, 20}) {
      Case c;
      c.shape = MatrixShape(rows, depth, 50);
      c.residual = true;
      Random random(14);
      const Data d = MakeData(c, &random);
      for (CpuIsa isa : RunnableIsas()) {
        const ConvPlan plan = PlanFor(c, isa);
        EXPECT_EQ(plan.single_pass, rows == 1 || depth <= 512);
        if (!plan.single_pass) continue;
        const std::vector<float> apart = RunAll(c, d, isa);
        std::vector<float> out = d.residual;
        ConvArgs args;
        args.input = d.input.data();
        args.weights = d.packed.data();
        args.output = out.data();
        args.output_stride = 50;
        args.epilogue.bias = d.bias.data();
        args.epilogue.residual = out.data();
        args.epilogue.residual_stride = 50;
        std::vector<double> scratch(plan.scratch_bytes / 8 + 16);
        for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
          RunConvTask(plan, args, task, scratch.data());
        }
        EXPECT_EQ(out, apart) << Describe(c, isa, random.seed());
      }
    }
  }
}

// Whatever the depth: sums rest elsewhere.
TEST(ConvGemm, Bf16ResultsMayReplaceTheirResidual) {
  for (ptrdiff_t depth : {64, 1100}) {
    for (ptrdiff_t rows : {1, 20, 40}) {
      Case c;
      c.shape = MatrixShape(rows, depth, 90);
      c.w_type = WeightType::kBf16Pairs;
      c.residual = true;
      c.keeps_bf16 = true;
      Random random(16);
      const Data d = MakeData(c, &random);
      for (const Kind &kind : RunnableKinds()) {
        if (!KeepsBf16(c, kind)) continue;
        const std::vector<float> apart = RunAll(c, d, kind);
        const ConvPlan plan = PlanFor(c, kind);
        EXPECT_TRUE(plan.single_pass);
        const std::vector<uint16_t> input = AllToHalf(d.input, true);
        std::vector<uint16_t> out = AllToHalf(d.residual, true);
        const Memory scratch(plan.scratch_bytes);
        ConvArgs args;
        args.input_half = input.data();
        args.weights = d.packed.data();
        args.output_half = out.data();
        args.output_stride = 90;
        args.residual_half = out.data();
        args.epilogue.bias = d.bias.data();
        args.epilogue.residual_stride = 90;
        for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
          RunConvTask(plan, args, task, scratch.p.get());
        }
        EXPECT_EQ(out, AllToHalf(apart, true))
            << Describe(c, kind, random.seed());
      }
    }
  }
}

// One after the other, 2048 fifteens are added as sixteens in fp16 once their
// sum has passed 8192. Chains end at 128 x 15 = 1920, up to where fp16 holds
// all whole numbers; it holds the multiples of 1920 too, up to the four of a
// stretch, and stretches are float: nothing is rounded.
TEST(ConvGemm, Fp16SumsAreOfShortChains) {
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    for (const ConvShape &shape :
         {MatrixShape(9, 2048, 24), Square(3, 512, 2, 1, 0, 24),
          Square(5, 32, 5, 1, 2, 24)}) {
      Case c;
      c.shape = shape;
      c.w_type = WeightType::kF16;
      if (PlanFor(c, isa).fp16 == nullptr) continue;
      const size_t taps = static_cast<size_t>(shape.kernel_h * shape.kernel_w);
      const size_t depth = static_cast<size_t>(shape.in_c) * taps;
      const size_t pixels = static_cast<size_t>(shape.out_h * shape.out_w);
      Data d;
      d.input.assign(static_cast<size_t>(shape.in_h * shape.in_w * shape.in_c),
                     1.0f);
      d.filter.assign(24 * depth, 15.0f);
      d.bias.assign(24, 0.0f);
      d.residual.assign(pixels * 24, 0.0f);
      Pack(c, &d);
      const std::vector<float> out = RunAll(c, d, isa);
      // The middle sees all taps.
      EXPECT_EQ(out[pixels / 2 * 24], 15.0f * static_cast<float>(depth));
    }
  }
}

// Several rows meet the very floats that the weights stand for.
TEST(ConvGemm, Int8WeightsGiveTheBitsOfTheirFloats) {
  for (const ConvShape &shape :
       {Square(9, 20, 3, 1, 1, 70), Square(12, 3, 3, 2, 1, 40),
        MatrixShape(7, 1300, 50)}) {
    Case c;
    c.shape = shape;
    c.w_type = WeightType::kI8;
    Random random(15);
    Data d = MakeData(c, &random);
    Case whole = c;
    whole.w_type = WeightType::kF32;
    Data same = d;
    Pack(whole, &same);
    for (CpuIsa isa : RunnableIsas()) {
      EXPECT_EQ(RunAll(c, d, isa), RunAll(whole, same, isa))
          << Describe(c, isa, random.seed());
    }
  }
}

TEST(ConvGemm, NanAndInfinitySurviveTheClamp) {
  Case c;
  c.shape = MatrixShape(13, 6, 40);
  c.clamp = true;
  Random random(12);
  Data d = MakeData(c, &random);
  d.input[2 * 6 + 1] = std::numeric_limits<float>::quiet_NaN();
  for (CpuIsa isa : RunnableIsas()) {
    const std::vector<float> out = RunAll(c, d, isa);
    for (size_t n = 0; n < 40; ++n) {
      EXPECT_TRUE(std::isnan(out[2 * 40 + n])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out[3 * 40 + n])) << CpuIsaName(isa);
    }
  }
}

TEST(ConvGemm, RegionsCoverTheOutputOnce) {
  ConvShape s = Square(20, 12, 3, 1, 1, 90);
  s.groups = 3;
  for (int threads : {1, 2, 5}) {
    const ConvPlan plan = PlanConv(s, WeightType::kF32,
                                   KernelsFor(BestCpuIsa()), nullptr, threads);
    std::vector<int> seen(Size(plan.rows * s.out_c), 0);
    for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
      const ConvRegion r = RegionOf(plan, task);
      for (ptrdiff_t m = r.row_begin; m < r.row_end; ++m) {
        for (ptrdiff_t n = r.column_begin; n < r.column_end; ++n) {
          ++seen[Size(m * s.out_c + n)];
        }
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), plan.rows * s.out_c);
  }
}

}  // namespace
}  // namespace mace::gemm

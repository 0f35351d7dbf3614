// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/direct_testing.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gtest/gtest.h"

#if defined(__x86_64__) && !defined(MACE_ONLY_AVX2) && !defined(MACE_ONLY_SSE41)
namespace mace::gemm::amx_emulated {
extern const Arithmetic kBf16Arithmetic;
}
#endif

namespace mace::conv {

namespace {

constexpr float kGuard = 12288.0f;  // exact in fp16 and bf16, too

// The arithmetic for weights of that type.
const Arithmetic *ArithmeticOf(const Kind &kind, WeightType type) {
  const Arithmetic *found = nullptr;
  if (type == WeightType::kBf16Pairs) {
    found = gemm::ArithmeticFor(gemm::ArithmeticKind::kBf16, kind.isa);
#if defined(__x86_64__) && !defined(MACE_ONLY_AVX2) && !defined(MACE_ONLY_SSE41)
    if (kind.emulated) found = &gemm::amx_emulated::kBf16Arithmetic;
#endif
  } else if (type == WeightType::kF16) {
    found = gemm::ArithmeticFor(gemm::ArithmeticKind::kFp16, kind.isa);
  } else if (type == WeightType::kI8) {
    found = gemm::ArithmeticFor(gemm::ArithmeticKind::kInt8Weights, kind.isa);
  }
  return found != nullptr
             ? found
             : gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, kind.isa);
}

// The offset of weight i of [KH * KW][channels] in a panel of 16 columns.
size_t PanelOffset(WeightType type, size_t i, size_t channels, size_t column) {
  if (type != WeightType::kBf16Pairs) return i * 16 + column;
  const size_t k = i / channels * (channels + channels % 2) + i % channels;
  return k / 2 * 32 + column * 2 + k % 2;
}

std::vector<float> Numbers(const Case &c, size_t count, Random *random) {
  if (!c.whole) return random->Floats(count);
  std::vector<float> v = random->Floats(count, -2.5f, 2.5f);
  for (float &x : v) x = std::nearbyint(x);
  return v;
}

// The clamp of the tests changes many of the results.
constexpr float kLow = -0.25f;
constexpr float kHigh = 0.75f;

// Stages every pixel, in parts of odd sizes.
void StageAll(const DirectPlan &plan, const Args &args) {
  for (ptrdiff_t at = 0; at < plan.staged_pixels;) {
    const ptrdiff_t end = std::min(plan.staged_pixels, at + 37);
    StagePixels(plan, args, at, end);
    at = end;
  }
}

struct Expected {
  double value;
  double bound;
};

// `input` is d.input, or d.input rounded to bf16.
Expected Reference(const Case &c,
                   const Data &d,
                   const std::vector<float> &input,
                   ptrdiff_t row,
                   ptrdiff_t o) {
  const Shape &s = c.shape;
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
  // Two roundings per product (sse41 has no fused form) and two more.
  const double steps =
      2.0 * static_cast<double>(s.kernel_h * s.kernel_w * channels) + 2.0;
  const double bound = steps * std::ldexp(magnitude, -24);
  if (c.keeps_bf16) return {sum, bound + std::fabs(sum) * 0x1p-8};
  return {sum, c.whole ? bound + std::fabs(sum) * 0x1p-11 : bound};
}

std::vector<Expected> References(const Case &c,
                                 const Data &d,
                                 const std::vector<float> &input) {
  const Shape &s = c.shape;
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

// Whether `got` has the expected values, and nothing was written between the
// rows.
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
  if (isas.empty()) return;
  Random random(seed);
  Data d = MakeData(c, &random);
  std::vector<float> rounded = d.input;
  // Whole numbers are not rounded.
  const DirectPlan plan = PlanFor(c, isas.front());
  const bool as_it_is =
      plan.vector && plan.image == Element::kF32 && plan.staged_pixels == 0;
  if (plan.element == Element::kBf16 && !c.whole && !as_it_is) {
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

}  // namespace

std::vector<Kind> RunnableKinds() {
  std::vector<Kind> kinds;
  for (CpuIsa isa : RunnableFloatIsas()) kinds.emplace_back(isa);
#if defined(__x86_64__) && !defined(MACE_ONLY_AVX2) && !defined(MACE_ONLY_SSE41)
  if (CpuSupports(CpuIsa::avx512_bf16)) {
    kinds.emplace_back(CpuIsa::amx_bf16, true);
  }
#endif
  return kinds;
}

std::string Describe(const Case &c, const Kind &kind, uint32_t seed) {
  const Shape &s = c.shape;
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

void Pack(const Case &c, Data *data) {
  const Shape &s = c.shape;
  const size_t channels = Size(s.in_c / s.groups);
  const size_t k = Size(s.kernel_h * s.kernel_w) * channels;
  const bool pairs = c.w_type == WeightType::kBf16Pairs;
  const size_t stored = pairs ? k / channels * (channels + channels % 2) : k;
  const size_t columns = Size(s.out_c / s.groups);
  const size_t panels = gemm::PanelCount(columns);
  const size_t panel_bytes = gemm::PanelBytes(c.w_type, stored);
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

Data MakeData(const Case &c, Random *random) {
  const Shape &s = c.shape;
  Data d;
  d.input = Numbers(c, Size(s.batch * s.in_h * s.in_w * s.in_c), random);
  d.filter = Numbers(
      c, Size(s.out_c * s.kernel_h * s.kernel_w * (s.in_c / s.groups)), random);
  d.bias = Numbers(c, Size(s.out_c), random);
  d.residual = Numbers(c, Size(s.batch * s.out_h * s.out_w * s.out_c), random);
  Pack(c, &d);
  return d;
}

bool KeepsBf16(const Case &c, const Kind &kind) {
  return c.keeps_bf16 &&
         ArithmeticOf(kind, c.w_type)->element == Element::kBf16;
}

DirectPlan PlanFor(const Case &c, const Kind &kind) {
  DirectRequest request;
  request.shape = c.shape;
  request.w_type = c.w_type;
  request.arithmetic = ArithmeticOf(kind, c.w_type);
  if (request.arithmetic->element == Element::kF16) {
    request.image = request.results = Element::kF16;
  } else if (KeepsBf16(c, kind)) {
    request.image = c.of_floats ? Element::kF32 : Element::kBf16;
    request.results = Element::kBf16;
  }
  request.threads = c.threads;
  request.skipping = c.skipping;
  return PlanDirect(request);
}

std::vector<uint16_t> AllToHalf(const std::vector<float> &values, bool bf16) {
  std::vector<uint16_t> halves;
  halves.reserve(values.size());
  for (float x : values) halves.push_back(bf16 ? ToBf16(x) : ToF16(x));
  return halves;
}

std::vector<float> RunAll(const Case &c, const Data &d, const Kind &kind) {
  const Shape &s = c.shape;
  const DirectPlan plan = PlanFor(c, kind);
  const size_t stride = Size(s.out_c) + c.extra_stride;
  std::vector<float> out(Size(plan.rows) * stride, kGuard);
  const Memory scratch(plan.scratch_bytes);
  const Memory staged(plan.staged_bytes);
  Args args;
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
  const bool bf16 = plan.arithmetic->element == Element::kBf16;
  if (plan.results != Element::kF32) {
    half_out = AllToHalf(out, bf16);
    half_residual = AllToHalf(d.residual, bf16);
    args.output = half_out.data();
    args.epilogue.residual = c.residual ? half_residual.data() : nullptr;
  }
  if (plan.image != Element::kF32) {
    half_input = AllToHalf(d.input, bf16);
    args.input = half_input.data();
  }
  StageAll(plan, args);
  for (ptrdiff_t task = plan.tasks; task-- > 0;) {
    RunDirectTask(plan, args, task, scratch.p.get());
  }
  for (size_t i = 0; i < half_out.size(); ++i) {
    out[i] = bf16 ? FromBf16(half_out[i]) : FromF16(half_out[i]);
  }
  return out;
}

void Check(Case c, uint32_t seed) {
  std::vector<Kind> in_float;
  std::vector<Kind> in_half;
  for (const Kind &isa : RunnableKinds()) {
    if (PlanFor(c, isa).element != Element::kF32) {
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

Shape Square(ptrdiff_t size,
             ptrdiff_t in_c,
             ptrdiff_t kernel,
             ptrdiff_t stride,
             ptrdiff_t pad,
             ptrdiff_t out_c) {
  Shape s;
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

Shape Dilated(ptrdiff_t size,
              ptrdiff_t in_c,
              ptrdiff_t dilation,
              ptrdiff_t out_c) {
  Shape s = Square(size, in_c, 3, 1, dilation, out_c);
  s.dilation_h = dilation;
  s.dilation_w = dilation;
  s.out_h = size;
  s.out_w = size;
  return s;
}

}  // namespace mace::conv

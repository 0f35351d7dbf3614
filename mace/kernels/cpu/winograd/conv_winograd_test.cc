// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Winograd convolution against the definition in double precision, over every
// ISA of this machine.

#include "mace/kernels/cpu/winograd/conv_winograd.h"

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

namespace mace::winograd {
namespace {

constexpr float kGuard = 12345.0f;
// Cuts off a good part of the results.
constexpr float kLow = -0.25f;
constexpr float kHigh = 0.75f;

size_t Size(ptrdiff_t x) { return static_cast<size_t>(x); }

struct Case {
  gemm::ConvShape shape;
  int tile = 4;
  gemm::WeightType type = gemm::WeightType::kF32;
  bool bias = true;
  bool residual = false;
  bool clamp = false;
  size_t extra_stride = 0;
  int threads = 1;
  bool half = false;  // everything in fp16
  bool each_run = false;
};

std::vector<CpuIsa> IsasFor(const Case &c) {
  if (!c.half) return RunnableIsas();
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : RunnableFloatIsas()) {
    if (HalfKernelsFor(isa) != nullptr) isas.push_back(isa);
  }
  return isas;
}

Case MakeCase(int tile,
              ptrdiff_t height,
              ptrdiff_t width,
              ptrdiff_t in_c,
              ptrdiff_t out_c,
              ptrdiff_t pad) {
  Case c;
  c.tile = tile;
  gemm::ConvShape &s = c.shape;
  s.in_h = height;
  s.in_w = width;
  s.in_c = in_c;
  s.out_c = out_c;
  s.kernel_h = s.kernel_w = 3;
  s.pad_top = s.pad_left = pad;
  s.out_h = height + 2 * pad - 2;
  s.out_w = width + 2 * pad - 2;
  return c;
}

std::string Describe(const Case &c, CpuIsa isa, uint32_t seed) {
  const gemm::ConvShape &s = c.shape;
  std::string text = std::string(CpuIsaName(isa)) + " shape";
  for (ptrdiff_t v : {s.batch, s.in_h, s.in_w, s.in_c, s.pad_top, s.pad_left,
                      s.out_h, s.out_w, s.out_c}) {
    text += " " + std::to_string(v);
  }
  return text + " tile " + std::to_string(c.tile) + " type " +
         std::to_string(static_cast<int>(c.type)) + " bias " +
         std::to_string(c.bias) + " residual " + std::to_string(c.residual) +
         " clamp " + std::to_string(c.clamp) + " extra " +
         std::to_string(c.extra_stride) + " threads " +
         std::to_string(c.threads) + " half " + std::to_string(c.half) +
         " each_run " + std::to_string(c.each_run) + " seed " +
         std::to_string(seed);
}

struct Data {
  std::vector<float> input;
  std::vector<float> filter;  // [O][3][3][C], as stored
  std::vector<float> bias;
  std::vector<float> residual;
  std::vector<char> packed;
};

Data MakeData(const Case &c, Random *random) {
  const gemm::ConvShape &s = c.shape;
  const size_t depth = Size(9 * s.in_c);
  const size_t panel_bytes = gemm::PanelBytes(c.type, depth);
  Data d;
  d.input = random->Floats(Size(s.batch * s.in_h * s.in_w * s.in_c));
  d.filter = random->Floats(Size(s.out_c) * depth);
  d.bias = random->Floats(Size(s.out_c));
  d.residual = random->Floats(Size(s.batch * s.out_h * s.out_w * s.out_c));
  d.packed.assign(gemm::PanelCount(Size(s.out_c)) * panel_bytes, 0);
  for (size_t o = 0; o < Size(s.out_c); ++o) {
    char *panel = d.packed.data() + o / 16 * panel_bytes;
    if (c.type == gemm::WeightType::kI8) {
      ToInt8Weights(&d.filter[o * depth], depth, o % 16, panel);
      continue;
    }
    for (size_t k = 0; k < depth; ++k) {
      float *value = &d.filter[o * depth + k];
      const size_t at = k * 16 + o % 16;
      if (c.type == gemm::WeightType::kF32) {
        std::memcpy(panel + at * 4, value, 4);
        continue;
      }
      const bool half = c.type == gemm::WeightType::kF16;
      const uint16_t bits = half ? ToF16(*value) : ToBf16(*value);
      *value = half ? FromF16(bits) : FromBf16(bits);
      std::memcpy(panel + at * 2, &bits, 2);
    }
  }
  return d;
}

struct FreeDeleter {
  void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, FreeDeleter>;

// Filled with NaN, should anything leak.
Memory Allocate(size_t bytes) {
  const size_t rounded = (bytes + 63) / 64 * 64 + 64;
  Memory memory(std::aligned_alloc(64, rounded));
  std::memset(memory.get(), 0xff, rounded);
  return memory;
}

ConvPlan MakePlan(const Case &c, CpuIsa isa) {
  PlanRequest request;
  request.shape = c.shape;
  request.method = {c.tile, c.each_run};
  request.weight_type = c.type;
  request.kernels = c.half ? HalfKernelsFor(isa) : KernelsFor(isa);
  request.gemm = gemm::KernelsFor(isa);
  if (c.half) request.fp16 = gemm::Fp16KernelsFor(isa);
  request.threads = c.threads;
  return PlanConv(request);
}

Memory TransformFilter(const Case &c, const Data &d, const ConvPlan &plan) {
  const size_t element = c.half ? sizeof(uint16_t) : sizeof(float);
  Memory filter = Allocate(FilterElements(plan) * element);
  FilterArgs args;
  args.from = d.packed.data();
  args.type = c.type;
  args.channels = Size(c.shape.in_c);
  args.to_stride = plan.filter_stride;
  for (size_t panel = 0; panel < Size(plan.panels); ++panel) {
    args.panel_begin = panel;
    args.panel_end = panel + 1;
    args.to = static_cast<char *>(filter.get()) +
              panel * args.channels * gemm::kPanelColumns * element;
    plan.transforms->filter(args);
  }
  return filter;
}

std::vector<uint16_t> AllToF16(const std::vector<float> &values) {
  std::vector<uint16_t> halves;
  halves.reserve(values.size());
  for (float x : values) halves.push_back(ToF16(x));
  return halves;
}

std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa) {
  const gemm::ConvShape &s = c.shape;
  const ConvPlan plan = MakePlan(c, isa);
  Memory filter;
  if (!c.each_run) filter = TransformFilter(c, d, plan);
  const Memory scratch = Allocate(plan.scratch_bytes);
  const size_t stride = Size(s.out_c) + c.extra_stride;
  std::vector<float> out(Size(s.batch * s.out_h * s.out_w) * stride, kGuard);
  gemm::ConvArgs args;
  args.input = d.input.data();
  args.weights = c.each_run ? d.packed.data() : filter.get();
  args.output = out.data();
  args.output_stride = stride;
  args.epilogue.bias = c.bias ? d.bias.data() : nullptr;
  args.epilogue.residual = c.residual ? d.residual.data() : nullptr;
  args.epilogue.residual_stride = Size(s.out_c);
  args.epilogue.clamp = c.clamp;
  args.epilogue.low = kLow;
  args.epilogue.high = kHigh;
  std::vector<uint16_t> half_out;
  std::vector<uint16_t> half_input;
  std::vector<uint16_t> half_residual;
  if (c.half) {
    half_out = AllToF16(out);
    half_input = AllToF16(d.input);
    half_residual = AllToF16(d.residual);
    args.input_half = half_input.data();
    args.output_half = half_out.data();
    args.residual_half = c.residual ? half_residual.data() : nullptr;
    args.epilogue.residual = nullptr;
  }
  for (ptrdiff_t task = plan.tasks; task-- > 0;) {
    RunConvTask(plan, args, task, scratch.get());
  }
  for (size_t i = 0; i < half_out.size(); ++i) out[i] = FromF16(half_out[i]);
  return out;
}

// ---- reference -------------------------------------------------------------

// The matrices of the method, from its points: element-wise absolute values,
// through which the bound follows the largest possible intermediate values.
struct Matrices {
  int t;
  std::vector<std::vector<double>> input;   // B', t x t
  std::vector<std::vector<double>> filter;  // G, t x 3
  std::vector<std::vector<double>> output;  // A', m x t
};

Matrices MakeMatrices(int tile) {
  std::vector<double> points = {0, 1, -1};
  if (tile == 4) points = {0, 0.75, -0.75, 1.5, -1.5};
  const int t = tile + 2;
  Matrices x;
  x.t = t;
  x.output.assign(Size(tile), std::vector<double>(Size(t), 0.0));
  // Coefficients of the product of (x - q) over all q but one; all for
  // infinity, whose other rows are unit vectors.
  for (int i = 0; i < t; ++i) {
    const bool infinity = i == t - 1;
    std::vector<double> polynomial = {1};
    double scale = 1;
    for (int j = 0; j < t - 1; ++j) {
      if (i == j) continue;
      polynomial.insert(polynomial.begin(), 0.0);
      for (size_t k = 0; k + 1 < polynomial.size(); ++k) {
        polynomial[k] -= points[Size(j)] * polynomial[k + 1];
      }
      if (!infinity) scale *= points[Size(i)] - points[Size(j)];
    }
    polynomial.resize(Size(t), 0.0);
    const double p = infinity ? 0 : points[Size(i)];
    x.input.push_back(polynomial);
    if (infinity) {
      x.filter.push_back({0, 0, 1});
      x.output[Size(tile - 1)][Size(i)] = 1;
    } else {
      x.filter.push_back({1 / scale, p / scale, p * p / scale});
      for (int k = 0; k < tile; ++k)
        x.output[Size(k)][Size(i)] = std::pow(p, k);
    }
  }
  return x;
}

// |m| |x| |m|' of a square x of `size`.
std::vector<double> Amplify(const std::vector<std::vector<double>> &m,
                            const std::vector<double> &x,
                            size_t size) {
  std::vector<double> y(m.size() * m.size(), 0.0);
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m.size(); ++j) {
      for (size_t k = 0; k < size; ++k) {
        for (size_t l = 0; l < size; ++l) {
          y[i * m.size() + j] += std::fabs(m[i][k] * x[k * size + l] * m[j][l]);
        }
      }
    }
  }
  return y;
}

struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
};

double InputAt(const Case &c,
               const Data &d,
               ptrdiff_t n,
               ptrdiff_t h,
               ptrdiff_t w,
               ptrdiff_t ch) {
  const gemm::ConvShape &s = c.shape;
  if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) return 0.0;
  return d.input[Size(((n * s.in_h + h) * s.in_w + w) * s.in_c + ch)];
}

double Direct(const Case &c,
              const Data &d,
              ptrdiff_t n,
              ptrdiff_t h,
              ptrdiff_t w,
              ptrdiff_t o) {
  const gemm::ConvShape &s = c.shape;
  double sum = c.bias ? d.bias[Size(o)] : 0.0;
  for (ptrdiff_t tap = 0; tap < 9; ++tap) {
    for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
      sum += InputAt(c, d, n, h - s.pad_top + tap / 3, w - s.pad_left + tap % 3,
                     ch) *
             d.filter[Size((o * 9 + tap) * s.in_c + ch)];
    }
  }
  if (c.residual) {
    sum += d.residual[Size(((n * s.out_h + h) * s.out_w + w) * s.out_c + o)];
  }
  return c.clamp ? std::min(std::max(sum, double{kLow}), double{kHigh}) : sum;
}

// A value that passes through s roundings errs by at most s * 2^-24 of the sum
// of absolute values that enter it. Roundings: transforms of the input (two of
// at most 5), of the filter (two of 4), of the output (two of 5), in_c
// products and sums (two each where the ISA does not fuse), bias, residual. In
// fp16 by s * 2^-11, and the operands are rounded too.
Expected Reference(const Case &c, const Data &d) {
  const gemm::ConvShape &s = c.shape;
  const Matrices x = MakeMatrices(c.tile);
  const size_t points = Size(x.t * x.t);
  const double steps = 30.0 + 2.0 * static_cast<double>(s.in_c);
  Expected e;
  e.value.resize(Size(s.batch * s.out_h * s.out_w * s.out_c));
  e.bound.resize(e.value.size());
  std::vector<std::vector<double>> filters;
  for (ptrdiff_t i = 0; i < s.out_c * s.in_c; ++i) {
    std::vector<double> g;
    for (ptrdiff_t tap = 0; tap < 9; ++tap) {
      g.push_back(d.filter[Size((i / s.in_c * 9 + tap) * s.in_c + i % s.in_c)]);
    }
    filters.push_back(Amplify(x.filter, g, 3));
  }
  for (ptrdiff_t n = 0; n < s.batch; ++n) {
    for (ptrdiff_t h = 0; h < s.out_h; h += c.tile) {
      for (ptrdiff_t w = 0; w < s.out_w; w += c.tile) {
        std::vector<std::vector<double>> inputs;
        for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
          std::vector<double> image;
          for (ptrdiff_t i = 0; i < x.t * x.t; ++i) {
            image.push_back(InputAt(c, d, n, h - s.pad_top + i / x.t,
                                    w - s.pad_left + i % x.t, ch));
          }
          inputs.push_back(Amplify(x.input, image, Size(x.t)));
        }
        for (ptrdiff_t o = 0; o < s.out_c; ++o) {
          std::vector<double> product(points, 0.0);
          for (ptrdiff_t ch = 0; ch < s.in_c; ++ch) {
            for (size_t i = 0; i < points; ++i) {
              product[i] +=
                  inputs[Size(ch)][i] * filters[Size(o * s.in_c + ch)][i];
            }
          }
          const std::vector<double> y = Amplify(x.output, product, Size(x.t));
          for (ptrdiff_t i = 0; i < c.tile * c.tile; ++i) {
            const ptrdiff_t oh = h + i / c.tile;
            const ptrdiff_t ow = w + i % c.tile;
            if (oh >= s.out_h || ow >= s.out_w) continue;
            const size_t at =
                Size(((n * s.out_h + oh) * s.out_w + ow) * s.out_c + o);
            e.value[at] = Direct(c, d, n, oh, ow, o);
            e.bound[at] =
                steps * std::ldexp(y[Size(i)] + 2.0, c.half ? -11 : -24);
          }
        }
      }
    }
  }
  return e;
}

void CheckType(const Case &c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const Expected e = Reference(c, d);
  const size_t out_c = Size(c.shape.out_c);
  const size_t stride = out_c + c.extra_stride;
  for (CpuIsa isa : IsasFor(c)) {
    SCOPED_TRACE(Describe(c, isa, random.seed()));
    const std::vector<float> got = RunAll(c, d, isa);
    Case other = c;
    other.each_run = !c.each_run;
    ASSERT_EQ(0, std::memcmp(got.data(), RunAll(other, d, isa).data(),
                             got.size() * sizeof(float)))
        << "depends on when the filter is transformed";
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t o = i % stride;
      if (o >= out_c) {
        ASSERT_EQ(got[i], (c.half ? FromF16(ToF16(kGuard)) : kGuard))
            << "written beyond pixel " << i / stride;
        continue;
      }
      const size_t at = i / stride * out_c + o;
      ASSERT_TRUE(Near(got[i], e.value[at], e.bound[at]))
          << "pixel " << i / stride << " channel " << o << ": " << got[i]
          << " instead of " << e.value[at] << " +- " << e.bound[at];
    }
  }
}

void Check(Case c, uint32_t seed) {
  for (bool half : {false, true}) {
    c.half = half;
    CheckType(c, seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// ---- tests -----------------------------------------------------------------

TEST(ConvWinograd, EverySizeOfImage) {
  uint32_t seed = 1;
  for (int tile : {2, 4}) {
    for (ptrdiff_t size = 1; size <= 10; ++size) {
      Case c = MakeCase(tile, size, 11 - size, 5, 18, 1);
      c.clamp = seed % 2 == 0;
      Check(c, seed++);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ConvWinograd, ChannelTails) {
  uint32_t seed = 100;
  for (int tile : {2, 4}) {
    for (ptrdiff_t in_c : {1, 3, 4, 17, 24}) {
      for (ptrdiff_t out_c : {1, 7, 16, 70}) {
        Case c = MakeCase(tile, 6, 5, in_c, out_c, 1);
        c.residual = seed % 2 == 0;
        c.bias = seed % 3 != 0;
        c.extra_stride = seed % 3 == 0 ? 5 : 0;
        Check(c, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ConvWinograd, RandomGeometry) {
  Random random(3);
  for (uint32_t i = 0; i < 40; ++i) {
    Case c = MakeCase(i % 2 == 0 ? 2 : 4, random.Int(1, 13), random.Int(1, 13),
                      random.Int(1, 20), random.Int(1, 40), 0);
    gemm::ConvShape &s = c.shape;
    s.batch = random.Int(1, 2);
    s.pad_top = random.Int(0, 3);
    s.pad_left = random.Int(0, 3);
    s.out_h = s.in_h + s.pad_top + random.Int(0, 3) - 2;
    s.out_w = s.in_w + s.pad_left + random.Int(0, 3) - 2;
    if (s.out_h < 1 || s.out_w < 1) continue;
    constexpr gemm::WeightType kTypes[] = {
        gemm::WeightType::kF32, gemm::WeightType::kF16, gemm::WeightType::kBf16,
        gemm::WeightType::kI8};
    c.type = kTypes[random.Int(0, 3)];
    c.bias = random.Int(0, 3) != 0;
    c.residual = random.Int(0, 1) == 0;
    c.clamp = random.Int(0, 1) == 0;
    c.extra_stride = Size(random.Int(0, 1) * 3);
    c.threads = static_cast<int>(random.Int(1, 4));
    Check(c, 1000 + i);
    if (HasFatalFailure()) return;
  }
}

// What a user sees: the largest error over the root mean square of the outputs,
// which the worst-case bound above exceeds by far. Measured 6e-6 and 1.2e-5 on
// a 28x28 layer of 128 channels; in fp16 0.011 and 0.049 on this one.
TEST(ConvWinograd, TypicalError) {
  for (bool half : {false, true}) {
    for (int tile : {2, 4}) {
      Case c = MakeCase(tile, 8, 8, 128, 16, 1);
      c.half = half;
      Random random(4);
      const Data d = MakeData(c, &random);
      const Expected e = Reference(c, d);
      double square = 0;
      for (double v : e.value) square += v * v;
      const double rms =
          std::sqrt(square / static_cast<double>(e.value.size()));
      for (CpuIsa isa : IsasFor(c)) {
        const std::vector<float> got = RunAll(c, d, isa);
        double worst = 0;
        for (size_t i = 0; i < got.size(); ++i) {
          worst = std::max(worst, std::fabs(got[i] - e.value[i]));
        }
        const double most =
            half ? (tile == 2 ? 0.03 : 0.1) : (tile == 2 ? 1e-5 : 2e-5);
        EXPECT_LT(worst / rms, most)
            << CpuIsaName(isa) << " tile " << tile << " seed " << random.seed();
      }
    }
  }
}

void CheckThreads(Case c, uint32_t seed) {
  Random random(seed);
  const Data d = MakeData(c, &random);
  const int panels = static_cast<int>(gemm::PanelCount(Size(c.shape.out_c)));
  for (CpuIsa isa : RunnableFloatIsas()) {
    c.half = HalfKernelsFor(isa) != nullptr;
    c.threads = 1;
    const std::vector<float> one = RunAll(c, d, isa);
    for (int threads : {2, 3, 8}) {
      c.threads = threads;
      EXPECT_GE(MakePlan(c, isa).tasks, std::min({threads, 7, panels}));
      EXPECT_EQ(0, std::memcmp(one.data(), RunAll(c, d, isa).data(),
                               one.size() * sizeof(float)))
          << Describe(c, isa, random.seed());
    }
  }
}

TEST(ConvWinograd, ThreadsDoNotChangeABit) {
  for (int tile : {2, 4}) {
    for (ptrdiff_t size : {6, 29}) {  // split by columns, by tiles
      for (bool each_run : {false, true}) {
        Case c = MakeCase(tile, size, size, 19, 200, 1);
        c.each_run = each_run;
        CheckThreads(c, 5);
      }
    }
  }
}

// Filters so deep that a group is of one panel or two, of all types of weights.
TEST(ConvWinograd, FiltersTransformedInEachRun) {
  uint32_t seed = 200;
  for (int tile : {2, 4}) {
    for (gemm::WeightType type :
         {gemm::WeightType::kF32, gemm::WeightType::kF16,
          gemm::WeightType::kBf16, gemm::WeightType::kI8}) {
      Case c = MakeCase(tile, 5, 5, tile == 2 ? 700 : 320, 70, 1);
      c.type = type;
      c.each_run = true;
      EXPECT_LT(MakePlan(c, RunnableIsas().front()).group_panels, 3);
      Random random(seed++);
      const Data d = MakeData(c, &random);
      Case before = c;
      before.each_run = false;
      for (bool half : {false, true}) {
        c.half = before.half = half;
        for (CpuIsa isa : IsasFor(c)) {
          EXPECT_EQ(RunAll(c, d, isa), RunAll(before, d, isa))
              << Describe(c, isa, random.seed());
        }
      }
      c.half = false;
      if (type == gemm::WeightType::kF32) CheckThreads(c, seed);
    }
  }
}

// Every output lies in exactly one region.
TEST(ConvWinograd, RegionsCoverTheOutput) {
  for (int tile : {2, 4}) {
    for (int threads : {1, 2, 7}) {
      Case c = MakeCase(tile, 27, 30, 8, 150, 1);
      c.each_run = threads == 2;
      c.shape.batch = 2;
      c.threads = threads;
      const gemm::ConvShape &s = c.shape;
      const ConvPlan plan = MakePlan(c, RunnableIsas().front());
      std::vector<int> seen(Size(s.batch * s.out_h * s.out_w * s.out_c), 0);
      for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
        for (ptrdiff_t i = 0; i < Regions(plan, task); ++i) {
          const gemm::ConvRegion r = RegionOf(plan, task, i);
          for (ptrdiff_t row = r.row_begin; row < r.row_end; ++row) {
            for (ptrdiff_t o = r.column_begin; o < r.column_end; ++o) {
              ++seen[Size(row * s.out_c + o)];
            }
          }
        }
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1),
                static_cast<ptrdiff_t>(seen.size()));
    }
  }
}

TEST(ConvWinograd, NanSurvivesTheClamp) {
  for (int tile : {2, 4}) {
    Case c = MakeCase(tile, 10, 10, 20, 20, 1);
    c.clamp = true;
    Random random(6);
    Data d = MakeData(c, &random);
    d.input[0] = std::numeric_limits<float>::quiet_NaN();
    for (CpuIsa isa : RunnableIsas()) {
      const std::vector<float> out = RunAll(c, d, isa);
      EXPECT_TRUE(std::isnan(out[0])) << CpuIsaName(isa);
      EXPECT_FALSE(std::isnan(out.back())) << CpuIsaName(isa);
    }
  }
}

TEST(ConvWinograd, ChoosesWithinTheHintAndTheGeometry) {
  const gemm::ConvShape large = MakeCase(4, 56, 56, 64, 64, 1).shape;
  for (int lanes : {4, 8, 16}) {
    const auto tile = [&](const gemm::ConvShape &shape, int max_tile) {
      return Choose(shape, max_tile, lanes, 1).tile;
    };
    EXPECT_EQ(tile(large, 0), 0);
    EXPECT_EQ(tile(large, 2), 2);
    EXPECT_EQ(tile(large, 4), 4);
    // Nothing to share between one output and the next.
    EXPECT_EQ(tile(MakeCase(4, 1, 1, 256, 256, 1).shape, 4), 0);
    // Transforms cost more than three input channels can save.
    EXPECT_EQ(tile(MakeCase(4, 112, 112, 3, 32, 1).shape, 4), 0);
    for (ptrdiff_t gemm::ConvShape::*field :
         {&gemm::ConvShape::stride_h, &gemm::ConvShape::stride_w,
          &gemm::ConvShape::dilation_h, &gemm::ConvShape::dilation_w,
          &gemm::ConvShape::groups}) {
      gemm::ConvShape other = large;
      other.*field = 2;
      EXPECT_EQ(tile(other, 4), 0);
    }
    gemm::ConvShape wide = large;
    wide.kernel_w = 5;
    EXPECT_EQ(tile(wide, 4), 0);
  }
}

// Wide vectors wait for memory, narrow ones for arithmetic.
TEST(ConvWinograd, TransformsLargeFiltersInEachRunWhereMemoryIsSlower) {
  const gemm::ConvShape small = MakeCase(4, 56, 56, 64, 64, 1).shape;
  const gemm::ConvShape large = MakeCase(4, 14, 14, 256, 256, 1).shape;
  EXPECT_FALSE(Choose(small, 4, 16, 1).each_run);
  EXPECT_TRUE(Choose(large, 4, 16, 1).each_run);
  EXPECT_FALSE(Choose(large, 4, 4, 1).each_run);
  // Four tiles do not pay for transforming to 38 MB.
  EXPECT_EQ(Choose(MakeCase(4, 7, 7, 512, 512, 1).shape, 4, 16, 1).tile, 2);
  // Threads share the memory; the method, and so the result, stays.
  const gemm::ConvShape medium = MakeCase(4, 14, 14, 128, 32, 1).shape;
  EXPECT_FALSE(Choose(medium, 4, 16, 1).each_run);
  EXPECT_TRUE(Choose(medium, 4, 16, 2).each_run);
  EXPECT_EQ(Choose(medium, 4, 16, 1).tile, Choose(medium, 4, 16, 2).tile);
}

}  // namespace
}  // namespace mace::winograd

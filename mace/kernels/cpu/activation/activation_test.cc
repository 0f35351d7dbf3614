// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares the vector functions with the C library in double precision, over
// every binade of float and at the limits, on every ISA.

#include "mace/kernels/cpu/activation/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"

namespace mace {
namespace {

using activation::Kind;
using activation::Params;

// NEON of Armv7 treats denormals as 0.
bool FlushesDenormals() {
#if defined(__arm__)
  return true;
#else
  return false;
#endif
}

struct Function {
  const char *name;
  Params params;
  std::function<double(double)> reference;
  double ulps;      // allowed error in units in the last place of the result
  double absolute;  // absolute error allowed in addition
};

Params P(Kind kind, float limit = 0, float alpha = 0, float beta = 0) {
  Params params;
  params.kind = kind;
  params.limit = limit;
  params.alpha = alpha;
  params.beta = beta;
  return params;
}

std::vector<Function> Functions() {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  return {
      {"none", P(Kind::kNone), [](double x) { return x; }, 0, 0},
      {"relu", P(Kind::kRelu), [](double x) { return x > 0 ? x : 0; }, 0, 0},
      {"relux", P(Kind::kRelux, 6),
       [](double x) { return std::fmin(std::fmax(x, 0), 6); }, 0, 0},
      {"leaky_relu", P(Kind::kLeakyRelu, 0, 0.25f),
       [](double x) { return x < 0 ? 0.25 * x : x; }, 0.5, 0},
      {"sigmoid", P(Kind::kSigmoid), sigmoid, 4, 0},
      {"tanh", P(Kind::kTanh), [](double x) { return std::tanh(x); }, 4, 0},
      {"elu", P(Kind::kElu, 0, 1),
       [](double x) { return x < 0 ? std::expm1(x) : x; }, 4, 0},
      // alpha * x + beta may be rounded twice; the values are up to 1.
      {"hard_sigmoid", P(Kind::kHardSigmoid, 0, 0.2f, 0.5f),
       [](double x) {
         return std::fmin(std::fmax(double{0.2f} * x + 0.5, 0), 1);
       },
       1, 0x1p-24},
      // The absolute error of the gate is at most 2^-24; x, up to 3, multiplies
      // it.
      {"hard_swish", P(Kind::kHardSwish),
       [](double x) { return x * std::fmin(std::fmax(x / 6 + 0.5, 0), 1); }, 2,
       4 * 0x1p-24},
      // Below -88 the sigmoid is a denormal, rounded to 2^-150.
      {"swish", P(Kind::kSwish), [=](double x) { return x * sigmoid(x); }, 5,
       104 * 0x1p-150},
      // For x > 0, the rounding error of x minus its tail counts; beyond 6 the
      // tail is 6e-9. An error of 2 ulp in the exponent, which is at most 2^5,
      // scales a tail of at most 0.17.
      {"gelu", P(Kind::kGelu),
       [](double x) {
         return std::isinf(x) && x < 0
                    ? 0
                    : 0.5 * x * std::erfc(-x * std::sqrt(0.5));
       },
       1, 5e-7},
      {"gelu_tanh", P(Kind::kGeluTanh),
       [](double x) {
         const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
         return std::isinf(x) && x < 0 ? 0 : x / (1 + std::exp(-2 * u));
       },
       1, 5e-7},
      {"softplus", P(Kind::kSoftplus),
       [](double x) {
         return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
       },
       4, 0},
      // The sum and the quotient are rounded once each.
      {"softsign", P(Kind::kSoftsign),
       [](double x) { return x / (1 + std::fabs(x)); }, 2, 0},
  };
}

TEST(ActivationTest, AccurateOverTheWholeRange) {
  const std::vector<float> x = FloatsOfAllSizes();
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Function &f : Functions()) {
      activation::KernelsFor(isa)->run(f.params, x.data(), y.data(), x.size());
      double worst = 0;
      float worst_x = 0;
      float worst_y = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = f.reference(x[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(y[i])) << f.name << "(" << x[i] << ")";
          continue;
        }
        if (std::isinf(want) || std::fabs(want) > 3.4e38) {
          ASSERT_EQ(y[i], static_cast<float>(want))
              << f.name << "(" << x[i] << ")";
          continue;
        }
        double allowed = f.absolute;
        // A denormal factor flushed to 0, times the other factor: for SWISH,
        // which is at most 104 there.
        if (FlushesDenormals()) allowed += 104 * 0x1p-126;
        const double error = std::fabs(y[i] - want) - allowed;
        const double ulps = error / Ulp(want);
        if (!(ulps <= worst)) {
          worst = ulps;
          worst_x = x[i];
          worst_y = y[i];
        }
      }
      // Half an ulp is the rounding error of the exact result itself.
      EXPECT_LE(worst, f.ulps) << CpuIsaName(isa) << " " << f.name << "("
                               << worst_x << ") = " << worst_y;
      std::printf("%-7s %-12s %.2f ulp\n", CpuIsaName(isa), f.name, worst);
    }
  }
}

TEST(ActivationTest, NanComesOutAsNan) {
  const std::vector<float> x(19, std::nanf(""));
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Function &f : Functions()) {
      activation::KernelsFor(isa)->run(f.params, x.data(), y.data(), x.size());
      for (const float v : y) {
        EXPECT_TRUE(std::isnan(v)) << CpuIsaName(isa) << " " << f.name;
      }
    }
  }
}

// The bits must not depend on where a range begins: tails use the same
// arithmetic as whole vectors.
TEST(ActivationTest, TailsEqualWholeVectors) {
  Random random(3);
  const std::vector<float> x = random.Floats(64, -8, 8);
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Function &f : Functions()) {
      std::vector<float> whole(64);
      const auto *kernels = activation::KernelsFor(isa);
      kernels->run(f.params, x.data(), whole.data(), x.size());
      for (size_t n = 0; n < 40; ++n) {
        std::vector<float> part(41, 77.0f);
        kernels->run(f.params, x.data() + 3, part.data(), n);
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(part[i], whole[i + 3])
              << CpuIsaName(isa) << " " << f.name << " seed " << random.seed();
        }
        ASSERT_EQ(part[n], 77.0f) << "wrote beyond the end";
      }
    }
  }
}

TEST(ActivationTest, PreluTakesASlopePerChannel) {
  Random random(4);
  for (const CpuIsa isa : RunnableIsas()) {
    for (const size_t channels : {1, 3, 16, 37}) {
      const std::vector<float> x = random.Floats(5 * channels);
      const std::vector<float> slope = random.Floats(channels);
      std::vector<float> y(x.size());
      activation::KernelsFor(isa)->prelu(x.data(), slope.data(), y.data(), 5,
                                         channels);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(y[i], x[i] < 0 ? slope[i % channels] * x[i] : x[i]);
      }
    }
  }
}

// Every number of bf16. The results are rounded to 2^-8 of them.
TEST(ActivationTest, GeluOfBf16) {
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    const activation::Bf16Kernels *kernels = activation::Bf16KernelsFor(isa);
    if (kernels == nullptr) continue;
    std::vector<uint16_t> x(65536);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i);
    std::vector<uint16_t> y(x.size() + 1, 0xdead);
    kernels->gelu(x.data(), y.data(), x.size());
    EXPECT_EQ(y.back(), 0xdead);
    for (size_t i = 0; i < x.size(); ++i) {
      const double value = double{FromBf16(x[i])};
      const double found = double{FromBf16(y[i])};
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(found)) << i;
        continue;
      }
      const double want = std::isinf(value) && value < 0
                              ? 0.0
                              : value / 2 * std::erfc(-value / std::sqrt(2.0));
      if (want == found) continue;  // Inf
      // Below -6, the result is less than 1e-8.
      EXPECT_NEAR(found, want, std::fabs(want) * (0x1p-8 + 1.4e-4) + 1e-8)
          << value;
    }
    // Tails have the same bits.
    for (size_t count : {1, 15, 17, 31}) {
      std::vector<uint16_t> part(x.begin() + 0x3f80, x.begin() + 0x3f80 + 32);
      kernels->gelu(part.data(), part.data(), count);
      for (size_t i = 0; i < part.size(); ++i) {
        EXPECT_EQ(part[i], i < count ? y[0x3f80 + i] : x[0x3f80 + i]);
      }
    }
  }
}

}  // namespace
}  // namespace mace

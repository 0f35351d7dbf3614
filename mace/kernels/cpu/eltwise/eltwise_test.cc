// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares functions with the C library in double precision. Binary arithmetic
// is tested through the operator Eltwise.

#include "mace/kernels/cpu/eltwise/eltwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"

namespace mace {
namespace {

using eltwise::Unary;

#if defined(__arm__)
constexpr int kLowest = -126;  // NEON of Armv7 flushes denormals
#else
constexpr int kLowest = -149;
#endif

uint32_t Bits(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

struct Function {
  const char *name;
  Unary op;
  std::function<double(double)> reference;
  double ulps;
  double absolute;
};

std::vector<Function> Functions() {
  return {
      {"neg", Unary::kNeg, [](double x) { return -x; }, 0, 0},
      {"abs", Unary::kAbs, [](double x) { return std::fabs(x); }, 0, 0},
      {"sqrt", Unary::kSqrt, [](double x) { return std::sqrt(x); }, 0.501, 0},
      {"rsqrt", Unary::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5,
       0},
      {"square", Unary::kSquare, [](double x) { return x * x; }, 0.501, 0},
      {"exp", Unary::kExp, [](double x) { return std::exp(x); }, 2, 0},
      {"log", Unary::kLog, [](double x) { return std::log(x); }, 2, 0},
      {"floor", Unary::kFloor, [](double x) { return std::floor(x); }, 0, 0},
      {"ceil", Unary::kCeil, [](double x) { return std::ceil(x); }, 0, 0},
      {"round", Unary::kRound, [](double x) { return std::nearbyint(x); }, 0,
       0},
      {"sign", Unary::kSign,
       [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, 0, 0},
      {"reciprocal", Unary::kReciprocal, [](double x) { return 1 / x; }, 0.501,
       0},
      {"erf", Unary::kErf, [](double x) { return std::erf(x); }, 4, 0},
      {"sin", Unary::kSin, [](double x) { return std::sin(x); }, 1, 2e-7},
      {"cos", Unary::kCos, [](double x) { return std::cos(x); }, 1, 2e-7},
  };
}

TEST(EltwiseTest, UnaryAccurateOverTheWholeRange) {
  const std::vector<float> x = FloatsOfAllSizes(kLowest);
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Function &f : Functions()) {
      eltwise::KernelsFor(isa)->unary(f.op, x.data(), y.data(), x.size());
      double worst = 0;
      float worst_x = 0;
      float worst_y = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = f.reference(x[i]);
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(y[i])) << f.name << "(" << x[i] << ")";
          continue;
        }
        if (std::isinf(want) || std::fabs(want) > 3.4028235e38) {
          ASSERT_EQ(y[i], static_cast<float>(want))
              << CpuIsaName(isa) << " " << f.name << "(" << x[i] << ")";
          continue;
        }
        double allowed = f.absolute;
#if defined(__arm__)
        allowed += 0x1p-126;
#endif
        const double ulps = (std::fabs(y[i] - want) - allowed) / Ulp(want);
        if (!(ulps <= worst)) {
          worst = ulps;
          worst_x = x[i];
          worst_y = y[i];
        }
      }
      EXPECT_LE(worst, f.ulps) << CpuIsaName(isa) << " " << f.name << "("
                               << worst_x << ") = " << worst_y;
      std::printf("%-7s %-12s %.2f ulp\n", CpuIsaName(isa), f.name, worst);
    }
  }
}

// Every pair of values that are special for some function.
struct Pairs {
  Pairs() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<float> values = {
        0.0f, 0x1p-126f,   1e-30f, 0.1f,      0.5f,         0.99999f, 1.0f,
        1.5f, 2.0f,        2.5f,   3.0f,      10.0f,        127.0f,   150.0f,
        1e9f, 16777217.0f, 3e38f,  kInfinity, std::nanf("")};
#if !defined(__arm__)
    values.push_back(1e-45f);
    values.push_back(1e-40f);
#endif
    for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
    for (const float x : values) {
      for (const float y : values) {
        a.push_back(x);
        b.push_back(y);
      }
    }
    Random random(31);
    for (int i = 0; i < 20011; ++i) {
      a.push_back(std::exp(random.Uniform(-20, 20)) *
                  (random.Int(0, 1) == 0 ? 1.0f : -1.0f));
      b.push_back(random.Int(0, 3) == 0 ? std::floor(random.Uniform(-9, 9))
                                        : random.Uniform(-6, 6));
    }
  }
  std::vector<float> a;
  std::vector<float> b;
};

void ExpectBinary(eltwise::Binary op,
                  const std::function<double(double, double)> &reference,
                  double ulps) {
  const Pairs pairs;
  std::vector<float> y(pairs.a.size());
  eltwise::Rows rows;
  rows.columns = y.size();
  for (const CpuIsa isa : RunnableIsas()) {
    eltwise::KernelsFor(isa)->binary(op, rows, pairs.a.data(), pairs.b.data(),
                                     y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      const double want = reference(pairs.a[i], pairs.b[i]);
      const auto rounded = static_cast<float>(want);
      SCOPED_TRACE(::testing::Message()
                   << CpuIsaName(isa) << " of " << pairs.a[i] << " and "
                   << pairs.b[i] << ": " << y[i] << " instead of " << rounded);
      if (std::isnan(rounded)) {
        ASSERT_TRUE(std::isnan(y[i]));
      } else if (std::isinf(rounded) || rounded == 0) {
        ASSERT_EQ(y[i], rounded);
      } else {
        double allowed = ulps * Ulp(want);
#if defined(__arm__)
        allowed += 0x1p-126;
#endif
        ASSERT_LE(std::fabs(y[i] - want), allowed);
      }
    }
  }
}

// Work can be divided anywhere, so a result must not depend on its neighbours,
// not even on those that are computed by other code.
TEST(EltwiseTest, ResultsDoNotDependOnTheirNeighbours) {
  Random random(23);
  std::vector<float> x = random.Floats(997, -50.0f, 50.0f);
  for (size_t i = 0; i < x.size(); i += 5) x[i] *= 1000.0f;
  for (const Function &f : Functions()) {
    for (CpuIsa isa : RunnableIsas()) {
      std::vector<float> together(x.size());
      eltwise::KernelsFor(isa)->unary(f.op, x.data(), together.data(),
                                      x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        float alone = 0;
        eltwise::KernelsFor(isa)->unary(f.op, &x[i], &alone, 1);
        ASSERT_EQ(Bits(alone), Bits(together[i]))
            << f.name << " of " << x[i] << " on " << CpuIsaName(isa);
      }
    }
  }
}

TEST(EltwiseTest, PowAccurateWithEverySpecialCase) {
  ExpectBinary(
      eltwise::Binary::kPow, [](double a, double b) { return std::pow(a, b); },
      1);
}

TEST(EltwiseTest, FloorModAccurateWithEverySpecialCase) {
  ExpectBinary(
      eltwise::Binary::kFloorMod,
      [](double a, double b) {
        const double m = std::fmod(a, b);
        return m != 0 && (m < 0) != (b < 0) ? m + b : m;
      },
      1);
}

TEST(EltwiseTest, NanComesOutAsNan) {
  const std::vector<float> x(19, std::nanf(""));
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Function &f : Functions()) {
      eltwise::KernelsFor(isa)->unary(f.op, x.data(), y.data(), x.size());
      for (const float v : y) {
        EXPECT_TRUE(std::isnan(v)) << CpuIsaName(isa) << " " << f.name;
      }
    }
  }
}

}  // namespace
}  // namespace mace

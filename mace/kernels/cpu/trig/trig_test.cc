// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares the functions with the C library in double precision, over every
// binade of float and at the limits, on every ISA.

#include "mace/kernels/cpu/trig/trig.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "mace/kernels/cpu/kernel_testing.h"

namespace mace {
namespace {

struct Tested {
  const char *name;
  trig::Function function;
  double (*reference)(double);
  double ulps;
};

constexpr Tested kFunctions[] = {
    {"asin", trig::Function::kAsin, &std::asin, 3},
    {"acos", trig::Function::kAcos, &std::acos, 3},
    {"atan", trig::Function::kAtan, &std::atan, 3},
    {"sinh", trig::Function::kSinh, &std::sinh, 4},
    {"cosh", trig::Function::kCosh, &std::cosh, 4},
    {"asinh", trig::Function::kAsinh, &std::asinh, 3},
    {"acosh", trig::Function::kAcosh, &std::acosh, 3},
    {"atanh", trig::Function::kAtanh, &std::atanh, 3},
};

// NEON of Armv7 treats denormals as 0.
double Flushed() {
#if defined(__arm__)
  return 0x1p-126;
#else
  return 0;
#endif
}

// Every binade, and densely where the functions change their formula.
std::vector<float> Arguments() {
  std::vector<float> x = FloatsOfAllSizes();
  for (int i = -40000; i <= 40000; ++i) {
    x.push_back(static_cast<float>(i) * 0x1p-13f);
  }
  return x;
}

TEST(TrigTest, AccurateOverTheWholeRange) {
  const std::vector<float> x = Arguments();
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Tested &f : kFunctions) {
      trig::KernelsFor(isa)->run(f.function, x.data(), y.data(), x.size());
      double worst = 0;
      float worst_x = 0;
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
        const double error = std::fabs(y[i] - want) - Flushed();
        const double ulps = error / Ulp(want);
        if (!(ulps <= worst)) {
          worst = ulps;
          worst_x = x[i];
        }
      }
      EXPECT_LE(worst, f.ulps)
          << CpuIsaName(isa) << " " << f.name << "(" << worst_x << ")";
      std::printf("%-7s %-12s %.2f ulp\n", CpuIsaName(isa), f.name, worst);
    }
  }
}

TEST(TrigTest, NanAndSignOfZero) {
  const std::vector<float> x = {std::nanf(""), 0.0f, -0.0f};
  std::vector<float> y(x.size());
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Tested &f : kFunctions) {
      trig::KernelsFor(isa)->run(f.function, x.data(), y.data(), x.size());
      EXPECT_TRUE(std::isnan(y[0])) << f.name;
      if (f.reference(0.0) == 0) {
        EXPECT_FALSE(std::signbit(y[1])) << f.name;
        EXPECT_TRUE(std::signbit(y[2])) << f.name;
      }
    }
  }
}

// The bits must not depend on where a range begins: tails use the same
// arithmetic as whole vectors.
TEST(TrigTest, TailsEqualWholeVectors) {
  Random random(3);
  const std::vector<float> x = random.Floats(64, 0.1f, 0.9f);
  for (const CpuIsa isa : RunnableIsas()) {
    for (const Tested &f : kFunctions) {
      std::vector<float> whole(64);
      const trig::Kernels *kernels = trig::KernelsFor(isa);
      kernels->run(f.function, x.data(), whole.data(), x.size());
      for (size_t n = 0; n < 40; ++n) {
        std::vector<float> part(41, 77.0f);
        kernels->run(f.function, x.data() + 3, part.data(), n);
        for (size_t i = 0; i < n; ++i) {
          if (std::isnan(whole[i + 3])) continue;
          ASSERT_EQ(part[i], whole[i + 3]) << CpuIsaName(isa) << " " << f.name;
        }
        ASSERT_EQ(part[n], 77.0f) << "wrote beyond the end";
      }
    }
  }
}

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/kernel_testing.h"
#include "mace/kernels/cpu/simd_probe.h"

namespace mace::simd {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Named {
  const char *name;
  const Probe *probe;
};

std::vector<Named> Probes() {
  std::vector<Named> probes;
  for (CpuIsa isa : RunnableIsas()) {
    probes.push_back({CpuIsaName(isa), MACE_FIND_TABLE(BASE, isa, kProbe)});
  }
  return probes;
}

size_t Lanes(const Probe &p) { return static_cast<size_t>(p.lanes); }

// Whether both are equal, or both NaN; 0 and -0 differ.
bool Same(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

void CheckUnary(const Probe &p,
                void (*got)(const float *, float *),
                float (*want)(float),
                const std::vector<float> &values) {
  std::vector<float> x(Lanes(p)), y(Lanes(p));
  for (float value : values) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = value + static_cast<float>(i) * 0.5f;
    }
    got(x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(Same(y[i], want(x[i])))
          << "f(" << x[i] << ") = " << y[i] << " instead of " << want(x[i]);
    }
  }
}

TEST(Simd, RoundingAgreesWithLibm) {
  const std::vector<float> values = {
      0.0f,  -0.0f, 0.3f,   -0.3f,      0.5f,        -0.5f,      1.5f,
      -1.5f, 2.5f,  -7.75f, 8388607.5f, -8388607.5f, 8388609.0f, 3e9f,
      -3e9f, 1e30f, kInf,   -kInf,      kNan};
  for (const Named &isa : Probes()) {
    SCOPED_TRACE(isa.name);
    const Probe &p = *isa.probe;
    CheckUnary(p, p.floor, std::floor, values);
    CheckUnary(p, p.ceil, std::ceil, values);
    CheckUnary(p, p.truncate, std::trunc, values);
    CheckUnary(p, p.round, std::nearbyint, values);
    CheckUnary(p, p.abs, std::fabs, values);
    CheckUnary(p, p.sqrt, std::sqrt, {0.0f, 1.0f, 2.0f, 1e-30f, kInf, kNan});
  }
}

TEST(Simd, SetKeepsTheSignOfZero) {
  for (const Named &isa : Probes()) {
    std::vector<float> y(Lanes(*isa.probe));
    for (float x : {-0.0f, 0.0f, 1.5f, kNan}) {
      isa.probe->set(x, y.data());
      for (float v : y) EXPECT_TRUE(Same(v, x)) << isa.name << " " << x;
    }
  }
}

TEST(Simd, ClampKeepsNan) {
  for (const Named &isa : Probes()) {
    const Probe &p = *isa.probe;
    std::vector<float> x(Lanes(p), kNan), y(Lanes(p));
    x[0] = -kInf;
    x[1] = 3.0f;
    x[2] = 99.0f;
    p.clamp(x.data(), 0.0f, 6.0f, y.data());
    EXPECT_EQ(y[0], 0.0f) << isa.name;
    EXPECT_EQ(y[1], 3.0f) << isa.name;
    EXPECT_EQ(y[2], 6.0f) << isa.name;
    EXPECT_TRUE(std::isnan(y[3])) << isa.name;
  }
}

TEST(Simd, PartialAccessTouchesNothingElse) {
  Random random(1);
  for (const Named &isa : Probes()) {
    const Probe &p = *isa.probe;
    for (int n = 0; n <= p.lanes; ++n) {
      // Exactly n elements on the heap, so that the sanitizer detects an access
      // beyond them.
      const std::vector<float> x = random.Floats(static_cast<size_t>(n));
      std::vector<float> y(Lanes(p) + 1, 7.0f);
      p.copy(x.data(), y.data(), n);
      for (size_t i = 0; i < y.size(); ++i) {
        EXPECT_EQ(y[i], i < x.size() ? x[i] : 7.0f) << isa.name << " " << n;
      }
      std::vector<uint16_t> h(static_cast<size_t>(n));
      for (uint16_t &v : h) v = ToF16(random.Uniform(-1, 1));
      std::vector<uint16_t> g(Lanes(p) + 1, 0x1234);
      p.copy_half(h.data(), g.data(), n);
      for (size_t i = 0; i < g.size(); ++i) {
        EXPECT_EQ(g[i], i < h.size() ? h[i] : 0x1234) << isa.name << " " << n;
      }
    }
  }
}

TEST(Simd, ReductionsAndLanes) {
  for (const Named &isa : Probes()) {
    const Probe &p = *isa.probe;
    const size_t lanes = Lanes(p);
    std::vector<float> x(lanes), ones(lanes, 1.0f), y(2 * lanes);
    for (size_t at = 0; at < lanes; ++at) {
      float sum = 0.0f;
      for (size_t i = 0; i < lanes; ++i) {
        x[i] = static_cast<float>((i * 5 + at) % lanes) - 3.0f;
        sum += x[i];
      }
      EXPECT_EQ(p.reduce_add(x.data()), sum) << isa.name;
      EXPECT_EQ(p.reduce_max(x.data()), static_cast<float>(lanes) - 4.0f);
      EXPECT_EQ(p.reduce_min(x.data()), -3.0f) << isa.name;
      p.fma_lanes(x.data(), x.data(), ones.data(), y.data());
      for (size_t i = 0; i < lanes; ++i) {
        EXPECT_EQ(y[i], 1.0f + x[i] * x[0]) << isa.name;
        EXPECT_EQ(y[lanes + i], 1.0f + x[i] * x[3]) << isa.name;
      }
    }
  }
}

TEST(Simd, WidensEveryHalf) {
  for (const Named &isa : Probes()) {
    const Probe &p = *isa.probe;
    std::vector<uint16_t> h(Lanes(p));
    std::vector<float> y(Lanes(p));
    for (uint32_t base = 0; base < 65536;
         base += static_cast<uint32_t>(p.lanes)) {
      for (size_t i = 0; i < h.size(); ++i) {
        h[i] = static_cast<uint16_t>(base + i);
      }
      p.widen_f16(h.data(), y.data());
      for (size_t i = 0; i < h.size(); ++i) {
        ASSERT_TRUE(Same(y[i], FromF16(h[i]))) << isa.name << " " << h[i];
      }
      p.widen_bf16(h.data(), y.data());
      for (size_t i = 0; i < h.size(); ++i) {
        ASSERT_TRUE(Same(y[i], FromBf16(h[i]))) << isa.name << " " << h[i];
      }
    }
  }
}

TEST(Simd, WidensEveryInt8) {
  for (const Named &isa : Probes()) {
    int8_t bytes[16];
    float y[17];
    for (int base = -128; base < 128; base += 16) {
      for (int i = 0; i < 16; ++i) bytes[i] = static_cast<int8_t>(base + i);
      y[16] = 7.0f;
      isa.probe->widen_int8(bytes, y);
      for (int i = 0; i < 16; ++i) {
        EXPECT_EQ(y[i], static_cast<float>(base + i)) << isa.name;
      }
      EXPECT_EQ(y[16], 7.0f) << isa.name;
    }
  }
}

// Every half-precision number, its neighbours, the ties between adjacent ones,
// and the extremes.
TEST(Simd, NarrowsToNearestEven) {
  for (const Named &isa : Probes()) {
    const Probe &p = *isa.probe;
    std::vector<float> x(Lanes(p));
    std::vector<uint16_t> y(Lanes(p));
    auto check = [&](float value) {
      for (float &v : x) v = value;
      p.narrow_f16(x.data(), y.data());
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(FromF16(y[0]))) << isa.name;
        p.narrow_bf16(x.data(), y.data());
        ASSERT_TRUE(std::isnan(FromBf16(y[0]))) << isa.name;
        return;
      }
      ASSERT_EQ(y[0], ToF16(value)) << isa.name << " " << value;
      p.narrow_bf16(x.data(), y.data());
      ASSERT_EQ(y[0], ToBf16(value)) << isa.name << " " << value;
    };
    for (uint32_t h = 0; h < 0x7c00; ++h) {
      const float a = FromF16(static_cast<uint16_t>(h));
      const float b = FromF16(static_cast<uint16_t>(h + 1));
      const float tie = h + 1 < 0x7c00 ? (a + b) / 2 : 65520.0f;
      for (float v :
           {a, tie, std::nextafter(tie, 0.0f), std::nextafter(tie, kInf)}) {
        check(v);
        check(-v);
        if (HasFatalFailure()) return;
      }
    }
    for (float v : {1e5f, 3e38f, kInf, -kInf, kNan, -kNan, 1e-10f, 65519.9f}) {
      check(v);
    }
  }
}

}  // namespace
}  // namespace mace::simd

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Shared code of kernel tests: random data with a printed seed, the ISAs this
// machine can run, 16-bit storage, and comparison with a reference.

#ifndef MACE_KERNELS_CPU_KERNEL_TESTING_H_
#define MACE_KERNELS_CPU_KERNEL_TESTING_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/isa.h"

namespace mace {

// Every compiled ISA that this machine supports, without extensions, which run
// the kernels of their base in most families.
inline std::vector<CpuIsa> RunnableIsas() {
  std::vector<CpuIsa> isas;
#define MACE_ISA_PUSH(name) \
  if (CpuSupports(CpuIsa::name)) isas.push_back(CpuIsa::name);
  MACE_FOR_EACH_ISA(MACE_ISA_PUSH)
#undef MACE_ISA_PUSH
  return isas;
}

// The ISAs for which a family of float kernels has a copy, that is, without
// extensions for integer products.
inline std::vector<CpuIsa> RunnableFloatIsas() {
  std::vector<CpuIsa> isas = RunnableIsas();
#define MACE_ISA_PUSH(name, base) \
  if (CpuSupports(CpuIsa::name)) isas.push_back(CpuIsa::name);
  MACE_FOR_EACH_BF16_EXTENSION(MACE_ISA_PUSH)
  MACE_FOR_EACH_FP16_EXTENSION(MACE_ISA_PUSH)
#undef MACE_ISA_PUSH
  return isas;
}

inline std::vector<CpuIsa> RunnableIsasAndExtensions() {
  std::vector<CpuIsa> isas;
#define MACE_ISA_PUSH(name, base) \
  if (CpuSupports(CpuIsa::name)) isas.push_back(CpuIsa::name);
  MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_PUSH)
#undef MACE_ISA_PUSH
  return isas;
}

// Fixed seed, overridden by MACE_TEST_SEED; recorded with every failure.
class Random {
 public:
  explicit Random(uint32_t seed) : seed_(seed), engine_(Seed(seed)) {}
  uint32_t seed() const { return seed_; }

  // In [low, high), from 24 random bits. The distribution of <random> uses long
  // double, which takes a microsecond on emulated 64-bit ARM.
  float Uniform(float low, float high) {
    const auto unit = static_cast<float>(engine_() >> 8) * 0x1p-24f;
    return low + (high - low) * unit;
  }
  ptrdiff_t Int(ptrdiff_t low, ptrdiff_t high) {  // both included
    return std::uniform_int_distribution<ptrdiff_t>(low, high)(engine_);
  }
  std::vector<float> Floats(size_t count, float low = -1, float high = 1) {
    std::vector<float> v(count);
    for (float &x : v) x = Uniform(low, high);
    return v;
  }

 private:
  uint32_t Seed(uint32_t fallback) {
    const char *text = std::getenv("MACE_TEST_SEED");
    if (text != nullptr) {
      seed_ = static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
    } else {
      seed_ = fallback;
    }
    return seed_;
  }
  uint32_t seed_;
  std::mt19937 engine_;
};

// 16-bit storage as the exporter writes it, computed with plain integer
// arithmetic.
inline uint16_t ToBf16(float x) {
  uint32_t w;
  std::memcpy(&w, &x, 4);
  if (x != x) return static_cast<uint16_t>((w >> 16) | 0x40u);
  return static_cast<uint16_t>((w + 0x7fffu + ((w >> 16) & 1u)) >> 16);
}
inline float FromBf16(uint16_t h) {
  const uint32_t w = static_cast<uint32_t>(h) << 16;
  float x;
  std::memcpy(&x, &w, 4);
  return x;
}
inline float FromF16(uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int mantissa = h & 1023;
  double x;
  if (exponent == 31) {
    x = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                      : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    x = std::ldexp(mantissa, -24);
  } else {
    x = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return static_cast<float>((h & 0x8000) != 0 ? -x : x);
}
// Round to nearest even.
inline uint16_t ToF16(float x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(static_cast<double>(x));
  if (x != x) return static_cast<uint16_t>(sign | 0x7e00);
  if (a >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent;
  std::frexp(a, &exponent);  // a = f * 2^exponent, f in [0.5, 1)
  if (a == 0.0 || exponent < -13) {
    return static_cast<uint16_t>(
        sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(a, 24))));
  }
  const auto steps =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(a, 11 - exponent)));
  // steps is in [1024, 2048]; 2048 carries into the exponent.
  return static_cast<uint16_t>(
      sign + ((static_cast<uint32_t>(exponent + 13) << 10) + steps));
}

// Rounds the weights of one column to scale * q + offset. `panel` starts with
// 16 scales and 16 offsets, followed by q, [count][16].
inline void ToInt8Weights(float *w, size_t count, size_t column, char *panel) {
  float low = w[0];
  float high = w[0];
  for (size_t i = 0; i < count; ++i) {
    low = std::fmin(low, w[i]);
    high = std::fmax(high, w[i]);
  }
  // Uses eight bits each, so that the weights are not rounded again.
  int exponent;
  std::frexp(std::fmax(high - low, 1e-30f), &exponent);
  const float scale = std::ldexp(1.0f, exponent - 8);
  const float offset = scale * std::nearbyint((low / scale) + 128.0f);
  std::memcpy(panel + column * sizeof(float), &scale, sizeof(float));
  std::memcpy(panel + (16 + column) * sizeof(float), &offset, sizeof(float));
  char *q = panel + 32 * sizeof(float) + column;
  for (size_t i = 0; i < count; ++i) {
    float steps = std::nearbyint((w[i] - offset) / scale);
    steps = std::fmin(std::fmax(steps, -128.0f), 127.0f);
    q[i * 16] = static_cast<char>(static_cast<int8_t>(steps));
    w[i] = steps * scale + offset;
  }
}

// The distance between adjacent floats at `x`.
inline double Ulp(double x) {
  const double magnitude = std::fabs(x);
  if (magnitude < 0x1p-126) return 0x1p-149;
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// Test values for functions of one number: every sign and exponent from
// `lowest` on with various mantissas, 0 and infinities, and evenly spaced
// values around 0.
inline std::vector<float> FloatsOfAllSizes(int lowest = -149) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f, -0.0f, kInfinity, -kInfinity};
  constexpr int kSteps = 97;
  for (int exponent = lowest; exponent <= 127; ++exponent) {
    for (int step = 0; step < kSteps; ++step) {
      const double m = 1.0 + static_cast<double>(step) / kSteps;
      const auto x = static_cast<float>(std::ldexp(m, exponent));
      values.push_back(x);
      values.push_back(-x);
    }
  }
  for (int i = -40000; i <= 40000; ++i) {
    values.push_back(static_cast<float>(i) * 0x1p-8f * 0.71f);
  }
  return values;
}

// |got - want| <= bound, and NaN equals NaN. `bound` follows from the sum of
// the absolute products: the error of a chain of k fused steps is at most k *
// 2^-24 of it.
inline bool Near(double got, double want, double bound) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= bound;
}

}  // namespace mace

#endif  // MACE_KERNELS_CPU_KERNEL_TESTING_H_

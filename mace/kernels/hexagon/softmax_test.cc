// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The factors of rows against the compiler's double precision, rows against
// loops and the scalar unit's floats.

#include "mace/kernels/hexagon/softmax.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kEntries = 256;
constexpr int kFactors = 600;

struct Factor {
  uint64_t sum;
  float scale;
  float wanted;
};
struct Factors {
  Factor of[kFactors];
};

constexpr uint64_t Next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state ^ (*state >> 29)) * 0x9e3779b97f4a7c15u;
}

constexpr Factor MakeFactor(uint64_t sum, float scale) {
  const double product = static_cast<double>(sum) * static_cast<double>(scale);
  const double factor = 1.0 / product;
  return {sum, scale, static_cast<float>(factor)};
}

constexpr Factors MakeFactors() {
  Factors factors{};
  uint64_t state = 7;
  for (int i = 0; i < kFactors; ++i) {
    const uint64_t sum =
        (uint64_t{1} << 30) + (Next(&state) >> (12 + Next(&state) % 34));
    const auto scale =
        static_cast<float>(1 + Next(&state) % 1000000) / (1 << 28);
    factors.of[i] = MakeFactor(sum, scale);
    if (i % 3 == 1) {
      // Close to the middle of two floats, as nearly as a long sum allows.
      const double middle =
          static_cast<double>(factors.of[i].wanted) * (1 + 1.0 / (1 << 24));
      const double exact = 1.0 / (middle * static_cast<double>(scale));
      factors.of[i] = MakeFactor(static_cast<uint64_t>(exact), scale);
    }
    if (i % 3 == 2) {
      factors.of[i] = MakeFactor(uint64_t{1} << (30 + i % 23),
                                 1.0f / static_cast<float>(1 << (i % 20)));
    }
  }
  factors.of[0] = MakeFactor(uint64_t{1} << 52, 1e38f);
  factors.of[0].wanted = 1.17549435e-38f;  // the least normal number
  factors.of[1] = MakeFactor(uint64_t{1} << 30, 2e-38f);
  return factors;
}

void TestFactors() {
  static constexpr Factors kTable = MakeFactors();
  for (const Factor &f : kTable.of) {
    if (f.sum < uint64_t{1} << 30) continue;
    MACE_EXPECT_EQ(__builtin_bit_cast(uint32_t, SoftmaxFactor(f.sum, f.scale)),
                   __builtin_bit_cast(uint32_t, f.wanted));
  }
}

constexpr int kMost = 5000;
int8_t g_x[kMost + kSlackBytes];
alignas(kVectorBytes) int32_t g_exponentials[kEntries];
Written<kMost> g_written;
Random g_random(31);

// E[k] = 2^30 * ratio^k, about.
void SetExponentials(uint32_t ratio) {
  uint64_t power = uint64_t{1} << 30;
  for (int32_t &e : g_exponentials) {
    e = static_cast<int32_t>(power);
    power = (power * ratio) >> 16;
  }
}

void TestRows(int count, int step, int rows, float scale, int least) {
  for (int8_t &x : g_x) x = static_cast<int8_t>(g_random.Between(least, 120));
  const Softmax softmax = {g_exponentials, scale, {-128, -128, 127}};
  const int offset = count % 11;
  SoftmaxRows(softmax, g_x + offset, step, count, rows, g_written.Start(offset),
              step);
  float factors[16];
  int8_t largest[16];
  for (int row = 0; row < rows; ++row) {
    const int8_t *x = g_x + offset + row * step;
    largest[row] = INT8_MIN;
    for (int i = 0; i < count; ++i) {
      largest[row] = x[i] > largest[row] ? x[i] : largest[row];
    }
    uint64_t sum = 0;
    for (int i = 0; i < count; ++i) {
      sum += static_cast<uint32_t>(g_exponentials[largest[row] - x[i]]);
    }
    factors[row] = SoftmaxFactor(sum, scale);
  }
  g_written.Expect(rows, step, count, [&](int at) {
    const int row = at / step;
    const int k = largest[row] - g_x[offset + at];
    return Clamped(Scaled(g_exponentials[k], factors[row]), softmax.range);
  });
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  using namespace mace::hexagon;
  TestFactors();
  constexpr uint32_t kRatios[] = {65000, 40000, 0, 65535};
  for (const uint32_t ratio : kRatios) {
    SetExponentials(ratio);
    TestRows(1, 8, 3, 1.0f / 256, -128);
    TestRows(10, 16, 7, 1.0f / 256, 60);
    TestRows(91, 96, 9, 1.0f / 256, -100);
    TestRows(128, 128, 3, 1.0f / 300, -128);
    TestRows(129, 136, 3, 1.0f / 256, -128);
    TestRows(1001, 1008, 2, 1.0f / 256, -128);
    // Far out of range, and 0.
    TestRows(200, 200, 2, 1e-9f, -128);
    TestRows(200, 200, 2, 1e9f, -128);
  }
  return Finish();
}

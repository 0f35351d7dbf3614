// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of sums, products and limits against the formulas, in 64 bits or by the
// scalar unit's floats.

#include "mace/kernels/hexagon/eltwise.h"

#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMost = 600;
constexpr ByteRange kWhole = {0, -128, 127};

alignas(8) int8_t g_a[kMost + kSlackBytes];
alignas(8) int8_t g_b[kMost + kSlackBytes];
Written<kMost> g_written;
Random g_random(5);

int8_t Wanted(const Eltwise &e, int8_t x, int8_t y) {
  const int64_t a = x - e.a_zero;
  const int64_t b = y - e.b_zero;
  if (e.mode == EltwiseMode::kProduct) {
    return Clamped(Scaled(static_cast<int32_t>(a * b), e.multiplier), e.range);
  }
  const int64_t fa = a * e.a_factor;
  const int64_t fb = b * e.b_factor;
  const int64_t t = e.mode == EltwiseMode::kSum   ? fa + fb
                    : e.mode == EltwiseMode::kMax ? (fa > fb ? fa : fb)
                                                  : (fa < fb ? fa : fb);
  const int64_t half = e.shift > 0 ? int64_t{1} << (e.shift - 1) : 0;
  return Clamped((t + half) >> e.shift, e.range);
}

void Test(const Eltwise &e, int count, int offset) {
  g_random.Fill(g_a, sizeof(g_a));
  g_random.Fill(g_b, sizeof(g_b));
  const int8_t *a = g_a + offset % 3;
  const int8_t *b = g_b + offset % 5;
  EltwiseRow(e, a, b, count, g_written.Start(offset));
  g_written.Expect(count, [&](int i) { return Wanted(e, a[i], b[i]); });
}

Eltwise RandomOne(EltwiseMode mode) {
  // Factors of the whole range, from 0 on.
  constexpr int kMostFactor = (1 << 21) - 1;
  Eltwise e{};
  e.mode = mode;
  e.a_factor = g_random.Between(0, kMostFactor);
  e.b_factor = g_random.Between(0, kMostFactor) >> g_random.Between(0, 20);
  if (mode == EltwiseMode::kSum && g_random.Next() % 2 == 0) {
    e.b_factor = -e.b_factor;
  }
  e.shift = g_random.Between(16, 23);
  e.multiplier = static_cast<float>(g_random.Between(1, 4000)) * 3e-6f;
  e.a_zero = g_random.Byte();
  e.b_zero = g_random.Byte();
  e.range = {g_random.Byte(), static_cast<int8_t>(g_random.Between(-128, -50)),
             static_cast<int8_t>(g_random.Between(50, 127))};
  return e;
}

void TestRandom() {
  constexpr EltwiseMode kModes[] = {EltwiseMode::kSum, EltwiseMode::kMax,
                                    EltwiseMode::kMin, EltwiseMode::kProduct};
  constexpr int kCounts[] = {1, 8, 127, 128, 130, 256, 511};
  int offset = 0;
  for (const EltwiseMode mode : kModes) {
    for (const int count : kCounts) {
      for (int i = 0; i < 6; ++i) Test(RandomOne(mode), count, offset++ % 128);
    }
  }
}

// The largest factors and shifts: sums are close to the limits of a word.
void TestLimits() {
  constexpr int32_t kFactor = (1 << 21) - 1;
  constexpr int kShifts[] = {0, 1, 6, 7, 14, 20, 22, 23, 30};
  constexpr int8_t kZeros[] = {-128, 127};
  constexpr int32_t kSigns[] = {1, -1};
  constexpr float kMultipliers[] = {0.5f,   0.0625f, 1e-3f,
                                    300.0f, 1e30f,   1e-30f};
  for (const int shift : kShifts) {
    for (const int8_t zero : kZeros) {
      for (const int32_t sign : kSigns) {
        Test({EltwiseMode::kSum, kFactor, sign * kFactor, shift, 0, zero, zero,
              kWhole},
             300, 0);
        Test({EltwiseMode::kMax, kFactor, 1, shift, 0, zero, zero, kWhole}, 300,
             0);
      }
    }
  }
  // Products whose results are often close to a half, far out of range, 0.
  for (const float m : kMultipliers) {
    Test({EltwiseMode::kProduct, 0, 0, 0, m, -128, 127, kWhole}, 500, 3);
    Test({EltwiseMode::kProduct, 0, 0, 0, m, 4, -9, {5, -100, 90}}, 500, 3);
  }
}

void TestInPlace() {
  const Eltwise e = RandomOne(EltwiseMode::kSum);
  static int8_t a[kMost];
  constexpr bool kEach[] = {true, false};
  for (const bool is_a : kEach) {
    g_random.Fill(g_a, sizeof(g_a));
    g_random.Fill(g_b, sizeof(g_b));
    memcpy(a, is_a ? g_a : g_b, kMost);
    EltwiseRow(e, g_a, g_b, kMost, is_a ? g_a : g_b);
    for (int i = 0; i < kMost; ++i) {
      MACE_EXPECT_EQ(is_a ? g_a[i] : g_b[i],
                     is_a ? Wanted(e, a[i], g_b[i]) : Wanted(e, g_a[i], a[i]));
    }
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  mace::hexagon::TestRandom();
  mace::hexagon::TestLimits();
  mace::hexagon::TestInPlace();
  return mace::hexagon::Finish();
}

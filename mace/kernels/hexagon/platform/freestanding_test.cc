// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division against the compiler, which divides constants itself; copies and
// vectors.

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <stdint.h>

#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/memory.h"

namespace mace::hexagon {
namespace {

constexpr int kCount = 400;

// Numbers of all magnitudes.
constexpr uint64_t Next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  const uint64_t bits = (*state ^ (*state >> 29)) * 0x9e3779b97f4a7c15u;
  return bits >> (*state >> 58);
}

template <typename T>
struct Table {
  T a[kCount];
  T b[kCount];
  T quotient[kCount];
  T remainder[kCount];
};

template <typename T>
constexpr Table<T> MakeIntegers() {
  Table<T> table{};
  uint64_t state = sizeof(T);
  for (int i = 0; i < kCount; ++i) {
    const T a = static_cast<T>(Next(&state));
    T b = static_cast<T>(Next(&state) >> (Next(&state) % 32));
    if (b == 0 || b == static_cast<T>(-1)) b = 3;
    table.a[i] = a;
    table.b[i] = b;
    table.quotient[i] = a / b;
    table.remainder[i] = a % b;
  }
  return table;
}

// Not known to the compiler where it is used.
template <typename T>
T Hidden(T value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

template <typename T>
void TestIntegers() {
  static constexpr Table<T> kTable = MakeIntegers<T>();
  for (int i = 0; i < kCount; ++i) {
    const T a = Hidden(kTable.a[i]);
    const T b = Hidden(kTable.b[i]);
    MACE_EXPECT_EQ(a / b, kTable.quotient[i]);
    MACE_EXPECT_EQ(a % b, kTable.remainder[i]);
  }
}

struct FloatTable {
  uint32_t a[kCount];
  uint32_t b[kCount];
  uint32_t quotient[kCount];
};

constexpr FloatTable MakeFloats() {
  FloatTable table{};
  uint64_t state = 1;
  for (int i = 0; i < kCount; ++i) {
    auto a = static_cast<uint32_t>(Next(&state) ^ (Next(&state) << 20));
    auto b = static_cast<uint32_t>(Next(&state) ^ (Next(&state) << 20));
    if (i % 3 == 1) {
      // Of one magnitude: no overflow.
      a = 0x3f000000u | (a & 0x80ffffffu);
      b = 0x3f000000u | (b & 0x80ffffffu);
    }
    // Denormal, or close to it: only finite numbers can be divided in a
    // constant.
    if (i % 3 == 2) a &= 0x81ffffffu;
    if ((a & 0x7f800000u) == 0x7f800000u) a ^= 0x40000000u;
    if ((b & 0x7f800000u) == 0x7f800000u) b ^= 0x40000000u;
    if ((b & 0x7fffffffu) < 0x00800000u) b |= 0x3f800000u;
    const float x = __builtin_bit_cast(float, a);
    const float y = __builtin_bit_cast(float, b);
    const double wide = static_cast<double>(x) / static_cast<double>(y);
    const double size = wide < 0 ? -wide : wide;
    if (size > 3e38) {
      a = 0x3f800000u;
      b = 0x40400000u;
    }
    table.a[i] = a;
    table.b[i] = b;
    table.quotient[i] = __builtin_bit_cast(
        uint32_t, __builtin_bit_cast(float, a) / __builtin_bit_cast(float, b));
  }
  return table;
}

void TestFloats() {
  static constexpr FloatTable kTable = MakeFloats();
  for (int i = 0; i < kCount; ++i) {
    const float a = __builtin_bit_cast(float, Hidden(kTable.a[i]));
    const float b = __builtin_bit_cast(float, Hidden(kTable.b[i]));
    MACE_EXPECT_EQ(__builtin_bit_cast(uint32_t, a / b), kTable.quotient[i]);
  }
  const float zero = Hidden(0.0f);
  const float one = Hidden(1.0f);
  const float infinity = __builtin_inff();
  MACE_EXPECT_EQ(one / zero == infinity, true);
  MACE_EXPECT_EQ(-one / zero == -infinity, true);
  MACE_EXPECT_EQ(one / Hidden(infinity) == 0, true);
  MACE_EXPECT_EQ(__builtin_isnan(zero / Hidden(0.0f)), true);
  MACE_EXPECT_EQ(__builtin_isnan(Hidden(infinity) / Hidden(infinity)), true);
  MACE_EXPECT_EQ(__builtin_isnan(Hidden(__builtin_nanf("")) / one), true);
  MACE_EXPECT_EQ(Hidden(3e38f) / Hidden(1e-3f) == infinity, true);
}

void TestMemory() {
  constexpr int kSizes[] = {0, 1, 7, 8, 9, 31, 32, 64, 100};
  uint8_t bytes[256];
  for (int from = 0; from < 20; ++from) {
    for (int to = 0; to < 20; ++to) {
      for (const int size : kSizes) {
        for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
        MACE_EXPECT_EQ(memmove(bytes + to, bytes + from, size) == bytes + to,
                       true);
        int wrong = 0;
        for (int i = 0; i < 256; ++i) {
          const bool moved = i >= to && i < to + size;
          wrong += bytes[i] != (moved ? from + i - to : i) ? 1 : 0;
        }
        MACE_EXPECT_EQ(wrong, 0);
        memset(bytes + to, from, size);
        for (int i = 0; i < size; ++i) wrong += bytes[to + i] != from ? 1 : 0;
        MACE_EXPECT_EQ(wrong, 0);
      }
    }
  }
  MACE_EXPECT_EQ(memcmp("abc", "abd", 3) < 0, true);
  MACE_EXPECT_EQ(memcmp("ab\xff", "ab\x01", 3) > 0, true);
  MACE_EXPECT_EQ(memcmp("abc", "abd", 2), 0);
}

void TestVectors() {
  constexpr int kBytes = 128;
  alignas(kBytes) uint8_t a[kBytes];
  alignas(kBytes) int8_t b[kBytes];
  for (int i = 0; i < kBytes; ++i) {
    a[i] = static_cast<uint8_t>(Hidden(i * 37));
    b[i] = static_cast<int8_t>(Hidden(i * 91));
  }
  alignas(kBytes) int32_t sums[kBytes / 4];
  *reinterpret_cast<HVX_Vector *>(sums) = Q6_Vw_vrmpyacc_VwVubVb(
      Q6_V_vsplat_R(5), *reinterpret_cast<const HVX_Vector *>(a),
      *reinterpret_cast<const HVX_Vector *>(b));
  for (int i = 0; i < kBytes / 4; ++i) {
    int32_t wanted = 5;
    for (int k = 4 * i; k < 4 * i + 4; ++k) wanted += a[k] * b[k];
    MACE_EXPECT_EQ(sums[i], wanted);
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  mace::hexagon::TestIntegers<int32_t>();
  mace::hexagon::TestIntegers<uint32_t>();
  mace::hexagon::TestIntegers<int64_t>();
  mace::hexagon::TestIntegers<uint64_t>();
  mace::hexagon::TestFloats();
  mace::hexagon::TestMemory();
  mace::hexagon::TestVectors();
  return mace::hexagon::Finish();
}

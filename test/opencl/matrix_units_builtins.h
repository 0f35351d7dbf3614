// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_MATRIX_UNITS_BUILTINS_H_
#define TEST_OPENCL_MATRIX_UNITS_BUILTINS_H_

namespace mace {
namespace test_opencl {

// A program of C++: functions of OpenCL C for kernels that matrix_units.cc
// compiles for this computer's processor, by the names that clang gives them.
constexpr char kMatrixUnitsBuiltins[] = R"mace(
#include <cmath>
#include <cstddef>
#include <cstdint>

typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef unsigned short ushort4 __attribute__((ext_vector_type(4)));

extern "C" {

// What the driver does for the item that runs.
struct MaceItemFunctions {
  size_t (*local_id)(unsigned dimension);
  size_t (*global_id)(unsigned dimension);
  void (*barrier)();
  // `halves`: of matrices of half, otherwise of TF32.
  void (*multiply)(int halves, float *sums, const unsigned *operands);
};

static const MaceItemFunctions *g_item = nullptr;

void mace_set_item_functions(const MaceItemFunctions *functions) {
  g_item = functions;
}

#define MACE_MULTIPLY(name, halves)                                          \
  void name(float4 *sums, unsigned a0, unsigned a1, unsigned a2,             \
            unsigned a3, unsigned b0, unsigned b1) {                         \
    const unsigned operands[] = {a0, a1, a2, a3, b0, b1};                    \
    g_item->multiply(halves, reinterpret_cast<float *>(sums), operands);     \
  }
MACE_MULTIPLY(mace_mma_half, 1)
MACE_MULTIPLY(mace_mma_tf32, 0)

size_t _Z12get_local_idj(unsigned i) { return g_item->local_id(i); }
size_t _Z13get_global_idj(unsigned i) { return g_item->global_id(i); }
void _Z7barrierj(unsigned) { g_item->barrier(); }

int _Z3minii(int a, int b) { return a < b ? a : b; }
int _Z3maxii(int a, int b) { return a > b ? a : b; }
int4 _Z3minDv4_ii(int4 a, int b) {
  for (int i = 0; i < 4; ++i) a[i] = a[i] < b ? a[i] : b;
  return a;
}
float4 _Z3madDv4_fS_S_(float4 a, float4 b, float4 c) { return a * b + c; }
float4 _Z14convert_float4Dv4_f(float4 v) { return v; }
float4 _Z6selectDv4_fS_Dv4_i(float4 a, float4 b, int4 c) {
  for (int i = 0; i < 4; ++i) a[i] = c[i] < 0 ? b[i] : a[i];
  return a;
}

float4 _Z11vload_half4mPU9CLprivateKDh(size_t at, const _Float16 *from) {
  float4 v;
  for (int i = 0; i < 4; ++i) v[i] = static_cast<float>(from[4 * at + i]);
  return v;
}
void _Z16vstore_half4_rteDv4_fmPU9CLprivateDh(float4 v,
                                              size_t at,
                                              _Float16 *to) {
  for (int i = 0; i < 4; ++i) to[4 * at + i] = static_cast<_Float16>(v[i]);
}
#define MACE_FOURS(load, store, Four, T)               \
  Four load(size_t at, const T *from) {                \
    Four v;                                            \
    for (int i = 0; i < 4; ++i) v[i] = from[4 * at + i]; \
    return v;                                          \
  }                                                    \
  void store(Four v, size_t at, T *to) {               \
    for (int i = 0; i < 4; ++i) to[4 * at + i] = v[i]; \
  }
MACE_FOURS(_Z6vload4mPU8CLglobalKf, _Z7vstore4Dv4_fmPU8CLglobalf, float4, float)
MACE_FOURS(_Z6vload4mPU8CLglobalKt, _Z7vstore4Dv4_tmPU8CLglobalt, ushort4,
           uint16_t)

#define MACE_OF_EACH(name, function)                   \
  float4 name(float4 v) {                              \
    for (int i = 0; i < 4; ++i) v[i] = function(v[i]); \
    return v;                                          \
  }
MACE_OF_EACH(_Z3expDv4_f, std::exp)
MACE_OF_EACH(_Z5expm1Dv4_f, std::expm1)
MACE_OF_EACH(_Z5log1pDv4_f, std::log1p)
MACE_OF_EACH(_Z4tanhDv4_f, std::tanh)
MACE_OF_EACH(_Z4fabsDv4_f, std::fabs)
float _Z3erff(float v) { return std::erf(v); }
float4 _Z4fminDv4_ff(float4 a, float b) {
  for (int i = 0; i < 4; ++i) a[i] = std::fmin(a[i], b);
  return a;
}
float4 _Z4fmaxDv4_ff(float4 a, float b) {
  for (int i = 0; i < 4; ++i) a[i] = std::fmax(a[i], b);
  return a;
}

}  // extern "C"
)mace";

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_MATRIX_UNITS_BUILTINS_H_

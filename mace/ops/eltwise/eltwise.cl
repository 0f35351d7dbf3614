// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/opencl/tensor.clh"
#include "mace/kernels/opencl/activation.clh"
#include "mace/kernels/opencl/broadcast.clh"

// MODE_<mode>: a value of the attribute. OF_INTS: int32 operands.

// Floats are computed in float, whatever `real` is: the functions need the
// range, and memory bounds the time.
#ifdef OF_INTS
#define VALUE4 int4
#define READ_OPERAND(v, t) BROADCAST_READ_INT(v, t)
#else
#define VALUE4 float4
#define READ_OPERAND(v, t)    \
  BROADCAST_READ(v##_real, t) \
  const float4 v = convert_float4(v##_real);
#endif

#if defined(MODE_FLOOR_MOD) && !defined(OF_INTS)
static float4 floor_mod(float4 a, float4 b) {
  const float4 rest = fmod(a, b);
  return select(rest, rest + b, rest != 0.0f && (rest < 0.0f) != (b < 0.0f));
}
#endif
#if defined(OF_INTS)
// The smallest int has no quotient by -1.
static int4 divide(int4 a, int4 b) {
  return b == -1 ? -a : a / select(b, (int4)(1), b == -1);
}
static int4 floor_div(int4 a, int4 b) {
  const int4 quotient = divide(a, b);
  const int4 rest = a - quotient * b;
  return quotient + (rest != 0 && (rest < 0) != (b < 0));
}
static int int_power(int base, int exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? 1 - 2 * (exponent & 1) : 0;
  }
  uint result = 1;
  uint factor = as_uint(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return as_int(result);
}
#endif

#ifdef KERNEL_binary
VALUE4 compute(VALUE4 a, VALUE4 b) {
#if defined(MODE_ADD)
  return a + b;
#elif defined(MODE_SUB)
  return a - b;
#elif defined(MODE_MUL)
  return a * b;
#elif defined(MODE_SQR_DIFF)
  return (a - b) * (a - b);
#elif defined(OF_INTS) && defined(MODE_DIV)
  return divide(a, b);
#elif defined(OF_INTS) && defined(MODE_FLOOR_DIV)
  return floor_div(a, b);
#elif defined(OF_INTS) && defined(MODE_FLOOR_MOD)
  return a - floor_div(a, b) * b;
#elif defined(OF_INTS) && defined(MODE_MIN)
  return min(a, b);
#elif defined(OF_INTS) && defined(MODE_MAX)
  return max(a, b);
#elif defined(OF_INTS) && defined(MODE_POW)
  return (int4)(int_power(a.x, b.x), int_power(a.y, b.y), int_power(a.z, b.z),
                int_power(a.w, b.w));
#elif defined(MODE_DIV)
  return a / b;
#elif defined(MODE_MIN)
  // fmin would leave out a NaN.
  return select(b, a, a < b || isnan(a));
#elif defined(MODE_MAX)
  return select(b, a, a > b || isnan(a));
#elif defined(MODE_POW)
  return pow(a, b);
#elif defined(MODE_FLOOR_DIV)
  return floor(a / b);
#elif defined(MODE_FLOOR_MOD)
  return floor_mod(a, b);
#endif
}

// Items: (blocks of C, W, rows) of the output.
__kernel void binary(IN(a), BROADCAST(a), IN(b), BROADCAST(b), OUT(output),
                     BROADCAST_OUTPUT, ACT_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  READ_OPERAND(va, a)
  READ_OPERAND(vb, b)
#ifdef OF_INTS
  WRITE_INT(output, y, x, c, compute(va, vb));
#else
  WRITE(output, y, x, c,
        convert_real4(ACTIVATE_FLOAT(compute(va, vb))));
#endif
}
#endif

#ifdef KERNEL_compare
#if defined(MODE_EQUAL)
#define HOLDS(p, q) ((p) == (q))
#elif defined(MODE_NOT_EQUAL)
#define HOLDS(p, q) ((p) != (q))
#elif defined(MODE_LESS)
#define HOLDS(p, q) ((p) < (q))
#elif defined(MODE_LESS_EQUAL)
#define HOLDS(p, q) ((p) <= (q))
#elif defined(MODE_GREATER)
#define HOLDS(p, q) ((p) > (q))
#elif defined(MODE_GREATER_EQUAL)
#define HOLDS(p, q) ((p) >= (q))
#endif

__kernel void compare(IN(a), BROADCAST(a), IN(b), BROADCAST(b), OUT(output),
                      BROADCAST_OUTPUT) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
  READ_OPERAND(va, a)
  READ_OPERAND(vb, b)
  WRITE_INT(output, y, x, c, -HOLDS(va, vb));
}
#endif

#ifdef KERNEL_unary
VALUE4 compute(VALUE4 a) {
#if defined(MODE_NEG)
  return -a;
#elif defined(MODE_SQUARE)
  return a * a;
#elif defined(OF_INTS) && defined(MODE_ABS)
  return select(a, -a, a < 0);
#elif defined(OF_INTS) && defined(MODE_SIGN)
  return (a < 0) - (a > 0);
#elif defined(OF_INTS)
  return a;  // is whole
#elif defined(MODE_ABS)
  return fabs(a);
#elif defined(MODE_SQRT)
  return sqrt(a);
#elif defined(MODE_RSQRT)
  return 1.0f / sqrt(a);
#elif defined(MODE_EXP)
  return exp(a);
#elif defined(MODE_LOG)
  return log(a);
#elif defined(MODE_FLOOR)
  return floor(a);
#elif defined(MODE_CEIL)
  return ceil(a);
#elif defined(MODE_ROUND)
  return rint(a);
#elif defined(MODE_SIGN)
  return sign(a);
#elif defined(MODE_RECIPROCAL)
  return 1.0f / a;
#elif defined(MODE_ERF)
  return erf4(a);
#elif defined(MODE_SIN)
  return sin(a);
#elif defined(MODE_COS)
  return cos(a);
#endif
}

__kernel void unary(IN(a), OUT(output), ACT_ARG) {
  const int c = get_global_id(0);
  const int x = get_global_id(1);
  const int y = get_global_id(2);
  if (c >= output_dims.z || x >= output_dims.y) return;
#ifdef OF_INTS
  WRITE_INT(output, y, x, c, compute(READ_INT(a, y, x, c)));
#else
  const float4 v = compute(convert_float4(READ(a, y, x, c)));
  WRITE(output, y, x, c, convert_real4(ACTIVATE_FLOAT(v)));
#endif
}
#endif

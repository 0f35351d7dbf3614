// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Integer tensors are shapes and indices, with few elements; plain loops are
// enough.

#include "mace/kernels/cpu/eltwise/eltwise.h"

namespace mace::eltwise {

namespace {

int32_t Wrap(uint32_t value) { return static_cast<int32_t>(value); }
uint32_t U(int32_t value) { return static_cast<uint32_t>(value); }

int32_t Divide(int32_t a, int32_t b) {
  return b == -1 ? Wrap(0u - U(a)) : a / b;  // INT32_MIN / -1 wraps
}
int32_t Modulo(int32_t a, int32_t b) { return b == -1 ? 0 : a % b; }
int32_t FloorDivide(int32_t a, int32_t b) {
  const bool inexact = Modulo(a, b) != 0;
  return Divide(a, b) - (inexact && (a < 0) != (b < 0) ? 1 : 0);
}
int32_t FloorModulo(int32_t a, int32_t b) {
  const int32_t m = Modulo(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}
int32_t Power(int32_t base, int32_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint32_t result = 1;
  uint32_t square = U(base);
  for (; exponent > 0; exponent >>= 1, square *= square) {
    if ((exponent & 1) != 0) result *= square;
  }
  return Wrap(result);
}

template <typename T, typename F>
void Walk(const Rows &rows, const int32_t *a, const int32_t *b, T *out, F f) {
  const size_t a_step = rows.a_scalar ? 0 : 1;
  const size_t b_step = rows.b_scalar ? 0 : 1;
  for (size_t row = 0; row < rows.rows; ++row) {
    for (size_t i = 0; i < rows.columns; ++i) {
      out[i] = static_cast<T>(f(a[i * a_step], b[i * b_step]));
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    out += rows.columns;
  }
}

bool DividesByZero(Binary op,
                   const Rows &rows,
                   const int32_t *a,
                   const int32_t *b) {
  const bool power = op == Binary::kPow;
  if (!power && op != Binary::kDiv && op != Binary::kFloorDiv &&
      op != Binary::kFloorMod) {
    return false;
  }
  const size_t a_step = rows.a_scalar ? 0 : 1;
  const size_t b_step = rows.b_scalar ? 0 : 1;
  for (size_t row = 0; row < rows.rows; ++row) {
    for (size_t i = 0; i < rows.columns; ++i) {
      const int32_t x = a[i * a_step];
      const int32_t y = b[i * b_step];
      if (power ? x == 0 && y < 0 : y == 0) return true;
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
  }
  return false;
}

}  // namespace

bool BinaryInt(Binary op,
               const Rows &rows,
               const int32_t *a,
               const int32_t *b,
               int32_t *out) {
  if (DividesByZero(op, rows, a, b)) return false;
  const auto walk = [&](auto f) { Walk(rows, a, b, out, f); };
  using I = int32_t;
  switch (op) {
    case Binary::kAdd:
      walk([](I x, I y) { return Wrap(U(x) + U(y)); });
      break;
    case Binary::kSub:
      walk([](I x, I y) { return Wrap(U(x) - U(y)); });
      break;
    case Binary::kMul:
      walk([](I x, I y) { return Wrap(U(x) * U(y)); });
      break;
    case Binary::kDiv:
      walk(Divide);
      break;
    case Binary::kMin:
      walk([](I x, I y) { return x < y ? x : y; });
      break;
    case Binary::kMax:
      walk([](I x, I y) { return x > y ? x : y; });
      break;
    case Binary::kPow:
      walk(Power);
      break;
    case Binary::kSqrDiff:
      walk([](I x, I y) { return Wrap((U(x) - U(y)) * (U(x) - U(y))); });
      break;
    case Binary::kFloorDiv:
      walk(FloorDivide);
      break;
    case Binary::kFloorMod:
      walk(FloorModulo);
      break;
  }
  return true;
}

void CompareInt(Compare op,
                const Rows &rows,
                const int32_t *a,
                const int32_t *b,
                uint8_t *out) {
  const auto walk = [&](auto f) { Walk(rows, a, b, out, f); };
  using I = int32_t;
  switch (op) {
    case Compare::kEqual:
      return walk([](I x, I y) { return x == y; });
    case Compare::kNotEqual:
      return walk([](I x, I y) { return x != y; });
    case Compare::kLess:
      return walk([](I x, I y) { return x < y; });
    case Compare::kLessEqual:
      return walk([](I x, I y) { return x <= y; });
    case Compare::kGreater:
      return walk([](I x, I y) { return x > y; });
    case Compare::kGreaterEqual:
      return walk([](I x, I y) { return x >= y; });
  }
}

bool UnaryInt(Unary op, const int32_t *x, int32_t *y, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const int32_t v = x[i];
    switch (op) {
      case Unary::kNeg:
        y[i] = Wrap(0u - U(v));
        break;
      case Unary::kAbs:
        y[i] = v < 0 ? Wrap(0u - U(v)) : v;
        break;
      case Unary::kSquare:
        y[i] = Wrap(U(v) * U(v));
        break;
      case Unary::kSign:
        y[i] = (v > 0) - (v < 0);
        break;
      case Unary::kFloor:
      case Unary::kCeil:
      case Unary::kRound:
        y[i] = v;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace mace::eltwise

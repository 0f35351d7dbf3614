// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One step of a recurrent layer for one row of a batch, after the products: the
// gates, and the new state. With a_g = clip(x_g + p_g), where x_g is the part
// of the input in gate g and p_g that of the state,
//
//   RNN   h' = cell(a_0)
//   GRU   z = gate(a_0), r = gate(a_1), h' = (1 - z) n + z h,
//         n = cell(clip(x_2 + p_2)), where the product p_2 is that of r h; or,
//         with reset_after, n = cell(clip(x_2 + r (p_2 + bias)))
//   LSTM  i = gate(a_0 + P_0 c), f = gate(a_2 + P_2 c), g = cell(a_3),
//         c' = f c + i g, o = gate(a_1 + P_1 c'), h' = o output(c')
//         (the peepholes P are added before the clip); with couple_gates,
//         f = 1 - i. Like ONNX Runtime, this does not clip c'.
//
// Units are independent. A call computes units [begin, end), where `begin` is a
// multiple of kUnits: then the bits do not depend on how units are divided.

#ifndef MACE_KERNELS_CPU_RECURRENT_RECURRENT_H_
#define MACE_KERNELS_CPU_RECURRENT_RECURRENT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::recurrent {

inline constexpr size_t kUnits = 16;

// y = f(x) by `activation`, or one of these.
enum class Kind : uint8_t {
  kActivation,
  kAffine,       // alpha x + beta
  kScaledTanh,   // alpha tanh(beta x)
  kThresholded,  // x > alpha ? x : 0
};
struct Function {
  Kind kind = Kind::kActivation;
  activation::Params activation;  // kScaledTanh: kTanh
  float alpha = 0;
  float beta = 0;
};

struct Cell {
  Function gate;
  Function cell;
  Function output;
  float clip = 0;  // infinite: none
  size_t units = 0;
  bool reset_after = false;
  bool couple_gates = false;
  const activation::Kernels *activations = nullptr;
};

struct Row {
  const float *x = nullptr;         // [gates][units]
  const float *products = nullptr;  // [gates][units]
  const float *params = nullptr;  // peepholes [3][units], bias [units], or null
  const float *hidden = nullptr;  // h
  float *next = nullptr;          // h'; not `hidden`
  float *output = nullptr;        // h' again
  float *memory = nullptr;        // LSTM: c, replaced by c'
  float *update = nullptr;        // GRU: z
  float *reset = nullptr;         // GRU: r h
};

struct Kernels {
  void (*rnn)(const Cell &cell, const Row &row, size_t begin, size_t end);
  // z and r h; unless reset_after.
  void (*gates)(const Cell &cell, const Row &row, size_t begin, size_t end);
  // The rest of GRU, or all with reset_after.
  void (*gru)(const Cell &cell, const Row &row, size_t begin, size_t end);
  void (*lstm)(const Cell &cell, const Row &row, size_t begin, size_t end);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::recurrent

#endif  // MACE_KERNELS_CPU_RECURRENT_RECURRENT_H_

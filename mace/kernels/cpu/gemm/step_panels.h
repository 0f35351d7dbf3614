// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Panels of int8 for PMADDUBSW, which multiplies bytes four times as densely as
// floats but saturates: it adds two products of uint8 and int8 in 16 bits. Here
// no sum can leave them, whatever the elements of the rows are, so that results
// are exact:
//
//   x0 * w0 + x1 * w1 fits if the weights above 0 are 128 together at most, and
//   those below 0, too: 255 * 128 is 32,640.
//
// The steps of a panel, each of four elements of K by 16 columns, are of four
// kinds:
//
//   deep      two fours, whose products are added in 16 bits before they are
//             widened: the bound holds for the four weights of each such sum
//   masked    likewise, with a mask for the second four
//   plain     one four: it holds for each pair
//   flipped   one four with a mask. In a pair that does not fit, both weights
//             have one sign.
//
// Where a mask has ones, a weight w changes its sign, and its element x becomes
// 255 - x, which is x ^ 255: x * w = 255 * w + (255 - x) * -w. One of two
// weights of one sign changes it: then the products have different signs, and
// fit. 255 * w is a constant of the column, the correction. In a sum of four
// products, either, both or none of the last two change.
//
// A masked step takes as many instructions as two plain ones, but fewer of
// those that multiply, and fewer than a flipped one and another. Of masked and
// of flipped steps, those come first whose mask has zeros for the last eight
// columns, then those with zeros for the first eight: kernels with vectors of
// eight columns need not apply a half of zeros.
//
// Two weights of -128 have no int8 of the other sign: one becomes -127, and a
// further plain four has -1 at its place. No four with -128 is the second one
// of a masked step.
//
// The memory begins with a number of 8 bytes per panel, the distance from it to
// its panel, so that panels of any size are found like those of one size. A
// panel is a StepPanel, StepCounts for each tap, the offset in bytes from a
// tap's row to the elements of each four, and the weights, [16][4] for each
// four, in the order of taps and of the kinds above. A mask follows the weights
// of its step.

#ifndef MACE_KERNELS_CPU_GEMM_STEP_PANELS_H_
#define MACE_KERNELS_CPU_GEMM_STEP_PANELS_H_

#include <cstddef>
#include <cstdint>

namespace mace::gemm {

struct StepPanel {
  int32_t correction[16];  // of each column, modulo 2^32
  uint64_t weights;        // bytes from the begin of this to the weights
};

// Steps whose masks have ones in one half of the columns alone, or in both.
struct MaskedSteps {
  uint32_t first;
  uint32_t last;
  uint32_t both;

  uint32_t All() const { return first + last + both; }
};

struct StepCounts {
  uint32_t deep;
  MaskedSteps masked;
  uint32_t plain;
  MaskedSteps flipped;

  uint32_t Pairs() const { return deep + masked.All(); }
  uint32_t Masks() const { return masked.All() + flipped.All(); }
  uint32_t Fours() const { return 2 * Pairs() + plain + flipped.All(); }
};

// Weights of one sign in a sum of 16 bits.
inline constexpr int kStepLimit = 128;
inline constexpr size_t kStepBytes = 64;  // of a four, and of its mask

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_STEP_PANELS_H_

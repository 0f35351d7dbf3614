// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// 3x3 convolution in groups of a few channels, by products of pairs of bf16.
//
// A vector has 16 adjacent outputs: of several groups, if 16 is a multiple of a
// group's outputs, otherwise of one group. An instruction multiplies a pair of
// channels of every output's group. The last vector of the outputs, or of a
// group, overlaps the one before it instead of being partial.
//
// The filter is rearranged, see LayOutPairs. Order of summation: bias, then
// rows of the kernel, pairs of channels, columns of the kernel, all ascending,
// one chain of floats per output.

#ifndef MACE_KERNELS_CPU_DWCONV_PAIR_GROUPS_H_
#define MACE_KERNELS_CPU_DWCONV_PAIR_GROUPS_H_

#include <cstddef>

#include "mace/kernels/cpu/dwconv/dwconv.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::dwconv {

inline constexpr ptrdiff_t kPairLanes = 16;
// Channels of a group. More were not measured.
inline constexpr ptrdiff_t kMaxPairChannels = 32;

// Whether the kernels support the convolution.
bool FitsPairGroups(const Shape &shape);

// Vectors of the outputs of all groups before `group`.
ptrdiff_t PairVectorsBefore(const Shape &shape, ptrdiff_t group);
// The first output of a vector.
ptrdiff_t FirstPairOutput(const Shape &shape, ptrdiff_t vector);

size_t PairFilterBytes(const Shape &shape);
// Rearranges a filter of type kBf16Pairs, [groups][panels][9][pairs][16][2], to
// [vectors][pairs][9][16][2].
void LayOutPairs(const Shape &shape, const void *panels, void *to);

// Images are bf16, Args::filter is what LayOutPairs wrote, and a range begins
// with the first group of a vector. Null for an ISA without bf16 products.
const Kernels *PairGroupKernelsFor(CpuIsa isa);

}  // namespace mace::dwconv

#endif  // MACE_KERNELS_CPU_DWCONV_PAIR_GROUPS_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Strategies for convolutions of 8-bit integers (quantized_gemm.h): Request has
// the filter as int8, with FilterLayout::kPanels not packed, [out_c][kernel_h]
// [kernel_w][in_c / groups], and the arithmetic "quantized"; Args have the
// requantization and the padding. Images and results have the signedness of
// that arithmetic.

#ifndef MACE_KERNELS_CPU_CONV_QUANTIZED_STRATEGY_H_
#define MACE_KERNELS_CPU_CONV_QUANTIZED_STRATEGY_H_

#include <memory>

#include "mace/kernels/cpu/conv/strategy.h"

namespace mace::conv {

// FilterLayout::kPanels: a product of image rows that are read in place.
std::unique_ptr<Strategy> MakeQuantizedDirect();
// Likewise, or by Winograd's method with the same results, if that is faster on
// the processor and the sums are small (Request::small_sums). `max_tile` is the
// deployment's hint.
std::unique_ptr<Strategy> MakeQuantizedConv(CpuIsa isa, int max_tile);
// For groups of one channel, with filters of FilterLayout::kPanels or kTaps.
std::unique_ptr<Strategy> MakeQuantizedDepthwise(CpuIsa isa);

// The same for images and results of int16 (int16_gemm.h): with the arithmetic
// "int16" and its requantization.
std::unique_ptr<Strategy> MakeInt16Direct();
std::unique_ptr<Strategy> MakeInt16Depthwise(CpuIsa isa);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_QUANTIZED_STRATEGY_H_

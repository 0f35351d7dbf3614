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

// Winograd's method with the results of a direct product, if that is faster on
// the processor and the sums are small (Request::small_sums). `max_tile` is the
// deployment's hint; null if it or the processor has none.
std::unique_ptr<Strategy> MakeQuantizedWinograd(CpuIsa isa, int max_tile);
// Several groups of one channel, and filters of FilterLayout::kTaps.
std::unique_ptr<Strategy> MakeQuantizedDepthwise(CpuIsa isa);
// All but filters of FilterLayout::kTaps: a product of image rows that are read
// in place.
std::unique_ptr<Strategy> MakeQuantizedDirect();

// The same for images and results of int16 (int16_gemm.h): with the arithmetic
// "int16" and its requantization. Depthwise: FilterLayout::kTaps alone.
std::unique_ptr<Strategy> MakeInt16Depthwise(CpuIsa isa);
std::unique_ptr<Strategy> MakeInt16Direct();

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_QUANTIZED_STRATEGY_H_

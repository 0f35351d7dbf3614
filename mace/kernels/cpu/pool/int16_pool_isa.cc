// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/pool/int16_pool.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_int16.h"

namespace mace::pool::MACE_ISA {
namespace {
namespace sv = simd::MACE_ISA;

template <bool kMax>
void Pool(const Int16Params &p, const Window &w, size_t channels, int16_t *y) {
  const sv::Int16Results to = sv::MakeInt16Results(p);
  const auto elements =
      kMax ? int64_t{1} : static_cast<int64_t>(w.rows * w.columns);
  const auto zeros = static_cast<double>(elements * p.x_zero);
  for (size_t channel = 0; channel < channels; channel += sv::kLanes) {
    const size_t left = channels - channel;
    sv::VI folded = sv::SetInt(kMax ? INT16_MIN : 0);
    for (size_t r = 0; r < w.rows; ++r) {
      const int16_t *x = static_cast<const int16_t *>(w.first) + channel +
                         static_cast<ptrdiff_t>(r) * w.row_stride;
      for (size_t c = 0; c < w.columns; ++c, x += w.column_stride) {
        const sv::VI element = sv::WidenInt16(sv::LoadInt16N(x, left));
        folded = kMax ? sv::SelectInt(element > folded, element, folded)
                      : folded + element;
      }
    }
    const sv::VD sum = sv::IntToDouble(folded) - zeros;
    sv::StoreInt16N(y + channel, sv::ToInt16(to, sum * p.scale), left);
  }
}

}  // namespace

extern const Int16Kernels kInt16Kernels;
const Int16Kernels kInt16Kernels = {&Pool<true>, &Pool<false>};

}  // namespace mace::pool::MACE_ISA

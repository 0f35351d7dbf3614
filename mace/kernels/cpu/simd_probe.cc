// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/simd_probe.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::simd::MACE_ISA {
namespace {

#define MACE_PROBE_UNARY(name) \
  void name##Of(const float *x, float *y) { Store(y, name(Load(x))); }
MACE_PROBE_UNARY(Floor)
MACE_PROBE_UNARY(Ceil)
MACE_PROBE_UNARY(Round)
MACE_PROBE_UNARY(Truncate)
MACE_PROBE_UNARY(Abs)
MACE_PROBE_UNARY(Sqrt)
#undef MACE_PROBE_UNARY

void ClampOf(const float *x, float low, float high, float *y) {
  Store(y, Clamp(Load(x), Set(low), Set(high)));
}
void SetOf(float x, float *y) { Store(y, Set(x)); }
void CopyOf(const float *x, float *y, int n) { StoreN(y, LoadN(x, n), n); }
float ReduceAddOf(const float *x) { return ReduceAdd(Load(x)); }
float ReduceMaxOf(const float *x) { return ReduceMax(Load(x)); }
float ReduceMinOf(const float *x) { return ReduceMin(Load(x)); }
void FmaLanesOf(const float *a, const float *w, const float *c, float *y) {
  Store(y, FmaLane<0>(Load(c), Load(w), Load(a)));
  Store(y + kLanes, FmaLane<3>(Load(c), Load(w), Load(a)));
}
void WidenF16Of(const uint16_t *x, float *y) { Store(y, LoadF16(x)); }
void WidenBf16Of(const uint16_t *x, float *y) { Store(y, LoadBf16(x)); }
void NarrowF16Of(const float *x, uint16_t *y) { StoreF16(y, Load(x)); }
void NarrowBf16Of(const float *x, uint16_t *y) { StoreBf16(y, Load(x)); }
void CopyHalfOf(const uint16_t *x, uint16_t *y, int n) {
  StoreF16N(y, LoadF16N(x, n), n);
}
void WidenInt8Of(const int8_t *x, float *y) {
  V v[kSixteenVectors];
  LoadSixteenInt8(x, v);
  for (int i = 0; i < kSixteenVectors; ++i) Store(y + i * kLanes, v[i]);
}

}  // namespace

extern const Probe kProbe;
const Probe kProbe = {
    kLanes,       &FloorOf,     &CeilOf,       &RoundOf,    &TruncateOf,
    &AbsOf,       &SqrtOf,      &ClampOf,      &SetOf,      &CopyOf,
    &ReduceAddOf, &ReduceMaxOf, &ReduceMinOf,  &FmaLanesOf, &WidenF16Of,
    &WidenBf16Of, &NarrowF16Of, &NarrowBf16Of, &CopyHalfOf, &WidenInt8Of,
};

}  // namespace mace::simd::MACE_ISA

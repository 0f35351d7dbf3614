// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/convolution.h"

#include "mace/kernels/hexagon/requantize.h"

namespace mace::hexagon {
namespace {

constexpr int32_t kEachByte = 0x01010101;

// Any address.
struct __attribute__((packed, aligned(1))) Unaligned {
  Vector vector;
};
Vector LoadUnaligned(const int8_t *from) {
  return reinterpret_cast<const Unaligned *>(from)->vector;
}
void StoreUnaligned(Vector v, int8_t *to) {
  reinterpret_cast<Unaligned *>(to)->vector = v;
}

// The first bytes of a vector, 1 to 128.
void StoreFirst(Vector v, int8_t *to, int count) {
  const int shift =
      static_cast<int>(reinterpret_cast<uintptr_t>(to) & (kVectorBytes - 1));
  auto *first = reinterpret_cast<Vector *>(to - shift);
  const Vector turned = Q6_V_vror_VR(v, kVectorBytes - shift);
  const int end = shift + count;
  // Bytes from `shift` on; vsetq(0) is none.
  const Mask before = Q6_Q_vsetq_R(shift);
  if (end <= kVectorBytes) {
    Mask mask = Q6_Q_vsetq2_R(end);
    mask = Q6_Q_and_QQn(mask, before);
    Q6_vmem_QRIV(mask, first, turned);
    return;
  }
  Q6_vmem_QnRIV(before, first, turned);
  Q6_vmem_QRIV(Q6_Q_vsetq2_R(end - kVectorBytes), first + 1, turned);
}

// The sum of all words, in every word.
Vector SumOfWords(Vector v) {
  for (int bytes = kVectorBytes / 2; bytes >= 4; bytes /= 2) {
    v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, bytes));
  }
  return v;
}

// The sum of the bytes of a window, in every word.
Vector SumOfWindow(const int8_t *x, const Window &window) {
  const Vector ones = Words(kEachByte);
  Vector sum = Q6_V_vzero();
  const int bytes = window.run_steps * kStepBytes;
  for (int run = 0; run < window.runs; ++run) {
    const int8_t *first = x + run * window.run_stride;
    int i = 0;
    for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, LoadUnaligned(first + i), ones);
    }
    if (i < bytes) {
      const Vector rest =
          Q6_V_vand_QV(Q6_Q_vsetq_R(bytes - i), LoadUnaligned(first + i));
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, rest, ones);
    }
  }
  return SumOfWords(sum);
}

// Whether any bit of a mask is set.
bool IsAny(Mask mask) {
  const Vector bytes = Q6_V_vand_QR(mask, kEachByte);
  const Vector sum = SumOfWords(Q6_Vw_vrmpy_VbVb(bytes, Words(kEachByte)));
  return Q6_R_vextract_VR(sum, 0) != 0;
}

// Bytes of a pixel of a block, of the halfwords of its channels.
Vector ToBytes(const Convolution &c, Vector low_half, Vector high_half) {
  const Vector zero = Q6_Vh_vsplat_R(c.zero);
  const Vector bytes =
      Q6_Vb_vpack_VhVh_sat(Q6_Vh_vadd_VhVh_sat(high_half, zero),
                           Q6_Vh_vadd_VhVh_sat(low_half, zero));
  return Q6_Vb_vmin_VbVb(Q6_Vb_vmax_VbVb(bytes, Q6_Vb_vsplat_R(c.low)),
                         Q6_Vb_vsplat_R(c.high));
}

// What of the channels' arrays belongs to a block.
struct Block {
  int groups;
  const Vector *bias;
  const Vector *mantissa;
  const Vector *shift;
  const Vector *factor;
};

Vector Exact(const Convolution &c,
             const Block &block,
             const Vector *sums,
             int group) {
  if (group >= block.groups) return Q6_V_vzero();
  return RoundedProduct(sums[group],
                        {block.mantissa[group], block.shift[group]},
                        c.weights.is_float);
}

Vector ExactPixel(const Convolution &c,
                  const Block &block,
                  const Vector *sums) {
  Vector y[kTileGroups];
  for (int g = 0; g < kTileGroups; ++g) y[g] = Exact(c, block, sums, g);
  return ToBytes(c, Q6_Vh_vpack_VwVw_sat(y[1], y[0]),
                 Q6_Vh_vpack_VwVw_sat(y[3], y[2]));
}

Vector FastPixel(const Convolution &c,
                 const Block &block,
                 const Vector *sums,
                 Mask *doubtful) {
  const int left = c.weights.left;
  // A group that is missing repeats the last one.
  const int last = block.groups - 1;
  const int g[kTileGroups] = {0, last < 1 ? last : 1, last < 2 ? last : 2,
                              last};
  const Vector low_half =
      FastProducts(sums[g[0]], sums[g[1]], block.factor[g[0]],
                   block.factor[g[1]], left, doubtful);
  const Vector high_half =
      FastProducts(sums[g[2]], sums[g[3]], block.factor[g[2]],
                   block.factor[g[3]], left, doubtful);
  return ToBytes(c, low_half, high_half);
}

void Requantize(const Convolution &c,
                const Block &block,
                int pixels,
                const Vector *sums,
                int stride,
                Vector *bytes) {
  if (block.factor != nullptr) {
    Mask doubtful = Q6_Q_vcmp_gt_VwVw(Q6_V_vzero(), Q6_V_vzero());
    for (int p = 0; p < pixels; ++p) {
      bytes[p * stride] =
          FastPixel(c, block, sums + p * block.groups, &doubtful);
    }
    if (!IsAny(doubtful)) return;
  }
  for (int p = 0; p < pixels; ++p) {
    bytes[p * stride] = ExactPixel(c, block, sums + p * block.groups);
  }
}

constexpr int kMostBlocks = 32;  // 4096 channels

}  // namespace

void ConvolveRow(const Convolution &c,
                 const int8_t *image,
                 int pixels,
                 int8_t *result) {
  const int blocks = (c.groups + kTileGroups - 1) / kTileGroups;
  const ConvolutionWeights &w = c.weights;
  Vector bytes[kTilePixels * kMostBlocks];
  Vector sums[kTilePixels * kTileGroups];
  Vector offsets[kTilePixels];
  const int8_t *end = result + static_cast<int64_t>(pixels) * c.pixel_bytes;
  for (int first = 0; first < pixels; first += kTilePixels) {
    const int count =
        pixels - first < kTilePixels ? pixels - first : kTilePixels;
    const int8_t *x[kTilePixels];
    for (int p = 0; p < count; ++p) {
      x[p] = image + (first + p) * c.step_bytes;
      offsets[p] =
          Q6_Vw_vasl_VwR(SumOfWindow(x[p], c.window), 7);  // * kWeightOffset
    }
    const auto *packed = reinterpret_cast<const Vector *>(w.packed);
    for (int b = 0; b < blocks; ++b) {
      const int group = b * kTileGroups;
      const int rest = c.groups - group;
      const auto at = [&](const int32_t *array) {
        return array == nullptr
                   ? nullptr
                   : reinterpret_cast<const Vector *>(array) + group;
      };
      const Block block = {rest < kTileGroups ? rest : kTileGroups, at(w.bias),
                           at(w.mantissa), at(w.shift), at(w.factor)};
      for (int p = 0; p < count; ++p) {
        for (int g = 0; g < block.groups; ++g) {
          sums[p * block.groups + g] =
              Q6_Vw_vsub_VwVw(block.bias[g], offsets[p]);
        }
      }
      AddTile(count, block.groups, x, c.window, packed, sums);
      packed += WeightVectors(c.window, block.groups);
      Requantize(c, block, count, sums, blocks, bytes + b);
    }
    // A vector may reach over the end of its pixel: the next one overwrites
    // that.
    for (int p = 0; p < count; ++p) {
      int8_t *to = result + static_cast<int64_t>(first + p) * c.pixel_bytes;
      for (int b = 0; b < blocks; ++b) {
        int8_t *part = to + b * kBlockChannels;
        if (part + kVectorBytes <= end) {
          StoreUnaligned(bytes[p * blocks + b], part);
        } else if (part < end) {
          StoreFirst(bytes[p * blocks + b], part, static_cast<int>(end - part));
        }
      }
    }
  }
}

}  // namespace mace::hexagon

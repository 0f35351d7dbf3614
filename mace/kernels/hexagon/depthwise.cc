// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/depthwise.h"

namespace mace::hexagon {
namespace {

// Vectors whose sums are kept, before they become bytes.
constexpr int kPart = 32;
constexpr int kRows = 4;     // of a word
constexpr int kClasses = 4;  // vectors of words: channels 4 * i + class

int Quads(int height) { return (height + kRows - 1) / kRows; }

// The words of two classes.
struct Words2 {
  Vector first;
  Vector second;
};

// Loads the bytes of kPixels pixels that fill a vector: of a pixel, or of
// pixels whose windows lie side by side (1), or of 2 or 4 pixels further apart.
template <int kPixels>
class Loader {
 public:
  // step_bytes: from the window of a pixel to that of the next one.
  explicit Loader(int step_bytes)
      : distance_(step_bytes - kBytes),
        first_(Q6_Q_vsetq_R(kVectorBytes / 4)),
        half_(Q6_Q_vsetq_R(kVectorBytes / 2)) {}

  __attribute__((always_inline)) Vector operator()(const int8_t *x) const {
    const Vector v0 = LoadUnaligned(x);
    if constexpr (kPixels == 1) return v0;
    x = Next(x, distance_);
    const Vector v1 = LoadUnaligned(x);
    if constexpr (kPixels == 2) return Q6_V_vmux_QVV(half_, v0, v1);
    x = Next(x, distance_);
    const Vector v2 = LoadUnaligned(x);
    x = Next(x, distance_);
    const Vector v3 = LoadUnaligned(x);
    const Mask three = Q6_Q_vsetq_R(kVectorBytes / 4 * 3);
    return Q6_V_vmux_QVV(half_, Q6_V_vmux_QVV(first_, v0, v1),
                         Q6_V_vmux_QVV(three, v2, v3));
  }

  // x + bytes; where there are many addresses, by an intrinsic that the
  // compiler does not look into: it would keep a pointer for each of them, for
  // which there are not enough registers.
  static const int8_t *Next(const int8_t *x, int bytes) {
    if constexpr (kPixels == 1) return x + bytes;
    return reinterpret_cast<const int8_t *>(
        Q6_R_add_RR(reinterpret_cast<int>(x), bytes));
  }

 private:
  static constexpr int kBytes = kVectorBytes / kPixels;
  int distance_;
  Mask first_;
  Mask half_;
};

// The words of channels of a parity, of up to four rows.
template <int kParity, int kCount, typename Load>
__attribute__((always_inline)) inline Words2 WordsOf(const Load &load,
                                                     const int8_t *x,
                                                     int row_bytes) {
  const auto shuffle = [](Vector odd, Vector even) {
    return kParity == 0 ? Q6_Vb_vshuffe_VbVb(odd, even)
                        : Q6_Vb_vshuffo_VbVb(odd, even);
  };
  const Vector row0 = load(x);
  if constexpr (kCount == 1) return {row0, row0};
  x = Load::Next(x, row_bytes);
  const Vector rows01 = shuffle(load(x), row0);
  if constexpr (kCount == 2) return {rows01, rows01};
  x = Load::Next(x, row_bytes);
  const Vector row2 = load(x);
  const Vector rows23 =
      kCount == 3 ? row2 : shuffle(load(Load::Next(x, row_bytes)), row2);
  return {Q6_Vh_vshuffe_VhVh(rows23, rows01),
          Q6_Vh_vshuffo_VhVh(rows23, rows01)};
}

// Sums of a vector, in the order of the parities' classes: 0, 2, 1, 3.
using Sums = Vector[kClasses];

// What a block of 128 channels needs.
struct Block {
  const Depthwise *d;
  const Vector *weights;     // [parities][quads][columns][classes of a parity]
  int groups[kBlockGroups];  // of the results, for the 128 channels
  int apart;        // 2 or 4: pixels of a vector, whose windows lie apart
  int size;         // bytes of a vector that belong to the result
  int step_bytes;   // from the windows of a vector to those of the next one
  int result_step;  // bytes from a vector of the result to the next one
  Sums bias;
  Sums factor;
};

inline void AddWords(const Words2 &words,
                     const Vector *weights,
                     Vector (&sums)[2]) {
  sums[0] = Q6_Vw_vrmpyacc_VwVbVb(sums[0], words.first, weights[0]);
  sums[1] = Q6_Vw_vrmpyacc_VwVbVb(sums[1], words.second, weights[1]);
}

// The words of a column of a filter of kHeight rows.
template <int kParity, int kHeight>
struct Column {
  static constexpr int kQuads = (kHeight + kRows - 1) / kRows;
  Words2 quads[kQuads];

  template <typename LoadType>
  __attribute__((always_inline)) void Load(const LoadType &load,
                                           const int8_t *x,
                                           int row_bytes) {
    constexpr int kWhole = kHeight / kRows;
    for (int quad = 0; quad < kWhole; ++quad) {
      quads[quad] = WordsOf<kParity, kRows>(load, x, row_bytes);
      x = LoadType::Next(x, kRows * row_bytes);
    }
    if constexpr (kHeight % kRows != 0) {
      quads[kWhole] = WordsOf<kParity, kHeight % kRows>(load, x, row_bytes);
    }
  }
};

// Sums of the channels of a parity of a row. Of the columns of a window, the
// last kNew are not among those of the window before.
template <int kParity, int kHeight, int kWidth, int kNew, int kPixels>
__attribute__((noinline)) void SumRow(const Block &block,
                                      const int8_t *x,
                                      int vectors,
                                      Sums *sums) {
  using ColumnType = Column<kParity, kHeight>;
  constexpr int kOld = kWidth - kNew;
  constexpr int kQuads = ColumnType::kQuads;
  const Loader<kPixels> load(block.d->step_bytes);
  const int row_bytes = block.d->row_bytes;
  const int column_bytes = block.d->column_bytes;
  const int step_bytes = block.step_bytes;
  constexpr int kWeights = kQuads * kWidth * 2;
  // In registers, if they are few: stores of sums could change those in memory.
  constexpr int kMostKept = 12;
  const Vector *weights = block.weights + kParity * kWeights;
  Vector kept[kWeights];
  if (kWeights <= kMostKept) {
    for (int i = 0; i < kWeights; ++i) kept[i] = weights[i];
    weights = kept;
  }
  const Vector bias[2] = {block.bias[2 * kParity], block.bias[2 * kParity + 1]};
  ColumnType columns[kWidth];
  for (int i = 0; i < kWidth; ++i) {
    columns[i].Load(load, x + i * column_bytes, row_bytes);
  }
  x += kOld * column_bytes;
  Vector *to = &(*sums)[2 * kParity];
  const auto add = [&] {
    Vector sum[2] = {bias[0], bias[1]};
    for (int quad = 0; quad < kQuads; ++quad) {
      for (int i = 0; i < kWidth; ++i) {
        AddWords(columns[i].quads[quad], weights + (quad * kWidth + i) * 2,
                 sum);
      }
    }
    to[0] = sum[0];
    to[1] = sum[1];
    to += kClasses;
  };
  // Columns are loaded while the ones before are multiplied.
#pragma clang loop unroll_count(2)
  for (; vectors > 1; --vectors) {
    x += step_bytes;
    ColumnType next[kNew];
    const int8_t *column = x;
    for (int i = 0; i < kNew; ++i) {
      next[i].Load(load, column, row_bytes);
      column = Loader<kPixels>::Next(column, column_bytes);
    }
    add();
    for (int i = 0; i < kOld; ++i) columns[i] = columns[i + kNew];
    for (int i = 0; i < kNew; ++i) columns[kOld + i] = next[i];
  }
  add();
}

// Adds kCount rows of the window at x, of any width.
template <int kParity, int kCount>
__attribute__((always_inline)) inline void AddRows(const Depthwise &d,
                                                   const int8_t *x,
                                                   const Vector *weights,
                                                   Vector (&sums)[2]) {
  for (int column = 0; column < d.width; ++column) {
    AddWords(WordsOf<kParity, kCount>(Loader<1>(0), x, d.row_bytes), weights,
             sums);
    x += d.column_bytes;
    weights += 2;
  }
}

// As SumRow, of filters of any size.
template <int kParity>
void SumAnyRow(const Block &block,
               const int8_t *image,
               int vectors,
               Sums *sums) {
  const Depthwise &d = *block.d;
  for (int v = 0; v < vectors; ++v) {
    const Vector *weights =
        block.weights + kParity * Quads(d.height) * d.width * 2;
    const int8_t *x = image + v * block.step_bytes;
    Vector sum[2] = {block.bias[2 * kParity], block.bias[2 * kParity + 1]};
    for (int quad = 0; quad < d.height / kRows; ++quad) {
      AddRows<kParity, kRows>(d, x, weights, sum);
      x += kRows * d.row_bytes;
      weights += 2 * d.width;
    }
    switch (d.height % kRows) {
      case 1:
        AddRows<kParity, 1>(d, x, weights, sum);
        break;
      case 2:
        AddRows<kParity, 2>(d, x, weights, sum);
        break;
      case 3:
        AddRows<kParity, 3>(d, x, weights, sum);
        break;
      default:
        break;
    }
    sums[v][2 * kParity] = sum[0];
    sums[v][2 * kParity + 1] = sum[1];
  }
}

template <int kHeight, int kWidth, int kNew, int kPixels>
void SumShape(const Block &block,
              const int8_t *image,
              int vectors,
              Sums *sums) {
  SumRow<0, kHeight, kWidth, kNew, kPixels>(block, image, vectors, sums);
  SumRow<1, kHeight, kWidth, kNew, kPixels>(block, image, vectors, sums);
}

template <int kHeight, int kWidth>
void SumFilter(const Block &block,
               const int8_t *image,
               int vectors,
               Sums *sums) {
  const int column_bytes = block.d->column_bytes;
  if (block.apart == 2) {
    SumShape<kHeight, kWidth, kWidth, 2>(block, image, vectors, sums);
  } else if (block.apart == 4) {
    SumShape<kHeight, kWidth, kWidth, 4>(block, image, vectors, sums);
  } else if (block.step_bytes == column_bytes) {
    SumShape<kHeight, kWidth, 1, 1>(block, image, vectors, sums);
  } else if (block.step_bytes == 2 * column_bytes) {
    SumShape<kHeight, kWidth, 2, 1>(block, image, vectors, sums);
  } else {
    SumShape<kHeight, kWidth, kWidth, 1>(block, image, vectors, sums);
  }
}

bool HasFunction(const Depthwise &d) {
  return (d.height == 3 && d.width == 3) || (d.height == 5 && d.width == 5);
}

void SumVectors(const Block &block,
                const int8_t *image,
                int vectors,
                Sums *sums) {
  const Depthwise &d = *block.d;
  if (d.height == 3 && d.width == 3) {
    SumFilter<3, 3>(block, image, vectors, sums);
  } else if (d.height == 5 && d.width == 5) {
    SumFilter<5, 5>(block, image, vectors, sums);
  } else {
    SumAnyRow<0>(block, image, vectors, sums);
    SumAnyRow<1>(block, image, vectors, sums);
  }
}

// Words of 128 channels in the order of classes 0, 2, 1, 3.
void ByClass(const int32_t *array,
             const int (&groups)[kBlockGroups],
             Vector *classes) {
  const auto *v = reinterpret_cast<const Vector *>(array);
  const Pair low = Q6_W_vdeal_VVR(v[groups[1]], v[groups[0]], -4);
  const Pair high = Q6_W_vdeal_VVR(v[groups[3]], v[groups[2]], -4);
  const Pair even = Q6_W_vdeal_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -4);
  const Pair odd = Q6_W_vdeal_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -4);
  classes[0] = Q6_V_lo_W(even);
  classes[1] = Q6_V_hi_W(even);
  classes[2] = Q6_V_lo_W(odd);
  classes[3] = Q6_V_hi_W(odd);
}

// The exact bytes of a vector, of sums in the order of classes 0, 2, 1, 3.
Vector ExactBytes(const Block &block, const Vector *classes) {
  const Pair low = Q6_W_vshuff_VVR(classes[2], classes[0], -4);
  const Pair high = Q6_W_vshuff_VVR(classes[3], classes[1], -4);
  const Pair first = Q6_W_vshuff_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -8);
  const Pair second = Q6_W_vshuff_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -8);
  const Vector sums[kBlockGroups] = {Q6_V_lo_W(first), Q6_V_hi_W(first),
                                     Q6_V_lo_W(second), Q6_V_hi_W(second)};
  return ExactQuad(block.d->results, sums, block.groups);
}

// Bytes of vectors, `stride` apart, and how close each is to a half. Returns
// the closest.
__attribute__((noinline)) Vector FastBytes(const Block &block,
                                           const Sums *sums,
                                           int vectors,
                                           int8_t *bytes,
                                           int stride,
                                           Vector *close) {
  const Limits limits = LimitsOf(block.d->results);
  const int left = block.d->results.left;
  Vector factor[kClasses];
  for (int i = 0; i < kClasses; ++i) factor[i] = block.factor[i];
  Vector closest = Q6_V_vzero();
  Vector t[kClasses];
  const auto multiply = [&](Vector(&products)[kClasses]) {
    for (int i = 0; i < kClasses; ++i) {
      products[i] = FastProduct((*sums)[i], factor[i], left);
    }
    ++sums;
  };
  const auto finish = [&] {
    StoreUnaligned(
        PackedAlternating(limits, Rounded(t[0], t[1]), Rounded(t[2], t[3])),
        bytes);
    bytes += stride;
    const Vector both =
        Q6_Vh_vmax_VhVh(Closeness(t[0], t[1]), Closeness(t[2], t[3]));
    *close++ = both;
    closest = Q6_Vh_vmax_VhVh(closest, both);
  };
  multiply(t);
  // Each is multiplied while the one before is finished.
#pragma clang loop unroll(disable)
  for (; vectors > 1; --vectors) {
    Vector next[kClasses];
    multiply(next);
    finish();
    for (int i = 0; i < kClasses; ++i) t[i] = next[i];
  }
  finish();
  return closest;
}

// Replaces the doubtful ones of FastBytes, or all.
__attribute__((noinline)) void CorrectBytes(const Block &block,
                                            const Sums *sums,
                                            int vectors,
                                            int8_t *bytes,
                                            int stride,
                                            const Vector *close) {
  for (int v = 0; v < vectors; ++v) {
    if (close == nullptr || IsAnyAbove(close[v], kCertain)) {
      StoreFirst(ExactBytes(block, sums[v]), bytes, block.size);
    }
    bytes += stride;
  }
}

// Bytes of the sums of vectors, exact ones.
void ToBytes(const Block &block,
             const Sums *sums,
             int vectors,
             int8_t *bytes,
             int stride) {
  if (block.d->results.factor == nullptr) {
    return CorrectBytes(block, sums, vectors, bytes, stride, nullptr);
  }
  Vector close[kPart];
  const Vector closest = FastBytes(block, sums, vectors, bytes, stride, close);
  if (IsAnyAbove(closest, kCertain)) {
    CorrectBytes(block, sums, vectors, bytes, stride, close);
  }
}

// The results of vectors of a row. Whole vectors may be stored for the first
// `direct` ones: what they have too much is overwritten later.
void DepthwiseVectors(const Block &block,
                      const int8_t *image,
                      int vectors,
                      int direct,
                      int8_t *result) {
  for (; vectors > 0; vectors -= kPart) {
    const int part = vectors < kPart ? vectors : kPart;
    const int whole = direct < part ? direct : part;
    Sums sums[kPart];
    SumVectors(block, image, part, sums);
    if (whole > 0) ToBytes(block, sums, whole, result, block.result_step);
    if (whole < part) {
      Vector there[kPart];
      ToBytes(block, sums + whole, part - whole,
              reinterpret_cast<int8_t *>(there), kVectorBytes);
      int8_t *to = result + whole * block.result_step;
      for (int v = 0; v < part - whole; ++v) {
        StoreFirst(there[v], to, block.size);
        to += block.result_step;
      }
    }
    direct -= whole;
    image += kPart * block.step_bytes;
    result += kPart * block.result_step;
  }
}

// How many of `vectors` are so far from the end of their row that whole vectors
// may be stored; the last one has `bytes` bytes to the end.
int DirectVectors(const Block &block, int vectors, int bytes) {
  for (; vectors > 0 && bytes < kVectorBytes; --vectors) {
    bytes += block.result_step;
  }
  return vectors;
}

// A row of a block, the first group of which is `group`.
void DepthwiseBlock(const Depthwise &d,
                    int group,
                    int groups,
                    const Vector *weights,
                    const int8_t *image,
                    int pixels,
                    int8_t *result) {
  Block block;
  block.d = &d;
  block.weights = weights;
  for (int i = 0; i < kBlockGroups; ++i) {
    const int in_block = groups < 3   ? i & (groups - 1)
                         : i < groups ? i
                                      : groups - 1;
    block.groups[i] = group + in_block;
  }
  ByClass(d.results.bias, block.groups, block.bias);
  if (d.results.factor != nullptr) {
    ByClass(d.results.factor, block.groups, block.factor);
  }
  // Pixels of a vector: windows side by side, or loaded apart.
  const int channels_bytes = groups * kVectorWords;
  const bool filled = groups < 3 && d.pixel_bytes == channels_bytes;
  const bool beside = filled && d.step_bytes == channels_bytes;
  const int bits = beside || (filled && HasFunction(d)) ? 3 - groups : 0;
  const int in_vector = 1 << bits;  // 4 or 2 for 1 or 2 groups
  block.apart = beside || in_vector == 1 ? 0 : in_vector;
  block.size = kVectorBytes;
  block.step_bytes = in_vector * d.step_bytes;
  block.result_step = in_vector * d.pixel_bytes;
  int done = 0;
  if (in_vector > 1) {
    const int vectors = pixels >> bits;
    DepthwiseVectors(block, image, vectors, vectors, result);
    done = vectors * in_vector;
    if (done == pixels) return;
  }
  image += done * d.step_bytes;
  result += done * d.pixel_bytes;
  if (beside) {
    // Less than a vector.
    block.size = (pixels - done) * d.pixel_bytes;
    DepthwiseVectors(block, image, 1, 0, result);
    return;
  }
  block.apart = 0;
  block.step_bytes = d.step_bytes;
  block.result_step = d.pixel_bytes;
  const int rest = d.pixel_bytes - group * kVectorWords;
  block.size = rest < channels_bytes ? rest : channels_bytes;
  DepthwiseVectors(block, image, pixels - done,
                   DirectVectors(block, pixels - done, rest), result);
}

}  // namespace

void DepthwiseRow(const Depthwise &d,
                  const int8_t *image,
                  int pixels,
                  int8_t *result) {
  const auto *weights = reinterpret_cast<const Vector *>(d.weights);
  // The last block first: its stores may overwrite what lies behind a pixel.
  const int last = (d.groups - 1) / kBlockGroups;
  for (int i = last; i >= 0; --i) {
    const int group = i * kBlockGroups;
    const int rest = d.groups - group;
    const int groups = rest < kBlockGroups ? rest : kBlockGroups;
    const int first_byte = group * kVectorWords;
    DepthwiseBlock(d, group, groups,
                   weights + i * kClasses * Quads(d.height) * d.width,
                   image + first_byte, pixels, result + first_byte);
  }
}

}  // namespace mace::hexagon

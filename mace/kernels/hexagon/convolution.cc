// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/convolution.h"

namespace mace::hexagon {
namespace {

constexpr int kOffsetBits = 7;  // kWeightOffset is 2^7
constexpr int kPart = 4;        // pixels whose windows are summed together
constexpr int kMostPixels = 256;
// Sums of units of windows (see FindOffsets): as many as kMostPixels windows
// may have, and what full vectors of them need.
constexpr int kMostUnitsOfWindow = 16;
constexpr int kMostUnits = 4096;
constexpr int kUnitWords = kMostUnits + 2 * kVectorWords;

// The sum of the bytes of a window, in every word.
Vector SumOfWindow(const int8_t *x, const Window &window) {
  const Vector ones = Words(kEachByte);
  const int bytes = window.run_steps * kStepBytes;
  const int rest = bytes % kVectorBytes;
  const Mask last = Q6_Q_vsetq_R(rest);
  Vector sum = Q6_V_vzero();
  for (int run = 0; run < window.runs; ++run) {
    int i = 0;
    for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, LoadUnaligned(x + i), ones);
    }
    if (rest != 0) {
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, Q6_V_vand_QV(last, LoadUnaligned(x + i)),
                                  ones);
    }
    x += window.run_stride;
  }
  return SumOfWords(sum);
}

// The sums of the bytes of the windows of 4 pixels, in words 0 to 3.
Vector SumsOfWindows(const int8_t *const *x, const Window &window) {
  const Vector ones = Words(kEachByte);
  Vector sums[kPart];
  for (Vector &sum : sums) sum = Q6_V_vzero();
  const int bytes = window.run_steps * kStepBytes;
  const int rest = bytes % kVectorBytes;
  const Mask last = Q6_Q_vsetq_R(rest);
  for (int run = 0; run < window.runs; ++run) {
    for (int p = 0; p < kPart; ++p) {
      const int8_t *first = x[p] + run * window.run_stride;
      int i = 0;
      for (; i + kVectorBytes <= bytes; i += kVectorBytes) {
        sums[p] =
            Q6_Vw_vrmpyacc_VwVbVb(sums[p], LoadUnaligned(first + i), ones);
      }
      if (rest != 0) {
        sums[p] = Q6_Vw_vrmpyacc_VwVbVb(
            sums[p], Q6_V_vand_QV(last, LoadUnaligned(first + i)), ones);
      }
    }
  }
  // Words of pixels alternate: 16 of each of two, then 8 of each of four.
  const Pair a = Q6_W_vshuff_VVR(sums[1], sums[0], -4);
  const Pair b = Q6_W_vshuff_VVR(sums[3], sums[2], -4);
  const Pair all =
      Q6_W_vshuff_VVR(Q6_Vw_vadd_VwVw(Q6_V_hi_W(b), Q6_V_lo_W(b)),
                      Q6_Vw_vadd_VwVw(Q6_V_hi_W(a), Q6_V_lo_W(a)), -8);
  Vector sum = Q6_Vw_vadd_VwVw(Q6_V_hi_W(all), Q6_V_lo_W(all));
  for (int shift = kVectorBytes / 2; shift >= 16; shift /= 2) {
    sum = Q6_Vw_vadd_VwVw(sum, Q6_V_vror_VR(sum, shift));
  }
  return sum;
}

// Offsets of windows that have little in common, or few units.
void SumWindows(const Convolution &c,
                const int8_t *image,
                int pixels,
                int32_t *offsets) {
  for (int first = 0; first < pixels; first += kPart) {
    const int8_t *x[kPart];
    for (int p = 0; p < kPart; ++p) {
      const int pixel = first + p < pixels ? first + p : pixels - 1;
      x[p] = image + pixel * c.step_bytes;
    }
    alignas(kVectorBytes) int32_t four[kVectorWords];
    Store(SumsOfWindows(x, c.window), four);
    for (int p = 0; p < kPart && first + p < pixels; ++p) {
      offsets[first + p] = four[p] << kOffsetBits;
    }
  }
}

// The sums of neighbouring words of two vectors, in order.
inline Vector AddNeighbours(Vector second, Vector first) {
  const Pair parted = Q6_W_vdeal_VVR(second, first, -4);
  return Q6_Vw_vadd_VwVw(Q6_V_hi_W(parted), Q6_V_lo_W(parted));
}

// 32 sums of 4 * kVectors bytes in each run: words that lie side by side.
template <int kVectors, bool kOneRun>
__attribute__((always_inline)) inline Vector SumUnits(const int8_t *x,
                                                      const Window &window) {
  if constexpr (kVectors == 1) {
    const Vector ones = Words(kEachByte);
    Vector sum = Q6_Vw_vrmpy_VbVb(LoadUnaligned(x), ones);
    if constexpr (kOneRun) return sum;
    for (int run = 1; run < window.runs; ++run) {
      x += window.run_stride;
      sum = Q6_Vw_vrmpyacc_VwVbVb(sum, LoadUnaligned(x), ones);
    }
    return sum;
  } else {
    constexpr int kHalf = kVectors / 2;
    const Vector first = SumUnits<kHalf, kOneRun>(x, window);
    return AddNeighbours(
        SumUnits<kHalf, kOneRun>(x + kHalf * kVectorBytes, window), first);
  }
}

// The sums of units of kUnit bytes, of which the first `bytes` bytes of runs
// have some; nothing behind their last vector is read.
template <int kUnit, bool kOneRun>
__attribute__((noinline)) void SumRuns(const int8_t *x,
                                       const Window &window,
                                       int bytes,
                                       int32_t *sums) {
  constexpr int kVectors = kUnit / 4;  // for a vector of sums
  auto *to = reinterpret_cast<Vector *>(sums);
  for (; bytes > (kVectors - 1) * kVectorBytes;
       bytes -= kVectors * kVectorBytes) {
    *to++ = SumUnits<kVectors, kOneRun>(x, window);
    x += kVectors * kVectorBytes;
  }
  // Less than kVectors: a vector of each has some sums.
  constexpr int kSums = kVectorBytes / kUnit;
  for (; bytes > 0; bytes -= kVectorBytes) {
    Vector sum = SumUnits<1, kOneRun>(x, window);
    for (int words = 1; words < kVectors; words *= 2) {
      sum = AddNeighbours(sum, sum);
    }
    StoreUnaligned(sum, reinterpret_cast<int8_t *>(to));
    to = reinterpret_cast<Vector *>(reinterpret_cast<int32_t *>(to) + kSums);
    x += kVectorBytes;
  }
}

template <int kUnit>
void SumAllUnits(const int8_t *x,
                 const Window &window,
                 int bytes,
                 int32_t *sums) {
  if (window.runs == 1) {
    SumRuns<kUnit, true>(x, window, bytes, sums);
  } else {
    SumRuns<kUnit, false>(x, window, bytes, sums);
  }
}

// The offsets of `count` windows of `units` units each, which begin at one unit
// after the other. `offsets` may be `sums`.
__attribute__((always_inline)) inline void OffsetsOfRuns(const int32_t *sums,
                                                         int units,
                                                         int count,
                                                         int32_t *offsets) {
  for (int i = 0; i < count; i += kVectorWords) {
    const auto *first = reinterpret_cast<const int8_t *>(sums + i);
    Vector sum = LoadUnaligned(first);
    for (int k = 1; k < units; ++k) {
      sum = Q6_Vw_vadd_VwVw(sum, LoadUnaligned(first + 4 * k));
    }
    StoreUnaligned(Q6_Vw_vasl_VwR(sum, kOffsetBits),
                   reinterpret_cast<int8_t *>(offsets + i));
  }
}

// What the offset of the weights adds to all sums of a pixel. Windows are made
// of units: a power of 2 of bytes that divides them and their distance. Each
// unit is summed once, however many windows have it.
__attribute__((noinline)) void FindOffsets(const Convolution &c,
                                           const int8_t *image,
                                           int pixels,
                                           int32_t *offsets) {
  const int bytes = c.window.run_steps * kStepBytes;
  const int both = bytes | c.step_bytes | kVectorBytes;
  const int unit = both & -both;
  const int bits = __builtin_ctz(unit);
  int in_window = bytes >> bits;
  int step = c.step_bytes >> bits;
  const int units = (pixels - 1) * step + in_window;
  if (in_window > kMostUnitsOfWindow || units > kMostUnits ||
      step > 2 * in_window) {
    return SumWindows(c, image, pixels, offsets);
  }
  alignas(kVectorBytes) int32_t sums[kUnitWords];
  const int all = units << bits;
  switch (unit) {
    case 8:
      SumAllUnits<8>(image, c.window, all, sums);
      break;
    case 16:
      SumAllUnits<16>(image, c.window, all, sums);
      break;
    case 32:
      SumAllUnits<32>(image, c.window, all, sums);
      break;
    case 64:
      SumAllUnits<64>(image, c.window, all, sums);
      break;
    default:
      SumAllUnits<128>(image, c.window, all, sums);
  }
  int count = units;
  while (((in_window | step) & 1) == 0) {
    auto *v = reinterpret_cast<Vector *>(sums);
    for (int i = 0; i < count; i += 2 * kVectorWords) {
      v[i / (2 * kVectorWords)] =
          AddNeighbours(v[i / kVectorWords + 1], v[i / kVectorWords]);
    }
    count /= 2;
    in_window /= 2;
    step /= 2;
  }
  if (step == 1) return OffsetsOfRuns(sums, in_window, pixels, offsets);
  // The offset of a window that begins at each unit; then of those windows that
  // there are. Adding up each window by itself, in scalar registers, takes
  // more.
  OffsetsOfRuns(sums, in_window, (pixels - 1) * step + 1, sums);
  for (int p = 0; p < pixels; ++p) offsets[p] = sums[p * step];
}

// What a block of channels needs of a convolution.
struct Block {
  const Convolution *c;
  int group;  // the first
  const Vector *weights;
  const int32_t *offsets;  // of each pixel
};

// Where the next pixel of a block is.
struct Cursor {
  const int8_t *image;  // the first window of the row
  int8_t *result;       // the first pixel of the row, of the block
  int column;
  int left;  // pixels of this and the following rows
};

// The windows of a tile that goes across rows, or behind the last pixel: that
// is computed from the last one, and not stored. Moves the cursor, and returns
// how many belong to the result.
template <int kTile>
__attribute__((noinline)) int TileAcrossRows(const Convolution &c,
                                             const Rows &rows,
                                             Cursor *cursor,
                                             const int8_t **x,
                                             int8_t **y) {
  const int pixels = cursor->left < kTile ? cursor->left : kTile;
  const int8_t *in = cursor->image + cursor->column * c.step_bytes;
  int8_t *out = cursor->result + cursor->column * c.pixel_bytes;
  for (int p = 0; p < kTile; ++p) {
    x[p] = in;
    y[p] = out;
    if (--cursor->left <= 0) continue;
    in += c.step_bytes;
    out += c.pixel_bytes;
    if (++cursor->column == rows.pixels) {
      cursor->column = 0;
      in = cursor->image += rows.image_bytes;
      out = cursor->result += rows.result_bytes;
    }
  }
  return pixels;
}

// Computes tiles of kTile pixels of a block of kGroups groups, until at most
// kRest pixels are left.
template <int kTile, int kGroups, int kRest>
__attribute__((noinline)) void ConvolveTiles(const Block &block,
                                             const Rows &rows,
                                             Cursor *const where) {
  const Convolution &c = *block.c;
  const int first_byte = block.group * kVectorWords;
  int size = c.pixel_bytes - first_byte;
  if (size > kGroups * kVectorWords) size = kGroups * kVectorWords;
  const Limits limits = LimitsOf(c.results);
  const Vector *bias =
      reinterpret_cast<const Vector *>(c.results.bias) + block.group;
  const int row_bytes = rows.pixels * c.pixel_bytes - first_byte;
  const int32_t *offsets =
      block.offsets + (rows.rows * rows.pixels - where->left);
  Cursor cursor = *where;
  while (cursor.left > kRest) {
    const bool in_row = cursor.column + kTile <= rows.pixels;
    const int8_t *x[kTile];
    int8_t *y[kTile];
    int pixels = kTile;
    int8_t *to = cursor.result + cursor.column * c.pixel_bytes;
    const int8_t *end = cursor.result + row_bytes;
    if (in_row) {
      const int8_t *first = cursor.image + cursor.column * c.step_bytes;
      for (int p = 0; p < kTile; ++p) x[p] = first + p * c.step_bytes;
      cursor.column += kTile;
      cursor.left -= kTile;
      if (cursor.column == rows.pixels) {
        cursor.column = 0;
        cursor.image += rows.image_bytes;
        cursor.result += rows.result_bytes;
      }
    } else {
      Cursor there = cursor;
      const int8_t *x_there[kTile];
      pixels = TileAcrossRows<kTile>(c, rows, &there, x_there, y);
      for (int p = 0; p < kTile; ++p) x[p] = x_there[p];
      cursor = there;
    }
    Vector sums[kTile][kGroups];
    for (int p = 0; p < kTile; ++p) {
      const Vector offset = Words(offsets[p]);
      for (int g = 0; g < kGroups; ++g) {
        sums[p][g] = Q6_Vw_vsub_VwVw(bias[g], offset);
      }
    }
    offsets += kTile;
    AddProducts<kTile, kGroups>(x, c.window, block.weights, sums);
    constexpr int kVectors = kTileVectors<kTile, kGroups>;
    Vector bytes[kVectors];
    ToBytes<kTile, kGroups>(c.results, limits, block.group, sums, bytes);
    if (in_row) {
      StoreTile<kTile, kGroups>(bytes, size, to, c.pixel_bytes, end);
    } else {
      Vector there[kVectors + 1];
      for (int v = 0; v < kVectors; ++v) there[v] = bytes[v];
      StorePixels(reinterpret_cast<const int8_t *>(there),
                  kGroups * kVectorWords, pixels, size, y);
    }
  }
  *where = cursor;
}

// A block of kGroups groups, of all rows.
template <int kGroups>
void ConvolveBlock(const Block &block,
                   const Rows &rows,
                   const int8_t *image,
                   int8_t *result) {
  Cursor cursor = {image, result + block.group * kVectorWords, 0,
                   rows.rows * rows.pixels};
  // One or two pixels take half as long as a tile of four.
  constexpr int kFew = kGroups == kBlockGroups ? 2 : 0;
  ConvolveTiles<TilePixels(kGroups), kGroups, kFew>(block, rows, &cursor);
  if constexpr (kFew != 0) {
    if (cursor.left > 0) ConvolveTiles<kFew, kGroups, 0>(block, rows, &cursor);
  }
}

// One pixel, of which each weight is read for one product: as a packet has one
// load, that takes as many packets as there are vectors of weights. All else is
// done in packets that have room: the bytes of a block are made while the last
// steps of the next one are multiplied.
constexpr int kPixelBlocks = 8;  // whose sums are kept, to correct them
constexpr int kTailSteps = 4;

// Steps of a block of whole groups.
struct PixelSums {
  Vector acc[kBlockGroups];

  __attribute__((always_inline)) void Add(int64_t eight,
                                          const Vector *weights) {
    for (int g = 0; g < kBlockGroups; ++g) {
      acc[g] = Q6_Vw_vrmpyacc_VwVubRb(acc[g], weights[g],
                                      static_cast<int32_t>(eight));
    }
    for (int g = 0; g < kBlockGroups; ++g) {
      acc[g] = Q6_Vw_vrmpyacc_VwVubRb(acc[g], weights[kBlockGroups + g],
                                      static_cast<int32_t>(eight >> 32));
    }
  }
};

// What is kept of blocks of a pixel.
struct PixelBlocks {
  Vector sums[kPixelBlocks][kBlockGroups];
  Vector close[kPixelBlocks];
};

// Computes `blocks` blocks, up to kPixelBlocks, from the group `first` on.
// Returns how close a result of theirs is to a half.
__attribute__((noinline)) Vector ConvolvePixelBlocks(const Convolution &c,
                                                     int first,
                                                     int blocks,
                                                     const int8_t *image,
                                                     Vector offset,
                                                     int8_t *result,
                                                     PixelBlocks *kept) {
  constexpr int kStepVectors = 2 * kBlockGroups;
  const Limits limits = LimitsOf(c.results);
  const int left = c.results.left;
  const auto *bias = reinterpret_cast<const Vector *>(c.results.bias) + first;
  const auto *factor =
      reinterpret_cast<const Vector *>(c.results.factor) + first;
  const auto *weights = reinterpret_cast<const Vector *>(c.weights) +
                        WeightVectors(c.window, first);
  int rest = c.pixel_bytes - first * kVectorWords;
  Vector closest = Q6_V_vzero();
  Vector *sums = kept->sums[0];
  Vector *close = kept->close;
  const auto begin = [&](PixelSums *block) {
    for (int g = 0; g < kBlockGroups; ++g) {
      block->acc[g] = Q6_Vw_vsub_VwVw(bias[g], offset);
    }
    bias += kBlockGroups;
    const auto *x = reinterpret_cast<const int64_t *>(image);
#pragma clang loop unroll(disable)
    for (int step = c.window.run_steps - kTailSteps; step > 0; --step) {
      block->Add(*x++, weights);
      weights += kStepVectors;
    }
    return x;
  };
  const auto end = [&](const int64_t *x, PixelSums *block) {
    for (int step = 0; step < kTailSteps; ++step) {
      block->Add(x[step], weights + step * kStepVectors);
    }
    weights += kTailSteps * kStepVectors;
  };
  const auto finish = [&](const PixelSums &block) {
    Vector factors[kBlockGroups];
    for (int g = 0; g < kBlockGroups; ++g) {
      factors[g] = factor[g];
      sums[g] = block.acc[g];
    }
    factor += kBlockGroups;
    sums += kBlockGroups;
    const Quad quad = FastQuad(limits, block.acc, factors, left);
    *close++ = quad.close;
    closest = Q6_Vh_vmax_VhVh(closest, quad.close);
    return quad.bytes;
  };
  PixelSums block;
  end(begin(&block), &block);
#pragma clang loop unroll(disable)
  for (; blocks > 1; --blocks) {
    PixelSums next;
    const int64_t *x = begin(&next);
    const Vector bytes = finish(block);
    end(x, &next);
    StoreUnaligned(bytes, result);
    result += kVectorBytes;
    rest -= kVectorBytes;
    block = next;
  }
  const Vector bytes = finish(block);
  StoreFirst(bytes, result, rest < kVectorBytes ? rest : kVectorBytes);
  return closest;
}

bool IsWholePixel(const Convolution &c, const Rows &rows) {
  return rows.rows == 1 && rows.pixels == 1 && c.groups % kBlockGroups == 0 &&
         c.window.runs == 1 && c.window.run_steps >= kTailSteps &&
         c.results.factor != nullptr;
}

// If IsWholePixel.
void ConvolvePixel(const Convolution &c, const int8_t *image, int8_t *result) {
  const Vector offset =
      Q6_Vw_vasl_VwR(SumOfWindow(image, c.window), kOffsetBits);
  PixelBlocks kept;
  constexpr int kMostGroups = kPixelBlocks * kBlockGroups;
  for (int first = c.first_group; first < c.groups; first += kMostGroups) {
    const int groups =
        c.groups - first < kMostGroups ? c.groups - first : kMostGroups;
    const int blocks = groups / kBlockGroups;
    int8_t *to = result + first * kVectorWords;
    const Vector closest =
        ConvolvePixelBlocks(c, first, blocks, image, offset, to, &kept);
    if (__builtin_expect(!IsAnyAbove(closest, kCertain), 1)) continue;
    for (int i = 0; i < blocks; ++i) {
      if (!IsAnyAbove(kept.close[i], kCertain)) continue;
      const int group = first + i * kBlockGroups;
      const int of_block[] = {group, group + 1, group + 2, group + 3};
      const int rest = c.pixel_bytes - group * kVectorWords;
      StoreFirst(ExactQuad(c.results, kept.sums[i], of_block),
                 to + i * kVectorBytes,
                 rest < kVectorBytes ? rest : kVectorBytes);
    }
  }
}

// All blocks of rows of at most kMostPixels pixels.
void ConvolvePart(const Convolution &c,
                  const Rows &rows,
                  const int8_t *image,
                  int8_t *result) {
  int32_t offsets[kMostPixels + kVectorWords];
  const int pixels = rows.rows * rows.pixels;
  // Of rows whose windows follow each other as those within a row do, at once.
  const int at_once =
      rows.image_bytes == rows.pixels * c.step_bytes ? pixels : rows.pixels;
  const int8_t *of_rows = image;
  for (int p = 0; p < pixels; p += at_once) {
    FindOffsets(c, of_rows, at_once, offsets + p);
    of_rows += rows.image_bytes;
  }
  static_assert(kMostTilePixels <= kVectorWords, "");
  StoreUnaligned(Q6_V_vzero(), reinterpret_cast<int8_t *>(offsets + pixels));
  // The last block first: its stores may overwrite what lies behind a pixel.
  const auto *weights = reinterpret_cast<const Vector *>(c.weights);
  const int last = (c.groups - 1) / kBlockGroups * kBlockGroups;
  for (int group = last; group >= c.first_group; group -= kBlockGroups) {
    const int rest = c.groups - group;
    const int groups = rest < kBlockGroups ? rest : kBlockGroups;
    const Block block = {&c, group, weights + WeightVectors(c.window, group),
                         offsets};
    switch (groups) {
      case 1:
        ConvolveBlock<1>(block, rows, image, result);
        break;
      case 2:
        ConvolveBlock<2>(block, rows, image, result);
        break;
      case 3:
        ConvolveBlock<3>(block, rows, image, result);
        break;
      default:
        ConvolveBlock<4>(block, rows, image, result);
    }
  }
}

}  // namespace

void ConvolveRow(const Convolution &c,
                 const int8_t *image,
                 int pixels,
                 int8_t *result) {
  ConvolveRows(c, {1, pixels, 0, 0}, image, result);
}

void ConvolveRows(const Convolution &c,
                  const Rows &rows,
                  const int8_t *image,
                  int8_t *result) {
  if (IsWholePixel(c, rows)) return ConvolvePixel(c, image, result);
  if (rows.pixels > kMostPixels) {
    for (int row = 0; row < rows.rows; ++row) {
      for (int first = 0; first < rows.pixels; first += kMostPixels) {
        const int rest = rows.pixels - first;
        const Rows part = {1, rest < kMostPixels ? rest : kMostPixels, 0, 0};
        ConvolvePart(c, part, image + int64_t{first} * c.step_bytes,
                     result + int64_t{first} * c.pixel_bytes);
      }
      image += rows.image_bytes;
      result += rows.result_bytes;
    }
    return;
  }
  int most = 1;  // rows
  while (most < rows.rows && (most + 1) * rows.pixels <= kMostPixels) ++most;
  for (int row = 0; row < rows.rows; row += most) {
    Rows part = rows;
    if (part.rows - row < most) {
      part.rows -= row;
    } else {
      part.rows = most;
    }
    ConvolvePart(c, part, image + int64_t{row} * rows.image_bytes,
                 result + int64_t{row} * rows.result_bytes);
  }
}

}  // namespace mace::hexagon

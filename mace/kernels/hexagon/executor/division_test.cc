// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that move and reduce write the same bytes with any number of
// threads, and have as many parts as there should be. That one thread writes
// the right ones is for the tests of operators (test/hexagon).

#include "mace/kernels/hexagon/executor/context.h"
#include "mace/kernels/hexagon/executor/workers.h"
#include "mace/kernels/hexagon/platform/expect.h"
#include "mace/kernels/hexagon/platform/memory.h"
#include "mace/kernels/hexagon/platform/threads.h"
#include "mace/kernels/hexagon/row_testing.h"

namespace mace::hexagon {
namespace {

constexpr int kMostThreads = kMostStarted + 1;
constexpr uint32_t kBytes = 1 << 18;
// Where the second and the third tensor begin.
constexpr uint32_t kSecond = 1 << 16;
constexpr uint32_t kThird = 2 << 16;
constexpr uint32_t kFourth = 3 << 16;

alignas(kVectorBytes) int8_t g_filled[kBytes];
alignas(kVectorBytes) int8_t g_wanted[kBytes];
alignas(kVectorBytes) int8_t g_arena[kBytes];
// Of what an instruction divides: the most that it can be divided into.
int64_t g_units;

void Divide(int64_t count, int64_t unit, WorkPart part, const void *work) {
  const int64_t units = (count + unit - 1) / unit;
  if (units > g_units) g_units = units;
  DivideWork(count, unit, part, work);
}

struct Dims {
  int batch;
  int height;
  int width;
  int channels;
};

TensorPlace Place(uint32_t offset, const Dims &dims, int pixel_bytes) {
  TensorPlace place = {};
  place.area = static_cast<uint32_t>(Area::kArena);
  place.offset = offset;
  place.element_bytes = 1;
  place.batch = dims.batch;
  place.height = dims.height;
  place.width = dims.width;
  place.channels = dims.channels;
  place.pixel_bytes = pixel_bytes;
  place.row_bytes = dims.width * pixel_bytes;
  place.image_bytes = dims.height * place.row_bytes;
  place.zero = -3;
  return place;
}
// As tensors mostly are: pixels begin at multiples of 8.
TensorPlace Place(uint32_t offset, const Dims &dims) {
  return Place(offset, dims, (dims.channels + 7) / 8 * 8);
}

// `units`: the least that the work is divided into.
template <typename Parameters, int kTensors>
void Test(bool (*instruction)(const Context &, const Parameters &),
          const Parameters &parameters,
          const TensorPlace (&tensors)[kTensors],
          int64_t units) {
  for (int threads = 1; threads <= kMostThreads; ++threads) {
    memcpy(g_arena, g_filled, kBytes);
    ProgramCall call;
    call.areas[static_cast<uint32_t>(Area::kArena)] = {
        reinterpret_cast<uint8_t *>(g_arena), kBytes};
    call.threads = StartWorkers(static_cast<uint32_t>(threads));
    if (threads > 1) call.divide = Divide;
    g_units = 0;
    const Context context(call, tensors, kTensors, false);
    MACE_EXPECT_EQ(instruction(context, parameters), true);
    if (threads == 1) {
      memcpy(g_wanted, g_arena, kBytes);
      continue;
    }
    MACE_EXPECT_EQ(g_units >= units, true);
    int wrong = 0;
    for (uint32_t i = 0; i < kBytes; ++i) wrong += g_arena[i] != g_wanted[i];
    MACE_EXPECT_EQ(wrong, 0);
  }
}

void TestReduction(const Dims &in,
                   const Dims &out,
                   const uint32_t (&folds)[3],
                   int64_t units) {
  for (uint32_t largest = 0; largest <= 1; ++largest) {
    const ReduceAxesParameters reduce = {0,        1,       folds[0], folds[1],
                                         folds[2], largest, 0.03f};
    Test(ReduceAxes, reduce, {Place(0, in), Place(kSecond, out)}, units);
  }
}

void TestReductions() {
  // One window: its channels are divided, the last part of which is short.
  TestReduction({1, 7, 5, 1000}, {1, 1, 1, 1000}, {1, 1, 0}, 8);
  // Windows, in the order of an output of another shape.
  TestReduction({2, 5, 6, 40}, {1, 2, 5, 40}, {0, 1, 0}, 10);
  TestReduction({2, 5, 6, 40}, {1, 2, 6, 40}, {1, 0, 0}, 12);
  TestReduction({3, 5, 7, 41}, {1, 1, 3, 35}, {0, 0, 1}, 105);
  TestReduction({2, 9, 3, 20}, {1, 1, 1, 6}, {1, 0, 1}, 6);
}

void TestReshapes() {
  constexpr int kParts = 5;
  // Dense pixels, dense rows, and pixels with bytes between them.
  Test(Reshape, {0, 1},
       {Place(0, {1, 19, 23, 40}), Place(kSecond, {1, 1, 1, 17480})}, kParts);
  Test(Reshape, {0, 1},
       {Place(0, {2, 11, 25, 33}), Place(kSecond, {1, 55, 10, 33})}, kParts);
  Test(Reshape, {0, 1},
       {Place(0, {1, 25, 22, 33}), Place(kSecond, {1, 22, 25, 33}, 36)},
       kParts);
  Test(Reshape, {0, 1},
       {Place(0, {3, 25, 11, 21}), Place(kSecond, {1, 1, 75, 231})}, kParts);
}

// Matrices are packed by parts; of one row, nothing else is divided.
void TestProducts() {
  constexpr int kDepth = 66;
  constexpr int kColumns = 300;
  for (uint32_t transpose = 0; transpose <= 1; ++transpose) {
    const Dims b = transpose != 0 ? Dims{1, 2, kColumns, kDepth}
                                  : Dims{1, 2, kDepth, kColumns};
    const auto packed = static_cast<int>(PackedMatrixBytes(kDepth, kColumns));
    Test(
        MultiplyMatrices,
        MultiplyMatricesParameters{0, 1, 2, 3, transpose, 0.001f},
        {Place(0, {1, 2, 1, kDepth}), Place(kSecond, b),
         Place(kThird, {1, 2, 1, kColumns}), Place(kFourth, {1, 1, 1, packed})},
        transpose != 0 ? 10 : 3);
  }
}

}  // namespace
}  // namespace mace::hexagon

int main(int, char **) {
  using namespace mace::hexagon;
  Random(17).Fill(g_filled, kBytes);
  TestReductions();
  TestReshapes();
  TestProducts();
  StopWorkers();
  return Finish();
}

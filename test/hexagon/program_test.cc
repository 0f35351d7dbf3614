// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that are damaged: the DSP answers each with a status, and goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mace/kernels/hexagon/packing.h"
#include "mace/kernels/hexagon/program/instructions.h"
#include "mace/runtimes/hexagon/transport.h"
#include "test/hexagon/quantized_network.h"

namespace mace {
namespace test_hexagon {
namespace {

using hexagon::Area;
using hexagon::ProgramReply;
using hexagon::ProgramStatus;
using hexagon::TensorPlace;

constexpr size_t kAreaBytes = 1 << 14;
constexpr int kSide = 6;
constexpr int kChannels = 8;
// In memory that stands for VTCM.
constexpr uint32_t kFastBytes = 4096;
constexpr uint32_t kFastInArena = kAreaBytes - kFastBytes;

class HexagonProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("MACE_HEXAGON_VTCM", "4", 1);
    auto transport = OpenHexagonTransport(HexagonOptions());
    ASSERT_TRUE(transport.ok()) << transport.status().information();
    transport_ = transport.value();
    for (std::unique_ptr<HexagonMemory> &memory : memories_) {
      auto made = transport_->Allocate(kAreaBytes);
      ASSERT_TRUE(made.ok());
      memory = std::move(made.value());
    }
    // Multipliers of 1, and weights of 0.
    auto *words = reinterpret_cast<int32_t *>(memories_[0]->data());
    for (int i = 0; i < 32; ++i) {
      words[i] = 3;             // bias
      words[32 + i] = 1 << 30;  // mantissa
      words[64 + i] = 23;       // shift
    }
    std::memset(memories_[0]->data() + 512, hexagon::kWeightOffset,
                kAreaBytes - 512);
    Write();
  }

  static TensorPlace Place(uint32_t offset, int padding) {
    const int row = (kSide + 2 * padding) * kChannels;
    TensorPlace place = {};
    place.area = static_cast<uint32_t>(Area::kArena);
    place.offset = offset + static_cast<uint32_t>(padding * (row + kChannels));
    place.element_bytes = 1;
    place.batch = 1;
    place.height = place.width = kSide;
    place.channels = place.pixel_bytes = kChannels;
    place.row_bytes = row;
    place.image_bytes = row * (kSide + 2 * padding);
    place.pad_top = place.pad_bottom = padding;
    place.pad_left = place.pad_right = padding;
    place.zero = 5;
    return place;
  }

  template <typename T>
  void Append(const T &value) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&value);
    program_.insert(program_.end(), bytes, bytes + sizeof(T));
  }
  template <typename T>
  void Instruction(const T &parameters) {
    Append(hexagon::InstructionHeader{
        static_cast<uint32_t>(T::kOpcode),
        sizeof(hexagon::InstructionHeader) + sizeof(T)});
    Append(parameters);
  }
  // A convolution of 3x3 from and to the border.
  void Write() {
    program_.clear();
    Append(hexagon::ProgramHeader{hexagon::kProgramMagic,
                                  hexagon::kProgramVersion, 0, 2, 4, kFastBytes,
                                  kFastInArena});
    Append(Place(0, 1));
    Append(Place(4096, 0));
    Instruction(hexagon::EnterParameters{0, 0, 1});
    Instruction(hexagon::FillPaddingParameters{0});
    Instruction(hexagon::ConvolveParameters{
        0,
        1,
        {3, 3, 1, 1, 1, 1, 1, 1},
        512,
        {0, 128, 256, hexagon::kNone, 8, 1, -128, 127},
        128});
    Instruction(hexagon::LeaveParameters{1, 4096, 0});
    const auto bytes = static_cast<uint32_t>(program_.size());
    std::memcpy(program_.data() + 8, &bytes, sizeof(bytes));
  }

  // Every other instruction, once.
  void WriteOthers() {
    constexpr uint32_t kExponentials = 1 << 13;
    constexpr uint32_t kTaps = kExponentials + 1024;
    constexpr float kScale = 1.0f / 256;
    auto *exponentials =
        reinterpret_cast<int32_t *>(memories_[0]->data() + kExponentials);
    for (int i = 0; i < 256; ++i) exponentials[i] = i < 30 ? 1 << (30 - i) : 0;
    auto *taps =
        reinterpret_cast<hexagon::ResizeTap *>(memories_[0]->data() + kTaps);
    for (int i = 0; i < 2 * kSide; ++i) {
      taps[i] = {0, 0, 1 << hexagon::kResizeBits, 0};
    }
    program_.clear();
    Append(hexagon::ProgramHeader{hexagon::kProgramMagic,
                                  hexagon::kProgramVersion, 0, 6, 11});
    Append(Place(0, 1));
    Append(Place(4096, 0));
    TensorPlace half = Place(6144, 0);
    half.height = half.width = kSide / 2;
    Append(half);
    TensorPlace one = Place(8192, 0);
    one.height = one.width = 1;
    Append(one);
    TensorPlace row = Place(10240, 0);
    row.height = row.width = 1;
    row.channels = row.pixel_bytes = row.row_bytes = row.image_bytes = 2048;
    Append(row);
    // [6, 8] x [8, 6] of each row, of which the second is transposed.
    TensorPlace product = Place(12288, 0);
    product.channels = kSide;
    Append(product);
    Instruction(
        hexagon::CombineParameters{0, 3, 1, 0, 1 << 20, 9999, 20, 1, -99, 99});
    Instruction(
        hexagon::CombineParameters{0, 1, 1, 3, 0, 0, 0, kScale, -128, 127});
    Instruction(hexagon::PoolWindowsParameters{
        0, 2, {3, 3, 2, 2, 1, 1, 1, 1}, 1, 1, 1, 0.7f});
    Instruction(hexagon::ReduceAxesParameters{0, 3, 1, 1, 0, 0, 1.0f / 36});
    Instruction(hexagon::MapBytesParameters{1, 1, 512, 1});
    Instruction(hexagon::ApplySoftmaxParameters{0, 1, kExponentials, kScale});
    Instruction(hexagon::MoveParameters{0,
                                        1,
                                        {0, kSide - 1, 0, 0},
                                        {0, 0, 0, 0},
                                        {{1, 0, 0, 0, 0},
                                         {1, 0, 0, 0, 0},
                                         {1, 0, 0, 0, 0},
                                         {kSide, 1, -1, 1, 1},
                                         {kSide, 2, 1, 2, 1},
                                         {kChannels, 3, 1, 3, 1}}});
    Instruction(hexagon::ReshapeParameters{0, 1});
    Instruction(hexagon::ResizeNearestParameters{2, 1, 128, 128});
    Instruction(hexagon::ResizeLinearParameters{2, 1, kTaps, kTaps, 1e-7f});
    Instruction(hexagon::MultiplyMatricesParameters{0, 1, 5, 4, 1, 1e-3f});
    const auto bytes = static_cast<uint32_t>(program_.size());
    std::memcpy(program_.data() + 8, &bytes, sizeof(bytes));
    // Positions of 0.
    std::memset(memories_[0]->data() + 128, 0, 128);
  }
  // Each word of the program in turn becomes each of some; the result is how
  // many programs were refused.
  int DamageAnyWord() {
    constexpr uint32_t kWords[] = {0,           1,           7,
                                   8,           0x7fff,      0x10000,
                                   0x3fffffff,  0x40000000,  INT32_MAX,
                                   0x80000000u, 0xfffffff8u, UINT32_MAX};
    int refused = 0;
    for (size_t offset = 0; offset < program_.size(); offset += 4) {
      for (const uint32_t word : kWords) {
        refused += StatusOf(With(offset, word)) != ProgramStatus::kDone ? 1 : 0;
      }
    }
    return refused;
  }
  void RunGarbage() {
    Numbers numbers(3);
    for (int round = 0; round < 2000; ++round) {
      std::vector<uint8_t> changed = program_;
      // The header is right, so that what follows is read.
      for (int i = 0; i < 8; ++i) {
        const size_t at = 20 + (numbers.Byte() * 256u + numbers.Byte()) %
                                   (changed.size() - 20);
        changed[at] = numbers.Byte();
      }
      StatusOf(changed);
    }
  }

  Result<ProgramReply> Run(const std::vector<uint8_t> &program) {
    std::copy(program.begin(), program.end(),
              static_cast<uint8_t *>(memories_[3]->data()));
    HexagonCall call;
    call.program = {memories_[3].get(), 0, program.size()};
    for (size_t i = 0; i < 3; ++i) {
      call.areas[i] = {memories_[i].get(), 0, kAreaBytes};
    }
    return transport_->Run(call);
  }
  ProgramStatus StatusOf(const std::vector<uint8_t> &program) {
    auto reply = Run(program);
    EXPECT_TRUE(reply.ok()) << reply.status().information();
    return reply.ok() ? static_cast<ProgramStatus>(reply.value().status)
                      : ProgramStatus::kDone;
  }
  std::vector<uint8_t> Constants() const {
    const uint8_t *data = memories_[0]->data();
    return std::vector<uint8_t>(data, data + kAreaBytes);
  }
  std::vector<uint8_t> With(size_t offset, uint32_t word) const {
    std::vector<uint8_t> changed = program_;
    std::memcpy(changed.data() + offset, &word, sizeof(word));
    return changed;
  }

  std::shared_ptr<HexagonTransport> transport_;
  std::unique_ptr<HexagonMemory> memories_[4];  // areas, and the program
  std::vector<uint8_t> program_;
};

TEST_F(HexagonProgramTest, Runs) {
  EXPECT_EQ(StatusOf(program_), ProgramStatus::kDone);
  // 3 * 2^-23 * 2^23, and the zero point.
  const auto *result =
      reinterpret_cast<const int8_t *>(memories_[2]->data() + 4096);
  for (int i = 0; i < kSide * kSide * kChannels; ++i) {
    ASSERT_EQ(result[i], 3 + 5) << i;
  }
}

TEST_F(HexagonProgramTest, SaysWhatIsWrong) {
  constexpr size_t kHeader = sizeof(hexagon::ProgramHeader);
  constexpr size_t kFirst = kHeader + 2 * sizeof(TensorPlace);
  EXPECT_EQ(StatusOf(With(0, 0)), ProgramStatus::kWrongVersion);
  EXPECT_EQ(StatusOf(With(4, hexagon::kProgramVersion + 1)),
            ProgramStatus::kWrongVersion);
  EXPECT_EQ(StatusOf(With(8, 1u << 30)), ProgramStatus::kWrongProgram);
  EXPECT_EQ(StatusOf(With(12, 1u << 30)), ProgramStatus::kWrongProgram);
  EXPECT_EQ(StatusOf(With(16, 3)), ProgramStatus::kWrongProgram);
  EXPECT_EQ(StatusOf(With(16, 5)), ProgramStatus::kWrongProgram);
  EXPECT_EQ(StatusOf(With(kHeader + 4, kAreaBytes)),
            ProgramStatus::kWrongTensor);
  EXPECT_EQ(StatusOf(With(kFirst, 1u << 20)), ProgramStatus::kNoInstruction);
  EXPECT_EQ(StatusOf(With(kFirst + 8, 2)), ProgramStatus::kWrongParameters);
  EXPECT_EQ(StatusOf(With(24, kFastInArena + 1)), ProgramStatus::kWrongMemory);
  EXPECT_EQ(StatusOf(With(20, kFastBytes + 1)), ProgramStatus::kWrongMemory);
  // Copies of weights that do not fit.
  EXPECT_EQ(StatusOf(With(20, kFastBytes / 2)),
            ProgramStatus::kWrongParameters);
  HexagonCall none;
  auto reply = transport_->Run(none);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(static_cast<ProgramStatus>(reply.value().status),
            ProgramStatus::kWrongMemory);
}

// More than there is: it is in the arena.
TEST_F(HexagonProgramTest, WithoutVtcm) {
  transport_.reset();
  setenv("MACE_HEXAGON_VTCM", "1", 1);
  auto transport = OpenHexagonTransport(HexagonOptions());
  ASSERT_TRUE(transport.ok());
  EXPECT_EQ(transport.value()->fast_bytes(), 1024u);
  transport_ = transport.value();
  for (std::unique_ptr<HexagonMemory> &memory : memories_) {
    std::unique_ptr<HexagonMemory> before = std::move(memory);
    auto made = transport_->Allocate(kAreaBytes);
    ASSERT_TRUE(made.ok());
    memory = std::move(made.value());
    std::memcpy(memory->data(), before->data(), kAreaBytes);
  }
  EXPECT_EQ(StatusOf(program_), ProgramStatus::kDone);
  EXPECT_EQ(memories_[2]->data()[4096], 3 + 5);
}

// Programs of other segments and shapes have the same constants.
TEST_F(HexagonProgramTest, ConstantsAreNotWritten) {
  constexpr size_t kTensors = sizeof(hexagon::ProgramHeader);
  constexpr auto kConstants = static_cast<uint32_t>(Area::kConstants);
  const std::vector<uint8_t> constants = Constants();
  for (const size_t tensor : {0, 1}) {
    const size_t area = kTensors + tensor * sizeof(TensorPlace);
    EXPECT_EQ(StatusOf(With(area, kConstants)),
              ProgramStatus::kWrongParameters);
  }
  EXPECT_EQ(Constants(), constants);
  // Others may be read there: the one that leaves.
  program_.resize(kTensors + 2 * sizeof(TensorPlace));
  Instruction(hexagon::LeaveParameters{1, 4096, 0});
  const auto bytes = static_cast<uint32_t>(program_.size());
  std::memcpy(program_.data() + 8, &bytes, sizeof(bytes));
  program_[16] = 1;
  const size_t area = kTensors + sizeof(TensorPlace);
  EXPECT_EQ(StatusOf(With(area, kConstants)), ProgramStatus::kDone);
}

TEST_F(HexagonProgramTest, TruncatedAnywhere) {
  for (size_t bytes = 0; bytes < program_.size(); ++bytes) {
    const std::vector<uint8_t> first(
        program_.begin(), program_.begin() + static_cast<ptrdiff_t>(bytes));
    ASSERT_NE(StatusOf(first), ProgramStatus::kDone) << bytes;
  }
}

TEST_F(HexagonProgramTest, AnyWordDamaged) {
  const std::vector<uint8_t> constants = Constants();
  EXPECT_GT(DamageAnyWord(), 500);
  EXPECT_EQ(Constants(), constants);
  EXPECT_EQ(StatusOf(program_), ProgramStatus::kDone);
}

TEST_F(HexagonProgramTest, AnyWordOfOthersDamaged) {
  // Nothing may be written here.
  auto guard = transport_->Allocate(kAreaBytes);
  ASSERT_TRUE(guard.ok());
  std::memset(guard.value()->data(), 99, kAreaBytes);
  WriteOthers();
  ASSERT_EQ(StatusOf(program_), ProgramStatus::kDone);
  const std::vector<uint8_t> constants = Constants();
  EXPECT_GT(DamageAnyWord(), 1000);
  EXPECT_EQ(Constants(), constants);
  const std::vector<uint8_t> wanted(kAreaBytes, 99);
  EXPECT_EQ(std::memcmp(guard.value()->data(), wanted.data(), kAreaBytes), 0);
}

TEST_F(HexagonProgramTest, Garbage) {
  RunGarbage();
  EXPECT_EQ(StatusOf(program_), ProgramStatus::kDone);
}

TEST_F(HexagonProgramTest, GarbageOfOthers) {
  WriteOthers();
  RunGarbage();
  Write();
  EXPECT_EQ(StatusOf(program_), ProgramStatus::kDone);
}

}  // namespace
}  // namespace test_hexagon
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/tensor_io.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace mace {
namespace tools {
namespace {

std::string Scratch(const std::string &name) {
  return testing::TempDir() + "/tensor_io_" + name;
}

MaceTensor Make(const std::vector<int64_t> &shape,
                IDataType type = IDataType::IDT_FLOAT) {
  TensorSpec spec;
  spec.name = "t";
  spec.shape = shape;
  spec.data_type = type;
  MaceTensor tensor;
  EXPECT_EQ(MaceStatus::MACE_SUCCESS, MakeTensor(spec, &tensor).code());
  return tensor;
}

TEST(TensorIoTest, SanitizesNames) {
  EXPECT_EQ("MobilenetV1_Predictions_Reshape_1_0",
            SanitizeName("MobilenetV1/Predictions/Reshape_1:0"));
  EXPECT_EQ("\xe8\xbe\x93\xe5\x85\xa5_0",
            SanitizeName("\xe8\xbe\x93\xe5\x85\xa5:0"));
  EXPECT_EQ(std::string(128, '_'), SanitizeName(std::string(128, '/')));
  // tensor_files_test.py has the same names.
  const std::vector<std::string> names = {"x/1", "x:1", "x_1"};
  EXPECT_EQ("x_1", SanitizeName("x_1", names));
  EXPECT_EQ("x_1_0accdaeb", SanitizeName("x/1", names));
  EXPECT_EQ("x_1_87017982", SanitizeName("x:1", names));
  EXPECT_EQ("x_1", SanitizeName("x/1", {"x/1", "y"}));
  EXPECT_EQ(std::string(100, '_') + "_632e22de",
            SanitizeName(std::string(129, '/')));
  std::string wide = "xx";
  for (int i = 0; i < 60; ++i) wide += "\xe8\xbe\x93";
  EXPECT_EQ(wide.substr(0, 98) + "_8abb9799", SanitizeName(wide));
}

TEST(TensorIoTest, RefusesTensorsThatFitInNoMemory) {
  TensorSpec spec;
  spec.name = "huge";
  // 2^63 bytes: more than any address space, even with overcommitted memory.
  spec.shape = {int64_t{1} << 31, int64_t{1} << 30};
  MaceTensor tensor;
  const MaceStatus status = MakeTensor(spec, &tensor);
  EXPECT_EQ(MaceStatus::MACE_OUT_OF_RESOURCES, status.code());
  EXPECT_NE(std::string::npos, status.information().find("huge"));
}

TEST(TensorIoTest, WritesAndReadsBack) {
  MaceTensor out = Make({2, 3});
  for (int i = 0; i < 6; ++i) out.data().get()[i] = 0.5f * i;
  const std::string path = Scratch("roundtrip");
  ASSERT_EQ(MaceStatus::MACE_SUCCESS, WriteTensorFile(path, out).code());
  MaceTensor in = Make({3, 2});
  ASSERT_EQ(MaceStatus::MACE_SUCCESS, ReadTensorFile(path, &in).code());
  for (int i = 0; i < 6; ++i) EXPECT_EQ(0.5f * i, in.data().get()[i]);
}

TEST(TensorIoTest, RefusesFilesOfAnotherSize) {
  const std::string path = Scratch("size");
  ASSERT_EQ(MaceStatus::MACE_SUCCESS, WriteTensorFile(path, Make({6})).code());
  for (int64_t count : {5, 7}) {
    MaceTensor tensor = Make({count});
    const MaceStatus status = ReadTensorFile(path, &tensor);
    EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS, status.code());
    EXPECT_NE(std::string::npos, status.information().find(path));
    EXPECT_NE(std::string::npos,
              status.information().find(std::to_string(4 * count)));
  }
  MaceTensor tensor = Make({1});
  EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS,
            ReadTensorFile(Scratch("absent"), &tensor).code());
}

TEST(TensorIoTest, AFailedWriteLeavesNothing) {
  EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS,
            WriteFile(Scratch("no/such/folder/x"), "a", 1).code());
  // The target is a folder: renaming fails, and the temporary file must be
  // removed.
  const std::string folder = Scratch("folder");
  mkdir(folder.c_str(), 0755);
  EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS, WriteFile(folder, "a", 1).code());
  std::vector<std::string> left;
  ASSERT_EQ(MaceStatus::MACE_SUCCESS,
            ListSamples(testing::TempDir(), {"tensor"}, &left).code());
  for (const std::string &suffix : left) {
    EXPECT_EQ(std::string::npos, suffix.find(".tmp")) << suffix;
  }
}

TEST(TensorIoTest, RandomValuesRepeatAndStayInRange) {
  MaceTensor a = Make({1000});
  MaceTensor b = Make({1000});
  FillRandom(7, &a);
  FillRandom(7, &b);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const float value = a.data().get()[i];
    EXPECT_EQ(value, b.data().get()[i]);
    EXPECT_GE(value, -1.0f);
    EXPECT_LT(value, 1.0f);
    sum += value;
  }
  // Six standard deviations of the mean of 1000 uniform values.
  EXPECT_LT(std::abs(sum / 1000), 0.11);
  MaceTensor half = Make({1000}, IDataType::IDT_FLOAT16);
  FillRandom(7, &half);
  const ValueSummary values = Summarize(half);
  EXPECT_EQ(0, values.nan + values.inf);
  EXPECT_GE(values.min, -1.0);
  EXPECT_LE(values.max, 1.0);
  EXPECT_GT(values.max, 0.9);
  MaceTensor short_ints = Make({1000}, IDataType::IDT_INT16);
  FillRandom(7, &short_ints);
  const ValueSummary indices = Summarize(short_ints);
  EXPECT_EQ(0, indices.min);
  EXPECT_EQ(1, indices.max);
  EXPECT_NEAR(0.5, indices.mean, 0.1);
}

TEST(TensorIoTest, CountsWhatIsNotFinite) {
  MaceTensor tensor = Make({5});
  const float values[] = {1, std::nanf(""), -3,
                          std::numeric_limits<float>::infinity(), 5};
  std::copy(values, values + 5, tensor.data().get());
  const ValueSummary summary = Summarize(tensor);
  EXPECT_EQ(1, summary.nan);
  EXPECT_EQ(1, summary.inf);
  EXPECT_EQ(-3, summary.min);
  EXPECT_EQ(5, summary.max);
  EXPECT_EQ(1, summary.mean);
}

TEST(TensorIoTest, ReadsHalfFormats) {
  MaceTensor half = Make({4}, IDataType::IDT_FLOAT16);
  // 1, -2, the smallest denormal, Inf.
  const uint16_t bits[] = {0x3c00, 0xc000, 0x0001, 0x7c00};
  std::copy(bits, bits + 4, half.data<uint16_t>().get());
  const ValueSummary h = Summarize(half);
  EXPECT_EQ(1, h.inf);
  EXPECT_EQ(-2, h.min);
  EXPECT_EQ(1, h.max);
  MaceTensor bfloat = Make({2}, IDataType::IDT_BFLOAT16);
  const uint16_t bf_bits[] = {0x3f80, 0x7fc0};  // 1, NaN
  std::copy(bf_bits, bf_bits + 2, bfloat.data<uint16_t>().get());
  const ValueSummary b = Summarize(bfloat);
  EXPECT_EQ(1, b.nan);
  EXPECT_EQ(1, b.max);
}

TEST(TensorIoTest, ListsSamplesInOrder) {
  const std::string folder = Scratch("samples");
  mkdir(folder.c_str(), 0755);
  for (const char *name : {"in_0_b", "in_0_a", "other_a"}) {
    std::ofstream(folder + "/" + name) << "x";
  }
  std::vector<std::string> suffixes;
  ASSERT_EQ(MaceStatus::MACE_SUCCESS,
            ListSamples(folder, {"in:0"}, &suffixes).code());
  EXPECT_EQ((std::vector<std::string>{"_a", "_b"}), suffixes);
  EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS,
            ListSamples(folder, {"absent"}, &suffixes).code());
  EXPECT_EQ(MaceStatus::MACE_INVALID_ARGS,
            ListSamples(folder + "/none", {"in"}, &suffixes).code());
}

TEST(TensorIoTest, AFileIsOfTheInputWithTheLongestName) {
  const std::string folder = Scratch("prefixes");
  mkdir(folder.c_str(), 0755);
  for (const char *name : {"x_a", "x_b", "x2_a", "x2_b"}) {
    std::ofstream(folder + "/" + name) << "x";
  }
  std::vector<std::string> suffixes;
  ASSERT_EQ(MaceStatus::MACE_SUCCESS,
            ListSamples(folder, {"x", "x2"}, &suffixes).code());
  EXPECT_EQ((std::vector<std::string>{"_a", "_b"}), suffixes);
  ASSERT_EQ(MaceStatus::MACE_SUCCESS,
            ListSamples(folder, {"x2", "x"}, &suffixes).code());
  EXPECT_EQ((std::vector<std::string>{"_a", "_b"}), suffixes);
}

}  // namespace
}  // namespace tools
}  // namespace mace

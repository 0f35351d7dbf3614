// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace mace {
namespace {

constexpr char kBuddyInfo[] =
    "Node 0, zone      DMA      0      0      0      0      0      0      0    "
    "  0      1      1      3 \n"
    "Node 0, zone   Normal   4895   1044  12981   6125   1586    904    378    "
    "160     42     59    167 \n";

TEST(FreeHugePageBytes, AddsBlocksOfTwoMiBAndMoreOverAllZones) {
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_EQ(FreeHugePageBytes(kBuddyInfo, 4096),
            (1 * 2 + 3 * 4 + 59 * 2 + 167 * 4) * kMiB);
}

TEST(FreeHugePageBytes, CountsBlocksByTheSizeOfAPage) {
  constexpr size_t kMiB = size_t{1} << 20;
  const char *text = "Node 0, zone Normal 7 1 2 3 1 1";  // 64 KiB to 2 MiB
  EXPECT_EQ(FreeHugePageBytes(text, 65536), 2 * kMiB);
  EXPECT_EQ(FreeHugePageBytes(text, 4096), 0);
}

TEST(FreeHugePageBytes, IsNothingForOtherText) {
  for (const char *text : {"", "\n", "zone", "Node 0, zone", "zone Normal x 1",
                           "zone\n9 9 9 9 9 9 9 9 9 9 9\n"}) {
    EXPECT_EQ(FreeHugePageBytes(text, 4096), 0) << text;
  }
}

#ifdef __linux__

TEST(ReadFileInHugePages, ReadsWhatIsInTheFile) {
  // More than two huge pages, with an odd end.
  std::vector<char> written(2 * kHugePage + 12345);
  for (size_t i = 0; i < written.size(); ++i) {
    written[i] = static_cast<char>(i * 31 + (i >> 12));
  }
  const std::string path = ::testing::TempDir() + "/pages";
  std::ofstream(path).write(written.data(),
                            static_cast<std::streamsize>(written.size()));
  const int file = open(path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  // Remove it from the cache, so that it is read again.
  fsync(file);
  posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  void *data = mmap(nullptr, written.size(), PROT_READ, MAP_PRIVATE, file, 0);
  ASSERT_NE(data, MAP_FAILED);
  ReadFileInHugePages(data, written.size());
  EXPECT_EQ(std::memcmp(data, written.data(), written.size()), 0);
  EXPECT_FALSE(ReadFileInHugePages(data, kHugePage - 1));
  munmap(data, written.size());
  close(file);
  unlink(path.c_str());
}

#endif

class PagesTest : public ::testing::TestWithParam<int> {
 protected:
  std::unique_ptr<ThreadPool> pool_ = ThreadPool::CreateUnbound(GetParam());
};

TEST_P(PagesTest, MappingChangesNoByte) {
  // Odd ends, more than one huge page.
  std::vector<unsigned char> memory(2 * kHugePage + 1234567);
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<unsigned char>(i * 31 + (i >> 12));
  }
  const std::vector<unsigned char> before = memory;
  unsigned char *inside = memory.data() + 5;
  const size_t bytes = memory.size() - 12;
  MapPagesToRead(inside, bytes, pool_.get());
  MapPagesToWrite(inside, bytes, pool_.get());
  MapNewMemory(inside, bytes, pool_.get());
  MapNewMemoryInParts(inside, bytes, pool_.get());
  AdviseHugePagesLater(inside, bytes);
  EXPECT_TRUE(memory == before);
}

TEST_P(PagesTest, NoMemoryIsNoHarm) {
  MapPagesToRead(nullptr, 0, pool_.get());
  MapPagesToWrite(nullptr, 0, pool_.get());
  MapNewMemory(nullptr, 0, pool_.get());
  MapNewMemoryInParts(nullptr, 0, pool_.get());
  EXPECT_FALSE(AdviseHugePages(nullptr, 0));
}

INSTANTIATE_TEST_SUITE_P(Threads, PagesTest, ::testing::Values(1, 3));

TEST(MappedMemoryTest, IsZeroAndMoves) {
  constexpr size_t kBytes = 100003;
  MappedMemory memory = MapMemory(kBytes);
  ASSERT_NE(memory, nullptr);
  auto *data = static_cast<unsigned char *>(memory.get());
  EXPECT_TRUE(std::all_of(data, data + kBytes, [](int v) { return v == 0; }));
  data[kBytes - 1] = 5;
  const MappedMemory other = std::move(memory);
  EXPECT_EQ(other.get(), data);
  EXPECT_EQ(BytesOf(other), kBytes);
  EXPECT_EQ(data[kBytes - 1], 5);
}

TEST(MappedMemoryTest, TellsThatThereIsNotEnough) {
  // Rounded up to pages, it is more than there are addresses.
  EXPECT_EQ(MapMemory(SIZE_MAX - 100), nullptr);
  EXPECT_NE(MapMemory(0), nullptr);
}

}  // namespace
}  // namespace mace

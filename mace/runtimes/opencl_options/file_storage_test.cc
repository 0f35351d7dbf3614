// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl_options/file_storage.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "mace/core/base/crc32.h"

namespace mace {
namespace {

using Bytes = std::vector<unsigned char>;

class FileStorageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/storage.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<KVStorage> Open() const {
    return FileStorageFactory(folder_).CreateStorage("table");
  }
  std::string path() const { return folder_ + "/table"; }
  size_t FileCount() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }
  Bytes Contents() const { return ReadWholeFile(path()).value(); }
  void Write(const Bytes &bytes) const {
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  std::string folder_;
};

TEST_F(FileStorageTest, KeepsEntriesFromOneProcessToTheNext) {
  const Bytes large(100000, 7);
  {
    const auto storage = Open();
    EXPECT_EQ(storage->Load(), 0);
    EXPECT_EQ(storage->Find("a"), nullptr);
    EXPECT_TRUE(storage->Insert("a", {1, 2, 3}));
    EXPECT_TRUE(storage->Insert("empty", {}));
    EXPECT_TRUE(storage->Insert("large", {9}));
    EXPECT_TRUE(storage->Insert("large", large));
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_EQ(storage->Flush(), 0);
  }
  const auto storage = Open();
  EXPECT_EQ(storage->Find("a"), nullptr);
  EXPECT_EQ(storage->Load(), 0);
  ASSERT_NE(storage->Find("a"), nullptr);
  EXPECT_EQ(*storage->Find("a"), (Bytes{1, 2, 3}));
  EXPECT_EQ(*storage->Find("empty"), Bytes());
  EXPECT_EQ(*storage->Find("large"), large);
  EXPECT_EQ(storage->Find("b"), nullptr);
  EXPECT_TRUE(storage->Clear());
  EXPECT_EQ(storage->Find("a"), nullptr);
  EXPECT_EQ(storage->Flush(), 0);
  EXPECT_EQ(ParseTable(Contents().data(), Contents().size()).value().size(),
            0u);
  // Other programs may ship the file, and nothing else is left behind.
  EXPECT_EQ(FileCount(), 1u);
  struct stat info;
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
}

TEST_F(FileStorageTest, WritesNothingIfNothingChanged) {
  auto storage = Open();
  EXPECT_EQ(storage->Flush(), 0);
  EXPECT_EQ(FileCount(), 0u);
  EXPECT_TRUE(storage->Insert("a", {1}));
  EXPECT_EQ(storage->Flush(), 0);
  std::filesystem::remove(path());
  EXPECT_TRUE(storage->Insert("a", {1}));
  EXPECT_EQ(storage->Flush(), 0);
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(FileStorageTest, LeavesOutAFileWithAnyByteChangedOrCutOff) {
  auto writer = Open();
  writer->Insert("key", {1, 2, 3, 4});
  writer->Insert("other", {5});
  ASSERT_EQ(writer->Flush(), 0);
  const Bytes good = Contents();
  for (size_t at = 0; at < good.size(); ++at) {
    Bytes damaged = good;
    damaged[at] ^= 0x41;
    Write(damaged);
    const auto storage = Open();
    EXPECT_EQ(storage->Load(), -1) << "byte " << at;
    EXPECT_EQ(storage->Find("key"), nullptr) << "byte " << at;
    Write(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(at)));
    EXPECT_EQ(Open()->Load(), -1) << at << " bytes";
  }
  // The next process replaces it.
  const auto storage = Open();
  EXPECT_EQ(storage->Load(), -1);
  EXPECT_TRUE(storage->Insert("key", {6}));
  EXPECT_EQ(storage->Flush(), 0);
  const auto next = Open();
  EXPECT_EQ(next->Load(), 0);
  EXPECT_EQ(*next->Find("key"), Bytes{6});
}

// A file whose checksum is right may still lie about lengths.
TEST_F(FileStorageTest, RefusesLengthsBeyondTheEnd) {
  for (const size_t length : {size_t{8}, size_t{12}}) {
    for (const unsigned char high_byte : {0x00, 0x80, 0xff}) {
      Bytes wrong = WriteTable({{"k", {1, 2}}});
      wrong.resize(wrong.size() - 4);
      wrong[length] += 1;
      wrong[length + 3] = high_byte;
      const uint32_t crc = Crc32(wrong.data(), wrong.size());
      for (int shift = 0; shift < 32; shift += 8) {
        wrong.push_back(static_cast<unsigned char>(crc >> shift));
      }
      const MaceStatus status = ParseTable(wrong.data(), wrong.size()).status();
      EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
      EXPECT_NE(status.information().find("an entry is cut off"),
                std::string::npos)
          << status.information();
    }
  }
}

TEST_F(FileStorageTest, AFailureKeepsWhatWasStored) {
  auto storage = Open();
  storage->Insert("a", {1});
  ASSERT_EQ(storage->Flush(), 0);
  FileStorageFactory nowhere(folder_ + "/missing");
  const auto lost = nowhere.CreateStorage("table");
  EXPECT_EQ(lost->Load(), 0);
  EXPECT_TRUE(lost->Insert("a", {1}));
  EXPECT_EQ(lost->Flush(), -1);
  // A folder can't be replaced by a file.
  ASSERT_EQ(mkdir((folder_ + "/busy").c_str(), 0700), 0);
  ASSERT_EQ(mkdir((folder_ + "/busy/x").c_str(), 0700), 0);
  const auto busy = FileStorageFactory(folder_).CreateStorage("busy");
  EXPECT_EQ(busy->Load(), -1);
  EXPECT_TRUE(busy->Insert("a", {1}));
  EXPECT_EQ(busy->Flush(), -1);
  EXPECT_EQ(FileCount(), 2u);  // no temporary file is left
  EXPECT_EQ(Open()->Load(), 0);
}

// A reader sees a whole table at any time.
TEST_F(FileStorageTest, ReadersNeverSeeHalfAFile) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (unsigned char i = 1; i < 100; ++i) {
      const auto storage = Open();
      storage->Insert("a", Bytes(i * size_t{1000}, i));
      EXPECT_EQ(storage->Flush(), 0);
    }
    done = true;
  });
  while (!done) {
    const auto storage = Open();
    EXPECT_EQ(storage->Load(), 0);
    const Bytes *found = storage->Find("a");
    if (found != nullptr) EXPECT_EQ(found->size(), found->front() * 1000u);
  }
  writer.join();
}

}  // namespace
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "mace/core/base/pages.h"
#include "mace/core/base/status.h"
#include "mace/public/mace_file_system.h"
#include "mace/public/mace_status.h"

namespace mace {
namespace port {
namespace {

class MappedRegion final : public ReadOnlyMemoryRegion {
 public:
  MappedRegion(void *data, uint64_t length) : data_(data), length_(length) {}
  ~MappedRegion() override {
    if (data_ != nullptr) munmap(data_, static_cast<size_t>(length_));
  }
  MappedRegion(const MappedRegion &) = delete;
  MappedRegion &operator=(const MappedRegion &) = delete;
  const void *data() const override { return data_; }
  uint64_t length() const override { return length_; }

 private:
  void *data_;
  uint64_t length_;
};

class FileDescriptor {
 public:
  // Opening a FIFO waits for its writer but for O_NONBLOCK, which means nothing
  // to the regular files that are accepted.
  explicit FileDescriptor(const char *path)
      : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

MaceStatus FileError(const char *path, const char *what, int error) {
  const std::string text =
      MakeString("file '", path, "' ", what, ": ", std::strerror(error));
  const bool resources = error == ENOMEM || error == EMFILE || error == ENFILE;
  return MaceStatus(resources ? MaceStatus::MACE_OUT_OF_RESOURCES
                              : MaceStatus::MACE_INVALID_ARGS,
                    text);
}

class PosixFileSystem final : public FileSystem {
 public:
  MaceStatus NewReadOnlyMemoryRegionFromFile(
      const char *path,
      std::unique_ptr<ReadOnlyMemoryRegion> *result) override {
    try {
      return Map(path, result);
    } catch (...) {
      return CurrentExceptionStatus();
    }
  }

 private:
  static MaceStatus Map(const char *path,
                        std::unique_ptr<ReadOnlyMemoryRegion> *result) {
    if (path == nullptr || result == nullptr) {
      return InvalidArgs("`path` or `result` is null");
    }
    const FileDescriptor file(path);
    if (file.get() < 0) return FileError(path, "can't be opened", errno);
    struct stat info;
    if (fstat(file.get(), &info) != 0) {
      return FileError(path, "can't be examined", errno);
    }
    if (!S_ISREG(info.st_mode)) {
      return InvalidArgs("'", path, "' is not a regular file");
    }
    const auto length = static_cast<uint64_t>(info.st_size);
    if (length > SIZE_MAX) {
      return OutOfResources("file '", path, "' of ", length,
                            " bytes does not fit into the address space");
    }
    void *data = nullptr;
    if (length > 0) {
      data = mmap(nullptr, static_cast<size_t>(length), PROT_READ, MAP_PRIVATE,
                  file.get(), 0);
      if (data == MAP_FAILED) return FileError(path, "can't be mapped", errno);
      if (!ReadFileInHugePages(data, static_cast<size_t>(length))) {
        // Starts reading ahead while the graph is being set up.
        madvise(data, static_cast<size_t>(length), MADV_WILLNEED);
      }
    }
    std::unique_ptr<ReadOnlyMemoryRegion> region(
        new (std::nothrow) MappedRegion(data, length));
    if (region == nullptr) {
      if (data != nullptr) munmap(data, static_cast<size_t>(length));
      return MaceStatus::MACE_OUT_OF_RESOURCES;
    }
    *result = std::move(region);
    return MaceStatus::MACE_SUCCESS;
  }
};

}  // namespace

ReadOnlyMemoryRegion::~ReadOnlyMemoryRegion() = default;
FileSystem::~FileSystem() = default;

ReadOnlyBufferMemoryRegion::ReadOnlyBufferMemoryRegion()
    : data_(nullptr), length_(0) {}
ReadOnlyBufferMemoryRegion::ReadOnlyBufferMemoryRegion(const void *data,
                                                       uint64_t length)
    : data_(data), length_(length) {}
ReadOnlyBufferMemoryRegion::~ReadOnlyBufferMemoryRegion() = default;
const void *ReadOnlyBufferMemoryRegion::data() const { return data_; }
uint64_t ReadOnlyBufferMemoryRegion::length() const { return length_; }

}  // namespace port

port::FileSystem *GetFileSystem() {
  static port::PosixFileSystem file_system;
  return &file_system;
}

}  // namespace mace

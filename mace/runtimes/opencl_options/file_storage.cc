// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl_options/file_storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "mace/core/base/crc32.h"
#include "mace/core/base/logging.h"

namespace mace {
namespace {

constexpr char kMagic[] = "MACEKV1\n";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr size_t kCrcBytes = 4;

void AppendUint32(uint32_t value, std::vector<unsigned char> *bytes) {
  for (int shift = 0; shift < 32; shift += 8) {
    bytes->push_back(static_cast<unsigned char>(value >> shift));
  }
}

uint32_t ReadUint32(const unsigned char *bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= uint32_t{bytes[i]} << (8 * i);
  return value;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }
  // Errors of writing may be told only here.
  bool Close() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool WriteAll(int fd, const std::vector<unsigned char> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = write(fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

class MemoryStorage : public KVStorage {
 public:
  explicit MemoryStorage(KVTable table) : table_(std::move(table)) {}

  int Load() override { return 0; }
  bool Clear() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    changed_ = changed_ || !table_.empty();
    table_.clear();
    return true;
  }
  bool Insert(const std::string &key,
              const std::vector<unsigned char> &value) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = table_.find(key);
    if (found != table_.end() && found->second == value) return true;
    table_[key] = value;
    changed_ = true;
    return true;
  }
  const std::vector<unsigned char> *Find(const std::string &key) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = table_.find(key);
    return found == table_.end() ? nullptr : &found->second;
  }
  int Flush() override { return 0; }

 protected:
  std::mutex mutex_;
  KVTable table_;
  bool changed_ = false;  // since it was loaded or flushed
};

class FileStorage final : public MemoryStorage {
 public:
  explicit FileStorage(std::string path)
      : MemoryStorage({}), path_(std::move(path)) {}

  int Load() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    table_.clear();
    changed_ = false;
    if (access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return 0;
    const MaceStatus status = Read();
    if (IsOk(status)) return 0;
    LOG(WARNING) << "OpenCL cache: " << StatusMessage(status)
                 << "; it is not used, and replaced";
    return -1;
  }

  int Flush() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!changed_) return 0;
    const MaceStatus status = ReplaceFile(path_, WriteTable(table_));
    if (!IsOk(status)) {
      LOG(WARNING) << "OpenCL cache: " << StatusMessage(status);
      return -1;
    }
    changed_ = false;
    return 0;
  }

 private:
  MaceStatus Read() {
    MACE_ASSIGN_OR_RETURN(const std::vector<unsigned char> bytes,
                          ReadWholeFile(path_));
    Result<KVTable> table = ParseTable(bytes.data(), bytes.size());
    if (!table.ok()) {
      return InvalidArgs("file '", path_, "' ", StatusMessage(table.status()));
    }
    table_ = std::move(table.value());
    return MaceStatus::MACE_SUCCESS;
  }

  std::string path_;
};

}  // namespace

Result<KVTable> ParseTable(const unsigned char *data, size_t size) {
  if (size < kMagicBytes + kCrcBytes ||
      std::memcmp(data, kMagic, kMagicBytes) != 0) {
    return InvalidArgs("is no file of compiled kernels or tuned parameters");
  }
  const size_t end = size - kCrcBytes;
  if (Crc32(data, end) != ReadUint32(data + end)) {
    return InvalidArgs("is damaged: its checksum is wrong");
  }
  KVTable table;
  size_t at = kMagicBytes;
  while (at < end) {
    if (end - at < 8) return InvalidArgs("is damaged: an entry is cut off");
    const size_t key_bytes = ReadUint32(data + at);
    const size_t value_bytes = ReadUint32(data + at + 4);
    at += 8;
    if (key_bytes > end - at || value_bytes > end - at - key_bytes) {
      return InvalidArgs("is damaged: an entry is cut off");
    }
    const unsigned char *key = data + at;
    const unsigned char *value = key + key_bytes;
    table[std::string(key, value)].assign(value, value + value_bytes);
    at += key_bytes + value_bytes;
  }
  return table;
}

std::vector<unsigned char> WriteTable(const KVTable &table) {
  std::vector<unsigned char> bytes(kMagic, kMagic + kMagicBytes);
  for (const auto &[key, value] : table) {
    AppendUint32(static_cast<uint32_t>(key.size()), &bytes);
    AppendUint32(static_cast<uint32_t>(value.size()), &bytes);
    bytes.insert(bytes.end(), key.begin(), key.end());
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  AppendUint32(Crc32(bytes.data(), bytes.size()), &bytes);
  return bytes;
}

Result<std::vector<unsigned char>> ReadWholeFile(const std::string &path) {
  const auto failed = [&path] {
    return InvalidArgs("file '", path,
                       "' can't be read: ", std::strerror(errno));
  };
  // Opening a FIFO would wait for its writer but for O_NONBLOCK.
  const Descriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return failed();
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgs("'", path, "' is not a regular file");
  }
  std::vector<unsigned char> bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed();
    if (count == 0) break;  // shortened meanwhile
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

MaceStatus ReplaceFile(const std::string &path,
                       const std::vector<unsigned char> &bytes) {
  const auto failed = [&path](const char *what) {
    return RuntimeError("file '", path, "' can't be ", what, ": ",
                        std::strerror(errno));
  };
  // In the same folder, because a rename does not cross file systems.
  std::string temporary = path + ".XXXXXX";
  Descriptor file(mkstemp(temporary.data()));
  if (file.get() < 0) return failed("created");
  fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  // mkstemp lets nobody else read it, but other programs may ship it.
  const bool written =
      fchmod(file.get(), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH) == 0 &&
      WriteAll(file.get(), bytes) && fsync(file.get()) == 0 && file.Close() &&
      std::rename(temporary.c_str(), path.c_str()) == 0;
  if (written) return MaceStatus::MACE_SUCCESS;
  MaceStatus status = failed("written");
  unlink(temporary.c_str());
  return status;
}

std::unique_ptr<KVStorage> CreateMemoryStorage(KVTable table) {
  return std::make_unique<MemoryStorage>(std::move(table));
}

namespace opencl {

std::unique_ptr<KVStorage> CreateFileStorage(const std::string &path) {
  return std::make_unique<FileStorage>(path);
}

}  // namespace opencl
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/shared_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mace {
namespace {

constexpr size_t kPage = 4096;  // of the DSP; the host's may be larger
constexpr unsigned kCloseOnExec = 1;

size_t WholePages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

MaceStatus Failure(const char *what) {
  return RuntimeError("no memory for the DSP: ", what, ": ",
                      std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<SharedFile>> SharedFile::Create(size_t bytes) {
  std::shared_ptr<SharedFile> file(new SharedFile());
  // By the system call: older C libraries have no function for it.
  file->descriptor_ =
      static_cast<int>(syscall(SYS_memfd_create, "mace_hexagon", kCloseOnExec));
  if (file->descriptor_ < 0) return Failure("memfd_create");
  if (ftruncate(file->descriptor_, static_cast<off_t>(bytes)) != 0) {
    return Failure("ftruncate");
  }
  void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                    file->descriptor_, 0);
  if (data == MAP_FAILED) return Failure("mmap");
  file->data_ = static_cast<uint8_t *>(data);
  file->bytes_ = bytes;
  file->gaps_.push_back({0, bytes});
  return file;
}

SharedFile::~SharedFile() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

uint8_t *SharedFile::Allocate(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const size_t size = WholePages(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->bytes < size) continue;
    const size_t offset = gap->offset;
    gap->offset += size;
    gap->bytes -= size;
    if (gap->bytes == 0) gaps_.erase(gap);
    return data_ + offset;
  }
  return nullptr;
}

void SharedFile::Free(uint8_t *data, size_t bytes) {
  const auto offset = static_cast<size_t>(data - data_);
  const size_t size = WholePages(bytes);
  // Also makes them 0 again.
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    std::memset(data, 0, size);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto next =
      std::find_if(gaps_.begin(), gaps_.end(),
                   [offset](const Gap &gap) { return gap.offset > offset; });
  const auto made = gaps_.insert(next, {offset, size});
  const auto after = made + 1;
  if (after != gaps_.end() && made->offset + made->bytes == after->offset) {
    made->bytes += after->bytes;
    gaps_.erase(after);
  }
  if (made != gaps_.begin()) {
    const auto before = made - 1;
    if (before->offset + before->bytes == made->offset) {
      before->bytes += made->bytes;
      gaps_.erase(made);
    }
  }
}

}  // namespace mace

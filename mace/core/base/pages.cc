// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

namespace mace {

void Unmap::operator()(void *data) const { munmap(data, bytes); }

MappedMemory MapMemory(size_t bytes) {
  const size_t room = std::max<size_t>(bytes, 1);
  void *data = mmap(nullptr, room, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  return MappedMemory(data, {room});
}

uint64_t FreeHugePageBytes(const char *buddyinfo, size_t page_bytes) {
  uint64_t free = 0;
  for (const char *line = buddyinfo; line != nullptr && *line != '\0';) {
    const char *end = std::strchr(line, '\n');
    const char *zone = std::strstr(line, "zone");
    if (zone != nullptr && (end == nullptr || zone < end)) {
      zone += std::strlen("zone");
      zone += std::strspn(zone, " ");
      const char *at = zone + std::strcspn(zone, " \n");
      for (uint64_t block = page_bytes; *at == ' '; block *= 2) {
        at += std::strspn(at, " ");
        if (*at < '0' || *at > '9') break;
        char *after = nullptr;
        const uint64_t count = std::strtoul(at, &after, 10);
        if (block >= kHugePage) free += count * block;
        at = after;
      }
    }
    line = end == nullptr ? nullptr : end + 1;
  }
  return free;
}

#ifdef __linux__

namespace {

// Since Linux 5.14; headers may lack it. Earlier kernels return an error.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;
// Since Linux 6.1.
constexpr int kCollapse = 25;

// For smaller sizes, a system call saves almost nothing.
constexpr size_t kMinBytes = 128 * 1024;

// Several pieces, so that threads of different speed finish at the same time.
constexpr size_t kPiecesPerThread = 4;

size_t PageBytes() {
  const auto bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : 4096;
}

bool CanPopulate() {
  // With a length of 0, the kernel only checks whether it supports the advice.
  static const bool can = madvise(nullptr, 0, kPopulateWrite) == 0;
  return can;
}

// MADV_HUGEPAGE makes Linux read files in large pages since 5.18, which cannot
// be queried; this advice was added soon after.
bool ReadsFilesInHugePages() { return madvise(nullptr, 0, kCollapse) == 0; }

void Populate(uintptr_t begin, uintptr_t end, int advice, ThreadPool *pool) {
  if (end <= begin || end - begin < kMinBytes || !CanPopulate()) return;
  // Whole huge pages, and a few times as many pieces as threads: each call
  // takes some time itself, and a single thread needs only one call.
  const int threads = pool->thread_count();
  const size_t pieces = threads > 1 ? kPiecesPerThread * threads : 1;
  const size_t piece =
      ((end - begin) / pieces + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t first = begin / kHugePage * kHugePage;
  pool->ParallelFor(
      static_cast<int64_t>((end - first - 1) / piece + 1), 1,
      [=](int64_t index, int64_t index_end, int) {
        for (; index < index_end; ++index) {
          uintptr_t from = first + static_cast<uintptr_t>(index) * piece;
          uintptr_t to = from + piece;
          if (from < begin) from = begin;
          if (to > end) to = end;
          madvise(reinterpret_cast<void *>(from), to - from, advice);
        }
      });
}

// The huge pages that are completely inside the range.
struct HugeRange {
  HugeRange(void *data, size_t size) {
    const auto address = reinterpret_cast<uintptr_t>(data);
    const uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
    const uintptr_t end = (address + size) / kHugePage * kHugePage;
    begin = reinterpret_cast<void *>(first);
    bytes = end > first ? end - first : 0;
  }
  void *begin;
  size_t bytes;
};

bool HasFreeHugePages(size_t bytes) {
  const int file = open("/proc/buddyinfo", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[4096];
  const auto length = read(file, text, sizeof(text) - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = '\0';
  // Other processes may take some at the same time.
  return FreeHugePageBytes(text, PageBytes()) / 2 >= bytes;
}

}  // namespace

void MapPagesToRead(const void *data, size_t bytes, ThreadPool *pool) {
  // Whole pages, including bytes outside the range: reading changes nothing.
  const size_t page = PageBytes();
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t end = begin + bytes;
  Populate(begin / page * page, (end + page - 1) / page * page, kPopulateRead,
           pool);
}

void MapPagesToWrite(void *data, size_t bytes, ThreadPool *pool) {
  const size_t page = PageBytes();
  const auto begin = reinterpret_cast<uintptr_t>(data);
  Populate((begin + page - 1) / page * page, (begin + bytes) / page * page,
           kPopulateWrite, pool);
}

bool AdviseHugePages(void *data, size_t bytes) {
  const HugeRange range(data, bytes);
  if (range.bytes == 0 || !HasFreeHugePages(range.bytes)) return false;
  return madvise(range.begin, range.bytes, MADV_HUGEPAGE) == 0;
}

void AdviseHugePagesLater(void *data, size_t bytes) {
  const HugeRange range(data, bytes);
  // Otherwise pages that do not exist yet would have to be created now.
  if (range.bytes != 0 && CanPopulate()) {
    madvise(range.begin, range.bytes, MADV_HUGEPAGE);
  }
}

bool ReadFileInHugePages(void *data, size_t bytes) {
  return bytes >= kHugePage && ReadsFilesInHugePages() &&
         HasFreeHugePages(bytes) && madvise(data, bytes, MADV_HUGEPAGE) == 0;
}

void MapNewMemoryInParts(void *data, size_t bytes, ThreadPool *pool) {
  if (!AdviseHugePages(data, bytes)) {
    MapPagesToWrite(data, bytes, pool);
    AdviseHugePagesLater(data, bytes);
    return;
  }
  const HugeRange range(data, bytes);
  auto *begin = static_cast<char *>(data);
  auto *huge = static_cast<char *>(range.begin);
  auto *rest = huge + range.bytes;
  MapPagesToWrite(begin, static_cast<size_t>(huge - begin), pool);
  MapPagesToWrite(rest, bytes - static_cast<size_t>(rest - begin), pool);
}

#else

void MapPagesToRead(const void *, size_t, ThreadPool *) {}
void MapPagesToWrite(void *, size_t, ThreadPool *) {}
bool AdviseHugePages(void *, size_t) { return false; }
void AdviseHugePagesLater(void *, size_t) {}
bool ReadFileInHugePages(void *, size_t) { return false; }
void MapNewMemoryInParts(void *, size_t, ThreadPool *) {}

#endif

void MapNewMemory(void *data, size_t bytes, ThreadPool *pool) {
  const bool huge = AdviseHugePages(data, bytes);
  MapPagesToWrite(data, bytes, pool);
  if (!huge) AdviseHugePagesLater(data, bytes);
}

}  // namespace mace

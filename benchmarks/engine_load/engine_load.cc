// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How long a model takes to load, and how much memory that takes beyond the
// mapped file: engine_load MODEL.pb MODEL.data [ROUNDS]
//
// Every round maps both files, creates an engine from them and destroys it.
// "heap" is the most that operator new held at once during a creation, from
// the largest of all rounds; weights that were copied would show there.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "mace/public/mace.h"

namespace {

std::atomic<int64_t> g_held{0};
std::atomic<int64_t> g_peak{0};

// The size precedes every block, in a header that keeps its alignment.
constexpr size_t kHeader = 64;

void *Allocate(size_t size) noexcept {
  auto *base = static_cast<char *>(std::aligned_alloc(
      kHeader, (size + 2 * kHeader - 1) / kHeader * kHeader));
  if (base == nullptr) return nullptr;
  *reinterpret_cast<size_t *>(base) = size;
  const int64_t held =
      g_held.fetch_add(static_cast<int64_t>(size)) + static_cast<int64_t>(size);
  int64_t peak = g_peak.load();
  while (held > peak && !g_peak.compare_exchange_weak(peak, held)) {
  }
  return base + kHeader;
}

void Free(void *memory) noexcept {
  if (memory == nullptr) return;
  char *base = static_cast<char *>(memory) - kHeader;
  g_held.fetch_sub(static_cast<int64_t>(*reinterpret_cast<size_t *>(base)));
  std::free(base);
}

void *AllocateOrThrow(size_t size) {
  void *memory = Allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void *operator new(size_t size) { return AllocateOrThrow(size); }
void *operator new[](size_t size) { return AllocateOrThrow(size); }
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return Allocate(size);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return Allocate(size);
}
// No alignment above 64 bytes is asked for in MACE.
void *operator new(size_t size, std::align_val_t) {
  return AllocateOrThrow(size);
}
void *operator new(size_t size,
                   std::align_val_t,
                   const std::nothrow_t &) noexcept {
  return Allocate(size);
}
void operator delete(void *memory) noexcept { Free(memory); }
void operator delete[](void *memory) noexcept { Free(memory); }
void operator delete(void *memory, size_t) noexcept { Free(memory); }
void operator delete[](void *memory, size_t) noexcept { Free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  Free(memory);
}

namespace {

using Region = std::unique_ptr<mace::port::ReadOnlyMemoryRegion>;

mace::MaceStatus Load(const char *graph_path,
                      const char *weights_path,
                      std::shared_ptr<mace::MaceEngine> *engine,
                      std::vector<Region> *regions) {
  for (const char *path : {graph_path, weights_path}) {
    Region region;
    const mace::MaceStatus status =
        mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(path, &region);
    if (status != mace::MaceStatus::MACE_SUCCESS) return status;
    regions->push_back(std::move(region));
  }
  const auto bytes = [regions](size_t i) {
    return static_cast<const unsigned char *>((*regions)[i]->data());
  };
  return mace::CreateMaceEngineFromProto(
      bytes(0), static_cast<size_t>((*regions)[0]->length()), bytes(1),
      static_cast<size_t>((*regions)[1]->length()), {}, {},
      mace::MaceEngineConfig(), engine);
}

double MegaBytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL.pb MODEL.data [ROUNDS]\n", argv[0]);
    return 2;
  }
  const int rounds = argc == 4 ? std::max(1, std::atoi(argv[3])) : 20;
  std::vector<double> times;
  int64_t heap = 0;
  mace::EngineStats stats{};
  for (int round = 0; round < rounds; ++round) {
    const int64_t before = g_held.load();
    g_peak = before;
    std::vector<Region> regions;
    std::shared_ptr<mace::MaceEngine> engine;
    const auto start = std::chrono::steady_clock::now();
    const mace::MaceStatus status = Load(argv[1], argv[2], &engine, &regions);
    const std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - start;
    if (status != mace::MaceStatus::MACE_SUCCESS) {
      std::fprintf(stderr, "%s\n", status.information().c_str());
      return 2;
    }
    times.push_back(time.count());
    heap = std::max(heap, g_peak.load() - before);
    stats = engine->GetStats();
  }
  const double first = times[0];
  std::sort(times.begin(), times.end());
  std::printf("operators            %zu\n", stats.operator_count);
  std::printf("creation, first      %.2f ms\n", first);
  std::printf("creation, median     %.2f ms of %d rounds\n",
              times[times.size() / 2], rounds);
  std::printf("creation, worst      %.2f ms\n", times.back());
  std::printf("constants in place   %.2f MB\n",
              MegaBytes(static_cast<int64_t>(stats.constant_bytes)));
  std::printf("constants prepared   %.2f MB\n",
              MegaBytes(static_cast<int64_t>(stats.prepared_bytes)));
  std::printf("heap, peak           %.2f MB\n", MegaBytes(heap));
  return 0;
}

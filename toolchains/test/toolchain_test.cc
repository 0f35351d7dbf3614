// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "protozero/pbf_reader.hpp"
#include "toolchains/test/isa_probe.h"

namespace mace {
namespace {

std::vector<const IsaProbe *> RunnableProbes() {
#if defined(__x86_64__)
  std::vector<const IsaProbe *> probes;
  if (__builtin_cpu_supports("sse4.1")) probes.push_back(&sse41::kProbe);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    probes.push_back(&avx2::kProbe);
  }
  if (__builtin_cpu_supports("avx512f")) probes.push_back(&avx512::kProbe);
  return probes;
#else
  return {&neon::kProbe};
#endif
}

TEST(ToolchainTest, EachInstructionSetComputes) {
  const std::vector<float> a(16, 3.0f), b(16, 5.0f), c(16, 7.0f);
  const std::vector<const IsaProbe *> probes = RunnableProbes();
  ASSERT_FALSE(probes.empty());
  for (const IsaProbe *probe : probes) {
    SCOPED_TRACE(probe->name);
    const size_t count = probe->vector_bytes / sizeof(float);
    std::vector<float> out(16, 0.0f);
    probe->multiply_add(a.data(), b.data(), c.data(), out.data());
    EXPECT_EQ(std::count(out.begin(), out.end(), 22.0f),
              static_cast<std::ptrdiff_t>(count));
  }
}

TEST(ToolchainTest, StandardLibraryAndThreadsWork) {
  std::vector<std::string> words(4);
  std::vector<std::thread> threads;
  threads.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    threads.emplace_back([&words, i] { words[i] = std::to_string(i); });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_THAT(words, testing::ElementsAre("0", "1", "2", "3"));
}

TEST(ToolchainTest, HeaderLibrariesWork) {
  CLI::App app;
  int threads = 0;
  app.add_option("--num_threads", threads);
  const char *argv[] = {"program", "--num_threads=4"};
  app.parse(2, argv);
  EXPECT_EQ(threads, 4);

  EXPECT_EQ(nlohmann::json::parse("{\"ops\": 3}")["ops"], 3);

  const std::string message("\x08\x96\x01", 3);  // field 1, varint 150
  protozero::pbf_reader reader(message);
  ASSERT_TRUE(reader.next(1));
  EXPECT_EQ(reader.get_uint32(), 150u);
}

TEST(ToolchainTest, PointerSizeIsTheTargets) {
#if defined(__arm__)
  EXPECT_EQ(sizeof(void *), 4u);
#else
  EXPECT_EQ(sizeof(void *), 8u);
#endif
}

}  // namespace
}  // namespace mace

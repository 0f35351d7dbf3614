// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_family.h"

#include <cctype>
#include <cstdlib>

namespace mace {
namespace {

std::string Lower(std::string text) {
  for (char &letter : text) {
    letter =
        static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

// 630 of "opencl 2.0 adreno(tm) 630"; 0 if there is no number after the last
// occurrence of the word.
int NumberAfter(const std::string &text, const char *word) {
  const size_t at = text.rfind(word);
  if (at == std::string::npos) return 0;
  const size_t digits = text.find_first_of("0123456789", at);
  if (digits == std::string::npos) return 0;
  return std::atoi(text.c_str() + digits);  // NOLINT
}

// Of "mali-g710", and of "mali-g57" and the like.
bool IsValhall(const std::string &lower) {
  if (lower.find("mali-g") == std::string::npos) return false;
  const int number = NumberAfter(lower, "mali-g");
  return number >= 100 || number == 57 || number == 68 || number == 77 ||
         number == 78;
}

}  // namespace

GpuFamily GpuFamilyOf(const std::string &text, bool is_cpu) {
  if (is_cpu) return GpuFamily::kCpu;
  const std::string lower = Lower(text);
  const struct {
    const char *word;
    GpuFamily family;
  } words[] = {
      {"adreno", GpuFamily::kAdreno},
      {"qualcomm", GpuFamily::kAdreno},
      {"mali", GpuFamily::kMali},
      {"powervr", GpuFamily::kPowerVr},
      {"imagination", GpuFamily::kPowerVr},
      {"nvidia", GpuFamily::kNvidia},
      {"intel", GpuFamily::kIntel},
      {"advanced micro", GpuFamily::kAmd},
      {"amd", GpuFamily::kAmd},
  };
  for (const auto &entry : words) {
    if (lower.find(entry.word) != std::string::npos) return entry.family;
  }
  return GpuFamily::kOther;
}

// The periods are those of TensorFlow Lite's GPU delegate; they were not
// measured here.
GpuFamilyFacts FactsOf(GpuFamily family, const std::string &text) {
  const std::string lower = Lower(text);
  GpuFamilyFacts facts;
  switch (family) {
    case GpuFamily::kAdreno: {
      // Larger GPUs have a larger buffer for commands.
      constexpr int kLastWithASmallBuffer = 630;
      const int number = NumberAfter(lower, "adreno");
      if (number <= kLastWithASmallBuffer) facts.flush_period = 16;
      break;
    }
    case GpuFamily::kMali:
      facts.flush_period = 24;
      // TensorFlow Lite knows of wrong results on Midgard (Mali-T) and on
      // Bifrost (Mali-G with two digits, but for Valhall's).
      facts.image_views = IsValhall(lower);
      break;
    case GpuFamily::kPowerVr:
      facts.flush_period = lower.find("rogue") != std::string::npos ? 4 : 16;
      break;
    case GpuFamily::kNvidia:
      facts.macs_per_nano = 60;
      facts.bytes_per_nano = 200;
      // As of CUDA's grids.
      facts.max_groups = {INT32_MAX, UINT16_MAX, UINT16_MAX};
      break;
    case GpuFamily::kAmd:
      facts.macs_per_nano = 60;
      facts.bytes_per_nano = 200;
      break;
    case GpuFamily::kCpu:
      facts.macs_per_nano = 4;
      // 60 launches on PoCL 3.1 take 93 us, and 104 us from a recording: the
      // host runs both.
      facts.replay = false;
      break;
    default:
      break;
  }
  return facts;
}

}  // namespace mace

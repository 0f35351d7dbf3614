// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_settings.h"

#include <cstdlib>

namespace mace {
namespace {

constexpr uint32_t kMostThreads = 8;
constexpr uint32_t kMostKilobytes = 65536;

// A whole number from `least` to `most`; 0 and not *is_set if there is none.
Result<uint32_t> ReadNumber(const char *name,
                            uint32_t least,
                            uint32_t most,
                            bool *is_set) {
  const char *set = std::getenv(name);
  *is_set = set != nullptr && *set != 0;
  if (!*is_set) return 0U;
  char *end = nullptr;
  const unsigned long value = std::strtoul(set, &end, 10);
  if (*set < '0' || *set > '9' || *end != 0 || value < least || value > most) {
    return InvalidArgs(name, " is '", set, "'; it takes a number from ", least,
                       " to ", most);
  }
  return static_cast<uint32_t>(value);
}

}  // namespace

Result<HexagonSettings> HexagonSettings::Read() {
  HexagonSettings settings;
  bool is_set = false;
  MACE_ASSIGN_OR_RETURN(settings.threads, ReadNumber("MACE_HEXAGON_THREADS", 1,
                                                     kMostThreads, &is_set));
  MACE_ASSIGN_OR_RETURN(const uint32_t kilobytes,
                        ReadNumber("MACE_HEXAGON_VTCM", 0, kMostKilobytes,
                                   &settings.has_fast_bytes));
  settings.fast_bytes = kilobytes * 1024;
  return settings;
}

}  // namespace mace

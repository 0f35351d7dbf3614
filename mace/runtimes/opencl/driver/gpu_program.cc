// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_program.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

namespace mace {

std::string ProgramId(const ProgramKey &key) {
  const uint64_t hash =
      HashText(kProgramOptions + key.options, HashSource(*key.source));
  return std::string(key.source->name) + " " + HashDigits(hash);
}

namespace {

void AppendText(const ClSource &source,
                std::vector<const ClSource *> *seen,
                std::string *text) {
  if (std::find(seen->begin(), seen->end(), &source) != seen->end()) return;
  seen->push_back(&source);
  for (size_t i = 0; i < source.include_count; ++i) {
    AppendText(*source.includes[i], seen, text);
  }
  *text += source.text;
}

struct KnownHashes {
  std::mutex mutex;
  std::map<const ClSource *, uint64_t> of;
};

}  // namespace

uint64_t HashText(const std::string &text, uint64_t hash) {
  for (char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return hash;
}

std::string HashDigits(uint64_t hash) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hash));  // NOLINT
  return digits;
}

std::string TextOf(const ClSource &source) {
  std::string text;
  std::vector<const ClSource *> seen;
  AppendText(source, &seen, &text);
  return text;
}

uint64_t HashSource(const ClSource &source) {
  // Never destroyed: engines of other threads may outlive static objects.
  static auto *known = new KnownHashes;
  const std::lock_guard<std::mutex> lock(known->mutex);
  const auto found = known->of.find(&source);
  if (found != known->of.end()) return found->second;
  return known->of[&source] = HashText(TextOf(source));
}

}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/hexagon_settings.h"

#include <unistd.h>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

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

namespace {

constexpr char kVariable[] = "MACE_HEXAGON_SKEL";

std::string FolderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

// The file that this code was loaded from; empty if that is not known.
std::string ThisFile() {
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> maps(
      std::fopen("/proc/self/maps", "re"));
  if (maps == nullptr) return std::string();
  const auto here = reinterpret_cast<uintptr_t>(&FindSkel);
  char line[PATH_MAX + 128];
  while (std::fgets(line, sizeof(line), maps.get()) != nullptr) {
    char *end = nullptr;
    const unsigned long long first = std::strtoull(line, &end, 16);
    if (*end != '-') continue;
    const unsigned long long last = std::strtoull(end + 1, nullptr, 16);
    if (here < first || here >= last) continue;
    std::string path = line;
    const size_t begin = path.find('/');
    if (begin == std::string::npos) return std::string();
    path = path.substr(begin);
    while (!path.empty() && path.back() == '\n') path.pop_back();
    return path;
  }
  return std::string();
}

std::string Program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length <= 0 ? std::string()
                     : std::string(path, static_cast<size_t>(length));
}

}  // namespace

Result<std::string> FindSkel(const std::string &name) {
  const char *set = std::getenv(kVariable);
  if (set != nullptr && *set != 0) {
    if (access(set, R_OK) == 0) return std::string(set);
    return RuntimeError("there is no file '", set, "', which ", kVariable,
                        " names");
  }
  std::string places;
  for (const std::string &folder :
       {FolderOf(ThisFile()), FolderOf(Program())}) {
    if (folder.empty()) continue;
    std::string path = folder + "/" + name;
    if (access(path.c_str(), R_OK) == 0) return path;
    if (places.find(folder) == std::string::npos) {
      places += (places.empty() ? "'" : " or '") + folder + "'";
    }
  }
  return RuntimeError("the DSP's part, ", name, ", is not in ", places,
                      "; put it there, or set ", kVariable, " to its path");
}

}  // namespace mace

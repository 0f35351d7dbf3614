// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/console.h"

#include <cstdio>
#include <cstring>

namespace mace {
namespace tools {
namespace {

std::FILE *results = stdout;

void Print(std::FILE *stream,
           char level,
           const char *file,
           int line,
           const std::string &text) {
  const char *slash = std::strrchr(file, '/');
  const char *name = slash != nullptr ? slash + 1 : file;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find('\n', begin);
    std::fprintf(stream, "%c %s:%d %s\n", level, name, line,
                 text.substr(begin, end - begin).c_str());
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  // If the program is killed or crashes, earlier output must not be lost.
  std::fflush(stream);
}

}  // namespace

void KeepStdoutForReport() { results = stderr; }

std::FILE *ResultStream() { return results; }

void PrintInfo(const char *file, int line, const std::string &text) {
  Print(results, 'I', file, line, text);
}

void PrintProgress(const char *file, int line, const std::string &text) {
  Print(stderr, 'I', file, line, text);
}

void PrintWarning(const char *file, int line, const std::string &text) {
  Print(stderr, 'W', file, line, text);
}

void PrintError(const char *file, int line, const std::string &text) {
  Print(stderr, 'E', file, line, text);
}

}  // namespace tools
}  // namespace mace

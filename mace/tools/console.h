// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Output of mace_run: lines with the prefix "I file.cc:line ", like those of
// the library's log. Results go to stdout, warnings, errors and progress to
// stderr.

#ifndef MACE_TOOLS_CONSOLE_H_
#define MACE_TOOLS_CONSOLE_H_

#include <cstdio>
#include <string>

namespace mace {
namespace tools {

// Makes PrintInfo and ResultStream use stderr: stdout is for a report only.
void KeepStdoutForReport();
// Where results without a prefix go.
std::FILE *ResultStream();

// Prints every line of `text` with the prefix.
void PrintInfo(const char *file, int line, const std::string &text);
void PrintProgress(const char *file, int line, const std::string &text);
void PrintWarning(const char *file, int line, const std::string &text);
void PrintError(const char *file, int line, const std::string &text);

}  // namespace tools
}  // namespace mace

#define MACE_TOOL_INFO(text) ::mace::tools::PrintInfo(__FILE__, __LINE__, text)
#define MACE_TOOL_PROGRESS(text) \
  ::mace::tools::PrintProgress(__FILE__, __LINE__, text)
#define MACE_TOOL_WARNING(text) \
  ::mace::tools::PrintWarning(__FILE__, __LINE__, text)
#define MACE_TOOL_ERROR(text) \
  ::mace::tools::PrintError(__FILE__, __LINE__, text)

#endif  // MACE_TOOLS_CONSOLE_H_

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Child processes that report by lines of text. See selftest.h for why.

#ifndef MACE_RUNTIMES_OPENCL_SELFTEST_CHILD_PROCESS_H_
#define MACE_RUNTIMES_OPENCL_SELFTEST_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>

namespace mace {

// Writes lines; false if nobody reads them.
bool WriteLine(int file, const std::string &line);

class ChildProcess {
 public:
  enum class Read { kLine, kEnd, kTimeout };

  ChildProcess() = default;
  // Ends the child.
  ~ChildProcess() { Stop(); }
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  // Runs function(file) in a child, and ends it; `file` is for WriteLine. False
  // if the system has no process or file left.
  bool Start(const std::function<void(int)> &function);
  // The next line; kEnd if there is none because the child ended.
  Read ReadLine(int milliseconds, std::string *line);
  // Ends the child if it still runs, and waits for it. How it ended: "signal
  // 6", or empty if that is not known.
  std::string Stop();

 private:
  pid_t child_ = -1;
  int file_ = -1;
  bool ended_ = false;
  std::string buffer_;
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_SELFTEST_CHILD_PROCESS_H_

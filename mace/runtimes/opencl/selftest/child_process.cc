// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/selftest/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

namespace mace {
namespace {

// By the system call: Android's close() guards files that objects own.
void CloseAllBut(int kept) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kMost = 65536;
  const auto end = static_cast<int>(std::min(limit.rlim_cur, kMost));
  for (int file = STDERR_FILENO + 1; file < end; ++file) {
    if (file != kept) syscall(SYS_close, file);
  }
}

// Nothing of the application's runs in the child.
void LeaveApplication(pid_t parent, int kept) {
  // With the parent, which may have ended already.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (int number = 1; number < NSIG; ++number) {
    signal(number, number == SIGPIPE ? SIG_IGN : SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  CloseAllBut(kept);
}

}  // namespace

bool WriteLine(int file, const std::string &line) {
  const std::string bytes = line + "\n";
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return true;
}

bool ChildProcess::Start(const std::function<void(int)> &function) {
  int files[2];
  if (pipe2(files, O_CLOEXEC) != 0) return false;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    LeaveApplication(parent, files[1]);
    function(files[1]);
    _exit(0);
  }
  close(files[1]);
  if (child < 0) {
    close(files[0]);
    return false;
  }
  child_ = child;
  file_ = files[0];
  return true;
}

ChildProcess::Read ChildProcess::ReadLine(int milliseconds, std::string *line) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (true) {
    const size_t length = buffer_.find('\n');
    if (length != std::string::npos) {
      *line = buffer_.substr(0, length);
      buffer_.erase(0, length + 1);
      return Read::kLine;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                          deadline - Clock::now())
                          .count();
    pollfd wait = {file_, POLLIN, 0};
    const int ready =
        poll(&wait, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (ready == 0) return Read::kTimeout;
    if (ready < 0) continue;  // a signal
    char bytes[512];
    const ssize_t count = read(file_, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      ended_ = true;
      return Read::kEnd;
    }
    buffer_.append(bytes, static_cast<size_t>(count));
  }
}

std::string ChildProcess::Stop() {
  if (child_ < 0) return std::string();
  close(file_);
  // A child that ended may have been reaped, and its number be another's.
  if (!ended_) kill(child_, SIGKILL);
  int status = 0;
  pid_t found = 0;
  do {
    found = waitpid(child_, &status, 0);
  } while (found < 0 && errno == EINTR);
  const bool known = found == child_ && WIFSIGNALED(status);
  child_ = -1;
  return known ? "signal " + std::to_string(WTERMSIG(status)) : std::string();
}

}  // namespace mace

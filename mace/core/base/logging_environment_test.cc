// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The levels are read from the environment once, when they are first used.
// Therefore each case is a child process, and this program itself does not read
// a level.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

#include "mace/core/base/logging.h"

namespace mace {
namespace {

struct Levels {
  int log = -1;
  int vlog = -1;
};

void Set(const char *name, const char *value) {
  if (value == nullptr) {
    unsetenv(name);
  } else {
    setenv(name, value, 1);
  }
}

// The levels of a process with these variables; null leaves one unset.
Levels LevelsWith(const char *log, const char *vlog) {
  Levels levels;
  int ends[2];
  if (pipe(ends) != 0) return levels;
  const pid_t child = fork();
  if (child == 0) {
    Set("MACE_CPP_MIN_LOG_LEVEL", log);
    Set("MACE_CPP_MIN_VLOG_LEVEL", vlog);
    levels.log = static_cast<int>(MinLogLevel());
    levels.vlog = MinVlogLevel();
    const bool written =
        write(ends[1], &levels, sizeof(levels)) == sizeof(levels);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const bool complete = read(ends[0], &levels, sizeof(levels)) ==
                        static_cast<ssize_t>(sizeof(levels));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(complete && status == 0);
  return levels;
}

// The text that a process with these variables writes to standard error.
std::string WrittenWith(const char *log, const char *vlog) {
  testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) {
    Set("MACE_CPP_MIN_LOG_LEVEL", log);
    Set("MACE_CPP_MIN_VLOG_LEVEL", vlog);
    LOG(INFO) << "information";
    LOG(WARNING) << "warning";
    LOG(ERROR) << "error";
    VLOG(1) << "network";
    VLOG(2) << "operators";
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::string text = testing::internal::GetCapturedStderr();
  // File names and line numbers are checked by another test.
  std::string words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    words += line.substr(line.rfind(' ') + 1) + " ";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return words;
}

TEST(LoggingEnvironmentTest, LogLevelIsANumberOrAName) {
  EXPECT_EQ(LevelsWith(nullptr, nullptr).log, 0);
  EXPECT_EQ(LevelsWith("2", nullptr).log, 2);
  EXPECT_EQ(LevelsWith("4", nullptr).log, 3);
  EXPECT_EQ(LevelsWith("warning", nullptr).log, 1);
  EXPECT_EQ(LevelsWith("LOUD", nullptr).log, 0);
}

TEST(LoggingEnvironmentTest, VlogLevelIsANumber) {
  EXPECT_EQ(LevelsWith(nullptr, nullptr).vlog, 0);
  EXPECT_EQ(LevelsWith(nullptr, "").vlog, 0);
  EXPECT_EQ(LevelsWith(nullptr, "3").vlog, 3);
  EXPECT_EQ(LevelsWith(nullptr, "-1").vlog, -1);
  EXPECT_EQ(LevelsWith(nullptr, "3x").vlog, 0);
  EXPECT_EQ(LevelsWith(nullptr, "99999999999999999999").vlog, INT_MAX);
  EXPECT_EQ(LevelsWith(nullptr, "-99999999999999999999").vlog, INT_MIN);
}

TEST(LoggingEnvironmentTest, MessagesFollowTheLevels) {
  EXPECT_EQ(WrittenWith(nullptr, nullptr), "information warning error ");
  EXPECT_EQ(WrittenWith("ERROR", nullptr), "error ");
  EXPECT_EQ(WrittenWith(nullptr, "1"), "information warning error network ");
  EXPECT_EQ(WrittenWith("0", "2"),
            "information warning error network operators ");
}

}  // namespace
}  // namespace mace

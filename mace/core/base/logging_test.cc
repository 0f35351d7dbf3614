// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/logging.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace mace {
namespace {

std::string *g_lines = nullptr;

class LoggingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    g_lines = &lines_;
    SetLogSink([](LogLevel, const char *line) { *g_lines += line; });
    log_level_ = MinLogLevel();
    vlog_level_ = MinVlogLevel();
  }
  void TearDown() override {
    SetLogSink(nullptr);
    SetMinLogLevel(log_level_);
    SetMinVlogLevel(vlog_level_);
  }
  std::string lines_;
  LogLevel log_level_;
  int vlog_level_;
};

TEST_F(LoggingTest, PrefixesEveryLineLikeGlog) {
  SetMinLogLevel(LogLevel::kInfo);
  LOG(INFO) << "a " << 1;
  const int line = __LINE__ - 1;
  LOG(WARNING) << "b";
  LOG(ERROR) << "c";
  const std::string file = "logging_test.cc:";
  EXPECT_EQ(lines_, "I " + file + std::to_string(line) + " a 1\n" + "W " +
                        file + std::to_string(line + 2) + " b\n" + "E " + file +
                        std::to_string(line + 3) + " c\n");
}

TEST_F(LoggingTest, FatalIsALabelAndDoesNotEndTheProcess) {
  LOG(FATAL) << "grave";
  EXPECT_EQ(lines_.substr(0, 2), "F ");
}

TEST_F(LoggingTest, MessagesBelowTheLevelAreNotFormatted) {
  SetMinLogLevel(LogLevel::kError);
  int formatted = 0;
  const auto count = [&formatted] { return ++formatted; };
  LOG(INFO) << count();
  LOG(WARNING) << count();
  EXPECT_EQ(formatted, 0);
  LOG(ERROR) << count();
  EXPECT_EQ(formatted, 1);
}

TEST_F(LoggingTest, VlogPrintsUpToItsLevel) {
  SetMinVlogLevel(2);
  EXPECT_TRUE(VLOG_IS_ON(2));
  EXPECT_FALSE(VLOG_IS_ON(3));
  VLOG(2) << "two";
  VLOG(3) << "three";
  EXPECT_NE(lines_.find("two"), std::string::npos);
  EXPECT_EQ(lines_.find("three"), std::string::npos);
}

TEST_F(LoggingTest, IsOneStatementInAnIfWithoutBraces) {
  SetMinLogLevel(LogLevel::kInfo);
  bool other = false;
  if (lines_.empty())
    LOG(INFO) << "taken";
  else
    other = true;
  EXPECT_FALSE(other);
  EXPECT_NE(lines_.find("taken"), std::string::npos);
}

TEST(LogLevelTest, ParsesNumbersAndNames) {
  const LogLevel none = LogLevel::kInfo;
  EXPECT_EQ(ParseLogLevel("0", LogLevel::kError), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("1", none), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("2", none), LogLevel::kError);
  EXPECT_EQ(ParseLogLevel("3", none), LogLevel::kFatal);
  EXPECT_EQ(ParseLogLevel("4", none), LogLevel::kFatal);
  EXPECT_EQ(ParseLogLevel("WARNING", none), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("fatal", none), LogLevel::kFatal);
}

TEST(LogLevelTest, FallsBackOnAnythingElse) {
  for (const char *text : {"", "5", "-1", "12", "LOUD", "INFOS", "INF"}) {
    EXPECT_EQ(ParseLogLevel(text, LogLevel::kError), LogLevel::kError) << text;
  }
  EXPECT_EQ(ParseLogLevel(nullptr, LogLevel::kWarning), LogLevel::kWarning);
}

}  // namespace
}  // namespace mace

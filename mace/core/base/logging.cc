// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/logging.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef __ANDROID__
#include <android/log.h>
#endif

namespace mace {
namespace {

bool EqualsIgnoringCase(const char *a, const char *b) {
  for (; *a != '\0' && *b != '\0'; ++a, ++b) {
    if (std::toupper(static_cast<unsigned char>(*a)) != *b) return false;
  }
  return *a == *b;
}

int ParseVlogLevel(const char *text, int fallback) {
  if (text == nullptr || *text == '\0') return fallback;
  char *end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0') return fallback;
  if (errno == ERANGE || value > INT_MAX || value < INT_MIN) {
    return value > 0 ? INT_MAX : INT_MIN;
  }
  return static_cast<int>(value);
}

void DefaultSink(LogLevel level, const char *line) {
#ifdef __ANDROID__
  constexpr int kPriorities[] = {ANDROID_LOG_INFO, ANDROID_LOG_WARN,
                                 ANDROID_LOG_ERROR, ANDROID_LOG_FATAL};
  __android_log_write(kPriorities[static_cast<int>(level)], "MACE", line);
#else
  (void)level;
#endif
  // One call per line: stdio locks the stream, so lines never mix.
  std::fputs(line, stderr);
}

std::atomic<int> &LogLevelSetting() {
  static std::atomic<int> level(static_cast<int>(
      ParseLogLevel(std::getenv("MACE_CPP_MIN_LOG_LEVEL"), LogLevel::kInfo)));
  return level;
}

std::atomic<int> &VlogLevelSetting() {
  static std::atomic<int> level(
      ParseVlogLevel(std::getenv("MACE_CPP_MIN_VLOG_LEVEL"), 0));
  return level;
}

std::atomic<LogSink> g_sink{DefaultSink};

}  // namespace

LogLevel ParseLogLevel(const char *text, LogLevel fallback) {
  if (text == nullptr || *text == '\0') return fallback;
  if (text[1] == '\0' && *text >= '0' && *text <= '4') {
    // The documentation says both "4 = FATAL" and that there are four levels.
    return static_cast<LogLevel>(*text >= '3' ? 3 : *text - '0');
  }
  constexpr const char *kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  for (int i = 0; i < 4; ++i) {
    if (EqualsIgnoringCase(text, kNames[i])) return static_cast<LogLevel>(i);
  }
  return fallback;
}

LogLevel MinLogLevel() {
  return static_cast<LogLevel>(
      LogLevelSetting().load(std::memory_order_relaxed));
}
void SetMinLogLevel(LogLevel level) {
  LogLevelSetting().store(static_cast<int>(level), std::memory_order_relaxed);
}
int MinVlogLevel() {
  return VlogLevelSetting().load(std::memory_order_relaxed);
}
void SetMinVlogLevel(int level) {
  VlogLevelSetting().store(level, std::memory_order_relaxed);
}
void SetLogSink(LogSink sink) {
  g_sink.store(sink != nullptr ? sink : DefaultSink);
}

namespace internal {

LogMessage::LogMessage(LogLevel level, const char *file, int line)
    : level_(level) {
  const char *slash = std::strrchr(file, '/');
  stream_ << "IWEF"[static_cast<int>(level)] << ' '
          << (slash != nullptr ? slash + 1 : file) << ':' << line << ' ';
}

LogMessage::~LogMessage() {
  // A destructor must not throw; without memory the line is lost.
  try {
    stream_ << '\n';
    g_sink.load()(level_, stream_.str().c_str());
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace internal
}  // namespace mace

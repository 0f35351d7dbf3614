// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Log messages. Each is one line, written by one call, in the style of glog:
//
//   I mace_run.cc:42 loaded 'resnet50' in 12.3 ms
//
// LOG(INFO | WARNING | ERROR | FATAL) << ...;  a message below the minimum
//     level is not formatted. FATAL is only the most severe level: no message
//     of this library ends the process.
// VLOG(n) << ...;  printed if n <= the minimum VLOG level. 0 ad hoc, 1 the
//     network, 2 operators and their time, 3 unimportant, 4 everything.
//
// The environment sets the initial levels: MACE_CPP_MIN_LOG_LEVEL (0 to 4 or a
// name; 0 = INFO, 3 and 4 = FATAL; default INFO) and MACE_CPP_MIN_VLOG_LEVEL
// (a number; default 0). Messages go to the standard error stream and, on
// Android, to logcat under the tag MACE. Any thread may log.

#ifndef MACE_CORE_BASE_LOGGING_H_
#define MACE_CORE_BASE_LOGGING_H_

#include <sstream>

namespace mace {

enum class LogLevel : int { kInfo = 0, kWarning = 1, kError = 2, kFatal = 3 };

LogLevel MinLogLevel();
void SetMinLogLevel(LogLevel level);
int MinVlogLevel();
void SetMinVlogLevel(int level);

// Parses the value of MACE_CPP_MIN_LOG_LEVEL: a number from 0 to 4 or a name in
// any case. Returns `fallback` for anything else. Null is allowed.
LogLevel ParseLogLevel(const char *text, LogLevel fallback);

// Where lines go; `line` ends with a newline. Null restores the default.
using LogSink = void (*)(LogLevel level, const char *line);
void SetLogSink(LogSink sink);

namespace internal {

class LogMessage {
 public:
  LogMessage(LogLevel level, const char *file, int line);
  ~LogMessage();  // writes the line
  LogMessage(const LogMessage &) = delete;
  LogMessage &operator=(const LogMessage &) = delete;

  std::ostream &stream() { return stream_; }

 private:
  LogLevel level_;
  std::ostringstream stream_;
};

// Gives both branches of LOG's conditional the type void.
struct LogVoidify {
  void operator&(std::ostream &) {}
};

}  // namespace internal
}  // namespace mace

#define MACE_LOG_LEVEL_INFO ::mace::LogLevel::kInfo
#define MACE_LOG_LEVEL_WARNING ::mace::LogLevel::kWarning
#define MACE_LOG_LEVEL_ERROR ::mace::LogLevel::kError
#define MACE_LOG_LEVEL_FATAL ::mace::LogLevel::kFatal

#define MACE_LOG_IF(condition, level)    \
  !(condition)                           \
      ? (void)0                          \
      : ::mace::internal::LogVoidify() & \
            ::mace::internal::LogMessage(level, __FILE__, __LINE__).stream()

#define LOG(severity)                                             \
  MACE_LOG_IF(MACE_LOG_LEVEL_##severity >= ::mace::MinLogLevel(), \
              MACE_LOG_LEVEL_##severity)

#define VLOG_IS_ON(n) ((n) <= ::mace::MinVlogLevel())
#define VLOG(n) MACE_LOG_IF(VLOG_IS_ON(n), ::mace::LogLevel::kInfo)

// For programmer errors, in debug builds only; logs and continues.
#ifdef NDEBUG
#define MACE_DCHECK(condition) \
  do {                         \
  } while (false)
#else
#define MACE_DCHECK(condition)                        \
  MACE_LOG_IF(!(condition), ::mace::LogLevel::kFatal) \
      << "check failed: " #condition
#endif

#endif  // MACE_CORE_BASE_LOGGING_H_

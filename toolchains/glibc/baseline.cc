// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the headers of a new GCC and glibc make us import, and boards with
// glibc 2.28 and GCC 8 (Debian 10, RHEL 8) do not have: defined here, so that
// libmace.so and libmace.a need nothing younger. They are hidden, and local to
// the one object that the library is: an application never sees them. Boards
// that have the real ones run these all the same.
//
// Names are those of the linker where a C++ definition is not possible: the
// standard library declares them as extern templates. `baseline_test.sh` finds
// out when this list is too short.

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <typeinfo>

// Neither Android nor another C++ library needs any of it.
#if defined(__GLIBC__) && defined(__GLIBCXX__) && !defined(__ANDROID__)

#define MACE_BASELINE extern "C" __attribute__((visibility("hidden")))

// glibc 2.32: whether the process has one thread. "No" is always safe.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}

// glibc 2.33: before, a static part of libc called a function for it.
#if defined(__x86_64__) || defined(__aarch64__)
MACE_BASELINE int fstat(int file, struct stat *result) noexcept {
  return static_cast<int>(syscall(SYS_fstat, file, result));
}
#elif defined(__arm__)
// The kernel fills the wide form, which glibc took from it as it is.
MACE_BASELINE int fstat(int file, struct stat *result) noexcept {
  struct stat64 wide;
  if (syscall(SYS_fstat64, file, &wide) != 0) return -1;
  *result = {};
  result->st_dev = wide.st_dev;
  result->st_ino = static_cast<ino_t>(wide.st_ino);
  result->st_mode = wide.st_mode;
  result->st_nlink = wide.st_nlink;
  result->st_uid = wide.st_uid;
  result->st_gid = wide.st_gid;
  result->st_rdev = wide.st_rdev;
  result->st_size = static_cast<off_t>(wide.st_size);
  result->st_blksize = wide.st_blksize;
  result->st_blocks = static_cast<blkcnt_t>(wide.st_blocks);
  result->st_atim = wide.st_atim;
  result->st_mtim = wide.st_mtim;
  result->st_ctim = wide.st_ctim;
  if (result->st_size == wide.st_size && result->st_ino == wide.st_ino)
    return 0;
  errno = EOVERFLOW;
  return -1;
}
#endif

namespace std {

// GLIBCXX 3.4.29 and 3.4.30.
// NOLINTNEXTLINE(bugprone-std-namespace-modification): older ones lack it.
__attribute__((visibility("hidden"))) void __throw_bad_array_new_length() {
  throw bad_array_new_length();
}

}  // namespace std

// std::condition_variable::wait; std::mutex is a pthread_mutex_t.
MACE_BASELINE void _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable *self, std::unique_lock<std::mutex> *lock) {
  pthread_cond_wait(self->native_handle(), lock->mutex()->native_handle());
}

// GLIBCXX 3.4.26: std::_Sp_make_shared_tag::_S_eq, asked without RTTI by code
// that was compiled with it. No such type comes from elsewhere.
MACE_BASELINE bool _ZNSt19_Sp_make_shared_tag5_S_eqERKSt9type_info(
    const std::type_info *) {
  return false;
}

// GLIBCXX 3.4.26: default constructors of string streams, and a move.
MACE_BASELINE void
_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self) {
  new (self) std::ostringstream(std::ios_base::out);
}
MACE_BASELINE void
_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self) {
  new (self) std::stringstream(std::ios_base::in | std::ios_base::out);
}
MACE_BASELINE void _ZNSt13runtime_errorC2EOS_(void *self,
                                              const std::runtime_error *other) {
  new (self) std::runtime_error(*other);
}

#endif  // defined(__GLIBC__) && defined(__GLIBCXX__)

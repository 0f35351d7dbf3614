// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/process_transport.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/runtimes/hexagon/hexagon_settings.h"
#include "mace/runtimes/hexagon/watched_calls.h"

namespace mace {
namespace {

using hexagon::FileRange;
using hexagon::kMailboxBytes;
using hexagon::Mailbox;
using hexagon::ProgramReply;
using Clock = std::chrono::steady_clock;

constexpr char kEmulator[] = "MACE_HEXAGON_EMULATOR";
// How long a call looks for its answer before it sleeps: to wake a processor
// that idles takes as long as a small program.
constexpr std::chrono::microseconds kAwake(50);
// How soon the end of the emulator is noticed.
constexpr int64_t kPollNanos = 10 * 1000 * 1000;
// Of the address space: the emulated one has 4 GB.
constexpr size_t kFileBytes =
    sizeof(void *) > 4 ? size_t{1} << 30 : size_t{256} << 20;
// What the child has the file as.
constexpr int kFileInChild = 3;
constexpr char kPathInChild[] = "/proc/self/fd/3";
constexpr int kNotStarted = 127;

class FileMemory final : public HexagonMemory {
 public:
  FileMemory(std::shared_ptr<SharedFile> file, uint8_t *data, size_t bytes)
      : HexagonMemory(data, bytes), file_(std::move(file)) {}
  ~FileMemory() override { file_->Free(data(), bytes()); }
  FileMemory(const FileMemory &) = delete;
  FileMemory &operator=(const FileMemory &) = delete;
  const SharedFile *file() const { return file_.get(); }

 private:
  std::shared_ptr<SharedFile> file_;
};

// Returns at once if *word is not `value`; else when it is woken, or soon.
void WaitForChange(const uint32_t *word, uint32_t value) {
  const timespec soon = {0, static_cast<long>(kPollNanos)};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &soon, nullptr, 0);
}

void Wake(const uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// The path of a program; empty if there is none.
std::string FindProgram(const std::string &name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? name : std::string();
  }
  const char *set = std::getenv("PATH");
  const std::string folders = set == nullptr ? "/usr/bin:/bin" : set;
  size_t begin = 0;
  while (begin <= folders.size()) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string path = folders.substr(begin, end - begin) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
    begin = end + 1;
  }
  return std::string();
}

// Between fork and exec: only system calls.
[[noreturn]] void BecomeEmulator(int file, char *const *arguments) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  constexpr rlim_t kMostFiles = 65536;
  const auto end = static_cast<int>(std::min(limit.rlim_cur, kMostFiles));
  // A copy of the file stays open; all files of the application are closed. By
  // the system call: Android's close() guards files that objects own.
  if (file == kFileInChild) {
    fcntl(file, F_SETFD, 0);
  } else {
    dup2(file, kFileInChild);
  }
  for (int i = kFileInChild + 1; i < end; ++i) syscall(SYS_close, i);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    if (nothing > STDERR_FILENO) syscall(SYS_close, nothing);
  }
  execv(arguments[0], arguments);
  _exit(kNotStarted);
}

std::string StatusText(int status) {
  if (WIFSIGNALED(status)) {
    return MakeString("was ended by signal ", WTERMSIG(status));
  }
  return MakeString("ended with status ", WEXITSTATUS(status));
}

}  // namespace

Result<std::shared_ptr<HexagonTransport>> ProcessTransport::Open() {
  std::shared_ptr<ProcessTransport> transport(new ProcessTransport());
  const char *set = std::getenv(kEmulator);
  const std::string name = set == nullptr || *set == 0 ? "qemu-hexagon" : set;
  transport->emulator_ = FindProgram(name);
  if (transport->emulator_.empty()) {
    return RuntimeError("there is no program '", name,
                        "' to emulate a DSP; install qemu-user, or set ",
                        kEmulator, " to the path of qemu-hexagon");
  }
  MACE_ASSIGN_OR_RETURN(transport->skel_, FindSkel("mace_hexagon_skel"));
  MACE_ASSIGN_OR_RETURN(transport->millis_, ReadHexagonTimeout());
  MACE_ASSIGN_OR_RETURN(transport->settings_, HexagonSettings::Read());
  MACE_ASSIGN_OR_RETURN(transport->file_, SharedFile::Create(kFileBytes));
  if (transport->file_->Allocate(kMailboxBytes) == nullptr) {
    return OutOfResources("no memory for the DSP");
  }
  MACE_RETURN_IF_ERROR(transport->Start());
  transport->fast_bytes_ = transport->mailbox()->fast_bytes;
  return std::shared_ptr<HexagonTransport>(std::move(transport));
}

ProcessTransport::~ProcessTransport() { Stop(); }

// It begins the file.
Mailbox *ProcessTransport::mailbox() const {
  return reinterpret_cast<Mailbox *>(file_->data());
}

Result<std::unique_ptr<HexagonMemory>> ProcessTransport::Allocate(
    size_t bytes) {
  uint8_t *data = file_->Allocate(std::max<size_t>(bytes, 1));
  if (data == nullptr) {
    return OutOfResources("no memory for the DSP: ", bytes, " bytes of the ",
                          file_->bytes(), " that an emulated one has");
  }
  return std::unique_ptr<HexagonMemory>(
      std::make_unique<FileMemory>(file_, data, std::max<size_t>(bytes, 1)));
}

bool ProcessTransport::Locate(const HexagonRange &range,
                              FileRange *found) const {
  *found = {0, 0};
  if (range.memory == nullptr) return true;
  const auto *memory = static_cast<const FileMemory *>(range.memory);
  if (memory->file() != file_.get() || range.offset > memory->bytes() ||
      range.bytes > memory->bytes() - range.offset) {
    return false;
  }
  found->offset = static_cast<uint32_t>(memory->data() - file_->data()) +
                  static_cast<uint32_t>(range.offset);
  found->bytes = static_cast<uint32_t>(range.bytes);
  return true;
}

std::string ProcessTransport::Ended() {
  if (process_ < 0) return "does not run";
  int status = 0;
  pid_t found = 0;
  do {
    found = waitpid(process_, &status, WNOHANG);
  } while (found < 0 && errno == EINTR);
  if (found == 0) return std::string();
  process_ = -1;
  // Somebody else may have asked how it ended.
  return found < 0 ? "ended" : StatusText(status);
}

void ProcessTransport::Stop() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  pid_t found = 0;
  do {
    found = waitpid(process_, nullptr, 0);
  } while (found < 0 && errno == EINTR);
  process_ = -1;
}

MaceStatus ProcessTransport::WaitFor(uint32_t reply, const char *what) {
  const uint32_t *word = &mailbox()->reply;
  const auto begin = Clock::now();
  const auto deadline = begin + std::chrono::milliseconds(millis_);
  do {
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == reply) return MaceStatus();
    sched_yield();  // to the emulator, where there is only one processor
  } while (Clock::now() < begin + kAwake);
  while (true) {
    const uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (now == reply) return MaceStatus();
    WaitForChange(word, now);
    if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == reply) return MaceStatus();
    const std::string end = Ended();
    if (!end.empty()) {
      return RuntimeError(Name(), " ", end, " ", what, " '", skel_, "'");
    }
    if (Clock::now() < deadline) continue;
    Stop();
    return RuntimeError(Name(), " took more than ", millis_ / 1000, " s ", what,
                        " '", skel_, "' and was ended; ", kHexagonTimeout,
                        " sets a longer time in seconds");
  }
}

MaceStatus ProcessTransport::Start() {
  Mailbox *box = mailbox();
  *box = Mailbox();
  box->magic = hexagon::kProgramMagic;
  box->version = hexagon::kProgramVersion;
  box->file_bytes = static_cast<uint32_t>(file_->bytes());
  box->threads = settings_.threads;
  box->fast_bytes = settings_.fast_bytes;
  std::string path = kPathInChild;
  char *const arguments[] = {emulator_.data(), skel_.data(), path.data(),
                             nullptr};
  const pid_t child = fork();
  if (child == 0) BecomeEmulator(file_->descriptor(), arguments);
  if (child < 0) {
    return OutOfResources("no process for ", Name(), ": error ", errno);
  }
  process_ = child;
  MACE_RETURN_IF_ERROR(WaitFor(1, "when it started"));
  if (box->skel_version != hexagon::kProgramVersion) {
    const uint32_t version = box->skel_version;
    Stop();
    return RuntimeError("'", skel_,
                        "' is of another release: it runs programs "
                        "of version ",
                        version, ", not ", hexagon::kProgramVersion,
                        "; take the one that was built with this library");
  }
  VLOG(1) << Name() << " runs '" << skel_ << "' as process " << process_;
  return MaceStatus();
}

Result<ProgramReply> ProcessTransport::Run(const HexagonCall &call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!Ended().empty()) MACE_RETURN_IF_ERROR(Start());
  Mailbox *box = mailbox();
  bool found = Locate(call.program, &box->program);
  for (uint32_t i = 0; i < hexagon::kAreas; ++i) {
    found = found && Locate(call.areas[i], &box->areas[i]);
  }
  if (!found) return RuntimeError("the memory is not that of this DSP");
  const uint32_t number = box->request + 1;
  __atomic_store_n(&box->request, number, __ATOMIC_RELEASE);
  Wake(&box->request);
  MACE_RETURN_IF_ERROR(WaitFor(number + 1, "running"));
  return box->result;
}

namespace {

constexpr size_t kPage = 4096;  // of the DSP; the host's may be larger
constexpr unsigned kCloseOnExec = 1;

size_t WholePages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

MaceStatus Failure(const char *what) {
  return RuntimeError("no memory for the DSP: ", what, ": ",
                      std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<SharedFile>> SharedFile::Create(size_t bytes) {
  std::shared_ptr<SharedFile> file(new SharedFile());
  // By the system call: older C libraries have no function for it.
  file->descriptor_ =
      static_cast<int>(syscall(SYS_memfd_create, "mace_hexagon", kCloseOnExec));
  if (file->descriptor_ < 0) return Failure("memfd_create");
  if (ftruncate(file->descriptor_, static_cast<off_t>(bytes)) != 0) {
    return Failure("ftruncate");
  }
  void *data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                    file->descriptor_, 0);
  if (data == MAP_FAILED) return Failure("mmap");
  file->data_ = static_cast<uint8_t *>(data);
  file->bytes_ = bytes;
  file->gaps_.push_back({0, bytes});
  return file;
}

SharedFile::~SharedFile() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

uint8_t *SharedFile::Allocate(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const size_t size = WholePages(bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->bytes < size) continue;
    const size_t offset = gap->offset;
    gap->offset += size;
    gap->bytes -= size;
    if (gap->bytes == 0) gaps_.erase(gap);
    return data_ + offset;
  }
  return nullptr;
}

void SharedFile::Free(uint8_t *data, size_t bytes) {
  const auto offset = static_cast<size_t>(data - data_);
  const size_t size = WholePages(bytes);
  // Also makes them 0 again.
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(offset), static_cast<off_t>(size)) != 0) {
    std::memset(data, 0, size);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto next =
      std::find_if(gaps_.begin(), gaps_.end(),
                   [offset](const Gap &gap) { return gap.offset > offset; });
  const auto made = gaps_.insert(next, {offset, size});
  const auto after = made + 1;
  if (after != gaps_.end() && made->offset + made->bytes == after->offset) {
    made->bytes += after->bytes;
    gaps_.erase(after);
  }
  if (made != gaps_.begin()) {
    const auto before = made - 1;
    if (before->offset + before->bytes == made->offset) {
      before->bytes += made->bytes;
      gaps_.erase(made);
    }
  }
}

}  // namespace mace

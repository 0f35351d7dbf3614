// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/testing/fastrpc_stand_in.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include "mace/kernels/hexagon/fastrpc/interface.h"

// The part of FastRPC's declarations that this library has, by its
// documentation. They are not those of fastrpc_api.h, which are tested.
extern "C" {
typedef struct {
  void *pv;
  size_t nLen;
} remote_buf;
typedef union {
  remote_buf buf;
  uint32_t h;
  uint64_t h64;
} remote_arg;
struct remote_dsp_capability {
  uint32_t domain;
  uint32_t attribute_ID;
  uint32_t capability;
};
struct remote_rpc_control_unsigned_module {
  int domain;
  int enable;
};
}

namespace {

using mace::hexagon::EmulatedMailbox;
using mace::hexagon::kEmulatedMailboxBytes;

constexpr size_t kFileBytes = size_t{64} << 20;
// Where buffers go that are not memory of this library.
constexpr size_t kScratchBytes = size_t{1} << 20;
constexpr size_t kPage = 4096;
constexpr int kBadParameter = 0x0e;
constexpr int kEnded = 39;
constexpr int kUnsupported = 0x14;
constexpr uint64_t kHandle = 0x1234567890;

FastRpcStandIn state;
int file = -1;
uint8_t *data = nullptr;
size_t used = kEmulatedMailboxBytes + kScratchBytes;
std::map<uint8_t *, size_t> allocations;
pid_t process = -1;
uint64_t dsp_handle = 0;

bool MakeFile() {
  if (data != nullptr) return true;
  file = static_cast<int>(syscall(SYS_memfd_create, "fastrpc", 0));
  if (file < 0 || ftruncate(file, kFileBytes) != 0) return false;
  void *mapped =
      mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return false;
  data = static_cast<uint8_t *>(mapped);
  state.mailbox = reinterpret_cast<EmulatedMailbox *>(data);
  state.mailbox->file_bytes = kFileBytes;
  return true;
}

bool IsAlive() {
  if (process < 0) return false;
  if (waitpid(process, nullptr, WNOHANG) == 0) return true;
  process = -1;
  return false;
}

// Whether the reply of that number came.
bool WaitFor(uint32_t number) {
  uint32_t *reply = &state.mailbox->reply;
  while (__atomic_load_n(reply, __ATOMIC_ACQUIRE) != number) {
    if (!IsAlive()) return false;
    const timespec soon = {0, 1000 * 1000};
    syscall(SYS_futex, reply, FUTEX_WAIT, number - 1, &soon, nullptr, 0);
  }
  return true;
}

bool StartProcess() {
  if (!MakeFile()) return false;
  state.mailbox->request = state.mailbox->reply = 0;
  process = fork();
  if (process == 0) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    execlp("qemu-hexagon", "qemu-hexagon", getenv("MACE_TEST_SKEL"), path,
           static_cast<char *>(nullptr));
    _exit(127);
  }
  return process > 0 && WaitFor(1);
}

void EndProcess() {
  if (process < 0) return;
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  process = -1;
}

// A call to the DSP's function; buffers are copied unless they are shared.
int CallDsp(uint64_t handle, uint32_t sc, remote_arg *pra) {
  EmulatedMailbox *box = state.mailbox;
  const uint32_t inputs = (sc >> 16) & 0xff;
  const uint32_t buffers = inputs + ((sc >> 8) & 0xff);
  size_t scratch = kEmulatedMailboxBytes;
  for (uint32_t i = 0; i < buffers; ++i) {
    auto *address = static_cast<uint8_t *>(pra[i].buf.pv);
    const size_t bytes = pra[i].buf.nLen;
    if (bytes != 0 && address == nullptr) return kBadParameter;
    const bool is_shared = address >= data && address < data + kFileBytes;
    box->arguments[i] = {
        static_cast<uint32_t>(is_shared ? address - data : scratch),
        static_cast<uint32_t>(bytes)};
    if (is_shared || bytes == 0) continue;
    ++state.copied_buffers;
    if (i < inputs) memcpy(data + scratch, address, bytes);
    scratch += (bytes + 127) / 128 * 128;
    if (scratch > kEmulatedMailboxBytes + kScratchBytes) return kBadParameter;
  }
  box->call = sc;
  box->handle = handle;
  const uint32_t number = box->request + 1;
  __atomic_store_n(&box->request, number, __ATOMIC_RELEASE);
  syscall(SYS_futex, &box->request, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  if (!WaitFor(number + 1)) return kEnded;
  for (uint32_t i = inputs; i < buffers; ++i) {
    auto *address = static_cast<uint8_t *>(pra[i].buf.pv);
    uint8_t *there = data + box->arguments[i].offset;
    if (pra[i].buf.nLen != 0 && address != there) {
      memcpy(address, there, pra[i].buf.nLen);
    }
  }
  for (uint32_t i = buffers; i < buffers + (sc & 0xff); ++i) {
    pra[i].h64 =
        uint64_t{box->arguments[i].bytes} << 32 | box->arguments[i].offset;
  }
  return box->result;
}

// A call that the DSP does not answer.
int Hang() {
  const timespec soon = {0, 1000 * 1000};
  while (!state.let_go) {
    nanosleep(&soon, nullptr);
  }
  state.let_go = false;
  return kEnded;
}

// Programs, which cannot reach the state, say by a variable which call fails.
void ReadEnvironment() {
  const char *failing = getenv("MACE_TEST_FAILING_CALL");
  if (failing != nullptr && state.failing_call == 0) {
    state.failing_call = atoi(failing);
    state.call_error = 104;
  }
  const char *hanging = getenv("MACE_TEST_HANGING_CALL");
  if (hanging != nullptr && state.hanging_call == 0) {
    state.hanging_call = atoi(hanging);
  }
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT FastRpcStandIn *fastrpc_stand_in() { return &state; }

EXPORT void *rpcmem_alloc(int heapid, uint32_t flags, int size) {
  if (heapid != 25 || flags != 1 || size <= 0) return nullptr;
  if (!state.has_memory || !MakeFile()) return nullptr;
  const size_t bytes = (static_cast<size_t>(size) + kPage - 1) / kPage * kPage;
  if (bytes > kFileBytes - used) return nullptr;
  uint8_t *found = data + used;
  used += bytes;
  // Memory that somebody else has used.
  memset(found, 0xa5, bytes);
  allocations[found] = bytes;
  ++state.allocated;
  return found;
}

EXPORT void rpcmem_free(void *po) {
  if (allocations.erase(static_cast<uint8_t *>(po)) != 1) abort();
  if (allocations.empty()) used = kEmulatedMailboxBytes + kScratchBytes;
  // The last, as a test waits for it.
  ++state.freed;
}

EXPORT int rpcmem_to_fd(void *po) {
  return allocations.count(static_cast<uint8_t *>(po)) == 1 ? file : -1;
}

EXPORT int remote_handle_control(uint32_t req, void *data_, uint32_t bytes) {
  auto *asked = static_cast<remote_dsp_capability *>(data_);
  if (req != 2 || bytes != sizeof(*asked) || asked->domain != 3) {
    return kBadParameter;
  }
  switch (asked->attribute_ID) {
    case 1:
      asked->capability = state.unsigned_support;
      return 0;
    case 3:
      asked->capability = state.vectors;
      return 0;
    case 6:
      // The upper bits tell variants apart.
      asked->capability = 0x8000 | state.architecture;
      return 0;
    default:
      return kBadParameter;
  }
}

EXPORT int remote_session_control(uint32_t req, void *data_, uint32_t bytes) {
  const auto *wish =
      static_cast<const remote_rpc_control_unsigned_module *>(data_);
  if (req == 6) {
    if (bytes != sizeof(int) || *static_cast<int *>(data_) != 3) {
      return kBadParameter;
    }
    if (!state.can_kill) return kUnsupported;
    ++state.killed;
    EndProcess();
    state.let_go = true;
    return 0;
  }
  if (req != 2 || bytes != sizeof(*wish) || wish->domain != 3) {
    return kBadParameter;
  }
  if (state.unsigned_error != 0) return state.unsigned_error;
  state.is_unsigned = wish->enable == 1;
  return 0;
}

EXPORT int remote_handle64_open(const char *name, uint64_t *ph) {
  snprintf(state.uri, sizeof(state.uri), "%s", name);
  if (state.hangs_at_start) return Hang();
  if (state.open_error != 0) return state.open_error;
  // test-sig not found.
  if (!state.is_unsigned && !state.has_signature) {
    return static_cast<int>(0x80000481);
  }
  if (!IsAlive() && !StartProcess()) return 0x72;
  auto length = static_cast<uint32_t>(strlen(name) + 1);
  remote_arg arguments[3] = {};
  arguments[0].buf = {&length, sizeof(length)};
  arguments[1].buf = {const_cast<char *>(name), length};
  const int copied = state.copied_buffers;
  const int failed = CallDsp(0, 2 << 16 | 1, arguments);
  state.copied_buffers = copied;
  if (failed != 0) return failed;
  dsp_handle = arguments[2].h64;
  *ph = kHandle;
  ++state.opened;
  return 0;
}

EXPORT int remote_handle64_invoke(uint64_t h, uint32_t sc, remote_arg *pra) {
  if (h != kHandle) return kBadParameter;
  if (sc >> 24 == mace::hexagon::kDescribe) {
    // Neither a program nor a wish for power.
    const int copied = state.copied_buffers;
    const int result = IsAlive() ? CallDsp(dsp_handle, sc, pra) : kEnded;
    state.copied_buffers = copied;
    return result;
  }
  ReadEnvironment();
  if (++state.calls == state.failing_call) {
    EndProcess();
    return state.call_error;
  }
  if (state.calls == state.hanging_call) return Hang();
  if (sc >> 24 == mace::hexagon::kRun) {
    state.constants = static_cast<uint8_t *>(pra[2].buf.pv);
    state.constant_bytes = pra[2].buf.nLen;
  }
  return IsAlive() ? CallDsp(dsp_handle, sc, pra) : kEnded;
}

EXPORT int remote_handle64_close(uint64_t h) {
  if (h != kHandle) return kBadParameter;
  ++state.closed;
  if (IsAlive()) CallDsp(dsp_handle, 1U << 24, nullptr);
  EndProcess();
  return 0;
}

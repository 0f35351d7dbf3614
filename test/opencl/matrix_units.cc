// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/matrix_units.h"

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "test/opencl/matrix_units_builtins.h"

namespace mace {
namespace test_opencl {
namespace {

constexpr char kStubs[] =
    "void mace_mma_half(float4 *d, uint a0, uint a1, uint a2, uint a3, "
    "uint b0, uint b1) {}\n"
    "void mace_mma_tf32(float4 *d, uint a0, uint a1, uint a2, uint a3, "
    "uint b0, uint b1) {}\n";
constexpr char kDeclarations[] =
    "void mace_mma_half(float4 *d, uint a0, uint a1, uint a2, uint a3, "
    "uint b0, uint b1);\n"
    "void mace_mma_tf32(float4 *d, uint a0, uint a1, uint a2, uint a3, "
    "uint b0, uint b1);\n";
// In place of those of mma.clh.
constexpr char kMacros[] =
    "#ifdef MMA_FLOAT\n"
    "#define MMA_STEP(d, a0, a1, a2, a3, b0, b1) "
    "mace_mma_tf32(&(d), a0, a1, a2, a3, b0, b1)\n"
    "#else\n"
    "#define MMA_STEP(d, a0, a1, a2, a3, b0, b1) "
    "mace_mma_half(&(d), a0, a1, a2, a3, b0, b1)\n"
    "#endif\n";

constexpr size_t kWarp = 32;
constexpr size_t kStackBytes = 128 << 10;

void Say(const std::string &problem) {
  std::fprintf(stderr, "test driver: matrix units: %s\n", problem.c_str());
}

// As in matrix_units_builtins.h.
struct ItemFunctions {
  size_t (*local_id)(unsigned dimension);
  size_t (*global_id)(unsigned dimension);
  void (*barrier)();
  void (*multiply)(int halves, float *sums, const unsigned *operands);
};

float FromHalf(uint32_t bits) {
  const auto short_bits = static_cast<uint16_t>(bits);
  _Float16 value;
  std::memcpy(&value, &short_bits, sizeof value);
  return static_cast<float>(value);
}
// The units leave out 13 bits of a float.
float FromTf32(uint32_t bits) {
  bits &= 0xffffe000u;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// One work item, which runs until it meets others.
struct Item {
  enum class Waits { kNothing, kMultiply, kBarrier, kDone };

  ucontext_t context;
  std::unique_ptr<char[]> stack;
  std::array<size_t, 3> local;
  Waits waits;
  int halves;
  float *sums;
  unsigned operands[6];
};

// mma.sync of m16n8k16 (half) or m16n8k8 (TF32), with g = lane / 4 and
// t = lane % 4, as the PTX manual says: a0 is row g, a1 row g + 8, a2 and a3
// the same rows further along; b0 and b1 are column g; sums are rows g and
// g + 8 of columns 2 * t and 2 * t + 1.
void Multiply(const std::unique_ptr<Item> *warp) {
  const bool halves = warp[0]->halves != 0;
  const size_t depth = halves ? 16 : 8;
  float a[16][16];
  float b[16][8];
  for (size_t lane = 0; lane < kWarp; ++lane) {
    const size_t g = lane / 4;
    const size_t t = lane % 4;
    const unsigned *operands = warp[lane]->operands;
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = g + (i % 2) * 8;
      const size_t half_depth = i / 2 * (depth / 2);
      if (halves) {
        a[row][half_depth + 2 * t] = FromHalf(operands[i]);
        a[row][half_depth + 2 * t + 1] = FromHalf(operands[i] >> 16);
      } else {
        a[row][half_depth + t] = FromTf32(operands[i]);
      }
    }
    for (size_t i = 0; i < 2; ++i) {
      const size_t half_depth = i * (depth / 2);
      if (halves) {
        b[half_depth + 2 * t][g] = FromHalf(operands[4 + i]);
        b[half_depth + 2 * t + 1][g] = FromHalf(operands[4 + i] >> 16);
      } else {
        b[half_depth + t][g] = FromTf32(operands[4 + i]);
      }
    }
  }
  for (size_t lane = 0; lane < kWarp; ++lane) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = lane / 4 + (i / 2) * 8;
      const size_t column = lane % 4 * 2 + i % 2;
      float sum = 0;
      for (size_t k = 0; k < depth; ++k) sum += a[row][k] * b[k][column];
      warp[lane]->sums[i] += sum;
    }
    warp[lane]->waits = Item::Waits::kNothing;
  }
}

using Run = void (*)(const void *const *arguments);

// The items of a work group take turns on one thread.
class Group {
 public:
  static Group &Get() {
    static Group group;
    return group;
  }

  std::mutex mutex;

  // False if items wait for others that never come.
  bool RunAll(Run run,
              const void *const *arguments,
              const std::array<size_t, 3> &first,
              const std::array<size_t, 3> &local) {
    run_ = run;
    arguments_ = arguments;
    first_ = first;
    const size_t count = local[0] * local[1] * local[2];
    while (items_.size() < count) {
      items_.emplace_back(new Item());
      items_.back()->stack.reset(new char[kStackBytes]);
    }
    for (size_t i = 0; i < count; ++i) {
      Item &item = *items_[i];
      item.local = {i % local[0], i / local[0] % local[1],
                    i / (local[0] * local[1])};
      item.waits = Item::Waits::kNothing;
      getcontext(&item.context);
      item.context.uc_stack.ss_sp = item.stack.get();
      item.context.uc_stack.ss_size = kStackBytes;
      item.context.uc_link = &main_;
      makecontext(&item.context, Begin, 0);
    }
    while (true) {
      bool ran = false;
      for (size_t begin = 0; begin < count; begin += kWarp) {
        ran |= RunWarp(begin, std::min(kWarp, count - begin));
      }
      if (ran) continue;
      if (All(0, count, Item::Waits::kDone)) return true;
      if (!All(0, count, Item::Waits::kBarrier)) return false;
      for (size_t i = 0; i < count; ++i) {
        items_[i]->waits = Item::Waits::kNothing;
      }
    }
  }

  Item *current() { return current_; }
  const std::array<size_t, 3> &first() const { return first_; }
  void Wait(Item::Waits for_what) {
    Item *item = current_;
    item->waits = for_what;
    swapcontext(&item->context, &main_);
  }

 private:
  static void Begin() {
    Group &group = Get();
    group.run_(group.arguments_);
    group.current_->waits = Item::Waits::kDone;
  }

  bool All(size_t begin, size_t count, Item::Waits what) const {
    for (size_t i = begin; i < begin + count; ++i) {
      if (items_[i]->waits != what) return false;
    }
    return true;
  }

  // Whether any item went on.
  bool RunWarp(size_t begin, size_t count) {
    bool ran = false;
    for (size_t i = begin; i < begin + count; ++i) {
      if (items_[i]->waits != Item::Waits::kNothing) continue;
      current_ = items_[i].get();
      swapcontext(&main_, &current_->context);
      ran = true;
    }
    if (count == kWarp && All(begin, count, Item::Waits::kMultiply)) {
      Multiply(&items_[begin]);
      ran = true;
    }
    return ran;
  }

  std::vector<std::unique_ptr<Item>> items_;
  ucontext_t main_;
  Item *current_ = nullptr;
  Run run_ = nullptr;
  const void *const *arguments_ = nullptr;
  std::array<size_t, 3> first_ = {};
};

constexpr ItemFunctions kItemFunctions = {
    [](unsigned i) -> size_t {
      return i < 3 ? Group::Get().current()->local[i] : 0;
    },
    [](unsigned i) -> size_t {
      Group &group = Group::Get();
      return i < 3 ? group.first()[i] + group.current()->local[i] : 0;
    },
    [] { Group::Get().Wait(Item::Waits::kBarrier); },
    [](int halves, float *sums, const unsigned *operands) {
      Group &group = Group::Get();
      Item *item = group.current();
      item->halves = halves;
      item->sums = sums;
      std::memcpy(item->operands, operands, sizeof item->operands);
      group.Wait(Item::Waits::kMultiply);
    },
};

std::string ArgumentText(cl_kernel kernel,
                         cl_uint index,
                         cl_kernel_arg_info what) {
  char text[256] = "";
  target().clGetKernelArgInfo(kernel, index, what, sizeof text, text, nullptr);
  return text;
}

// Calls the kernel with arguments of their types: "*(int4 *)arguments[3]".
std::string CallOf(cl_kernel kernel, const std::string &name, cl_uint count) {
  std::string call =
      "void mace_run(__private const void *__private const *arguments) {\n  " +
      name + "(";
  for (cl_uint i = 0; i < count; ++i) {
    const std::string type = ArgumentText(kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    cl_kernel_arg_address_qualifier address = 0;
    target().clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                sizeof address, &address, nullptr);
    std::string space;
    if (address == CL_KERNEL_ARG_ADDRESS_GLOBAL) space = "__global ";
    if (address == CL_KERNEL_ARG_ADDRESS_LOCAL) space = "__local ";
    if (address == CL_KERNEL_ARG_ADDRESS_CONSTANT) space = "__constant ";
    call += (i > 0 ? ", " : "") + std::string("*(") + space + type +
            " __private const *)arguments[" + std::to_string(i) + "]";
  }
  return call + ");\n}\n";
}

// Macros and -cl flags.
std::string CompilerFlags(const std::string &options) {
  std::string flags;
  for (size_t at = 0; at < options.size();) {
    const size_t blank = std::min(options.find(' ', at), options.size());
    std::string word = options.substr(at, blank - at);
    at = blank + 1;
    if (word == "-cl-kernel-arg-info" || word.empty()) continue;
    flags += " '" + word + "'";
  }
  return flags;
}

bool Write(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text;
  return file.good();
}

// A kernel for this computer's processor; null if it can't be compiled.
Run Compile(const std::string &source,
            const std::string &options,
            const std::string &call) {
  char folder[] = "/tmp/mace_matrix_units_XXXXXX";
  if (mkdtemp(folder) == nullptr) return nullptr;
  const std::string path = folder;
  const std::string object = path + "/kernel.so";
  const std::string clang = "clang-19 -fPIC -O1 -march=native -w ";
  // Flags of OpenCL are not for C++.
  const std::string command =
      clang + "-c -x cl" + CompilerFlags(options) + " -o " + path +
      "/kernel.o " + path + "/kernel.cl && " + clang + "-shared -o " + object +
      " " + path + "/builtins.cc " + path + "/kernel.o -lm";
  Run run = nullptr;
  if (Write(path + "/kernel.cl",
            kDeclarations + std::string(kMacros) + source + call) &&
      Write(path + "/builtins.cc", kMatrixUnitsBuiltins) &&
      // NOLINTNEXTLINE(bugprone-command-processor): names of this file alone.
      std::system(command.c_str()) == 0) {
    void *library = dlopen(object.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      Say(dlerror());
    } else {
      const auto set = reinterpret_cast<void (*)(const ItemFunctions *)>(
          dlsym(library, "mace_set_item_functions"));
      run = reinterpret_cast<Run>(dlsym(library, "mace_run"));
      if (set != nullptr) set(&kItemFunctions);
    }
  }
  for (const char *name :
       {"/kernel.cl", "/builtins.cc", "/kernel.o", "/kernel.so"}) {
    unlink((path + name).c_str());
  }
  rmdir(folder);
  return run;
}

Run Find(cl_kernel kernel, const Object &launched) {
  static std::map<std::string, Run> compiled;
  const std::string key =
      launched.name + launched.options + "\n" + *launched.source;
  const auto found = compiled.find(key);
  if (found != compiled.end()) return found->second;
  const Run run =
      Compile(*launched.source, launched.options,
              CallOf(kernel, launched.name,
                     static_cast<cl_uint>(launched.arguments.size())));
  if (run == nullptr) Say("kernel " + launched.name + " is not compiled");
  compiled[key] = run;
  return run;
}

// The arguments of a launch, with buffers mapped.
class Arguments {
 public:
  explicit Arguments(cl_command_queue queue) : queue_(queue) {}
  ~Arguments() {
    for (const auto &[memory, data] : mapped_) {
      target().clEnqueueUnmapMemObject(queue_, memory, data, 0, nullptr,
                                       nullptr);
    }
    target().clFinish(queue_);
  }

  cl_int Add(const KernelArgument &argument) {
    std::vector<unsigned char> value = argument.value;
    if (argument.object != nullptr) {
      void *data = nullptr;
      const cl_int error =
          Map(static_cast<cl_mem>(const_cast<void *>(argument.object)), &data);
      if (error != CL_SUCCESS) return error;
      StoreAddress(data, &value);
    } else if (argument.local_bytes > 0) {
      local_.emplace_back(
          new std::vector<double>(argument.local_bytes / 8 + 1));
      void *data = local_.back()->data();
      StoreAddress(data, &value);
    }
    // Vectors are at multiples of their size.
    aligned_.emplace_back(new Aligned());
    std::memcpy(aligned_.back()->bytes, value.data(),
                std::min(value.size(), sizeof aligned_.back()->bytes));
    pointers_.push_back(aligned_.back()->bytes);
    return CL_SUCCESS;
  }
  const void *const *pointers() const { return pointers_.data(); }

 private:
  struct Aligned {
    alignas(64) unsigned char bytes[64] = {};
  };

  static void StoreAddress(void *data, std::vector<unsigned char> *value) {
    const auto address = reinterpret_cast<uintptr_t>(data);
    value->resize(sizeof address);
    std::memcpy(value->data(), &address, sizeof address);
  }

  cl_int Map(cl_mem memory, void **data) {
    const auto found = mapped_.find(memory);
    if (found != mapped_.end()) {
      *data = found->second;
      return CL_SUCCESS;
    }
    size_t bytes = 0;
    cl_int error = target().clGetMemObjectInfo(memory, CL_MEM_SIZE,
                                               sizeof bytes, &bytes, nullptr);
    if (error != CL_SUCCESS) return error;
    *data = target().clEnqueueMapBuffer(queue_, memory, CL_TRUE,
                                        CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                        nullptr, nullptr, &error);
    if (error == CL_SUCCESS) mapped_[memory] = *data;
    return error;
  }

  cl_command_queue queue_;
  std::map<cl_mem, void *> mapped_;
  std::vector<std::unique_ptr<std::vector<double>>> local_;
  std::vector<std::unique_ptr<Aligned>> aligned_;
  std::vector<const void *> pointers_;
};

}  // namespace

bool UsesMatrixUnits(const std::string &source) {
  return source.find("mma.sync") != std::string::npos;
}

std::string WithoutMatrixUnits(const std::string &source) {
  return std::string(kStubs) + kMacros + source;
}

bool RunsOnMatrixUnits(const void *handle) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(handle);
  return object != nullptr && object->source != nullptr;
}

cl_int RunOnMatrixUnits(cl_command_queue queue,
                        cl_kernel kernel,
                        const LaunchRange &range) {
  if (range.dims != 3 || range.local == nullptr) {
    Say("a launch needs three dimensions and a local size");
    return CL_INVALID_OPERATION;
  }
  const Object launched = CopyOf(kernel);
  Group &group = Group::Get();
  const std::lock_guard<std::mutex> lock(group.mutex);
  const Run run = Find(kernel, launched);
  if (run == nullptr) return CL_OUT_OF_RESOURCES;
  target().clFinish(queue);
  Arguments arguments(queue);
  for (const KernelArgument &argument : launched.arguments) {
    const cl_int error = arguments.Add(argument);
    if (error != CL_SUCCESS) return error;
  }
  const std::array<size_t, 3> local = {range.local[0], range.local[1],
                                       range.local[2]};
  std::array<size_t, 3> at = {};
  for (at[2] = 0; at[2] < range.global[2]; at[2] += local[2]) {
    for (at[1] = 0; at[1] < range.global[1]; at[1] += local[1]) {
      for (at[0] = 0; at[0] < range.global[0]; at[0] += local[0]) {
        std::array<size_t, 3> first = at;
        for (size_t i = 0; range.offset != nullptr && i < 3; ++i) {
          first[i] += range.offset[i];
        }
        if (!group.RunAll(run, arguments.pointers(), first, local)) {
          Say("items of kernel " + launched.name + " wait at different places");
          return CL_OUT_OF_RESOURCES;
        }
      }
    }
  }
  return CL_SUCCESS;
}

}  // namespace test_opencl
}  // namespace mace

// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Programs and kernels.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "test/opencl/call.h"
#include "test/opencl/matrix_units.h"

using mace::test_opencl::Call;
using mace::test_opencl::CurrentFamily;
using mace::test_opencl::EmulatesMatrixUnits;
using mace::test_opencl::Family;
using mace::test_opencl::Give;
using mace::test_opencl::KernelArgument;
using mace::test_opencl::Kind;
using mace::test_opencl::kMatrixUnitsOptions;
using mace::test_opencl::Object;
using mace::test_opencl::RunsOnMatrixUnits;
using mace::test_opencl::State;
using mace::test_opencl::target;
using mace::test_opencl::UsesMatrixUnits;
using mace::test_opencl::WithoutMatrixUnits;

namespace {

constexpr char kInjectedLog[] =
    "test driver: this build fails on request\n"
    "<source>:1:1: error: use of undeclared identifier 'test_driver'\n";

bool AllowsNonUniform(const char *options) {
  return options != nullptr &&
         (std::strstr(options, "-cl-std=CL2") != nullptr ||
          std::strstr(options, "-cl-std=CL3") != nullptr);
}

// For compilers that work in one thread only, as Oclgrind's.
std::unique_lock<std::mutex> CompilerLock() {
  static std::mutex mutex;
  static const bool one =
      std::getenv("MACE_TEST_OPENCL_BUILD_ONE_BY_ONE") != nullptr;
  return one ? std::unique_lock<std::mutex>(mutex)
             : std::unique_lock<std::mutex>();
}

// Records how a build went, and returns what the caller is to get.
cl_int EndBuild(Call *call,
                cl_program program,
                const char *options,
                cl_int injected_error,
                const std::function<cl_int()> &build) {
  std::unique_lock<std::mutex> compiler = CompilerLock();
  const cl_int result = call->forwards() ? build() : call->Refused();
  if (compiler.owns_lock()) compiler.unlock();
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  if (Object *object = state.account.Find(program)) {
    object->injected_build_error =
        call->injected() && result == injected_error ? result : CL_SUCCESS;
    object->non_uniform = AllowsNonUniform(options);
    object->options = options == nullptr ? "" : options;
  }
  lock.unlock();
  return call->forwards() ? call->Return(result) : result;
}

std::string Joined(cl_uint count, const char **strings, const size_t *lengths) {
  std::string all;
  for (cl_uint i = 0; i < count; ++i) {
    all += lengths == nullptr || lengths[i] == 0
               ? std::string(strings[i])
               : std::string(strings[i], lengths[i]);
  }
  return all;
}

// How many arguments a kernel has, its name, what its program allows.
void AddKernel(cl_kernel kernel, cl_program program, Call *call) {
  cl_uint count = 0;
  target().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count,
                           nullptr);
  char name[256] = "";
  target().clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name,
                           nullptr);
  call->Add(Kind::kKernel, kernel, program, [&](Object *object) {
    object->name = name;
    object->arguments.resize(count);
    const Object *source = State::Get().account.Find(program);
    object->non_uniform = source != nullptr && source->non_uniform;
    if (source != nullptr) {
      object->options = source->options;
      object->source = source->source;
    }
  });
}

}  // namespace

cl_program clCreateProgramWithSource(cl_context context,
                                     cl_uint count,
                                     const char **strings,
                                     const size_t *lengths,
                                     cl_int *errcode_ret) {
  Call call("clCreateProgramWithSource");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.RefusedHandle<cl_program>(errcode_ret);
  cl_int error;
  std::shared_ptr<const std::string> own;
  std::string stubs;
  const char *text = nullptr;
  if (EmulatesMatrixUnits() && strings != nullptr) {
    const std::string source = Joined(count, strings, lengths);
    if (UsesMatrixUnits(source)) {
      own = std::make_shared<const std::string>(source);
      stubs = WithoutMatrixUnits(source);
      text = stubs.c_str();
      count = 1;
      strings = &text;
      lengths = nullptr;
    }
  }
  cl_program made = target().clCreateProgramWithSource(context, count, strings,
                                                       lengths, &error);
  return call.Made(Kind::kProgram, made, context, error, errcode_ret,
                   [&](Object *object) { object->source = own; });
}

cl_program clCreateProgramWithBinary(cl_context context,
                                     cl_uint num_devices,
                                     const cl_device_id *device_list,
                                     const size_t *lengths,
                                     const unsigned char **binaries,
                                     cl_int *binary_status,
                                     cl_int *errcode_ret) {
  Call call("clCreateProgramWithBinary");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.RefusedHandle<cl_program>(errcode_ret);
  cl_int error;
  cl_program made = target().clCreateProgramWithBinary(
      context, num_devices, device_list, lengths, binaries, binary_status,
      &error);
  return call.Made(Kind::kProgram, made, context, error, errcode_ret);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context,
                                             cl_uint num_devices,
                                             const cl_device_id *device_list,
                                             const char *kernel_names,
                                             cl_int *errcode_ret) {
  Call call("clCreateProgramWithBuiltInKernels");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.RefusedHandle<cl_program>(errcode_ret);
  cl_int error;
  cl_program made = target().clCreateProgramWithBuiltInKernels(
      context, num_devices, device_list, kernel_names, &error);
  return call.Made(Kind::kProgram, made, context, error, errcode_ret);
}

cl_int clRetainProgram(cl_program program) {
  return Call("clRetainProgram")
      .Retain(Kind::kProgram, program, target().clRetainProgram);
}

cl_int clReleaseProgram(cl_program program) {
  return Call("clReleaseProgram")
      .Release(Kind::kProgram, program, target().clReleaseProgram);
}

cl_int clBuildProgram(cl_program program,
                      cl_uint num_devices,
                      const cl_device_id *device_list,
                      const char *options,
                      void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                      void *user_data) {
  Call call("clBuildProgram");
  call.Detail(options == nullptr ? "" : options);
  call.Uses(Kind::kProgram, program);
  std::string own = options == nullptr ? "" : options;
  if (RunsOnMatrixUnits(program)) own += kMatrixUnitsOptions;
  return EndBuild(&call, program, options, CL_BUILD_PROGRAM_FAILURE, [&] {
    return target().clBuildProgram(
        program, num_devices, device_list,
        options == nullptr && own.empty() ? nullptr : own.c_str(), pfn_notify,
        user_data);
  });
}

cl_int clCompileProgram(cl_program program,
                        cl_uint num_devices,
                        const cl_device_id *device_list,
                        const char *options,
                        cl_uint num_input_headers,
                        const cl_program *input_headers,
                        const char **header_include_names,
                        void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                        void *user_data) {
  Call call("clCompileProgram");
  call.Detail(options == nullptr ? "" : options);
  call.Uses(Kind::kProgram, program);
  for (cl_uint i = 0; input_headers != nullptr && i < num_input_headers; ++i)
    call.Uses(Kind::kProgram, input_headers[i]);
  return EndBuild(&call, program, options, CL_COMPILE_PROGRAM_FAILURE, [&] {
    return target().clCompileProgram(
        program, num_devices, device_list, options, num_input_headers,
        input_headers, header_include_names, pfn_notify, user_data);
  });
}

cl_program clLinkProgram(cl_context context,
                         cl_uint num_devices,
                         const cl_device_id *device_list,
                         const char *options,
                         cl_uint num_input_programs,
                         const cl_program *input_programs,
                         void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                         void *user_data,
                         cl_int *errcode_ret) {
  Call call("clLinkProgram");
  call.Detail(options == nullptr ? "" : options);
  call.Uses(Kind::kContext, context);
  for (cl_uint i = 0; input_programs != nullptr && i < num_input_programs; ++i)
    call.Uses(Kind::kProgram, input_programs[i]);
  if (!call.forwards()) return call.RefusedHandle<cl_program>(errcode_ret);
  cl_int error;
  cl_program made = target().clLinkProgram(
      context, num_devices, device_list, options, num_input_programs,
      input_programs, pfn_notify, user_data, &error);
  // With a build log there is a program even if linking failed.
  if (error != CL_SUCCESS && made != nullptr)
    call.Add(Kind::kProgram, made, context);
  return call.Made(
      Kind::kProgram, made, context, error, errcode_ret,
      [&](Object *object) { object->non_uniform = AllowsNonUniform(options); });
}

cl_int clGetProgramInfo(cl_program program,
                        cl_program_info param_name,
                        size_t param_value_size,
                        void *param_value,
                        size_t *param_value_size_ret) {
  Call call("clGetProgramInfo");
  call.Uses(Kind::kProgram, program);
  if (!call.forwards()) return call.Refused();
  if (param_name == CL_PROGRAM_BINARY_SIZES && RunsOnMatrixUnits(program)) {
    // What the target compiled is of no use without the source.
    const size_t none = 0;
    return call.Return(
        Give(&none, sizeof none,
             {param_value_size, param_value, param_value_size_ret}));
  }
  return call.Return(target().clGetProgramInfo(program, param_name,
                                               param_value_size, param_value,
                                               param_value_size_ret));
}

cl_int clGetProgramBuildInfo(cl_program program,
                             cl_device_id device,
                             cl_program_build_info param_name,
                             size_t param_value_size,
                             void *param_value,
                             size_t *param_value_size_ret) {
  Call call("clGetProgramBuildInfo");
  call.Uses(Kind::kProgram, program);
  if (!call.forwards()) return call.Refused();
  bool failed_on_request = false;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    const Object *object = state.account.Find(program);
    failed_on_request = object->injected_build_error != CL_SUCCESS;
  }
  if (failed_on_request && param_name == CL_PROGRAM_BUILD_LOG) {
    return call.Return(
        Give(std::string(kInjectedLog),
             {param_value_size, param_value, param_value_size_ret}));
  }
  if (failed_on_request && param_name == CL_PROGRAM_BUILD_STATUS) {
    const cl_build_status status = CL_BUILD_ERROR;
    return call.Return(
        Give(&status, sizeof status,
             {param_value_size, param_value, param_value_size_ret}));
  }
  return call.Return(target().clGetProgramBuildInfo(
      program, device, param_name, param_value_size, param_value,
      param_value_size_ret));
}

cl_kernel clCreateKernel(cl_program program,
                         const char *kernel_name,
                         cl_int *errcode_ret) {
  Call call("clCreateKernel");
  call.Detail(kernel_name == nullptr ? "" : kernel_name);
  call.Uses(Kind::kProgram, program);
  if (!call.forwards()) return call.RefusedHandle<cl_kernel>(errcode_ret);
  cl_int error;
  cl_kernel made = target().clCreateKernel(program, kernel_name, &error);
  if (error == CL_SUCCESS) AddKernel(made, program, &call);
  if (errcode_ret != nullptr) *errcode_ret = error;
  call.Return(error);
  return made;
}

cl_int clCreateKernelsInProgram(cl_program program,
                                cl_uint num_kernels,
                                cl_kernel *kernels,
                                cl_uint *num_kernels_ret) {
  Call call("clCreateKernelsInProgram");
  call.Uses(Kind::kProgram, program);
  if (!call.forwards()) return call.Refused();
  cl_uint count = 0;
  const cl_int result =
      target().clCreateKernelsInProgram(program, num_kernels, kernels, &count);
  if (num_kernels_ret != nullptr) *num_kernels_ret = count;
  for (cl_uint i = 0; result == CL_SUCCESS && kernels && i < count; ++i)
    AddKernel(kernels[i], program, &call);
  return call.Return(result);
}

cl_int clRetainKernel(cl_kernel kernel) {
  return Call("clRetainKernel")
      .Retain(Kind::kKernel, kernel, target().clRetainKernel);
}

cl_int clReleaseKernel(cl_kernel kernel) {
  return Call("clReleaseKernel")
      .Release(Kind::kKernel, kernel, target().clReleaseKernel);
}

cl_int clSetKernelArg(cl_kernel kernel,
                      cl_uint arg_index,
                      size_t arg_size,
                      const void *arg_value) {
  Call call("clSetKernelArg");
  call.Uses(Kind::kKernel, kernel);
  KernelArgument argument;
  argument.is_set = true;
  if (arg_value == nullptr) {
    argument.local_bytes = arg_size;
  } else {
    const auto *bytes = static_cast<const unsigned char *>(arg_value);
    argument.value.assign(bytes, bytes + arg_size);
  }
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  size_t count = arg_index + size_t{1};
  if (const Object *object = state.account.Find(kernel)) {
    call.Detail(object->name + " argument " + std::to_string(arg_index));
    count = object->arguments.size();
  }
  // What is as large as a handle and has the value of one is one.
  uintptr_t value = 0;
  if (arg_value != nullptr && arg_size == sizeof(cl_mem))
    std::memcpy(&value, arg_value, sizeof value);
  const auto *handle = reinterpret_cast<const void *>(value);
  const Object *passed = handle ? state.account.Find(handle) : nullptr;
  if (passed != nullptr &&
      (passed->kind == Kind::kBuffer || passed->kind == Kind::kImage ||
       passed->kind == Kind::kSampler)) {
    argument.object = handle;
    argument.object_call = passed->call;
  }
  const Kind kind = passed != nullptr ? passed->kind : Kind::kMemory;
  lock.unlock();
  if (argument.object != nullptr) call.Uses(kind, handle);
  if (arg_index >= count) {
    call.Refuse(CL_INVALID_ARG_INDEX, "argument " + std::to_string(arg_index) +
                                          "; there are " +
                                          std::to_string(count));
  }
  if (!call.forwards()) return call.Refused();
  const cl_int result =
      target().clSetKernelArg(kernel, arg_index, arg_size, arg_value);
  lock.lock();
  Object *object = state.account.Find(kernel);
  if (result == CL_SUCCESS) {
    object->arguments[arg_index] = argument;
    ++object->arguments_set;
  }
  lock.unlock();
  return call.Return(result);
}

cl_int clGetKernelInfo(cl_kernel kernel,
                       cl_kernel_info param_name,
                       size_t param_value_size,
                       void *param_value,
                       size_t *param_value_size_ret) {
  Call call("clGetKernelInfo");
  call.Uses(Kind::kKernel, kernel);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetKernelInfo(
      kernel, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clGetKernelArgInfo(cl_kernel kernel,
                          cl_uint arg_index,
                          cl_kernel_arg_info param_name,
                          size_t param_value_size,
                          void *param_value,
                          size_t *param_value_size_ret) {
  Call call("clGetKernelArgInfo");
  call.Uses(Kind::kKernel, kernel);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetKernelArgInfo(kernel, arg_index, param_name,
                                                 param_value_size, param_value,
                                                 param_value_size_ret));
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel,
                                cl_device_id device,
                                cl_kernel_work_group_info param_name,
                                size_t param_value_size,
                                void *param_value,
                                size_t *param_value_size_ret) {
  Call call("clGetKernelWorkGroupInfo");
  call.Uses(Kind::kKernel, kernel);
  if (!call.forwards()) return call.Refused();
  const Family *family = CurrentFamily();
  size_t value = 0;
  if (family != nullptr &&
      (param_name == CL_KERNEL_WORK_GROUP_SIZE ||
       param_name == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)) {
    const cl_int result = target().clGetKernelWorkGroupInfo(
        kernel, device, param_name, sizeof value, &value, nullptr);
    if (result != CL_SUCCESS) return call.Return(result);
    value = param_name == CL_KERNEL_WORK_GROUP_SIZE
                ? std::min(value, family->most_items_of_kernel())
                : family->work_group_multiple;
    return call.Return(
        Give(&value, sizeof value,
             {param_value_size, param_value, param_value_size_ret}));
  }
  return call.Return(target().clGetKernelWorkGroupInfo(
      kernel, device, param_name, param_value_size, param_value,
      param_value_size_ret));
}

// For the thread sanitizer: what gRPC's own threads touch is not judged, nor what those of
// dra/grpc_server.h do, to which gRPC hands it over. Debian's gRPC is not instrumented, so of a
// handover between one of its threads and ours only the two accesses are seen and not what orders
// them; and its threads run inline functions that the linker took from our instrumented objects, in
// stacks that name nothing of gRPC that tsan.supp could match.
#include <dlfcn.h>
#include <pthread.h>

#include <string_view>

extern "C" {
// Of the sanitizer's runtime (llvm-project, compiler-rt/lib/tsan/rtl/tsan_interface_ann.cpp).
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

// Until the thread ends.
struct Unjudged {
  Unjudged() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  Unjudged(const Unjudged&) = delete;
  Unjudged& operator=(const Unjudged&) = delete;
  ~Unjudged() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

}  // namespace

// In place of the C library's: gRPC names each thread that it makes, first thing, on that thread,
// and so does GrpcServer.
extern "C" int pthread_setname_np(pthread_t thread, const char* name) {
  Dl_info caller{};
  const bool is_grpcs =
      dladdr(__builtin_return_address(0), &caller) != 0 &&
      std::string_view(caller.dli_fname).find("/libgpr.so") != std::string_view::npos;
  if (is_grpcs || std::string_view(name) == "grpc-calls") {
    thread_local const Unjudged unjudged;
  }
  using SetName = int (*)(pthread_t, const char*);
  static const auto set_name = reinterpret_cast<SetName>(dlsym(RTLD_NEXT, "pthread_setname_np"));
  return set_name(thread, name);
}

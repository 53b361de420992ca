#include "http/client/io_thread.h"

#include <pthread.h>

#include <exception>

#include "compute_domain/base/log.h"

namespace cdom::http {

IoThread::IoThread()
    : thread_([this] {
        pthread_setname_np(pthread_self(), "http-streams");
        run();
      }) {}

// What fails here is memory or a thread that the system does not have: whose it was runs out of
// patience, and the others go on.
void IoThread::run() {
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::exception& e) {
      base::log_error(
          "a watch cannot go on; it is opened again when it has been silent for its idle timeout",
          {{"error", e.what()}});
    }
  }
}

IoThread::~IoThread() {
  io_.stop();
  thread_.join();
}

}  // namespace cdom::http

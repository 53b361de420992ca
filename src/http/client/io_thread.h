// IoThread: one thread, and what runs on it. Its end waits for what runs at the moment and drops
// the rest.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace cdom::http {

class IoThread {
 public:
  // Throws std::system_error where the system has no thread left.
  IoThread();
  // Not on its own thread.
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  boost::asio::io_context& io() { return io_; }

 private:
  void run();

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::thread thread_;
};

}  // namespace cdom::http

// PipeBuffer: the stream buffer through which cpprest writes a response body into a Pipe.
//
// cpprest hands it each chunk as it arrives (its own buffers hold chunks back or grow without
// bound) and stops reading from the socket while the task that _putn gives is open. Nothing here
// throws or blocks: it runs on cpprest's own threads, where either would stop every request.
#pragma once

#include <cpprest/astreambuf.h>

#include <memory>
#include <string_view>
#include <utility>

#include "http/pipe.h"

namespace cdom::http {

class PipeBuffer : public concurrency::streams::details::streambuf_state_manager<uint8_t> {
 public:
  explicit PipeBuffer(std::shared_ptr<Pipe> pipe)
      : streambuf_state_manager(std::ios_base::out), pipe_(std::move(pipe)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return no_position(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return no_position(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return no_position();
  }
  bool acquire(uint8_t*&, size_t&) override { return false; }
  void release(uint8_t*, size_t) override {}

 protected:
  pplx::task<size_t> _putn(const uint8_t* bytes, size_t count) override {
    if (pipe_->write({reinterpret_cast<const char*>(bytes), count})) {
      return pplx::task_from_result(count);
    }
    const pplx::task_completion_event<size_t> taken;
    pipe_->when_room([taken, count] { taken.set(count); });
    return pplx::create_task(taken);
  }
  pplx::task<int_type> _putc(uint8_t byte) override {
    return _putn(&byte, 1).then([byte](size_t) { return static_cast<int_type>(byte); });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}

  // The reading half, which this buffer does not have.
  pplx::task<int_type> _bumpc() override { return nothing(); }
  pplx::task<int_type> _getc() override { return nothing(); }
  pplx::task<int_type> _nextc() override { return nothing(); }
  pplx::task<int_type> _ungetc() override { return nothing(); }
  int_type _sbumpc() override { return traits::eof(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<size_t> _getn(uint8_t*, size_t) override { return pplx::task_from_result<size_t>(0); }
  size_t _scopy(uint8_t*, size_t) override { return 0; }

 private:
  static pos_type no_position() { return static_cast<pos_type>(traits::eof()); }
  static pplx::task<int_type> nothing() { return pplx::task_from_result(traits::eof()); }

  const std::shared_ptr<Pipe> pipe_;
};

}  // namespace cdom::http

// StreamExchange: a StreamConnection, for the reader of its answer.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "http/client/io_thread.h"
#include "http/client/response_source.h"
#include "http/client/stream/stream_connection.h"

namespace cdom::http {

class StreamExchange : public ResponseSource {
 public:
  // The parameters are those of StreamConnection; a request to stop `stop` is a cancel(), and the
  // pipe calls `on_news`.
  StreamExchange(std::shared_ptr<IoThread> thread, Destination to, Question question,
                 const std::stop_token& stop, std::function<void()> on_news);
  ~StreamExchange() override;
  StreamExchange(const StreamExchange&) = delete;
  StreamExchange& operator=(const StreamExchange&) = delete;

  Pipe& pipe() override { return *pipe_; }
  void cancel() override;

 private:
  struct Cancel {
    StreamExchange* exchange;
    void operator()() const { exchange->cancel(); }
  };

  const std::shared_ptr<IoThread> thread_;
  const std::shared_ptr<Pipe> pipe_;
  const std::shared_ptr<StreamConnection> connection_;
  std::stop_callback<Cancel> on_stop_;
};

}  // namespace cdom::http

#include "http/client/stream/stream_exchange.h"

#include <utility>

namespace cdom::http {

StreamExchange::StreamExchange(std::shared_ptr<IoThread> thread, Destination to, Question question,
                               const std::stop_token& stop, std::function<void()> on_news)
    : thread_(std::move(thread)),
      pipe_(std::make_shared<Pipe>(std::move(on_news))),
      connection_(std::make_shared<StreamConnection>(thread_->io(), std::move(to),
                                                     std::move(question), pipe_)),
      on_stop_(stop, Cancel{this}) {
  connection_->start();
}

StreamExchange::~StreamExchange() { cancel(); }

void StreamExchange::cancel() {
  pipe_->cancel();
  connection_->close();
}

}  // namespace cdom::http

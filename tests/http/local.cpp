#include "http/local.h"

#include <gtest/gtest.h>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

const bool initialized = [] {
  initialize_process();
  return true;
}();

}  // namespace

std::unique_ptr<Server> serve(Route route, ServerConfig config) {
  auto server = make_server(std::move(config), std::move(route));
  if (!server) {
    ADD_FAILURE() << base::to_string(server.error());
    return nullptr;
  }
  return std::move(*server);
}

ClientConfig config_for(const std::string& base_url) {
  ClientConfig config;
  config.base_url = base_url;
  config.user_agent = "cdom-test";
  config.request_timeout = kPatience;
  config.stream_idle_timeout = kPatience;
  return config;
}

std::unique_ptr<Client> connect(ClientConfig config) {
  static const base::SystemClock clock;
  return make_client(std::move(config), clock);
}

std::unique_ptr<Client> connect_to(const Server& server) {
  return connect(config_for("http://" + server.address()));
}

Route streaming(std::function<void(std::shared_ptr<StreamWriter>)> start) {
  return [start = std::move(start)](const Request&, const Peer&) -> Reply {
    return StreamReply{Response{200, {{"Content-Type", "application/json"}}, {}}, start};
  };
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string next_of(Stream& stream) {
  auto read = stream.next(kPatience);
  if (!read) return base::to_string(read.error());
  switch (read->what) {
    case StreamRead::What::Line:
      return std::string(read->line);
    case StreamRead::What::End:
      return "END";
    case StreamRead::What::Nothing:
      break;
  }
  return "NOTHING";
}

}  // namespace cdom::http

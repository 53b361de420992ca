// ApiClient: requests to an ApiServer in the words of a test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compute_domain/sandbox/api_server.h"

namespace cdom::sandbox {

using json = nlohmann::json;

struct Answer {
  int status = 0;
  json body;
  http::Headers headers;
};

class ApiClient {
 public:
  explicit ApiClient(ApiServer& server, User user = admin_user())
      : server_(server), user_(std::move(user)) {}

  // What the Accept header asks for.
  Answer get_as(const std::string& accept, const std::string& target) {
    const http::Response response =
        server_.handle({.target = target, .headers = {{"Accept", accept}}}, user_);
    return {.status = response.status,
            .body = json::parse(response.body, nullptr, false),
            .headers = response.headers};
  }
  Answer send(const std::string& method, const std::string& target, const json& body = {},
              const std::string& type = "application/json") {
    http::Request request{.method = method, .target = target};
    request.headers["User-Agent"] = "test/1.0";
    if (!body.is_null()) {
      request.headers["Content-Type"] = type;
      request.body = body.dump();
    }
    const http::Response response = server_.handle(request, user_);
    return {.status = response.status,
            .body = json::parse(response.body, nullptr, false),
            .headers = response.headers};
  }
  Answer get(const std::string& target) { return send("GET", target); }
  Answer post(const std::string& target, const json& body) { return send("POST", target, body); }
  Answer put(const std::string& target, const json& body) { return send("PUT", target, body); }
  Answer merge(const std::string& target, const json& patch) {
    return send("PATCH", target, patch, "application/merge-patch+json");
  }
  Answer remove(const std::string& target, const json& options = {}) {
    return send("DELETE", target, options);
  }

  std::unique_ptr<http::Stream> watch(const std::string& target) {
    http::Opened opened = server_.open({.target = target}, user_);
    EXPECT_EQ(opened.response.status, 200) << opened.response.body;
    return std::move(opened.stream);
  }

 private:
  ApiServer& server_;
  User user_;
};

// The events that have come in: "ADDED a", "DELETED b", "BOOKMARK", "ERROR 410", "END".
inline std::vector<std::string> events_of(http::Stream& stream) {
  std::vector<std::string> out;
  while (true) {
    const auto read = stream.next(base::Duration::zero());
    if (!read) {
      out.push_back("BROKEN");
      return out;
    }
    if (read->what == http::StreamRead::What::Nothing) return out;
    if (read->what == http::StreamRead::What::End) {
      out.push_back("END");
      return out;
    }
    const json event = json::parse(read->line);
    std::string text = event["type"];
    if (text == "ERROR") {
      text += " " + event["object"]["code"].dump();
    } else if (text != "BOOKMARK") {
      text += " " + event["object"]["metadata"]["name"].get<std::string>();
    }
    out.push_back(text);
  }
}

// A server with a namespace `default`, and the means to speak to it.
class ApiServerTest : public ::testing::Test {
 protected:
  ApiServerTest() {
    EXPECT_EQ(api.post("/api/v1/namespaces", {{"metadata", {{"name", "default"}}}}).status, 201);
  }

  static constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
  static json config_map(const std::string& name, const json& data = {{"a", "1"}}) {
    return {{"metadata", {{"name", name}}}, {"data", data}};
  }

  base::ManualClock clock;
  ApiServer server{clock};
  ApiClient api{server};
};

}  // namespace cdom::sandbox

#include <gtest/gtest.h>

#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

TEST(ChangeListeners, AreAllToldUntilTheyGo) {
  base::SystemClock clock;
  ApiServer server(clock);
  int first = 0;
  int second = 0;
  const auto listening = server.on_change([&] { ++first; });
  auto leaving = server.on_change([&] { ++second; });
  ApiClient api(server);
  api.post("/api/v1/namespaces", {{"metadata", {{"name", "a"}}}});
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  leaving.reset();
  api.post("/api/v1/namespaces", {{"metadata", {{"name", "b"}}}});
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace cdom::sandbox

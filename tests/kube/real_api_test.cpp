// The client, the informer and the recorder against a real API server.
//
// Its address comes from the environment (KUBECONFIG), with the rights of an administrator. Every
// object has a name of its own in namespace default and is gone afterwards, but for the CRD of
// ComputeDomain, which stays where it was missing. Every wait has a bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/api/codec.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/events.h"
#include "compute_domain/kube/informer.h"
#include "compute_domain/kube/kubeconfig.h"
#include "source_tree/source_tree.h"

namespace cdom::kube {
namespace {

using namespace std::chrono_literals;
using api::ConfigMap;
using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kBound = 60s;

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

// An http::Client that asks for a watch from a version that no server remembers, once.
class ForgetfulClient : public http::Client {
 public:
  explicit ForgetfulClient(http::Client& inner) : inner_(inner) {}
  base::Result<http::Response> send(const http::Request& r) override { return inner_.send(r); }
  base::Result<http::Opened> open(const http::Request& request) override {
    http::Request changed = request;
    if (!std::exchange(forgot_, true)) {
      const auto at = changed.target.find("resourceVersion=");
      const auto end = std::min(changed.target.find('&', at), changed.target.size());
      changed.target.replace(at, end - at, "resourceVersion=1");
    }
    return inner_.open(changed);
  }
  void shut_down() override { inner_.shut_down(); }

 private:
  http::Client& inner_;
  bool forgot_ = false;
};

struct RealApi : testing::Test {
  static void SetUpTestSuite() { http::initialize_process(); }

  RealApi() {
    auto found = find_cluster("", variable);
    if (!found) throw std::runtime_error(found.error().message);
    access = std::move(*found);
    transport = http::make_client(access.http, clock);
    client = std::make_unique<Client>(*transport, clock, "real-api-test");
  }
  ~RealApi() override {
    if (const auto left = client->list_all<ConfigMap>(ours())) {
      for (const ConfigMap& map : *left) (void)client->remove<ConfigMap>(name_of(map.meta), {});
    }
  }

  [[nodiscard]] Selection ours() const { return {"default", "real-api-test=" + run, ""}; }

  [[nodiscard]] ConfigMap config_map(const std::string& name, const std::string& value) const {
    ConfigMap map;
    map.meta.ns = "default";
    map.meta.name = base::cat("real-", run, "-", name);
    map.meta.labels["real-api-test"] = run;
    map.data["value"] = value;
    return map;
  }

  ConfigMap created(const std::string& name, const std::string& value = "1") {
    auto map = client->create(config_map(name, value));
    if (!map) throw std::runtime_error(map.error().message);
    return std::move(*map);
  }

  // Replaces the data, provided that `seen` is still the server's state.
  base::Result<ConfigMap> write(const ConfigMap& seen, const std::string& value) {
    ConfigMap desired = seen;
    desired.data["value"] = value;
    return client->patch<ConfigMap>(
        name_of(seen.meta), "",
        api::config_map_patch({seen.meta.uid, seen.meta.resource_version}, seen, desired));
  }

  http::Response post(const std::string& target, const std::string& body) {
    auto response = transport->send({"POST", target, {{"Content-Type", "application/json"}}, body});
    if (!response) throw std::runtime_error(response.error().message);
    return std::move(*response);
  }

  // Without the CRD, which the server may or may not have, there is nothing to test.
  void install_compute_domains() {
    const api::Kind& kind = api::kind_of<api::ComputeDomain>();
    auto served = client->serves(kind);
    if (served && *served) return;
    const std::string path = "crds/computedomains.yaml";
    const auto crd = api::objects_in_yaml(source_text(path), path);
    ASSERT_TRUE(crd) << crd.error().message;
    const auto answer =
        post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd->front());
    ASSERT_EQ(answer.status, 201) << answer.body;
    const auto until = std::chrono::steady_clock::now() + kBound;
    do {
      served = client->serves(kind);
    } while (served && !*served && std::chrono::steady_clock::now() < until);
    ASSERT_TRUE(served && *served);
  }

  [[nodiscard]] api::ComputeDomain domain(const std::string& name) const {
    api::ComputeDomain out;
    out.meta.ns = "default";
    out.meta.name = base::cat("real-", run, "-", name);
    out.spec.num_nodes = 1;
    return out;
  }

  // Steps until `is_done`; false when that does not happen within the bound.
  template <class T>
  static bool step_until(Informer<T>& informer, const std::function<bool()>& is_done) {
    const auto until = std::chrono::steady_clock::now() + kBound;
    while (!is_done() && std::chrono::steady_clock::now() < until) (void)informer.step(100ms);
    return is_done();
  }

  const base::SystemClock clock;
  const std::string run = base::hex64(base::entropy_seed()).substr(0, 8);
  ClusterAccess access;
  std::unique_ptr<http::Client> transport;
  std::unique_ptr<Client> client;
};

TEST_F(RealApi, CreatesReadsWritesAndRemovesUnderPreconditions) {
  const ConfigMap first = created("a");
  EXPECT_FALSE(first.meta.uid.empty());
  EXPECT_EQ(client->create(config_map("a", "2")).error().kind, ErrorKind::AlreadyExists);

  const auto second = write(first, "2");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(client->get<ConfigMap>(name_of(first.meta))->data.at("value"), "2");
  EXPECT_EQ(write(first, "3").error().kind, ErrorKind::Conflict) << "of the resource version";
  ConfigMap other = *second;
  other.meta.uid = "00000000-0000-4000-8000-000000000000";
  EXPECT_FALSE(write(other, "3")) << "of the UID";

  const auto name = name_of(first.meta);
  EXPECT_EQ(
      client->remove<ConfigMap>(name, {.uid = other.meta.uid, .resource_version = ""}).error().kind,
      ErrorKind::Conflict);
  EXPECT_EQ(client->remove<ConfigMap>(name, {"", first.meta.resource_version}).error().kind,
            ErrorKind::Conflict);
  EXPECT_TRUE(client->remove<ConfigMap>(name, {second->meta.uid, second->meta.resource_version}));
  EXPECT_EQ(client->get<ConfigMap>(name).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(client->remove<ConfigMap>(name, {}).error().kind, ErrorKind::NotFound);
}

TEST_F(RealApi, ListsInPages) {
  for (int i = 0; i < 10; ++i) created(base::cat("p", i));
  ListOptions options{.of = ours(), .limit = 4, .continue_token = ""};
  std::vector<std::size_t> sizes;
  do {
    const auto page = client->list<ConfigMap>(options);
    ASSERT_TRUE(page) << page.error().message;
    sizes.push_back(page->items.size());
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty());
  EXPECT_THAT(sizes, ElementsAre(4U, 4U, 2U));

  Selection one = ours();
  one.field_selector = "metadata.name=" + config_map("p3", "").meta.name;
  EXPECT_EQ(client->list_all<ConfigMap>(one)->size(), 1U);
  options.continue_token = "nonsense";
  EXPECT_EQ(client->list<ConfigMap>(options).error().kind, ErrorKind::Invalid);
}

// Of everything of this kind that the server has, each object in one version.
template <class T>
void expect_the_same_in_both_encodings(const Client& client, std::size_t at_least) {
  SCOPED_TRACE(api::kind_of<T>().plural);
  const auto list = [&](Encoding encoding) {
    PageCursor cursor(0);
    auto page =
        client.list<T>({.of = {}, .limit = 0, .continue_token = "", .encoding = encoding}, cursor);
    if (!page) throw std::runtime_error(page.error().message);
    std::map<std::string, T> objects;  // by UID and version
    for (T& object : page->items) {
      const std::string key = object.meta.uid + " " + object.meta.resource_version;
      objects.emplace(key, std::move(object));
    }
    return objects;
  };
  std::set<std::string> same;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto in_json = list(Encoding::Json), in_protobuf = list(Encoding::Protobuf);
    std::size_t changed = 0;
    for (const auto& [key, object] : in_json) {
      const auto found = in_protobuf.find(key);
      if (found == in_protobuf.end()) {
        ++changed;
        continue;
      }
      ASSERT_EQ(found->second, object);
      same.insert(object.meta.uid);
    }
    if (changed == 0) break;
  }
  EXPECT_GE(same.size(), at_least);
}

TEST_F(RealApi, GivesTheSameInProtobufAndInJson) {
  const auto discovered = client->discover();
  ASSERT_TRUE(discovered) << discovered.error().message;
  api::Node node;
  node.meta.name = base::cat("real-", run);
  node.meta.labels[api::kNodeCliqueLabel] = "real.1";
  ASSERT_TRUE(client->create(node));
  created("both", "\"text\" \xC3\xBC");
  // A server with a domain that runs has some of each.
  const std::size_t of_a_domain = variable("HAS_A_DOMAIN").empty() ? 0 : 1;
  expect_the_same_in_both_encodings<api::Node>(*client, 1);
  expect_the_same_in_both_encodings<ConfigMap>(*client, 1);
  expect_the_same_in_both_encodings<api::Pod>(*client, of_a_domain);
  expect_the_same_in_both_encodings<api::ResourceClaim>(*client, of_a_domain);
  expect_the_same_in_both_encodings<api::ResourceClaimTemplate>(*client, of_a_domain);
  expect_the_same_in_both_encodings<api::ResourceSlice>(*client, of_a_domain);
  EXPECT_TRUE(client->remove<api::Node>(name_of(node.meta), {}));
}

// Both, step by step, through the same changes.
TEST_F(RealApi, WatchesInProtobufWhatItWatchesInJson) {
  Informer<ConfigMap> informer(*client, clock, {.of = ours()});
  ASSERT_TRUE(step_until<ConfigMap>(informer, [&] { return informer.store().has_synced(); }));
  const ConfigMap first = created("w");
  const auto second = write(first, "2");
  ASSERT_TRUE(second) << second.error().message;
  ASSERT_TRUE(step_until<ConfigMap>(informer, [&] {
    const auto stored = informer.store().get(name_of(first.meta));
    return stored && stored->meta.resource_version == second->meta.resource_version;
  }));
  EXPECT_EQ(*informer.store().get(name_of(first.meta)),
            *client->get<ConfigMap>(name_of(first.meta)));
  EXPECT_TRUE(client->remove<ConfigMap>(name_of(first.meta), {}));
  EXPECT_TRUE(step_until<ConfigMap>(informer, [&] { return informer.store().size() == 0; }));
}

TEST_F(RealApi, ListsTheMetadataOfEveryObjectAndNothingElse) {
  const auto none = client->list_metadata<ConfigMap>(ours());
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());

  const ConfigMap owner = created("owner");
  ConfigMap owned = config_map("owned", "1");
  owned.meta.owners = {{.api_version = "v1",
                        .kind = "ConfigMap",
                        .name = owner.meta.name,
                        .uid = owner.meta.uid,
                        .controller = true}};
  const auto made = client->create(owned);
  ASSERT_TRUE(made) << made.error().message;
  const auto all = client->list_metadata<ConfigMap>(ours());
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(*all, ElementsAre(made->meta, owner.meta));
  EXPECT_EQ(all->front().owners, owned.meta.owners);
}

TEST_F(RealApi, UpdatesALeaseOnlyFromItsLatestState) {
  api::Lease lease;
  lease.meta.ns = "default";
  lease.meta.name = "real-" + run;
  lease.holder = "me";
  lease.duration_seconds = 15;
  lease.renewed = clock.now();
  const auto made = client->create(lease);
  ASSERT_TRUE(made) << made.error().message;
  api::Lease next = *made;
  next.holder = "you";
  const auto updated = client->update(next);
  ASSERT_TRUE(updated) << updated.error().message;
  EXPECT_EQ(updated->holder, "you");
  EXPECT_EQ(client->update(next).error().kind, ErrorKind::Conflict);
  EXPECT_TRUE(client->remove<api::Lease>(name_of(lease.meta), {}));
}

// The server's memory of a custom resource begins with its CRD, so that version 1 was before it.
TEST_F(RealApi, AWatchFromAForgottenVersionIsExpired) {
  install_compute_domains();
  const auto stream = client->open_watch<api::ComputeDomain>({{"default", "", ""}, "1", 1min});
  if (!stream) {
    EXPECT_EQ(stream.error().kind, ErrorKind::Expired);
    return;
  }
  const auto read = (*stream)->next(10s);
  ASSERT_TRUE(read) << read.error().message;
  const auto event = api::decode_watch_event<api::ComputeDomain>(read->line);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, api::WatchType::Error);
  EXPECT_EQ(api::error_of(event->status).kind, ErrorKind::Expired);
}

// An etcd that was restored from an older backup has such versions ahead.
TEST_F(RealApi, AWatchFromAVersionThatIsYetToComeIsSilent) {
  const auto stream = client->open_watch<ConfigMap>({ours(), "999999999999", 3s});
  ASSERT_TRUE(stream) << stream.error().message;
  created("a");
  const auto read = (*stream)->next(kBound);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->what, http::StreamRead::What::End) << read->line;
}

// By which an informer knows that from one whose history goes on.
TEST_F(RealApi, TheVersionOfACollectionIsNoLowerThanWhatWasAnsweredBefore) {
  for (const char* name : {"a", "b"}) {
    const ConfigMap made = created(name);
    const auto now = client->collection_version(api::kind_of<ConfigMap>(), "default");
    ASSERT_TRUE(now) << now.error().message;
    EXPECT_GE(version_number(*now), version_number(made.meta.resource_version));
  }
}

TEST_F(RealApi, AWatchEndsProperlyAtItsTimeout) {
  const auto page = client->list<ConfigMap>({ours(), 1, ""});
  ASSERT_TRUE(page) << page.error().message;
  const auto stream = client->open_watch<ConfigMap>({ours(), page->resource_version, 1s});
  ASSERT_TRUE(stream) << stream.error().message;
  for (;;) {
    const auto read = (*stream)->next(kBound);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_NE(read->what, http::StreamRead::What::Nothing) << "it did not end";
    if (read->what == http::StreamRead::What::End) break;
  }
}

TEST_F(RealApi, AnInformerFollowsEveryChange) {
  const ConfigMap a = created("a");
  Informer<ConfigMap> informer(*client, clock, {ours(), 1, 500});
  std::vector<std::string> told;
  informer.on_change([&](const ConfigMap* before, const ConfigMap* after) {
    told.push_back(base::cat(before ? before->data.at("value") : "", ">",
                             after ? after->data.at("value") : ""));
  });
  ASSERT_TRUE(step_until(informer, [&] { return informer.store().has_synced(); }));
  const auto a2 = write(a, "2");
  ASSERT_TRUE(a2) << a2.error().message;
  ASSERT_TRUE(step_until(informer, [&] {
    return informer.store().seen_version() >= version_number(a2->meta.resource_version);
  }));
  EXPECT_EQ(informer.store().get(name_of(a.meta))->data.at("value"), "2");
  ASSERT_TRUE(client->remove<ConfigMap>(name_of(a.meta), {}));
  ASSERT_TRUE(step_until(informer, [&] { return informer.store().size() == 0; }));
  EXPECT_THAT(told, ElementsAre(">1", "1>2", "2>"));
}

TEST_F(RealApi, AnInformerListsAgainWhenTheServerHasForgotten) {
  install_compute_domains();
  const auto before = client->create(domain("before"));
  ASSERT_TRUE(before) << before.error().message;
  ForgetfulClient forgetful(*transport);
  const Client through(forgetful, clock, "real-api-test");
  Informer<api::ComputeDomain> informer(through, clock, {{"default", "", ""}, 1, 500});
  ASSERT_TRUE(step_until(informer, [&] { return informer.last_error().has_value(); }));
  EXPECT_EQ(informer.last_error()->kind, ErrorKind::Expired);
  const auto after = client->create(domain("after"));
  ASSERT_TRUE(after) << after.error().message;
  const auto& store = informer.store();
  EXPECT_TRUE(step_until(informer, [&] { return store.get(name_of(after->meta)) != nullptr; }));
  EXPECT_NE(store.get(name_of(before->meta)), nullptr);
  for (const auto& made : {before, after}) {
    EXPECT_TRUE(client->remove<api::ComputeDomain>(name_of(made->meta), {made->meta.uid, ""}));
  }
}

TEST_F(RealApi, AFinalizerHoldsACustomResource) {
  install_compute_domains();
  const auto made = client->create(domain("held"));
  ASSERT_TRUE(made) << made.error().message;
  const auto name = name_of(made->meta);
  const auto held = client->patch<api::ComputeDomain>(
      name, "",
      api::finalizers_patch({made->meta.uid, made->meta.resource_version}, {"test/hold"}));
  ASSERT_TRUE(held) << held.error().message;
  const auto answer = client->begin_removal<api::ComputeDomain>(name, {held->meta.uid, ""});
  ASSERT_TRUE(answer) << answer.error().message;
  const auto deleting = client->get<api::ComputeDomain>(name);
  ASSERT_TRUE(deleting) << deleting.error().message;
  EXPECT_TRUE(deleting->meta.is_deleting());
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->meta.resource_version, deleting->meta.resource_version);
  ASSERT_TRUE(client->patch<api::ComputeDomain>(
      name, "", api::finalizers_patch({deleting->meta.uid, deleting->meta.resource_version}, {})));
  EXPECT_EQ(client->get<api::ComputeDomain>(name).error().kind, ErrorKind::NotFound);
}

TEST_F(RealApi, DiscoversAVersionOfDynamicResourceAllocation) {
  const auto done = client->discover();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(client->list<api::ResourceClaim>({}));
  EXPECT_TRUE(client->list<api::ResourceSlice>({}));
}

TEST_F(RealApi, AnEventIsCountedOnTheServer) {
  EventRecorder recorder(*client, clock, {"real-api-test", "here", base::entropy_seed()});
  const ConfigMap a = created("a");
  const api::ObjectReference involved{"v1", "ConfigMap", "default", a.meta.name, a.meta.uid};
  for (int i = 0; i < 3; ++i) {
    recorder.record(involved, "Warning", "Tested", "by hand");
    ASSERT_TRUE(recorder.step());
  }
  const Selection of_a{"default", "", "involvedObject.name=" + a.meta.name};
  const auto events = client->list_all<api::Event>(of_a);
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 1U);
  EXPECT_EQ(events->front().count, 3);
  EXPECT_EQ(events->front().message, "by hand");
  EXPECT_TRUE(client->remove<api::Event>(name_of(events->front().meta), {}));
}

TEST_F(RealApi, AnswersForbiddenToAnAccountWithoutRightsAndFollowsItsToken) {
  const auto answer = post("/api/v1/namespaces/default/serviceaccounts/default/token",
                           R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",)"
                           R"("spec":{"expirationSeconds":600}})");
  ASSERT_EQ(answer.status, 201) << answer.body;
  const std::string token = nlohmann::json::parse(answer.body)["status"]["token"];
  const auto file = std::filesystem::path(testing::TempDir()) / base::cat("token-", run);
  const auto rotate = [&](const std::string& content) { std::ofstream(file) << content << "\n"; };

  http::ClientConfig config = access.http;
  config.certificate_pem = config.key_pem = config.certificate_file = config.key_file = "";
  config.token = "";
  config.token_file = file.string();
  rotate("expired");
  const auto as_account = http::make_client(config, clock);
  const auto status = [&] {
    const auto response = as_account->send({"GET", "/version", {}, ""});
    return response ? response->status : 0;
  };
  EXPECT_EQ(status(), 401);
  rotate(token);
  EXPECT_EQ(status(), 200);
  const Client account(*as_account, clock, "real-api-test");
  const auto refused = account.list<ConfigMap>({ours(), 0, ""});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Forbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("list configmaps: "));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace cdom::kube

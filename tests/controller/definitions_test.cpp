// Definitions that somebody else's have replaced: they are found, told once, and hold nothing back.
#include "compute_domain/controller/definitions.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/api_server.h"
#include "source_tree/source_tree.h"

namespace cdom::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const api::Definition& expected(const std::string& plural) {
  static const std::vector<api::Definition> all = expected_definitions();
  return *std::ranges::find(all, base::cat(plural, ".resource.nvidia.com"),
                            [](const auto& definition) { return definition.meta.name; });
}

// As an older release has it: without this field.
std::string older(const std::string& plural, const std::string& field) {
  std::string text = source_text(base::cat("crds/", plural, ".yaml"));
  const std::size_t at = text.find(base::cat(" ", field, ":\n"));
  if (at == std::string::npos) throw std::logic_error(field);
  return text.replace(at + 1, field.size(), "older");
}

TEST(MissingFields, AreThoseOfThisReleaseAndNotWhatIsBelowThem) {
  const api::DefinitionVersion wanted{
      .name = "v1beta1",
      .served = true,
      .fields = {"spec", "spec.a", "status", "status.list", "status.list[].x", "status.other"}};
  api::DefinitionVersion found = wanted;
  EXPECT_THAT(missing_fields(wanted, found), IsEmpty());
  found.fields = {"later", "spec", "spec.a", "status", "status.other"};
  EXPECT_THAT(missing_fields(wanted, found), ElementsAre("status.list"));
  found.fields = {"spec", "spec.a"};
  EXPECT_THAT(missing_fields(wanted, found), ElementsAre("status"));
}

TEST(MissingFields, AreNotThoseThatTheSchemaKeepsWithoutKnowingThem) {
  const api::DefinitionVersion wanted{
      .name = "v1beta1",
      .served = true,
      .fields = {"apiVersion", "kind", "metadata", "metadata.name", "spec", "spec.a", "status",
                 "status.list", "status.list[].x"}};
  api::DefinitionVersion found = wanted;
  found.fields = {"spec", "spec.a", "status", "status.list", "status.list[].x"};
  EXPECT_THAT(missing_fields(wanted, found), IsEmpty()) << "metadata is everywhere";
  found.fields = {"*"};
  EXPECT_THAT(missing_fields(wanted, found), IsEmpty());
  found.fields = {"spec.*", "spec", "status.*", "status"};
  std::ranges::sort(found.fields);
  EXPECT_THAT(missing_fields(wanted, found), IsEmpty());
  found.fields = {"spec", "spec.a", "status", "status.list", "status.list[].*"};
  EXPECT_THAT(missing_fields(wanted, found), IsEmpty());
  found.fields = {"spec", "spec.a", "status", "status.*", "status.list"};
  EXPECT_THAT(missing_fields(wanted, found), ElementsAre("status.list[].x"))
      << "what the schema knows is pruned as usual";
  found.fields = {"spec", "spec.*", "status"};
  EXPECT_THAT(missing_fields(wanted, found), ElementsAre("status.list"));
}

TEST(ExpectedDefinitions, HaveNoFaultThemselves) {
  ASSERT_THAT(expected_definitions(), SizeIs(3));
  for (const api::Definition& one : expected_definitions()) EXPECT_EQ(fault_of(one, one), "");
}

TEST(FaultOf, NamesFieldsAndRemedy) {
  const api::Definition& wanted = expected("computedomains");
  api::Definition found = wanted;
  std::erase(found.versions.front().fields, "status.conditions");
  EXPECT_THAT(fault_of(wanted, found), AllOf(HasSubstr("status.conditions"), HasSubstr("-k crds,"),
                                             HasSubstr("helm upgrade")));
  found.versions.front().served = false;
  EXPECT_EQ(fault_of(wanted, found), "") << "which the watches report";
  found.versions.clear();
  EXPECT_EQ(fault_of(wanted, found), "");
}

class DefinitionLookOnServer : public testing::Test {
 protected:
  DefinitionLookOnServer() {
    load("{apiVersion: v1, kind: Namespace, metadata: {name: default}}");
    for (const char* plural : {"computedomains", "computedomainnodes"}) {
      load(source_text(base::cat("crds/", plural, ".yaml")));
    }
  }
  void load(const std::string& yaml) {
    const auto loaded = server_.load(yaml);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  // Only these, whatever was before.
  void let_nobody_read(const std::vector<std::string>& plurals) {
    std::string names;
    for (const std::string& plural : plurals) {
      names += base::cat(names.empty() ? "" : ", ", plural, ".resource.nvidia.com");
    }
    load(base::cat(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r},"
        " rules: [{apiGroups: [apiextensions.k8s.io], verbs: [get],"
        " resources: [customresourcedefinitions], resourceNames: [",
        names, "]}]}"));
    load(
        R"({apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: r},
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r},
        subjects: [{kind: ServiceAccount, name: nobody, namespace: default}]})");
  }
  // What was told since the last call.
  std::vector<std::string> told() {
    look_.tell(events_);
    while (events_.step()) {
    }
    const std::vector<api::Occurrence> events = *client_.list_all<api::Occurrence>();
    std::vector<std::string> messages;
    messages.reserve(events.size());
    for (const api::Occurrence& event : events) {
      messages.push_back(base::cat(event.involved.name, ": ", event.message));
    }
    for (const std::string& message : std::exchange(told_, messages)) {
      std::erase(messages, message);
    }
    return messages;
  }
  [[nodiscard]] std::string metric(const std::string& plural) const {
    const std::string line = base::cat("compute_domain_definition_missing_fields{definition=\"",
                                       plural, ".resource.nvidia.com\"} ");
    const std::string text = metrics_.render();
    const std::size_t at = text.find(line);
    return at == std::string::npos ? "" : text.substr(at + line.size(), 1);
  }

  base::ManualClock clock_;
  sandbox::ApiServer server_{clock_};
  std::unique_ptr<http::Client> transport_ = server_.client(sandbox::admin_user());
  kube::Client client_{*transport_, clock_, "test"};
  std::unique_ptr<http::Client> transport_of_nobody_ =
      server_.client(sandbox::service_account_user("default", "nobody"));
  kube::Client nobody_{*transport_of_nobody_, clock_, "test"};
  kube::EventRecorder events_{client_, clock_, {.component = "test", .instance = "test"}};
  base::Registry metrics_;
  DefinitionLook look_{client_, metrics_, expected_definitions()};
  std::vector<std::string> told_;
};

TEST_F(DefinitionLookOnServer, TellsOnceOfADefinitionThatAnOlderOneHasReplaced) {
  look_.look();
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(metric("computedomainnodes"), "0");
  EXPECT_EQ(metric("computedomaincliques"), "") << "it is not there, which its watch reports";

  load(older("computedomainnodes", "pendingClaims"));
  look_.look();
  EXPECT_TRUE(look_.has_unreported());
  EXPECT_EQ(metric("computedomainnodes"), "1");
  EXPECT_THAT(told(), ElementsAre(AllOf(HasSubstr("computedomainnodes.resource.nvidia.com: "),
                                        HasSubstr("status.pendingClaims"))));
  EXPECT_FALSE(look_.has_unreported());
  look_.look();
  EXPECT_THAT(told(), IsEmpty()) << "nothing new";

  load(older("computedomainnodes", "hostManaged"));
  look_.look();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("status.hostManaged")));

  load(source_text("crds/computedomainnodes.yaml"));
  look_.look();
  EXPECT_FALSE(look_.has_unreported());
  EXPECT_EQ(metric("computedomainnodes"), "0");
}

TEST_F(DefinitionLookOnServer, GoesOnWithoutTheRightToLook) {
  DefinitionLook look(nobody_, metrics_, expected_definitions());
  load(older("computedomains", "lastFailure"));
  look.look();
  look.look();
  EXPECT_FALSE(look.has_unreported());
  EXPECT_EQ(metric("computedomains"), "");
}

// Otherwise its alert would go on for ever, whatever becomes of the definition.
TEST_F(DefinitionLookOnServer, KnowsNothingOfADefinitionThatItMayNotReadAnyMore) {
  let_nobody_read({"computedomains", "computedomainnodes", "computedomaincliques"});
  DefinitionLook look(nobody_, metrics_, expected_definitions());
  load(older("computedomains", "lastFailure"));
  look.look();
  EXPECT_EQ(metric("computedomains"), "1");
  let_nobody_read({"computedomainnodes", "computedomaincliques"});
  look.look();
  EXPECT_EQ(metric("computedomains"), "0");
  EXPECT_FALSE(look.has_unreported());
  load(source_text("crds/computedomains.yaml"));
  look.look();
  EXPECT_EQ(metric("computedomains"), "0");
}

TEST_F(DefinitionLookOnServer, SaysOnceWhichDefinitionItMayNotReadAndReadsTheOthers) {
  load(source_text("crds/computedomaincliques.yaml"));
  let_nobody_read({"computedomains", "computedomaincliques"});
  DefinitionLook look(nobody_, metrics_, expected_definitions());
  load(older("computedomaincliques", "index"));
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) look.look();
  const std::string log = testing::internal::GetCapturedStderr();
  const std::string refusal = "cannot look whether";
  EXPECT_THAT(log, HasSubstr(refusal));
  EXPECT_EQ(log.find(refusal), log.rfind(refusal)) << log;
  EXPECT_EQ(metric("computedomaincliques"), "1") << "which comes after the one that is forbidden";
}

TEST_F(DefinitionLookOnServer, DoesNotCallADefinitionWholeThatDoesNotServeTheVersion) {
  load(older("computedomains", "lastFailure"));
  look_.look();
  std::string other = source_text("crds/computedomains.yaml");
  const std::size_t at = other.find("served: true");
  ASSERT_NE(at, std::string::npos);
  load(other.replace(at, 12, "served: false"));
  testing::internal::CaptureStderr();
  look_.look();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, AllOf(HasSubstr("does not serve"), testing::Not(HasSubstr("all fields again"))));
}

}  // namespace
}  // namespace cdom::controller

#include "compute_domain/api/asked_pods.h"

#include <gmock/gmock.h>

namespace cdom::api {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

constexpr char kPodSpec[] =
    R"({"containers":[{"name":"c"}],"resourceClaims":[{"name":"a","resourceClaimTemplateName":"fabric"},{"name":"b","resourceClaimName":"mine"}]})";

std::string with_pod(const std::string& before, const std::string& after) {
  return before + kPodSpec + after;
}

TEST(AskedPods, OfAPodIsItself) {
  const AskedPods asked = asked_pods_in(
      with_pod(R"({"kind":"Pod","metadata":{"name":"p","namespace":"team-a"},"spec":)", "}"));
  EXPECT_EQ(asked.name, (ObjectName{"team-a", "p"}));
  EXPECT_THAT(asked.templates, ElementsAre(Pair("fabric", 1)));
}

TEST(AskedPods, OfAJobAreThoseThatRunAtATime) {
  const auto job = [](const std::string& sizes) {
    return asked_pods_in(
        with_pod(R"({"kind":"Job","spec":{)" + sizes + R"("template":{"spec":)", "}}}"));
  };
  EXPECT_THAT(job("").templates, ElementsAre(Pair("fabric", 1)));
  EXPECT_THAT(job(R"("parallelism":4,"completions":3,)").templates, ElementsAre(Pair("fabric", 3)));
}

TEST(AskedPods, OfAJobSetAreThoseOfAllItsJobs) {
  const AskedPods asked = asked_pods_in(with_pod(
      R"({"kind":"JobSet","spec":{"replicatedJobs":[{"name":"w","replicas":2,"template":{"spec":{"parallelism":3,"completions":3,"template":{"spec":)",
      "}}}}]}}"));
  EXPECT_THAT(asked.templates, ElementsAre(Pair("fabric", 6)));
}

TEST(AskedPods, AreNoMoreThanCanBeCounted) {
  const auto set = [](const std::string& replicas) {
    return asked_pods_in(with_pod(
        R"({"kind":"JobSet","spec":{"replicatedJobs":[{"replicas":)" + replicas +
            R"(,"template":{"spec":{"parallelism":9223372036854775807,"template":{"spec":)",
        "}}}}]}}"));
  };
  for (const char* many : {"9223372036854775807", "18446744073709551615"}) {
    EXPECT_THAT(set(many).templates, ElementsAre(Pair("fabric", 1'000'000'000)));
  }
  EXPECT_THAT(set("-5").templates, ElementsAre(Pair("fabric", 0)));
}

TEST(AskedPods, SayWhatHasMadeAPodAndWhetherItHasEnded) {
  const AskedPods asked = asked_pods_in(with_pod(
      R"({"kind":"Pod","metadata":{"ownerReferences":[{"name":"other"},{"name":"run","controller":true}]},"status":{"phase":"Failed"},"spec":)",
      "}"));
  EXPECT_EQ(asked.controller, "run");
  EXPECT_TRUE(asked.has_ended);
  EXPECT_FALSE(asked_pods_in(with_pod(R"({"kind":"Pod","spec":)", "}")).has_ended);
}

TEST(InNamespace, GivesTheNamespaceToWhatNamesNoneAndMayHaveOne) {
  const auto namespace_of = [](const std::string& json) {
    return asked_pods_in(in_namespace(json, "team-a")).name.ns;
  };
  EXPECT_EQ(namespace_of(R"({"kind":"ComputeDomain","metadata":{"name":"d"}})"), "team-a");
  EXPECT_EQ(namespace_of(R"({"kind":"JobSet","metadata":{"name":"d","namespace":""}})"), "team-a");
  EXPECT_EQ(namespace_of(R"({"kind":"Job","metadata":{"name":"d","namespace":"b"}})"), "b");
  EXPECT_EQ(namespace_of(R"({"kind":"Node","metadata":{"name":"n"}})"), "");
  for (const char* odd : {"", "7", R"({"kind":"Job"})", R"({"kind":"Job","metadata":7})"}) {
    EXPECT_EQ(in_namespace(odd, "team-a"), odd);
  }
}

TEST(AskedPods, SayWhichClaimsNoContainerUses) {
  EXPECT_THAT(asked_pods_in(with_pod(R"({"kind":"Pod","spec":)", "}")).unused,
              ElementsAre(Pair("a", "fabric")));
  const auto with_use = [](const std::string& containers) {
    return asked_pods_in(
        R"({"kind":"Job","spec":{"template":{"spec":{"resourceClaims":[{"name":"a","resourceClaimTemplateName":"fabric"}],)" +
        containers + "}}}}");
  };
  const char user[] = R"([{"name":"c","resources":{"claims":[{"name":"a"}]}}])";
  EXPECT_THAT(with_use(std::string(R"("containers":)") + user).unused, IsEmpty());
  EXPECT_THAT(
      with_use(std::string(R"("containers":[{"name":"d"}],"initContainers":)") + user).unused,
      IsEmpty());
  EXPECT_THAT(with_use(R"("containers":[{"name":"c","resources":{"claims":"a"}},7])").unused,
              ElementsAre(Pair("a", "fabric")));
}

TEST(AskedPods, OfADaemonSetCannotBeCounted) {
  EXPECT_FALSE(asked_pods_in(R"({"kind":"DaemonSet","spec":{}})").is_countable);
  EXPECT_THAT(asked_pods_in("no JSON").templates, IsEmpty());
}

TEST(UnknownDomainFields, AreThoseThatTheApiServerWouldNotKnow) {
  EXPECT_THAT(
      unknown_domain_fields(
          R"({"apiVersion":"x","kind":"y","metadata":{"any":1},"spec":{"numnodes":2,"channel":{"resourceClaimTemplate":{"nam":"t"}}},"sped":{}})"),
      ElementsAre("spec.channel.resourceClaimTemplate.nam", "spec.numnodes", "sped"));
  EXPECT_THAT(
      unknown_domain_fields(
          R"({"kind":"ComputeDomain","spec":{"numNodes":2,"channel":{"resourceClaimTemplate":{"name":"t"},"allocationMode":"All"},"placement":{"clique":"Single"}},"status":{"nodes":[{"name":"n"}]}})"),
      IsEmpty());
}

TEST(UnknownDomainWord, IsOneThatTheApiServerWouldRefuse) {
  EXPECT_EQ(unknown_domain_word(R"({"spec":{"placement":{"clique":"Singel"}}})"),
            "spec.placement.clique: must be one of Any, Single, is \"Singel\"");
  EXPECT_EQ(unknown_domain_word(R"({"spec":{"channel":{"allocationMode":"all"}}})"),
            "spec.channel.allocationMode: must be one of Single, All, is \"all\"");
  EXPECT_EQ(unknown_domain_word(R"({"spec":{"placement":{"clique":"Single"}}})"), "");
  EXPECT_EQ(unknown_domain_word(R"({"spec":7})"), "");
  EXPECT_EQ(unknown_domain_word("no JSON"), "");
}

TEST(UnknownDomainFields, MayBeKnownInOtherCaseAtTheSamePlace) {
  EXPECT_EQ(domain_field_in_other_case("spec.numnodes"), "numNodes");
  EXPECT_EQ(domain_field_in_other_case("Spec"), "spec");
  EXPECT_EQ(domain_field_in_other_case("spec.channel.resourceclaimtemplate"),
            "resourceClaimTemplate");
  EXPECT_EQ(domain_field_in_other_case("status.nodes[].Name"), "name");
  EXPECT_EQ(domain_field_in_other_case("spec.nodes"), "") << "the status has them";
  EXPECT_EQ(domain_field_in_other_case("spec.Nodes"), "");
  EXPECT_EQ(domain_field_in_other_case("spec.num"), "");
}

}  // namespace
}  // namespace cdom::api

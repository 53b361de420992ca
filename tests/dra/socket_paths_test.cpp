#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/dra/plugin.h"

namespace cdom::dra {

namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kPodUid = "0b9f6a52-3c1d-4e8f-9a70-5d2e8c4b1f36";

std::string error_of(const PluginOptions& options) {
  const auto paths = socket_paths(options);
  return paths ? "none" : paths.error().message;
}

TEST(SocketPaths, AreThoseOfTheReferenceDriver) {
  const auto paths = socket_paths({.driver = "compute-domain.nvidia.com"});

  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(paths->registration,
            "/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-reg.sock");
  EXPECT_EQ(paths->dra, "/var/lib/kubelet/plugins/compute-domain.nvidia.com/dra.sock");
}

TEST(SocketPaths, HoldThePodsUidForRollingUpdates) {
  const auto paths = socket_paths({.driver = "compute-domain.nvidia.com", .pod_uid = kPodUid});

  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(paths->registration,
            std::string("/var/lib/kubelet/plugins_registry/compute-domain.nvidia.com-") + kPodUid +
                "-reg.sock");
  EXPECT_EQ(paths->dra, std::string("/var/lib/kubelet/plugins/compute-domain.nvidia.com/dra-") +
                            kPodUid + ".sock");
}

TEST(SocketPaths, MayHaveOneHundredAndSevenCharacters) {
  // With the UID the path of the registration has 105 under /var/lib/kubelet.
  EXPECT_EQ(error_of({.driver = "compute-domain.nvidia.com",
                      .registrar_dir = "/var/lib/kubelet-2/plugins_registry",
                      .pod_uid = kPodUid}),
            "none");
  EXPECT_THAT(error_of({.driver = "compute-domain.nvidia.com",
                        .registrar_dir = "/var/lib/kubelet-22/plugins_registry",
                        .pod_uid = kPodUid}),
              AllOf(HasSubstr("at most 107 characters"), HasSubstr("has 108"),
                    HasSubstr("/var/lib/kubelet-22/plugins_registry/"),
                    HasSubstr("shorter kubelet directory")));
}

TEST(SocketPaths, RefuseNamesThatAreNone) {
  EXPECT_THAT(error_of({.driver = ""}), HasSubstr("is not a valid DRA driver name"));
  EXPECT_THAT(error_of({.driver = "a/b"}), HasSubstr("is not a valid DRA driver name"));
  EXPECT_THAT(error_of({.driver = "a", .pod_uid = "../x"}), HasSubstr("is not the UID of a pod"));
  EXPECT_THAT(error_of({.driver = "a", .plugins_dir = "kubelet"}), HasSubstr("absolute path"));
  EXPECT_THAT(error_of({.driver = "a", .registrar_dir = "/x/"}), HasSubstr("absolute path"));
}

}  // namespace

}  // namespace cdom::dra

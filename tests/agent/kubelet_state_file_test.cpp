#include "compute_domain/agent/kubelet_state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/directory.h"

namespace cdom::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As kubelet 1.32 and later writes it; checksums by zlib.
constexpr char kClaims[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/)"
    R"(v1\",\"ClaimInfoStateList\":[{\"ClaimUID\":\"c-1\",\"ClaimName\":\"train-0\",\"Names)"
    R"(pace\":\"team-a\",\"PodUIDs\":{\"p-1\":{}},\"DriverState\":{\"compute-domain.nvidia.)"
    R"(com\":{\"Devices\":[{\"PoolName\":\"n00\",\"DeviceName\":\"channel-0\",\"ShareID\":n)"
    R"(ull,\"RequestNames\":[\"channel\"],\"CDIDeviceIDs\":[\"x\"]}]},\"gpu.nvidia.com\":{\)"
    R"("Devices\":null}}},{\"ClaimUID\":\"c-2\",\"ClaimName\":\"gpu\",\"Namespace\":\"team-)"
    R"(a\",\"PodUIDs\":{\"p-1\":{}},\"DriverState\":{\"gpu.nvidia.com\":{\"Devices\":null}})"
    R"(}]}","Checksum":2293322696})";
constexpr char kNone[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/)"
    R"(v1\",\"ClaimInfoStateList\":null}","Checksum":4010664294})";
constexpr char kNewer[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/)"
    R"(v2\",\"ClaimInfoStateList\":null}","Checksum":1241877002})";

TEST(KubeletStateFile, NamesTheClaimsInUseAndThoseOfThisDriver) {
  const base::Directory dir;
  KubeletStateFile state(dir.write("dra_manager_state", kClaims));
  EXPECT_TRUE(state.knows("c-1"));
  EXPECT_TRUE(state.knows("c-2")) << "of another driver";
  EXPECT_FALSE(state.knows("c-3"));
  EXPECT_THAT(state.claims(), ElementsAre(core::ClaimRef{"team-a", "train-0", "c-1"}));
}

TEST(KubeletStateFile, IsReadAnewEachTime) {
  const base::Directory dir;
  KubeletStateFile state(dir.write("dra_manager_state", kClaims));
  EXPECT_TRUE(state.knows("c-1"));
  dir.write("dra_manager_state", kNone);
  EXPECT_FALSE(state.knows("c-1"));
}

TEST(KubeletStateFile, WhatCannotBeReadIsUnknown) {
  const base::Directory dir;
  KubeletStateFile state(dir.at("dra_manager_state"));
  EXPECT_TRUE(state.knows("c-3")) << "there is none: kubelet writes it when it starts";
  EXPECT_TRUE(state.claims().empty());
  dir.write("dra_manager_state", std::string(kClaims).substr(0, 100));
  EXPECT_TRUE(state.knows("c-3"));
  EXPECT_TRUE(state.claims().empty());
  dir.write("dra_manager_state", kClaims);
  EXPECT_FALSE(state.knows("c-3"));
}

TEST(KubeletState, SaysWhyItIsUnknown) {
  const auto problem = [](const std::string& text) {
    return decode_kubelet_state(text).error().message;
  };
  std::string damaged = kClaims;
  damaged.replace(damaged.find("c-1"), 3, "c-9");
  EXPECT_THAT(problem(damaged), HasSubstr("does not fit its checksum"));
  EXPECT_THAT(problem(std::string(kClaims).substr(0, 100)), HasSubstr("is torn"));
  EXPECT_THAT(problem(R"({"version":"v1","entries":[],"checksum":1})"),
              HasSubstr("another format than that of Kubernetes 1.32"));
  EXPECT_THAT(problem(kNewer), HasSubstr("k8s.io/v2\", this agent reads"));
  EXPECT_THAT(problem(R"({"Data":"[]","Checksum":223132457})"), HasSubstr("holds no JSON object"));
}

// Read from a node of a cluster of Kubernetes 1.37.2.
constexpr char kOf137[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v)"
    R"(1\",\"ClaimInfoStateList\":[{\"ClaimUID\":\"a510849e-e441-4c17-b981-df15991b5b84\",\")"
    R"(ClaimName\":\"ours-8-12-0-device-dqpn4\",\"Namespace\":\"default\",\"PodUIDs\":{\"914)"
    R"(46f45-b012-45eb-985d-5515d04e3284\":{}},\"DriverState\":{\"compute-domain.nvidia.com\)"
    R"(":{\"Devices\":[{\"PoolName\":\"n01\",\"DeviceName\":\"channel-0\",\"ShareID\":null,\)"
    R"("RequestNames\":[\"channel\"],\"CDIDeviceIDs\":[\"k8s.compute-domain.nvidia.com/claim)"
    R"(=a510849e-e441-4c17-b981-df15991b5b84-channel-0\"]}]}}}]}","Checksum":3954863663})";

TEST(KubeletStateFile, IsReadAsKubelet137WritesIt) {
  EXPECT_EQ(decode_kubelet_state(kOf137) ? "" : decode_kubelet_state(kOf137).error().message, "");
  const base::Directory dir;
  KubeletStateFile state(dir.write("dra_manager_state", kOf137));
  EXPECT_TRUE(state.knows("a510849e-e441-4c17-b981-df15991b5b84"));
  EXPECT_FALSE(state.knows("c-3"));
  EXPECT_THAT(state.claims(), ElementsAre(core::ClaimRef{"default", "ours-8-12-0-device-dqpn4",
                                                         "a510849e-e441-4c17-b981-df15991b5b84"}));
}

}  // namespace
}  // namespace cdom::agent

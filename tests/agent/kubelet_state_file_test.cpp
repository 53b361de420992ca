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
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v)"
    R"(1\",\"Entries\":[{\"ClaimUID\":\"c-1\",\"ClaimName\":\"train-0\",\"Namespace\":\"team)"
    R"(-a\",\"PodUIDs\":{\"p-1\":{}},\"DriverState\":{\"compute-domain.nvidia.com\":{\"Devic)"
    R"(es\":[{\"PoolName\":\"n00\",\"DeviceName\":\"channel-0\",\"ShareID\":null,\"RequestNa)"
    R"(mes\":[\"channel\"],\"CDIDeviceIDs\":[\"x\"]}]},\"gpu.nvidia.com\":{\"Devices\":null})"
    R"(}},{\"ClaimUID\":\"c-2\",\"ClaimName\":\"gpu\",\"Namespace\":\"team-a\",\"PodUIDs\":{)"
    R"(\"p-1\":{}},\"DriverState\":{\"gpu.nvidia.com\":{\"Devices\":null}}}]}","Checksum":41)"
    R"(06133806})";
constexpr char kNone[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v)"
    R"(1\",\"Entries\":null}","Checksum":4103351552})";
constexpr char kNewer[] =
    R"({"Data":"{\"kind\":\"DRACheckpoint\",\"apiVersion\":\"checkpoint.dra.kubelet.k8s.io/v)"
    R"(2\",\"Entries\":null}","Checksum":504557666})";

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

}  // namespace
}  // namespace cdom::agent

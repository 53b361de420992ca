#include "compute_domain/api/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/api/node_list.h"
#include "samples.h"

namespace cdom::api {
namespace {

template <class T>
class PackedKind : public testing::Test {};
using PackedKinds = testing::Types<ComputeDomain, ComputeDomainNode, Event, Node, Pod,
                                   ResourceClaim, ResourceClaimTemplate, ResourceSlice, ConfigMap>;
TYPED_TEST_SUITE(PackedKind, PackedKinds);

TYPED_TEST(PackedKind, ComesBackWithAllOfItsFields) {
  const auto object = sample<TypeParam>();
  EXPECT_EQ(unpack<TypeParam>(pack(object).view()), object);
  EXPECT_EQ(unpack<TypeParam>(pack(TypeParam()).view()), TypeParam());
}

TYPED_TEST(PackedKind, TellsItsNameAsItIs) {
  const base::SharedBytes bytes = pack(sample<TypeParam>());
  EXPECT_EQ(name_in(bytes.view()), (PackedName{"team-a", "train"}));
  EXPECT_EQ(name_in(pack(TypeParam()).view()), PackedName());
}

TYPED_TEST(PackedKind, TellsWhetherItsNameIsInItsBeginning) {
  auto object = sample<TypeParam>();
  for (const std::size_t length : {0, 1, 31, 32, 253}) {
    object.meta.name = std::string(length, 'n');
    const base::SharedBytes bytes = pack(object);
    const std::string_view name = name_in(bytes.view()).name;
    const auto end = static_cast<std::size_t>(name.data() + name.size() - bytes.view().data());
    for (std::size_t size = 0; size <= bytes.view().size(); ++size) {
      ASSERT_EQ(holds_name(bytes.view().substr(0, size)), size >= end) << size << " of " << end;
    }
  }
}

TYPED_TEST(PackedKind, TellsWhetherMoreThanItsVersionHasChanged) {
  const auto object = sample<TypeParam>();
  auto newer = object, other = object;
  newer.meta.resource_version = "1078";
  other.meta.uid = "u-2";
  EXPECT_TRUE(is_same_but_for_version(pack(object).view(), pack(newer).view()));
  EXPECT_NE(pack(object).view(), pack(newer).view());
  EXPECT_FALSE(is_same_but_for_version(pack(object).view(), pack(other).view()));
}

Node node_of(const std::string& text) {
  Node node;
  node.meta.name = text;
  node.boot_id = text;
  node.internal_ip = text;
  node.taints = {{text, "", text}};
  return node;
}

TEST(Packing, GivesEachTextBackAsItWas) {
  for (const std::string text :
       {"", "n", "pods", "0123456789abcdef", "0123456789abcdef0", "0123456789ABCDEF",
        "0123456789abcde", "01234567-89ab-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdef.1", "01234567-89AB-cdef-0123-456789abcdef",
        "01234567-89ab-cdef-0123-456789abcde", "-1234567-89ab-cdef-0123-456789abcdef",
        "01234567089ab-cdef-0123-456789abcdef", "a\xff\x80z"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(unpack<Node>(pack(node_of(text)).view()), node_of(text));
  }
  const std::string with_null("a\0b", 3), long_one(70'000, 'x');
  EXPECT_EQ(unpack<Node>(pack(node_of(with_null)).view()), node_of(with_null));
  EXPECT_EQ(unpack<Node>(pack(node_of(long_one)).view()), node_of(long_one));
}

TEST(Packing, GivesEachVersionBackAsItWas) {
  for (const std::string version : {"", "0", "1", "007", "18446744073709551616",
                                    "9223372036854775807", "12a", "-1", "9999999999999999999"}) {
    Node node;
    node.meta.resource_version = version;
    EXPECT_EQ(unpack<Node>(pack(node).view()).meta.resource_version, version);
  }
}

TEST(Packing, GivesEachTimeAndNumberBackAsItWas) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{-1'000'000'000},
        std::int64_t{1'700'000'000'000'000'000}, std::int64_t{1'700'000'000'123'456'789},
        std::int64_t{-1'500'000'001}, Limits::max(), Limits::min()}) {
    Node node;
    node.meta.generation = number;
    node.meta.creation_time = base::Time(base::Duration(number));
    EXPECT_EQ(unpack<Node>(pack(node).view()), node) << number;
  }
}

// More different texts than a packed object looks back at.
TEST(Packing, GivesManyTextsBackInTheirOrder) {
  ResourceClaim claim;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "pod-" + std::to_string(i % 100);
    claim.reserved_for.push_back({"pods", name, "uid of " + name});
  }
  EXPECT_EQ(unpack<ResourceClaim>(pack(claim).view()), claim);
}

TEST(Packing, GivesANodeListBackWithAllOfItsFields) {
  NodeList list;
  list.group = "0123456789abcdef";
  list.clique = "a.1";
  list.slots = 18;
  list.complete = true;
  list.last_term = 7;
  list.entries = {{"n1", 0, "10.0.0.1", "i-1", "boot-1", 3, true, {{"u-c1", 0}, {"u-c2", 5}}},
                  {"n2", -1, "", "", "", 0, false, {}}};
  list.channels = {{5, "u-d", "team-a/train", 2, {0, 3, 17}}, {6}};
  list.last_channel = 6;
  list.releases = 2;
  list.scarce = true;
  list.domain = "team-a/train";
  EXPECT_EQ(unpack<NodeList>(pack(list).view()), list);
  EXPECT_EQ(unpack<NodeList>(pack(NodeList()).view()), NodeList());
}

TEST(Packing, KeepsTheVersionInWhichAClaimCame) {
  for (const std::string_view version : kind_of<ResourceClaim>().versions) {
    ResourceClaim claim;
    claim.version = version;
    EXPECT_EQ(unpack<ResourceClaim>(pack(claim).view()).version, version);
  }
}

TEST(Packing, TakesLittleForWhatIsKnownOrRepeated) {
  Node node;
  node.meta.name = "node-of-a-rack-17";
  const std::size_t without = pack(node).view().size();
  node.meta.uid = "01234567-89ab-cdef-0123-456789abcdef";
  EXPECT_LE(pack(node).view().size(), without + 18);
  node.meta.labels = {{kNodeCliqueLabel, node.meta.uid}};
  EXPECT_LE(pack(node).view().size(), without + 18 + 4);
  node.internal_ip = node.meta.name;
  EXPECT_LE(pack(node).view().size(), without + 18 + 4 + 1);
}

}  // namespace
}  // namespace cdom::api

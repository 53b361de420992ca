// The table of reasons, and the page that is made from it.
#include "compute_domain/core/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>

#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"
#include "source_tree/source_tree.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using base::cat;

constexpr char kPage[] = "docs/reference/conditions.md";

struct Chapter {
  Subject subject;
  const char* title;
  const char* text;
  const char* where;  // title of the column
};
constexpr Chapter kChapters[] = {
    {Subject::Domain, "Conditions of a ComputeDomain",
     "`kubectl get computedomains` shows the reason and the message of condition `Ready`, `kubectl "
     "describe computedomain NAME` all conditions.",
     "Condition"},
    {Subject::Member, "Nodes of a ComputeDomain",
     "The reason of `status.nodes[]`, and of condition `Ready` when it is the worst of all nodes; "
     "the worst comes first. `NodeUnknown`, `NodeRebooted` and `AgentUnknown` are also reasons of "
     "`status.stale` of a ComputeDomainNode: its report may not be true any more.",
     "Condition"},
    {Subject::Node, "Conditions of a ComputeDomainNode",
     "`kubectl get computedomainnodes -o wide` shows the reason of condition `CanServe`. A node "
     "that cannot serve offers no device to the scheduler.",
     "Condition"},
    {Subject::Occurrence, "Other Events",
     "What has happened to an object, which no state shows: `kubectl describe` shows it.",
     "Object"}};

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::Fine:
      return "fine";
    case Severity::Forming:
      return "forming";
    case Severity::Blocked:
      return "blocked";
    case Severity::Ending:
      return "ending";
    case Severity::Fault:
      return "fault";
  }
  return "";
}

const char* name_of(EventType type) {
  switch (type) {
    case EventType::None:
      return "none";
    case EventType::Normal:
      return "Normal";
    case EventType::Warning:
      return "Warning";
  }
  return "";
}

// A clause as a sentence.
std::string sentence(std::string_view clause) {
  if (clause.empty()) return "";
  std::string text(clause);
  // Names of fields stay as they are.
  if (text.substr(0, text.find(' ')).find('.') == std::string::npos) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text + '.';
}

std::string page() {
  std::string text =
      "# Conditions, states and Events\n\n"
      "Made from include/compute_domain/core/reasons.h by `UPDATE=1 test_core "
      "--gtest_filter=Reasons.*`.\n\n"
      "Severity: *fine* is as it should be; *forming* is normal while a domain forms or waits; "
      "*blocked* does not go on until a person changes something; *ending* is a deletion; a "
      "*fault* "
      "is what should work and does not. An Event is recorded when the state is new; of *forming* "
      "states only when the domain was Ready before.\n";
  for (const Chapter& chapter : kChapters) {
    text += cat("\n## ", chapter.title, "\n\n", chapter.text, "\n\n| Reason | ", chapter.where,
                " | Severity | Event | What it means | What to do |\n|---|---|---|---|---|---|\n");
    for (const ReasonRow& row : reason_rows()) {
      if (row.subject != chapter.subject) continue;
      text +=
          cat("| `", row.name, "` | ", row.where, " | ", name_of(row.severity), " | ",
              name_of(row.event), " | ", sentence(row.means), " | ", sentence(row.next), " |\n");
    }
  }
  return text;
}

TEST(Reasons, HaveAPageThatIsUpToDate) {
  if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    std::ofstream(source_tree() / kPage) << page();
  }
  EXPECT_TRUE(source_text(kPage) == page()) << kPage << ": run test_core with UPDATE=1";
}

bool is_why_not_ready(const ReasonRow& row) {
  const std::vector<std::string> conditions = base::split(row.where, ',');
  return row.severity != Severity::Fine && std::ranges::any_of(conditions, [](const auto& name) {
           return base::trim(name) == "Ready";
         });
}

// The first cell of a line of a table: names in quotes, with commas.
std::vector<std::string> names_in(const std::string& line) {
  std::vector<std::string> names;
  const std::string cell = line.substr(0, line.find('|', 1));
  for (const std::string& part :
       base::split(cell.substr(std::min<std::size_t>(1, cell.size())), ',')) {
    const std::string_view name = base::trim(part);
    if (name.size() > 2) names.emplace_back(name.substr(1, name.size() - 2));
  }
  return names;
}

// The lines of a table with a line for each reason why a domain is not Ready: those that are there
// stay as somebody has written them, others come from the rows, each below the one before it.
std::vector<std::string> completed(std::vector<std::string> lines) {
  auto next = lines.begin();
  for (const ReasonRow& row : reason_rows()) {
    if (!is_why_not_ready(row)) continue;
    auto found = std::ranges::find_if(lines, [&](const std::string& line) {
      return std::ranges::count(names_in(line), row.name) > 0;
    });
    if (found == lines.end()) {
      found = lines.insert(next, cat("| `", row.name, "` | ", row.means, " | ", row.next, " |"));
    }
    next = found + 1;
  }
  return lines;
}

// By the reason a person finds what to do.
TEST(Reasons, OfReadyAreAllInTheTroubleshootingPage) {
  constexpr char kTroubleshooting[] = "docs/troubleshooting.md";
  const std::string head = "| reason | means | do |\n|---|---|---|\n";
  const std::string page = source_text(kTroubleshooting);
  const std::size_t begin = page.find(head) + head.size(), end = page.find("\n\n", begin);
  ASSERT_NE(page.find(head), std::string::npos);
  const auto lines = base::split(page.substr(begin, end - begin), '\n');
  const auto wanted = completed(lines);
  if (std::getenv("UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    std::ofstream(source_tree() / kTroubleshooting)
        << page.substr(0, begin) << base::join(wanted, "\n") << page.substr(end);
  }
  EXPECT_TRUE(lines == wanted) << kTroubleshooting << ": run test_core with UPDATE=1";
  for (const std::string& line : lines) {
    for (const std::string& name : names_in(line)) EXPECT_NE(Reason::find(name), std::nullopt);
  }
}

TEST(Reasons, AreFoundByTheirNames) {
  EXPECT_EQ(Reason::find("GroupFull"), Reason("GroupFull"));
  EXPECT_EQ(Reason::find("NoSlot"), std::nullopt);
}

// Whatever is wrong with a member: there is no state of which Ready does not know.
TEST(Reasons, AMemberThatIsNotReadyWithdrawsReadyWhateverItsState) {
  for (const ReasonRow& row : reason_rows()) {
    if (row.subject != Subject::Member || row.name == "Ready") continue;
    const World world = settled_world(2);
    Readiness readiness = readiness_of(world, memberships_of(world.view, world.nodes, world.lists));
    readiness.members[1].state = MemberState::of(row);
    const auto status = computed_status(world, readiness, {}, {});
    EXPECT_FALSE(status.ready) << row.name;
    const auto* ready = api::find_condition(status.conditions, kConditionReady);
    EXPECT_EQ(ready->reason, row.name);
    EXPECT_THAT(cat(", ", row.where, ","), ::testing::HasSubstr(", Ready,"));
  }
}

}  // namespace
}  // namespace cdom::core

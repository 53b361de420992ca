#include "compute_domain/controller/object_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/directory.h"

namespace cdom::controller {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As a user who cannot read everything, for as long as it lives.
class NotRoot {
 public:
  NotRoot() {
    if (geteuid() == 0) is_changed_ = seteuid(65534) == 0;
  }
  ~NotRoot() {
    if (is_changed_ && seteuid(0) != 0) std::abort();
  }

 private:
  bool is_changed_ = false;
};

TEST(FilesOfAPlan, AreTheManifestsOfAFolderAndOfThoseBelowIt) {
  const base::Directory folder;
  for (const char* name : {"c.yaml", "b/a.json", "b/readme.md"}) folder.write(name, "");
  const FoundFiles found = files_below({folder.at()});
  EXPECT_THAT(found.files, ElementsAre(folder.at("b/a.json"), folder.at("c.yaml")));
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST(FilesOfAPlan, AreTheOthersWhereAFolderCannotBeRead) {
  const base::Directory folder;
  for (const char* name : {"z.yaml", "closed/a.yaml"}) folder.write(name, "");
  fs::permissions(folder.at(), fs::perms::all);
  fs::permissions(folder.at("closed"), fs::perms::none);
  FoundFiles found;
  {
    const NotRoot user;
    found = files_below({folder.at()});
  }
  fs::permissions(folder.at("closed"), fs::perms::owner_all);
  EXPECT_THAT(found.files, ElementsAre(folder.at("z.yaml")));
  EXPECT_THAT(found.problems,
              ElementsAre(AllOf(HasSubstr("closed: Permission denied"), HasSubstr("left out"))));
}

TEST(FilesOfAPlan, AreNotMissedInSilence) {
  const base::Directory folder;
  folder.write("notes/readme.md", "");
  const FoundFiles found = files_below({folder.at("notes")});
  EXPECT_THAT(found.problems,
              ElementsAre(folder.at("notes") +
                          ": there is no manifest in this folder (*.yaml, *.yml, *.json)"));
  const auto texts = read_object_files(files_below({folder.at("none.yaml")}));
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error().message,
              AllOf(HasSubstr(folder.at("none.yaml")), HasSubstr("No such file or directory")));
}

}  // namespace
}  // namespace cdom::controller

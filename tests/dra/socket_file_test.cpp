#include "dra/socket_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/directory.h"
#include "compute_domain/base/descriptor.h"

namespace cdom::dra {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using State = SocketFile::State;

class SocketFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(dir_.at()),
                                                  std::filesystem::directory_iterator()));
  }

  base::Directory dir_;
  const std::string path_ = dir_.at("a.sock");
};

TEST_F(SocketFileTest, IsForItsSupervisorOnlyAndGoesWithIt) {
  {
    const auto file = SocketFile::listen(path_);
    ASSERT_TRUE(file) << file.error().message;
    struct stat found {};
    ASSERT_EQ(stat(path_.c_str(), &found), 0);
    EXPECT_TRUE(S_ISSOCK(found.st_mode));
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_EQ(file->state(), State::Ours);
    EXPECT_EQ(files(), 1U);
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(SocketFileTest, LetsABurstOfConnectionsWaitUntilItAccepts) {
  const auto file = SocketFile::listen(path_);
  ASSERT_TRUE(file) << file.error().message;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  std::vector<base::Descriptor> clients;
  for (int i = 0; i < 500; ++i) {
    clients.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(connect(clients.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
              0)
        << i << ": " << std::generic_category().message(errno);
  }
}

TEST_F(SocketFileTest, ReplacesTheSocketOfACrashedProcess) {
  auto crashed = SocketFile::listen(path_);
  const auto file = SocketFile::listen(path_);

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->state(), State::Ours);
  EXPECT_EQ(crashed->state(), State::Anothers);
}

TEST_F(SocketFileTest, LeavesTheSocketThatAnotherProcessHasPutThere) {
  std::optional crashed = SocketFile::listen(path_);
  const auto file = SocketFile::listen(path_);
  crashed.reset();

  EXPECT_EQ(file->state(), State::Ours);
}

TEST_F(SocketFileTest, ReplacesNothingThatIsNoSocket) {
  dir_.write("a.sock", "precious");
  const auto file = SocketFile::listen(path_);

  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message,
              AllOf(HasSubstr(path_), HasSubstr("is not a socket; remove it")));
  EXPECT_EQ(dir_.read("a.sock"), "precious");
}

TEST_F(SocketFileTest, CanBePutBack) {
  auto file = SocketFile::listen(path_);
  unlink(path_.c_str());
  EXPECT_EQ(file->state(), State::Missing);
  ASSERT_TRUE(file->put_back());
  EXPECT_EQ(file->state(), State::Ours);
}

TEST_F(SocketFileTest, TellsWhichFolderIsMissing) {
  const auto file = SocketFile::listen(dir_.at("plugins_registry/a.sock"));

  ASSERT_FALSE(file);
  EXPECT_THAT(
      file.error().message,
      AllOf(HasSubstr("plugins_registry kubelet's own, mounted here?"), HasSubstr("No such file")));
}

}  // namespace

}  // namespace cdom::dra

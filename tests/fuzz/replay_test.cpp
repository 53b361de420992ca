// Replays the corpora, each text as it is and cut off in a hundred places, so that a bug that
// was found by libFuzzer (tools/fuzz) stays fixed under every preset.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "compute_domain/base/log.h"
#include "fuzz/targets.h"
#include "source_tree/source_tree.h"

namespace cdom::fuzz {

namespace {

// The file that is read, for who has to find a broken law.
std::string current;

void tell_current(int /*signal*/) {
  constexpr std::string_view kHead = "while reading ";
  if (write(STDERR_FILENO, kHead.data(), kHead.size()) < 0 ||
      write(STDERR_FILENO, current.data(), current.size()) < 0) {
    _exit(1);
  }
}

std::vector<std::filesystem::path> corpus_of(std::string_view target) {
  const auto folder = source_tree() / "tests/fuzz/corpus" / target;
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(folder), {});
  std::ranges::sort(files);
  return files;
}

class Corpus : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(Corpus, BreaksNoLaw) {
  base::configure_log(base::LogLevel::Off, base::LogFormat::Text);
  (void)std::signal(SIGABRT, tell_current);
  const auto files = corpus_of(GetParam().name);
  ASSERT_FALSE(files.empty()) << "tests/fuzz/corpus has no text for " << GetParam().name;
  for (const auto& file : files) {
    current = file.string() + "\n";
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t step = text.size() / 100 + 1;
    for (std::size_t cut_off = 0; cut_off <= text.size(); cut_off += step) {
      // A copy, so that a sanitizer sees who reads beyond its end.
      const std::vector<char> part(text.begin(), text.end() - static_cast<std::ptrdiff_t>(cut_off));
      GetParam().run({part.data(), part.size()});
    }
  }
}

}  // namespace
}  // namespace cdom::fuzz

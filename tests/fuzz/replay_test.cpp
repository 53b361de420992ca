// Replays the corpora, each text as it is and damaged in many ways. With CDOM_FUZZ_SECONDS each
// target goes on with other damages for that long (tools/fuzz). A text that breaks a law is left in
// the file fuzz-crash.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "fuzz/targets.h"
#include "source_tree/source_tree.h"

namespace cdom::fuzz {

namespace {

constexpr int kDamages = 200;  // of each text

std::vector<std::string> corpus_of(std::string_view target) {
  std::vector<std::string> texts;
  const auto folder = source_tree() / "tests/fuzz/corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::ranges::sort(texts);
  return texts;
}

// Some bytes exchanged, cut out, repeated, or replaced by what such texts are made of.
std::string damaged(std::string text, base::Random& random) {
  static const std::string kPieces[] = {"null",
                                        "{}",
                                        "[]",
                                        "\"",
                                        "-1",
                                        "1e999",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\xff",
                                        "\\u0000",
                                        "\\ud800",
                                        "true",
                                        "\n-",
                                        "&a ",
                                        "*a",
                                        "? ",
                                        "<<: ",
                                        "!!binary ",
                                        "%",
                                        "=",
                                        "\n",
                                        "9223372036854775808",
                                        "+00:00",
                                        std::string(300, '['),
                                        std::string(300, '{')};
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(text.size() - at, 40));
    switch (random.below(5)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(random.below(text.size()), text.substr(at, length));
        break;
      case 3:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
        break;
      default:
        text.replace(at, length, kPieces[random.below(std::size(kPieces))]);
        break;
    }
  }
  return text;
}

// What the laws are being held against, for the file of a broken one.
std::string current;

void keep_current(int /*signal*/) {
  const int file = open("fuzz-crash", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0 || write(file, current.data(), current.size()) < 0) _exit(1);
}

void run(const Target& target, std::string text) {
  current = std::move(text);
  target.run(current);
}

class Corpus : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(Corpus, BreaksNoLaw) {
  (void)std::signal(SIGABRT, keep_current);
  const std::vector<std::string> texts = corpus_of(GetParam().name);
  ASSERT_FALSE(texts.empty()) << "tests/fuzz/corpus has no text for " << GetParam().name;
  base::Random random(1);
  for (const std::string& text : texts) {
    run(GetParam(), text);
    for (int i = 0; i < kDamages; ++i) run(GetParam(), damaged(text, random));
  }
  const char* seconds = std::getenv("CDOM_FUZZ_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  if (seconds == nullptr) return;
  base::Random fresh(base::entropy_seed());
  const base::SystemClock clock;
  const base::Duration end = clock.elapsed() + std::chrono::seconds(std::atoi(seconds));
  while (clock.elapsed() < end) {
    run(GetParam(), damaged(texts[fresh.below(texts.size())], fresh));
  }
}

}  // namespace
}  // namespace cdom::fuzz

#include "sandbox/cluster/control_plane/workload.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/objects.h"

namespace cdom::sandbox {
namespace {

constexpr base::Duration kOtherCommand = std::chrono::seconds(10);

std::string command_line(const json& container) {
  std::vector<std::string> words;
  for (const char* part : {"/command", "/args"}) {
    for (const json& word : at(container, part)) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
  }
  return base::join(words, " ");
}

bool is_separator(char c) {
  return std::string_view(" \t\n;&|\"'()").find(c) != std::string_view::npos;
}

// The argument of the last `sleep` in a command line; nullopt when there is none.
std::optional<std::string> last_sleep(const std::string& line) {
  constexpr std::string_view kSleep = "sleep ";
  for (std::size_t from = line.size(); from != std::string::npos && from > 0;) {
    const std::size_t found = line.rfind(kSleep, from - 1);
    if (found == std::string::npos) return std::nullopt;
    if (found == 0 || is_separator(line[found - 1]) || line[found - 1] == '/') {
      std::size_t begin = found + kSleep.size();
      while (begin < line.size() && line[begin] == ' ') ++begin;
      std::size_t end = begin;
      while (end < line.size() && !is_separator(line[end])) ++end;
      return line.substr(begin, end - begin);
    }
    from = found;
  }
  return std::nullopt;
}

std::optional<base::Duration> duration_of_command(const json& pod) {
  const json& containers = at(pod, "/spec/containers");
  const std::string line = containers.empty() ? "" : command_line(containers[0]);
  if (line.empty()) return std::nullopt;
  const auto sleep = last_sleep(line);
  if (!sleep)
    return line.find("tail -f") == std::string::npos ? std::optional(kOtherCommand) : std::nullopt;
  if (*sleep == "infinity" || *sleep == "inf") return std::nullopt;
  const auto as_duration = parse_duration(*sleep);
  if (as_duration) return as_duration;
  double count = 0;
  const auto parsed = std::from_chars(sleep->data(), sleep->data() + sleep->size(), count);
  if (parsed.ec != std::errc() || count < 0 || count > 1e9) return kOtherCommand;
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(count));
}

// Whether it is compute-domain-imex or compute-domain-agent with the sub-command `check`.
bool checks_its_node(const json& pod) {
  const json& containers = at(pod, "/spec/containers");
  if (containers.empty()) return false;
  const std::string image = text_at(containers[0], "/image");
  const bool is_ours = image.find("/compute-domain-imex") != std::string::npos ||
                       image.find("/compute-domain-agent") != std::string::npos;
  return is_ours &&
         base::cat(" ", command_line(containers[0]), " ").find(" check ") != std::string::npos;
}

// "channel-0" of "k8s.compute-domain.nvidia.com/claim=<uid>-channel-0".
std::optional<std::string> channel_of(const std::string& device) {
  const std::size_t found = device.rfind("channel-");
  if (found == std::string::npos) return std::nullopt;
  return device.substr(found + std::string_view("channel-").size());
}

}  // namespace

std::optional<base::Duration> parse_duration(std::string_view text) {
  base::Duration sum{};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0 || number > 1'000'000'000) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto take = [&](std::string_view unit) {
      if (text.substr(0, unit.size()) != unit) return false;
      text.remove_prefix(unit.size());
      return true;
    };
    if (take("ms")) {
      sum += std::chrono::milliseconds(number);
    } else if (take("s")) {
      sum += std::chrono::seconds(number);
    } else if (take("m")) {
      sum += std::chrono::minutes(number);
    } else if (take("h")) {
      sum += std::chrono::hours(number);
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

Workload workload_of(const json& pod) {
  Workload workload;
  const std::string code = annotation_of(pod, kExitCodeAnnotation);
  std::from_chars(code.data(), code.data() + code.size(), workload.exit_code);
  const auto given = parse_duration(annotation_of(pod, kRunForAnnotation));
  workload.lasts = given ? given : duration_of_command(pod);
  return workload;
}

std::string start_log(const json& pod, const std::string& node,
                      const std::vector<std::string>& devices) {
  std::string text =
      base::cat("simulated container of pod ", key_of(pod).name, " on node ", node, "\n");
  const std::string index = annotation_of(pod, "batch.kubernetes.io/job-completion-index");
  if (!index.empty()) text += base::cat("JOB_COMPLETION_INDEX=", index, "\n");
  for (const std::string& device : devices) {
    const auto channel = channel_of(device);
    if (!channel) continue;
    text += base::cat("crw-rw-rw- /dev/nvidia-caps-imex-channels/channel", *channel, "\n");
  }
  return text;
}

std::string end_log(const json& pod, base::Duration ran, int exit_code) {
  std::string text =
      base::cat("ended after ", base::short_duration(ran), " with exit code ", exit_code, "\n");
  if (checks_its_node(pod)) text += "nothing was checked: a simulated node has no driver\n";
  return text;
}

}  // namespace cdom::sandbox

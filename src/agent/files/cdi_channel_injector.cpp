#include "compute_domain/agent/cdi_channel_injector.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/files/cdi_spec.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

constexpr char kChannelDevice[] = "nvidia-caps-imex-channels";
constexpr char kCdiSuffix[] = ".yaml";  // the content is JSON, which is YAML

// "k8s.compute-domain.nvidia.com-claim_".
std::string cdi_file_prefix() {
  std::string prefix = cdi_kind();
  std::ranges::replace(prefix, '/', '-');
  return prefix + "_";
}

bool is_someone_elses(const Result<CdiSpec>& spec) { return spec && spec->kind != cdi_kind(); }

std::string text_of(const core::ChannelRange& channels) {
  return channels.count == 1
             ? cat("IMEX channel ", channels.first)
             : cat("IMEX channels ", channels.first, " to ", channels.first + channels.count - 1);
}

// Why a file of the claim is written again.
std::string wrong_with(const Result<CdiSpec>& there, unsigned major) {
  if (!there) return there.error().message;
  if (there->major && *there->major != major) {
    return cat("its devices have major ", *there->major, ", and the driver's have ", major);
  }
  return "its content was not what the claim needs";
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

CdiChannelInjector::CdiChannelInjector(CdiOptions options, nvidia::MakeNode make_node)
    : options_(std::move(options)), make_node_(std::move(make_node)) {}

std::string CdiChannelInjector::path_of(const std::string& claim_uid) const {
  return cat(options_.directory, "/", cdi_file_prefix(), claim_uid, kCdiSuffix);
}

Result<unsigned> CdiChannelInjector::channel_major() const {
  const auto devices = base::read_file(options_.proc_devices);
  if (!devices) return devices.error();
  if (const auto major = nvidia::character_major(*devices, kChannelDevice)) return *major;
  return Error{ErrorKind::Unavailable,
               cat(options_.proc_devices, " has no character device ", kChannelDevice,
                   ": is the NVIDIA driver loaded on this node, with IMEX channels?")};
}

Result<void> CdiChannelInjector::check() {
  const auto major = channel_major();
  major_ = major ? std::optional(*major) : std::nullopt;
  return major ? Result<void>() : Result<void>(major.error());
}

std::string CdiChannelInjector::params() const { return options_.proc_driver + "/params"; }

std::optional<std::int64_t> CdiChannelInjector::count() {
  const auto text = base::read_file(params());
  return text ? nvidia::numeric_field(*text, "ImexChannelCount") : std::nullopt;
}

Result<void> CdiChannelInjector::check_count(const core::ChannelRange& channels) {
  const std::optional<std::int64_t> has = count();
  // A driver that does not tell has the usual number.
  if (!has || channels.first + channels.count <= *has) return {};
  return base::invalid(cat(text_of(channels), " of the claim cannot be had: the NVIDIA driver has ",
                           *has, " (ImexChannelCount in ", params(),
                           "); load it with NVreg_ImexChannelCount=",
                           channels.first + channels.count, " or more, as on every node"));
}

Result<void> CdiChannelInjector::write(const core::ClaimRef& claim,
                                       const core::ChannelRange& channels) {
  if (claim.uid.empty() || !base::is_label_value(claim.uid)) {
    return base::invalid(cat("the claim's UID \"", claim.uid, "\" cannot name a file"));
  }
  if (channels.count < 1) return base::invalid("a CDI file needs at least one channel");
  const auto major = channel_major();
  if (!major) return major.error();
  if (auto enough = check_count(channels); !enough) return enough;
  if (auto made = make_host_nodes(channels, *major); !made) return made;
  return write_file(claim, channels, *major);
}

Result<void> CdiChannelInjector::make_host_nodes(const core::ChannelRange& channels,
                                                 unsigned major) {
  if (options_.dev.empty()) return {};
  std::vector<nvidia::DeviceNode> nodes;
  for (std::int64_t i = channels.first; i < channels.first + channels.count; ++i) {
    nodes.push_back({channel_node(i), major, static_cast<unsigned>(i), 0666});
  }
  return nvidia::make_device_nodes(nodes, options_.dev, make_node_);
}

Result<void> CdiChannelInjector::write_file(const core::ClaimRef& claim,
                                            const core::ChannelRange& channels, unsigned major) {
  const std::string path = path_of(claim.uid);
  const std::string text = encode_cdi_spec(claim.uid, channels, major, options_.as_zero);
  const auto there = base::read_file(path);
  if (there && *there == text) return {};
  std::string wrong;  // with the file that is there
  if (there) {
    const auto spec = decode_cdi_spec(*there, path, claim.uid);
    if (is_someone_elses(spec)) {
      return base::invalid(
          cat(path, " is a CDI spec of kind ", spec->kind, ", which is not ours: move it away"));
    }
    wrong = wrong_with(spec, major);
  } else if (there.error().kind != ErrorKind::NotFound) {
    wrong = there.error().message;
  }
  if (auto written = base::replace_file_durably(path, text); !written) return written;
  if (!wrong.empty()) {
    base::log_warning("wrote a CDI file again; containers that run keep the device that they have",
                      {{"claim", core::to_string(claim)}, {"path", path}, {"reason", wrong}});
  }
  return {};
}

bool CdiChannelInjector::is_written(const std::string& claim_uid) {
  std::error_code error;
  // What cannot be looked at may be there.
  return fs::exists(path_of(claim_uid), error) || error;
}

bool CdiChannelInjector::is_up_to_date(const std::string& claim_uid,
                                       const core::ChannelRange& channels) {
  const std::string path = path_of(claim_uid);
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return errno != ENOENT && errno != ENOTDIR;  // as above
  if (!major_) return true;
  const Right now = {.inode = file.st_ino,
                     .size = file.st_size,
                     .modified = nanoseconds(file.st_mtim),
                     .changed = nanoseconds(file.st_ctim),
                     .channels = channels,
                     .major = *major_};
  Right& known = right_[claim_uid];
  if (known == now) return true;
  const auto text = base::read_file(path);
  if (!text || *text != encode_cdi_spec(claim_uid, channels, *major_, options_.as_zero)) {
    return false;
  }
  known = now;
  return true;
}

Result<WrittenChannels> CdiChannelInjector::written() {
  WrittenChannels written;
  std::error_code error;
  fs::directory_iterator it(options_.directory, error);
  if (error == std::errc::no_such_file_or_directory) return written;
  const std::string prefix = cdi_file_prefix();
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::string uid = it->path().filename();
    if (!uid.starts_with(prefix) || !uid.ends_with(kCdiSuffix)) continue;
    uid = uid.substr(prefix.size(), uid.size() - prefix.size() - std::string(kCdiSuffix).size());
    const std::string path = it->path();
    const auto text = base::read_file(path);
    if (!text) {
      tell(path, text.error().message);
      written.are_all = false;
      continue;
    }
    const auto spec = decode_cdi_spec(*text, path, uid);
    if (!spec) {
      tell(path, spec.error().message);
      written.are_all = false;
    } else if (!is_someone_elses(spec) && spec->channels) {
      written.by_claim[uid] = *spec->channels;
    }
  }
  if (error) return base::system_error(cat("cannot list ", options_.directory), error.value());
  return written;
}

Result<void> CdiChannelInjector::remove(const std::string& claim_uid) {
  if (!base::is_label_value(claim_uid)) return {};  // nothing was ever written under such a name
  const std::string path = path_of(claim_uid);
  const auto text = base::read_file(path);
  if (text && is_someone_elses(decode_cdi_spec(*text, path, claim_uid))) {
    tell(path, "it is left in place: its kind is not ours");
    return {};
  }
  logged_.erase(path);
  right_.erase(claim_uid);
  return base::remove_file(path);
}

// Once.
void CdiChannelInjector::tell(const std::string& path, const std::string& problem) {
  if (!logged_.insert(path).second) return;
  base::log_warning("a CDI file is named like a claim's but is not one",
                    {{"path", path}, {"problem", problem}});
}

}  // namespace cdom::agent

#include "compute_domain/dra/plugin.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "compute_domain/base/log.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"
#include "dra/dead_sockets.h"
#include "dra/listeners.h"
#include "dra/services.h"

namespace cdom::dra {

namespace {

constexpr int kMostRemovals = 10;

// The driver's own folder is ours to make; the others are kubelet's.
base::Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (!error) return {};
  return base::system_error(
      base::cat("cannot make ", folder.string(), " (is ", folder.parent_path().string(),
                " kubelet's own, mounted here?)"),
      error.value());
}

template <class Started>
bool is_gone(const Started& started, const std::filesystem::path& folder) {
  std::error_code ignored;
  return !started && started.error().kind == base::ErrorKind::NotFound &&
         !std::filesystem::exists(folder, ignored);
}

}  // namespace

// In this order: nobody connects any more when the calls are stopped.
struct Plugin::Parts {
  std::unique_ptr<Services> services;
  std::unique_ptr<Listeners> listeners;
};

base::Result<std::unique_ptr<Plugin>> Plugin::start(const PluginOptions& options, Driver& driver,
                                                    const base::Clock& clock) {
  const auto paths = socket_paths(options);
  if (!paths) return paths.error();
  const auto folder = std::filesystem::path(paths->dra).parent_path();
  if (auto made = make_folder(folder); !made) return made.error();
  auto parts = std::make_unique<Parts>();
  auto services = Services::start(options, paths->dra, driver, clock);
  if (!services) return services.error();
  parts->services = std::move(*services);

  // First, as kubelet looks at all that lie there.
  remove_dead_sockets(options, *paths);
  Services& served = *parts->services;
  const auto listen = [&] {
    return Listeners::start(
        {{paths->dra, [&served](base::Descriptor c) { served.serve_dra(std::move(c)); }},
         {paths->registration,
          [&served](base::Descriptor c) { served.serve_registration(std::move(c)); }}},
        {.every = options.repeat_health_every,
         .call =
             [&served, options, own = *paths] {
               served.repeat_health();
               remove_dead_sockets(options, own);
             }},
        [&served](bool is_listening) { served.set_serving(is_listening); }, clock);
  };
  auto listeners = listen();
  // A predecessor that ends takes an empty folder along.
  for (int i = 0; i < kMostRemovals && is_gone(listeners, folder); ++i) {
    if (auto made = make_folder(folder); !made) return made.error();
    listeners = listen();
  }
  if (!listeners) return listeners.error();
  parts->listeners = std::move(*listeners);
  base::log_info("waiting for kubelet", {{"socket", paths->registration}});
  return std::unique_ptr<Plugin>(new Plugin(std::move(parts)));
}

Plugin::Plugin(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Plugin::~Plugin() = default;

void Plugin::set_health(std::vector<DeviceHealth> devices) {
  parts_->services->set_health(std::move(devices));
}
Registration Plugin::registration() const { return parts_->services->registration(); }
bool Plugin::is_listening() const { return parts_->listeners->is_listening(); }

}  // namespace cdom::dra

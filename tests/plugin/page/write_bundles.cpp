// plugin_page_bundles DIR: the views of the page's tests as bundles, DIR/troubled.tar.gz and so on,
// for the test that opens their pages in a browser; and DIR/hostile.html, the page of names that no
// bundle may have.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>

#include "compute_domain/base/text.h"
#include "compute_domain/plugin/bundle.h"
#include "compute_domain/plugin/page.h"
#include "plugin/page/views.h"
#include "plugin/views.h"

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: plugin_page_bundles DIR\n", stderr);
    return 2;
  }
  using Make = std::function<plugin::ClusterView()>;
  const std::map<std::string, Make> views{
      {"empty", plugin::testing::installed},
      {"troubled", plugin::testing::troubled_view},
      {"large", plugin::testing::large_view},
      {"huge", [] { return plugin::testing::huge_domain_view(576, 7); }},
  };
  for (const auto& [name, make] : views) {
    const std::string file = base::cat(argv[1], "/", name, ".tar.gz");
    if (const auto done = plugin::write_bundle(make(), file); !done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      return 1;
    }
  }
  std::ofstream page(base::cat(argv[1], "/hostile.html"));
  page << plugin::html_of(plugin::testing::hostile_view(), "a test");
  return page.flush() ? 0 : 1;
}

// Bundle: a ClusterView as one .tar.gz, for a person who helps from elsewhere.
//
// Its files: manifest.json names the format, the release, the server and the time;
// objects/<plural>.json is a list of each kind, as an API server gives it. Only what the types of a
// ClusterView hold is written, so that a bundle has no secret; and, under logs/, what the
// operator's own pods have logged, which is for people and which no command reads. Reading trusts
// nothing: a bundle may come from anywhere.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/controller/dry_run.h"
#include "compute_domain/plugin/cluster_view.h"
#include "compute_domain/plugin/pod_logs.h"

namespace cdom::plugin {

// The bytes of a bundle.
base::Result<std::string> packed_bundle(const ClusterView& view,
                                        const std::vector<PodLog>& logs = {});
// An error names the file that cannot be written. A file that is there is replaced as a whole.
base::Result<void> write_bundle(const ClusterView& view, const std::string& file,
                                const std::vector<PodLog>& logs = {});

// Invalid: the file is not there, is not a bundle, is cut off, or has another format; says which.
base::Result<ClusterView> read_bundle(const std::string& file);

// The objects of a view as files of a dry run.
std::vector<controller::ObjectFile> object_files_of(const ClusterView& view);

}  // namespace cdom::plugin

"""The releases of Kubernetes that a cluster can have, and what each of them needs to do DRA."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    version: str
    modules: str  # the file in go/ that names its Go modules
    resource_api_versions: tuple  # all versions of resource.k8s.io that it can serve
    default_api_versions: tuple
    feature_gates: str = ""
    has_kubelet: bool = False  # its binary, and so nodes


RELEASES = {
    "1.33": Release("v1.33.13", "go-1.33.mod", ("v1beta2", "v1beta1"), ("v1beta2", "v1beta1"),
                    "DynamicResourceAllocation=true"),
    "1.36": Release("v1.36.3", "go-1.36.mod", ("v1", "v1beta2", "v1beta1"), ("v1",), has_kubelet=True),
    "1.37": Release("v1.37.2", "go.mod", ("v1", "v1beta2", "v1beta1"), ("v1",), has_kubelet=True),
}
DEFAULT = "1.37"

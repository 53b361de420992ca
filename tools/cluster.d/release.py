"""The releases of Kubernetes that a cluster can have, and what each of them needs to do DRA."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    version: str
    modules: str  # the file in go/ that names its Go modules
    resource_api_versions: tuple  # all versions of resource.k8s.io that it can serve
    default_api_versions: tuple
    own_api_version: str = "v1"  # that which its other components and its kubelets ask for
    kubelet: str = "kubelet"  # the file in go/ that adds it, and the tag that builds this file
    feature_gates: tuple = ()  # that are switched on in all components and kubelets


RELEASES = {
    # Kubelets of all releases restart containers after a second (node_files.py); those before 1.35 refuse that without the gate
    # KubeletCrashLoopBackOffMax.
    "1.32": Release("v1.32.13", "go-1.32.mod", ("v1beta1",), ("v1beta1",), "v1beta1", "kubelet_1.33",
                    ("DynamicResourceAllocation", "KubeletCrashLoopBackOffMax")),
    "1.33": Release("v1.33.13", "go-1.33.mod", ("v1beta2", "v1beta1"), ("v1beta2", "v1beta1"), "v1beta1", "kubelet_1.33",
                    ("DynamicResourceAllocation", "KubeletCrashLoopBackOffMax")),
    "1.34": Release("v1.34.4", "go-1.34.mod", ("v1", "v1beta2", "v1beta1"), ("v1",), feature_gates=("KubeletCrashLoopBackOffMax",)),
    "1.35": Release("v1.35.4", "go-1.35.mod", ("v1", "v1beta2", "v1beta1"), ("v1",)),
    "1.36": Release("v1.36.3", "go-1.36.mod", ("v1", "v1beta2", "v1beta1"), ("v1",)),
    "1.37": Release("v1.37.2", "go.mod", ("v1", "v1beta2", "v1beta1"), ("v1",)),
}
DEFAULT = "1.37"

"""NodeFiles: what lies on a node's disk before it is first switched on."""

import json
import uuid
from pathlib import Path

from identity import Identities
from machine import CNI_PLUGINS
from rack import Place

# What a node has of its own below these: an overlay over this machine's.
OVERLAYS = ["etc", "var-lib"]
# And instead of this machine's, seen on the node at the path with slashes for dashes.
FOLDERS = ["etc-cni-net.d", "etc-cdi", "var-lib-kubelet", "var-lib-containerd", "var-log"]

_PROC_DEVICES = """\
Character devices:
  1 mem
195 nvidia
234 nvidia-caps
235 nvidia-caps-imex-channels

Block devices:
259 blkext
"""

# A silent node is to be known as such within seconds, not a minute (kube-controller-manager's grace period).
_KUBELET_CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: /etc/kubernetes/ca.crt}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
resolvConf: ""
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 1Mi}
nodeLeaseDurationSeconds: 20
crashLoopBackOff: {maxContainerRestartPeriod: 1s}
clusterDomain: cluster.local
"""

# runc may not lower oom_score_adj without CAP_SYS_RESOURCE; a profile of AppArmor would stay with this machine's kernel.
_CONTAINERD_CONFIG = f"""\
version = 3
disabled_plugins = ['io.containerd.snapshotter.v1.blockfile', 'io.containerd.snapshotter.v1.erofs',
  'io.containerd.nri.v1.nri', 'io.containerd.tracing.processor.v1.otlp']
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = 'local/pause:1'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['{CNI_PLUGINS}']
"""


class NodeFiles:
    def __init__(self, directory: Path, place: Place):
        self._directory = directory
        self._place = place
        self.boot_id = directory / "boot_id"

    def create(self, identities: Identities, port: int, feature_gates: tuple) -> None:
        for name in (*OVERLAYS, *(f"{name}.work" for name in OVERLAYS), *FOLDERS, "test"):
            (self._directory / name).mkdir(parents=True)
        name, family = f"system:node:{self._place.name}", self._place.family
        identities.create_client(name, user=name, group="system:nodes")
        identities.write_kubeconfig(name, family.url("https", family.gateway, port))
        for path, content in {
            "etc/hostname": f"{self._place.name}\n",
            "etc/hosts": f"127.0.0.1 localhost\n{self._place.address} {self._place.name}\n",
            "etc/machine-id": f"{uuid.uuid4().hex}\n",
            "etc/containerd/config.toml": _CONTAINERD_CONFIG,
            "etc/kubernetes/ca.crt": identities.ca.read_text(),
            "etc/kubernetes/kubelet.yaml": _KUBELET_CONFIG + f"clusterDNS: ['{family.name_server_address}']\n" +
                                           f"featureGates: {json.dumps(dict.fromkeys(feature_gates, True))}\n",
            "etc/kubernetes/kubelet.kubeconfig": identities.kubeconfig(name).read_text(),
            "etc-cni-net.d/pods.conflist": json.dumps(self._cni()),
            "test/nvml.json": json.dumps(self._place.gpus),
            "test/proc-devices": _PROC_DEVICES,
        }.items():
            file = self._directory / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)

    def write_new_boot_id(self) -> None:
        self.boot_id.write_text(f"{uuid.uuid4()}\n")

    def _cni(self) -> dict:
        return {
            "cniVersion": "1.0.0",
            "name": "pods",
            "plugins": [{
                "type": "bridge",
                "bridge": "pods",
                "isGateway": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": "/run/cni",
                    "ranges": [[{"subnet": self._place.pod_range}]],
                    "routes": [{"dst": self._place.family.everywhere}],
                },
            }],
        }

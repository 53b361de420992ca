"""The control plane's components: which there are, and with which flags they run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from failure import Failure
from identity import Identities
from ip_family import DEFAULT_FAMILY, FAMILIES, IpFamily
from rack import places
from release import DEFAULT, RELEASES, Release

SERVERS = ["etcd", "kube-apiserver"]
CLIENTS = ["kube-controller-manager", "kube-scheduler"]
COMPONENTS = SERVERS + CLIENTS

PORTS = [*COMPONENTS, "etcd-peer"]
# Where the control plane has a network of its own.
USUAL_PORTS = {"etcd": 2379, "etcd-peer": 2380, "kube-apiserver": 443, "kube-controller-manager": 10257,
               "kube-scheduler": 10259}

_AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""


NODE_GRACE_SECONDS = 20


@dataclass(frozen=True)
class Options:
    """What a cluster was asked to be."""

    release: str = DEFAULT
    api_versions: Optional[list] = None  # of resource.k8s.io; None: the release's default
    only_apiserver: bool = False
    nodes: int = 0
    racks: int = 1
    driver_root: Optional[str] = None  # of all nodes; None: an empty one
    node_grace: int = NODE_GRACE_SECONDS  # of a node's silence, until it counts as lost
    ip_family: str = DEFAULT_FAMILY  # of nodes, pods and services

    def __post_init__(self):
        known = self.kubernetes().resource_api_versions
        for version in self.api_versions or []:
            if version not in known:
                raise Failure(f"--api-versions: Kubernetes {self.release} has no resource.k8s.io/{version}: "
                              f"use some of {','.join(known)}")
        self.places()
        own = self.kubernetes().own_api_version
        if self.nodes > 0 and (self.only_apiserver or not self.serves(own)):
            raise Failure(f"--nodes needs all components, and of Kubernetes {self.release} resource.k8s.io/{own}")
        if self.nodes == 0 and self.ip_family != DEFAULT_FAMILY:
            raise Failure(f"--ip-family {self.ip_family}: without --nodes there is only 127.0.0.1")

    def kubernetes(self) -> Release:
        return RELEASES[self.release]

    def serves(self, api_version: str) -> bool:
        """Whether this version of resource.k8s.io is served."""
        return api_version in (self.api_versions or self.kubernetes().default_api_versions)

    def places(self) -> list:
        return places(self.nodes, self.racks, self.family())

    def family(self) -> IpFamily:
        return FAMILIES[self.ip_family]

    def clients(self) -> list:
        """The components that run against the API server."""
        return [] if self.only_apiserver else CLIENTS

    def components(self) -> list:
        return SERVERS + self.clients()


class ControlPlane:
    """The files and command lines of one control plane; starts nothing."""

    def __init__(self, directory: Path, options: Options, address: str, ports: dict):
        """`address` is where this machine reaches it."""
        self._directory = directory
        self._options = options
        self._address = address
        self._ports = ports
        self.identities = Identities(directory / "identities")
        self.audit_log = directory / "audit.log"

    @property
    def server(self) -> str:
        return f"https://{self._address}:{self._ports['kube-apiserver']}"

    def create_files(self) -> None:
        identities, family = self.identities, self._options.family()
        identities.create_authority()
        identities.create_server("kube-apiserver", [
            "DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc",
            "DNS:kubernetes.default.svc.cluster.local", "DNS:localhost", "IP:127.0.0.1", f"IP:{family.service_address}",
            f"IP:{self._address}", f"IP:{family.gateway}"])
        identities.create_client("admin", user="kubernetes-admin", group="system:masters")
        identities.write_kubeconfig("admin", self.server)
        identities.create_client("kubelet-client", user="kube-apiserver", group="system:masters")
        for component in CLIENTS:
            identities.create_client(component, user=f"system:{component}")
            identities.write_kubeconfig(component, self.server)
        self._audit_policy().write_text(_AUDIT_POLICY)

    def command_line(self, component: str) -> list:
        flags = {
            "etcd": self._etcd_flags,
            "kube-apiserver": self._apiserver_flags,
            "kube-controller-manager": self._controller_manager_flags,
            "kube-scheduler": self._scheduler_flags,
        }[component]()
        gates = self._options.kubernetes().feature_gates
        if gates and component != "etcd":
            flags["feature-gates"] = ",".join(f"{gate}=true" for gate in gates)
        return [component, *(f"--{name}={value}" for name, value in flags.items())]

    def _etcd_flags(self) -> dict:
        client, peer = self._etcd_url("etcd"), self._etcd_url("etcd-peer")
        return {
            "data-dir": self._directory / "etcd",
            "unsafe-no-fsync": "true",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "log-level": "warn",
        }

    def _apiserver_flags(self) -> dict:
        identities, kubernetes = self.identities, self._options.kubernetes()
        flags = {
            "etcd-servers": self._etcd_url("etcd"),
            "secure-port": self._ports["kube-apiserver"],
            "service-cluster-ip-range": self._options.family().service_range,
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": identities.service_account_key,
            "service-account-signing-key-file": identities.service_account_key,
            "client-ca-file": identities.ca,
            # Nobody holds such a certificate; without the flags the other components ask for them in their logs for ever.
            "requestheader-client-ca-file": identities.ca,
            "requestheader-allowed-names": "front-proxy",
            "requestheader-username-headers": "X-Remote-User",
            "requestheader-group-headers": "X-Remote-Group",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-",
            "tls-cert-file": identities.certificate("kube-apiserver"),
            "tls-private-key-file": identities.key("kube-apiserver"),
            # The node authorizer watches ResourceSlices, and keeps a server from getting ready that does not serve its version.
            "authorization-mode": "Node,RBAC" if self._options.serves(kubernetes.own_api_version) else "RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "allow-privileged": "true",
            "audit-policy-file": self._audit_policy(),
            "audit-log-path": self.audit_log,
            # In megabytes. Who counts what was written reads from where it was: another file in its place would have nothing there.
            "audit-log-maxsize": 10_000,
            "runtime-config": ",".join(f"resource.k8s.io/{version}={str(self._options.serves(version)).lower()}"
                                       for version in kubernetes.resource_api_versions),
        }
        if self._options.nodes > 0:
            flags |= {
                "advertise-address": self._options.family().gateway,
                "kubelet-client-certificate": identities.certificate("kubelet-client"),
                "kubelet-client-key": identities.key("kubelet-client"),
                "kubelet-preferred-address-types": "InternalIP",
            }
        else:
            flags |= {
                "bind-address": "127.0.0.1",
                "advertise-address": "127.0.0.1",
                # No pod can reach a loopback address, and Kubernetes refuses one as an endpoint.
                "endpoint-reconciler-type": "none",
            }
        if self._options.only_apiserver:
            # Nobody makes the ServiceAccounts without which this plugin refuses every pod.
            flags["disable-admission-plugins"] = "ServiceAccount"
        return flags

    def _controller_manager_flags(self) -> dict:
        return self._client_flags("kube-controller-manager") | {
            "service-account-private-key-file": self.identities.service_account_key,
            "root-ca-file": self.identities.ca,
            "use-service-account-credentials": "true",
        } | ({"node-monitor-grace-period": f"{self._options.node_grace}s"} if self._options.nodes > 0 else {})

    def _scheduler_flags(self) -> dict:
        return self._client_flags("kube-scheduler")

    def _client_flags(self, component: str) -> dict:
        kubeconfig = self.identities.kubeconfig(component)
        return {
            "kubeconfig": kubeconfig,
            "authentication-kubeconfig": kubeconfig,
            "authorization-kubeconfig": kubeconfig,
            "leader-elect": "false",
            "bind-address": self._address,
            "secure-port": self._ports[component],
        }

    def _etcd_url(self, port: str) -> str:
        return f"http://127.0.0.1:{self._ports[port]}"

    def _audit_policy(self) -> Path:
        return self._directory / "audit-policy.yaml"

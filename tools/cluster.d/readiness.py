"""Readiness: what the components themselves say about being ready."""

import http.client
import json
import ssl
from typing import Optional

from identity import Identities

_TIMEOUT_SECONDS = 5


class Prober:
    """Asks the components of one cluster over https, as its administrator."""

    def __init__(self, identities: Identities, address: str, ports: dict):
        self._address = address
        self._ports = ports
        self._trusting = ssl.create_default_context(cafile=identities.ca)
        self._trusting.load_cert_chain(identities.certificate("admin"), identities.key("admin"))
        # The others make themselves a certificate at start, which nobody can know.
        self._blind = ssl._create_unverified_context()

    def is_apiserver_ready(self) -> bool:
        return self._answers("kube-apiserver", "/readyz")

    def is_scheduler_healthy(self) -> bool:
        return self._answers("kube-scheduler", "/healthz")

    def are_service_accounts_made(self) -> bool:
        """Whether pods can be created in the default namespace: the controller manager makes both."""
        namespace = "/api/v1/namespaces/default"
        return all(self._answers("kube-apiserver", f"{namespace}/{name}")
                   for name in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"))

    def ready_nodes(self) -> dict:
        """The names of nodes that are Ready, and the boot ids of which they say so."""
        nodes = json.loads(self._ask("kube-apiserver", "/api/v1/nodes") or '{"items": []}')["items"]
        return {node["metadata"]["name"]: node["status"]["nodeInfo"]["bootID"] for node in nodes
                if {"type": "Ready", "status": "True"}.items() <= _condition(node, "Ready").items()}

    def versions(self) -> Optional[dict]:
        """Of Kubernetes, as the API server says, and of the nodes' kubelets and container runtimes, as they say. None: no answer."""
        server, list_of_nodes = self._ask("kube-apiserver", "/version"), self._ask("kube-apiserver", "/api/v1/nodes")
        if server is None or list_of_nodes is None:
            return None
        nodes = [node["status"]["nodeInfo"] for node in json.loads(list_of_nodes)["items"]]
        return {"kubernetes": json.loads(server)["gitVersion"].removeprefix("v"),
                "kubelets": sorted({node["kubeletVersion"].removeprefix("v") for node in nodes}),
                "runtimes": sorted({node["containerRuntimeVersion"].replace("://", " ").replace(" v", " ") for node in nodes})}

    def _answers(self, component: str, path: str) -> bool:
        return self._ask(component, path) is not None

    def _ask(self, component: str, path: str) -> Optional[bytes]:
        """None: no answer, or no good one."""
        context = self._trusting if component == "kube-apiserver" else self._blind
        connection = http.client.HTTPSConnection(self._address, self._ports[component], timeout=_TIMEOUT_SECONDS,
                                                 context=context)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            return body if response.status == http.client.OK else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()


def _condition(node: dict, kind: str) -> dict:
    return next((one for one in node["status"].get("conditions", []) if one["type"] == kind), {})

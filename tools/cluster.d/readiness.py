"""Readiness: what the components themselves say about being ready."""

import http.client
import ssl

from identity import Identities

_TIMEOUT_SECONDS = 5


class Prober:
    """Asks the components of one cluster over https, as its administrator."""

    def __init__(self, identities: Identities, ports: dict):
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

    def _answers(self, component: str, path: str) -> bool:
        context = self._trusting if component == "kube-apiserver" else self._blind
        connection = http.client.HTTPSConnection("127.0.0.1", self._ports[component], timeout=_TIMEOUT_SECONDS,
                                                 context=context)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

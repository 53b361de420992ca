"""identities: a control plane with the operator's manifests, and who asks its API server for what."""

import base64
import http.client
import itertools
import json
import os
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
OPERATOR = "compute-domain-operator"
NODES = "compute-domain-nodes"
NAMESPACES = {"compute-domain-controller": OPERATOR, "compute-domain-agent": NODES, "compute-domain-imex": NODES}


class Failed(Exception):
    pass


class Api:
    """Requests to the API server under one identity, over a connection per thread."""

    def __init__(self, server: str, ca: str, token: str = "", certificate=()):
        self._address = urlsplit(server).netloc
        self._context = None
        if urlsplit(server).scheme == "https":  # the sandbox speaks HTTP
            self._context = ssl.create_default_context(cadata=ca)
            if certificate:
                self._context.load_cert_chain(*certificate)
        self._token = token
        self._threads = threading.local()

    def request(self, method: str, path: str, body=None, kind="application/json", headers=None) -> tuple:
        """Its status and what it says; `body` as JSON, or bytes as they are."""
        connection = getattr(self._threads, "connection", None)
        if connection is None:
            connection = (http.client.HTTPSConnection(self._address, context=self._context, timeout=20) if self._context
                          else http.client.HTTPConnection(self._address, timeout=20))
            self._threads.connection = connection
        headers = {"Content-Type": kind, "Accept": "application/json"} | (headers or {})
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text)
        except ValueError:  # of a watch: none or several
            return answer.status, {}

    def make(self, method: str, path: str, body=None, **more) -> dict:
        status, said = self.request(method, path, body, **more)
        if status >= 300:
            raise Failed(f"{method} {path}: {status} {said.get('message')}")
        return said


def _cluster_and_user(kubeconfig: Path) -> tuple:
    """Of the current context, as kubectl has them."""
    config = yaml.safe_load(kubeconfig.read_text())
    context = next(each["context"] for each in config["contexts"] if each["name"] == config["current-context"])
    return (next(each["cluster"] for each in config["clusters"] if each["name"] == context["cluster"]),
            next(each["user"] for each in config["users"] if each["name"] == context["user"]))


def _text(of: dict, name: str) -> str:
    if f"{name}-data" in of:
        return base64.b64decode(of[f"{name}-data"]).decode()
    return Path(of[name]).read_text() if name in of else ""


def server_of(kubeconfig: Path) -> tuple:
    """Its address, and the certificate authority's text."""
    cluster, _ = _cluster_and_user(kubeconfig)
    return cluster["server"], _text(cluster, "certificate-authority")


def api_of(kubeconfig: Path) -> Api:
    """As whom the kubeconfig is for."""
    cluster, user = _cluster_and_user(kubeconfig)
    ca = _text(cluster, "certificate-authority")
    if "token" in user:
        return Api(cluster["server"], ca, token=user["token"])
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name in ("client-certificate", "client-key"):
            files.append(Path(folder) / name)
            files[-1].write_text(_text(user, name))
        return Api(cluster["server"], ca, certificate=files)


def as_agent_in(admin: Api, kubeconfig: Path, pod: str) -> Api:
    """As whoever has the token of this agent's pod."""
    cluster, _ = _cluster_and_user(kubeconfig)
    answer = admin.make("POST", f"/api/v1/namespaces/{NODES}/serviceaccounts/compute-domain-agent/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod}}})
    return Api(cluster["server"], _text(cluster, "certificate-authority"), token=answer["status"]["token"])


class Cluster:
    def __init__(self, folder: Path):
        self._folder = folder
        self._tool("up")
        config = json.loads(self._tool("kubectl", "config", "view", "--raw", "--minify", "-o", "json"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = cluster["server"]
        self._ca = self._text(cluster, "certificate-authority")
        files = []
        for name in ("client-certificate", "client-key"):
            files.append(folder / name)
            files[-1].write_text(self._text(user, name))
        self.admin = Api(self._server, self._ca, certificate=files)

    def _tool(self, *arguments: str) -> str:
        return subprocess.run([ROOT / "tools/cluster", "--dir", self._folder / "cluster", *arguments], check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    @staticmethod
    def _text(of: dict, name: str) -> str:
        return base64.b64decode(of[f"{name}-data"]).decode() if f"{name}-data" in of else Path(of[name]).read_text()

    def apply(self, *components: str) -> None:
        """The operator with these components, as docs/install.md says."""
        own = self._folder / "own"
        own.mkdir(exist_ok=True)
        manifests = os.path.relpath(ROOT / "manifests", own.resolve())
        (own / "kustomization.yaml").write_text(json.dumps({
            "resources": [f"{manifests}/default"], "components": [f"{manifests}/{name}" for name in components]}))
        self._tool("kubectl", "apply", "--server-side", "-k", str(own))
        self._tool("kubectl", "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")

    def down(self) -> None:
        self._tool("down")

    def with_token_of(self, account: str, pod=None, namespace=None) -> Api:
        """As whoever has a token of this ServiceAccount, bound to a pod as kubelet's are."""
        spec = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod}} if pod else {}
        namespace = namespace or NAMESPACES[account]
        answer = self.admin.make("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token",
                                 {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec})
        return Api(self._server, self._ca, token=answer["status"]["token"])

    def resources(self) -> list:
        """(group, resource or resource/subresource, whether it is in namespaces), of every group."""
        found = set()
        for path in ("/api", "/apis"):
            answer = self.admin.make("GET", path, headers={
                "Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"})
            for group in answer["items"]:
                for resource in itertools.chain(*(version["resources"] for version in group["versions"])):
                    name, in_namespace = resource["resource"], resource["scope"] == "Namespaced"
                    group_name = group["metadata"].get("name", "")
                    found.add((group_name, name, in_namespace))
                    for sub in resource.get("subresources", []):
                        found.add((group_name, f"{name}/{sub['subresource']}", in_namespace))
        return sorted(found)

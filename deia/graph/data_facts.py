"""Facts of YAML and JSON files of known kinds: compose files, Kubernetes manifests, OpenAPI, JSON Schema, workflows.

Each kind has a function that recognises it and yields its facts. Services, images, configuration maps and the like are
shared: the same name means the same thing in every document.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from deia.graph.custom_fields import with_fields
from deia.graph.facts import BY_NAME, Alias, Entity, Facts, Reference
from deia.graph.import_paths import place_of
from deia.graph.marked_data import Map, read_marked, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from deia.graph.schema import Schema

    Fact: TypeAlias = Entity | Reference | Alias

MOST = 20_000
SERVICE, IMAGE = "SERVICE", "IMAGE"
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet", "Pod")
# How a manifest names other resources: the key, the key in it that holds the name ("": its own value), and their kind.
NAMED_BY = {
    "configMapRef": ("name", "ConfigMap"), "configMapKeyRef": ("name", "ConfigMap"), "configMap": ("name", "ConfigMap"),
    "secretRef": ("name", "Secret"), "secretKeyRef": ("name", "Secret"), "secret": ("secretName", "Secret"),
    "secretName": ("", "Secret"), "persistentVolumeClaim": ("claimName", "PersistentVolumeClaim"),
    "serviceAccountName": ("", "ServiceAccount"), "ingressClassName": ("", "IngressClass"),
}  # fmt: skip
ROUTES = {"service": "name", "serviceName": ""}  # the same for an ingress
HOST = re.compile(r"(?:://|@)([\w.-]{1,63})(?=[:/]|$)")
COMPONENTS = {"schemas": "SCHEMA", "definitions": "SCHEMA", "$defs": "SCHEMA"}
SINGULAR = {"bodies": "body", "ies": "y", "s": ""}


def data_facts(document: str, text: str, schema: Schema | None = None) -> Facts:
    """Return the facts of a YAML or JSON file of a known kind, with the fields that a schema names."""
    parts = [data for data in read_marked(text) if isinstance(data, Map)]
    readings = [_kubernetes(parts), *(reader(document, data) for data in parts for reader in READERS)]
    yielded: list[Fact] = list(itertools.islice(itertools.chain(*readings), MOST))
    facts = Facts(
        "",
        tuple(fact for fact in yielded if isinstance(fact, Entity)),
        tuple(dict.fromkeys(fact for fact in yielded if isinstance(fact, Reference))),
        tuple(fact for fact in yielded if isinstance(fact, Alias)),
    )
    return with_fields(facts, parts, schema) if schema else facts


def _names(data: Map, key: str) -> Iterator[tuple[str, int]]:
    return ((item, line) for item, line in data.items_at(key) if isinstance(item, str) and item)


def _image(name: str, line: int, source: str) -> Iterator[Reference]:
    """Yield the reference to a container image, with its tag or digest as the description."""
    bare, _, digest = name.partition("@")
    path, colon, tag = bare.rpartition(":")
    if not colon or "/" in tag:
        path, tag = bare, ""
    if path and "$" not in path:
        yield Reference("USES", path, line, source, IMAGE, description=tag or digest)


# --- compose files ---


def _compose(document: str, data: Map) -> Iterator[Fact]:
    services = data.map("services")
    if not any(
        isinstance(service, Map) and {"image", "build", "extends"} & set(service) for service in services.values()
    ):
        return
    for kind in ("networks", "volumes"):
        for name, line in _names(data, kind):
            yield Entity(f"{document}.{kind}.{name}", kind[:-1].upper(), line, data.map(kind).end(name))
    for name, line in services.lines.items():
        service = services.map(name)
        fields = {"image": service.text("image")} if service.text("image") else {}
        yield Entity(name, SERVICE, line, services.end(name), fields=fields, shared=True)
        yield from _image(service.text("image"), service.lines.get("image", line), name)
        yield from _compose_service(document, data, name, service)


def _compose_service(document: str, data: Map, name: str, service: Map) -> Iterator[Reference]:
    for key in ("depends_on", "links"):
        for other, at in _names(service, key):
            yield Reference("DEPENDS_ON", other.partition(":")[0], at, name, SERVICE)
    for key in ("networks", "volumes"):
        known = data.map(key)
        named = [(other.partition(":")[0], at) for other, at in _names(service, key)]
        named += [(mount.text("source"), at) for mount, at in service.items_at(key) if isinstance(mount, Map)]
        yield from (Reference("USES", f"{document}.{key}.{other}", at, name) for other, at in named if other in known)
    yield from _hosts(service, name, data.map("services"))


def _hosts(service: Map, name: str, services: Map) -> Iterator[Reference]:
    """Yield references to the services whose addresses are in a service's environment."""
    environment = service.map("environment")
    values = [(value, environment.lines[key]) for key, value in environment.items() if isinstance(value, str)]
    for value, at in values or _names(service, "environment"):
        hosts = [host for host in HOST.findall(value[:1000]) if host in services and host != name]
        yield from (Reference("USES", host, at, name, SERVICE, BY_NAME) for host in hosts)


# --- Kubernetes ---


def _kubernetes(parts: Sequence[Map]) -> Iterator[Fact]:
    listed = [item for data in parts if data.text("kind") == "List" for item, _ in data.items_at("items")]
    maps = [*parts, *(item for item in listed if isinstance(item, Map))]
    resources = [data for data in maps if data.text("apiVersion") and data.map("metadata").text("name")]
    labels = {_resource(data): _labels(data) for data in resources if data.text("kind") in WORKLOADS}
    for resource in resources:
        kind, name = resource.text("kind"), _resource(resource)
        metadata = resource.map("metadata")
        fields = {"namespace": metadata.text("namespace")} if metadata.text("namespace") else {}
        yield Entity(name, kind.upper(), resource.lines["apiVersion"], resource.last, fields=fields, shared=True)
        if kind == "Service":
            yield from _selects(resource.map("spec"), name, labels)
        if kind in WORKLOADS:
            at = metadata.lines["name"]
            yield from (Reference("HAS_LABEL", label, at, name, "LABEL") for label in sorted(labels[name]))
        yield from _mentions(resource, name)


def _resource(data: Map) -> str:
    """Return the name of a resource: of a service its own, of any other with its kind, as in `deployment/web`."""
    kind, name = data.text("kind").lower(), data.map("metadata").text("name")
    return name if kind == "service" else f"{kind}/{name}"


def _labels(workload: Map) -> set[str]:
    spec = workload.map("spec")
    spec = spec.map("jobTemplate").map("spec") if "jobTemplate" in spec else spec
    labels = (spec.map("template") if "template" in spec else workload).map("metadata").map("labels")
    return {f"{key}={value}" for key, value in labels.items() if isinstance(value, str)}


def _selects(spec: Map, name: str, labels: dict[str, set[str]]) -> Iterator[Reference]:
    """Yield what a service sends its traffic to: workloads in the same file, and the labels that it selects."""
    wanted = {f"{key}={value}" for key, value in spec.map("selector").items() if isinstance(value, str)}
    line = spec.lines.get("selector", 0)
    chosen = [other for other, has in labels.items() if wanted and wanted <= has]
    yield from (Reference("SELECTS", other, line, name, other.partition("/")[0].upper()) for other in chosen)
    yield from (Reference("SELECTS", label, line, name, "LABEL") for label in sorted(wanted))


def _mentions(resource: Map, name: str) -> Iterator[Reference]:
    """Yield references to everything that a resource's specification names."""
    is_ingress = resource.text("kind") == "Ingress"
    for data, key, line in walk(resource.get("spec")):
        if key == "image" and data.text(key):
            yield from _image(data.text(key), line, name)
        if key in NAMED_BY and (other := _named(data, key, NAMED_BY[key][0])):
            kind = NAMED_BY[key][1]
            yield Reference("USES", f"{kind.lower()}/{other}", line, name, kind.upper())
        if is_ingress and key in ROUTES and (other := _named(data, key, ROUTES[key])):
            yield Reference("ROUTES_TO", other, line, name, SERVICE)
        if key == "scaleTargetRef":
            kind, other = data.map(key).text("kind"), data.map(key).text("name")
            yield Reference("SCALES", f"{kind.lower()}/{other}", line, name, kind.upper())


def _named(data: Map, key: str, inner: str) -> str:
    return data.map(key).text(inner) if inner else data.text(key)


# --- OpenAPI, JSON Schema ---


def _api(document: str, data: Map) -> Iterator[Fact]:
    if not {"openapi", "swagger", "$schema", "$defs", "asyncapi"} & set(data):
        return
    for path, line in data.map("paths").lines.items():
        operations = data.map("paths").map(path)
        for method in METHODS:
            if method in operations:
                name = f"{method.upper()} {path}"
                operation, at = operations.map(method), operations.lines[method]
                described = operation.text("summary") or operation.text("description").partition("\n")[0]
                yield Entity(name, "ENDPOINT", at, operations.end(method), described)
                yield from (Alias(identifier, name) for identifier in [operation.text("operationId")] if identifier)
                yield from _refs(document, operation, name)
        yield from _refs(document, Map() if set(METHODS) & set(operations) else operations, "") if line else ()
    for holder in (data, data.map("components")):
        for section in holder if holder is not data else ("definitions", "$defs"):
            for name, line in holder.map(section).lines.items():
                qualified = f"{document}.{section}.{name}"
                kind = COMPONENTS.get(section) or _singular(section).upper()
                part = holder.map(section).map(name)
                yield Entity(qualified, kind, line, holder.map(section).end(name), part.text("description")[:200])
                yield from _refs(document, part, qualified)


def _singular(plural: str) -> str:
    ending = next((suffix for suffix in SINGULAR if plural.endswith(suffix)), "")
    return plural.removesuffix(ending) + SINGULAR[ending] if ending else plural


def _refs(document: str, data: Map, source: str) -> Iterator[Reference]:
    for holder, key, line in walk(data):
        if key == "$ref" and (ref := holder.text(key)):
            path, _, inner = ref.partition("#")
            if "://" in path:
                continue
            file = place_of(document, "").beside(path) if path else document
            parts = [part for part in inner.split("/") if part][-2:]
            yield Reference("REFERENCES", ".".join((file, *parts)), line, source)


# --- workflows of GitHub ---


def _workflow(document: str, data: Map) -> Iterator[Fact]:
    jobs = data.map("jobs")
    if "on" not in data and not any(isinstance(job, Map) and "runs-on" in job for job in jobs.values()):
        return
    for name, line in jobs.lines.items():
        job, qualified = jobs.map(name), f"{document}.jobs.{name}"
        yield Entity(qualified, "JOB", line, jobs.end(name), job.text("name"))
        for other, at in _names(job, "needs"):
            yield Reference("DEPENDS_ON", f"{document}.jobs.{other}", at, qualified)
        for holder, key, at in walk(job):
            value = holder.text(key)
            if key == "uses" and value.startswith("./"):
                yield Reference("LINKS_TO", place_of(document, "").source + value[2:], at, qualified)
            elif key == "uses" and value:
                action, _, version = value.partition("@")
                yield Reference("USES", action, at, qualified, "ACTION", description=version)
            elif key in {"image", "container"} and value:
                yield from _image(value, at, qualified)


READERS = (_compose, _api, _workflow)

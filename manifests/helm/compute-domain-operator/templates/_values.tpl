{{/* What the values make of the objects that manifests/ has. */}}

{{/* Prints the objects of the folders, with components and values. Of: root, folders. */}}
{{- define "compute-domain.print" -}}
{{- include "compute-domain.check" .root }}
{{- $state := dict "objects" list }}
{{- range .folders }}
{{- include "kustomize.read" (dict "root" $.root "folder" . "state" $state) }}
{{- end }}
{{- range include "compute-domain.components" .root | fromYamlArray }}
{{- include "kustomize.patch" (dict "root" $.root "folder" . "state" $state) }}
{{- end }}
{{- range $object := $state.objects }}
{{- $of := dict "root" $.root "object" $object }}
{{- if eq (include "compute-domain.is-wanted" $of) "true" }}
{{- include "compute-domain.adapt" $of }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which components of manifests/ the values name, in the order in which kustomize is to have them. */}}
{{- define "compute-domain.components" -}}
{{- $of := .Values }}
{{- if eq $of.driver.installedBy "gpuOperator" }}
- gpu-operator
{{- end }}
{{- if not $of.kubelet.podsApi.enabled }}
- without-pods-api
{{- end }}
{{- if $of.gpuCliqueLabel.enabled }}
- gpu-clique-label
{{- end }}
{{- if eq $of.imex.isolation "channel" }}
- isolation-channel
{{- end }}
{{- if eq $of.imex.mode "hostManaged" }}
- host-managed
{{- end }}
{{- if $of.imex.tls.enabled }}
- imex-tls
{{- end }}
{{- if $of.imex.metrics.enabled }}
- imex-metrics
{{- end }}
{{- if or $of.metrics.monitors.enabled $of.metrics.rules.enabled $of.metrics.dashboard.enabled }}
- monitoring
{{- end }}
{{- if $of.metrics.tls.enabled }}
- metrics-tls
{{- if $of.imex.metrics.enabled }}
- imex-metrics/tls
{{- end }}
{{- end }}
{{- if $of.sharedClaims.enabled }}
- shared-claims
{{- end }}
{{- if $of.computeDomainCliques.enabled }}
- compute-domain-cliques
{{- end }}
{{- if $of.debugPage.enabled }}
- debug-page
{{- end }}
{{- if $of.extendedResource.enabled }}
- extended-resource
{{- end }}
{{- if $of.openshift.enabled }}
- openshift
{{- end }}
{{- if $of.adoptFrom }}
- adopt
{{- end }}
{{- if semverCompare "<1.34.0-0" .Capabilities.KubeVersion.Version }}
- kubernetes-1.32/component
{{- end }}
{{- end }}

{{/* What no schema can say; one error for each. */}}
{{- define "compute-domain.check" -}}
{{- if eq .Release.Namespace .Values.namespaces.nodes.name }}
{{- fail (printf "the release is in the namespace %q, which is also namespaces.nodes.name: what runs on the nodes is privileged, and has a namespace of its own" .Release.Namespace) }}
{{- end }}
{{- if and .Values.extendedResource.enabled (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) }}
{{- fail (printf "extendedResource.enabled needs Kubernetes 1.36 or later; this is %s" .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if and .Values.gpuCliqueLabel.enabled (eq .Values.imex.isolation "channel") }}
{{- fail "imex.isolation=channel needs gpuCliqueLabel.enabled=false: there the label nvidia.com/gpu.clique confirms what a node's agent reports, so GPU feature discovery or an administrator has to write it" }}
{{- end }}
{{- range $program := list "controller" "agent" "imex" }}
{{- range (index $.Values $program).env }}
{{- if and $.Values.imex.channels (eq .name "IMEX_CHANNELS") }}
{{- fail (printf "imex.channels sets IMEX_CHANNELS of all programs: take it out of %s.env" $program) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (gt (int .Values.controller.replicas) 1) (not .Values.controller.leaderElection.enabled) }}
{{- fail (printf "controller.replicas is %d: more than one controller needs controller.leaderElection.enabled" (int .Values.controller.replicas)) }}
{{- end }}
{{- if not (include "compute-domain.sets-leases-itself" .Values.controller) }}
{{- include "compute-domain.check-leases" .Values.controller.leaderElection }}
{{- end }}
{{- if and (eq .Values.driver.installedBy "gpuOperator") (eq .Values.driver.root "/") }}
{{- fail "driver.root is /, but the GPU Operator's driver container has its own folder on the node: leave driver.root out, or name that folder" }}
{{- end }}
{{- if and .Values.imex.tls.enabled (eq .Values.imex.mode "hostManaged") }}
{{- fail "imex.mode=hostManaged needs imex.tls.enabled=false: the hosts start nvidia-imex, so TLS is set in their own configuration of it" }}
{{- end }}
{{- if .Release.IsUpgrade }}
{{- include "compute-domain.check-upgrade" . }}
{{- end }}
{{- end }}

{{/* "true", or nothing: the controller has flags or variables of leader election that are not the chart's own. */}}
{{- define "compute-domain.sets-leases-itself" -}}
{{- $found := false }}
{{- range .env }}{{ if hasPrefix "LEADER_ELECTION_" .name }}{{ $found = true }}{{ end }}{{ end }}
{{- range .args }}{{ if hasPrefix "--leader-election-" . }}{{ $found = true }}{{ end }}{{ end }}
{{- if $found }}true{{ end }}
{{- end }}

{{/* Of leader election: what the program demands of its three durations. Their defaults are the program's (docs/reference/flags.md). */}}
{{- define "compute-domain.check-leases" -}}
{{- if .enabled }}
{{- $lease := .leaseDuration | default "15s" }}
{{- $renew := .renewDeadline | default "10s" }}
{{- $retry := .retryPeriod | default "2s" }}
{{- $leaseTime := include "compute-domain.milliseconds" $lease | int64 }}
{{- $renewTime := include "compute-domain.milliseconds" $renew | int64 }}
{{- $retryTime := include "compute-domain.milliseconds" $retry | int64 }}
{{- if or (lt $leaseTime 1000) (mod $leaseTime 1000) }}
{{- fail (printf "controller.leaderElection.leaseDuration is %s: give whole seconds, at least one" $lease) }}
{{- end }}
{{- if le $leaseTime $renewTime }}
{{- fail (printf "controller.leaderElection: leaseDuration (%s) has to be longer than renewDeadline (%s): set both" $lease $renew) }}
{{- end }}
{{- if lt $retryTime 1 }}
{{- fail (printf "controller.leaderElection.retryPeriod is %s: give a time above zero" $retry) }}
{{- end }}
{{- if le (mul 10 $renewTime) (mul 12 $retryTime) }}
{{- fail (printf "controller.leaderElection: renewDeadline (%s) has to be longer than 1.2 times retryPeriod (%s): set both" $renew $retry) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Of a duration as the schema has it. */}}
{{- define "compute-domain.milliseconds" -}}
{{- $unit := regexFind "[a-z]+$" . }}
{{- mul (trimSuffix $unit . | int64) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit) }}
{{- end }}

{{/*
An upgrade after which Helm would delete what it has made for the nodes, and so end every IMEX daemon, and what runs over NVLink.
The controller that runs knows where that is.
*/}}
{{- define "compute-domain.check-upgrade" -}}
{{- $new := .Values.namespaces.nodes.name }}
{{- $old := $new }}
{{- range ((((lookup "apps/v1" "Deployment" .Release.Namespace "compute-domain-controller").spec).template).spec).containers }}
{{- range .env }}
{{- if eq .name "NODE_NAMESPACE" }}{{ $old = .value }}{{ end }}
{{- end }}
{{- end }}
{{- if and (ne $old $new) (include "compute-domain.is-of-the-release" (dict "root" . "object" (lookup "apps/v1" "DaemonSet" $old "compute-domain-imex"))) }}
{{- fail (printf "namespaces.nodes.name is %s, but this release's IMEX daemons run in the namespace %s, and would all end, with what runs over NVLink: set it to %s; or end the workloads, `kubectl delete daemonset -n %s compute-domain-imex`, and upgrade then" $new $old $old $old) }}
{{- end }}
{{- if not .Values.namespaces.nodes.create }}
{{- $namespace := lookup "v1" "Namespace" "" $new }}
{{- if include "compute-domain.is-of-the-release" (dict "root" . "object" $namespace) }}
{{- if ne (get $namespace.metadata.annotations "helm.sh/resource-policy") "keep" }}
{{- fail (printf "namespaces.nodes.create is false, but this release has made the namespace %s, and Helm would delete it with all IMEX daemons: set it to true; or `kubectl annotate namespace %s helm.sh/resource-policy=keep`, and upgrade then" $new $new) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* "true", or nothing. Of: root, object (empty: there is none). */}}
{{- define "compute-domain.is-of-the-release" -}}
{{- $annotations := (.object.metadata).annotations | default dict }}
{{- if and (eq (get $annotations "meta.helm.sh/release-name") .root.Release.Name) (eq (get $annotations "meta.helm.sh/release-namespace") .root.Release.Namespace) -}}
true
{{- end }}
{{- end }}

{{/* Of: root, object (with the name that manifests/ has). */}}
{{- define "compute-domain.is-wanted" -}}
{{- $of := .root.Values }}
{{- $name := .object.metadata.name }}
{{- if eq .object.kind "Namespace" }}{{/* that of the release is Helm's */}}
{{- and (eq $name "compute-domain-nodes") $of.namespaces.nodes.create }}
{{- else if eq .object.kind "NetworkPolicy" }}
{{- $of.networkPolicy.enabled }}
{{- else if eq .object.kind "PodDisruptionBudget" }}
{{- $of.controller.podDisruptionBudget.enabled }}
{{- else if eq .object.kind "ServiceMonitor" }}
{{- $of.metrics.monitors.enabled }}
{{- else if eq .object.kind "PrometheusRule" }}
{{- $of.metrics.rules.enabled }}
{{- else if eq $name "compute-domain-dashboard" }}
{{- $of.metrics.dashboard.enabled }}
{{- else }}
{{- true }}
{{- end }}
{{- end }}

{{/* Of: root, object. */}}
{{- define "compute-domain.adapt" -}}
{{- $of := .root.Values }}
{{- $kind := .object.kind }}
{{- $name := .object.metadata.name }}
{{- if and (eq $kind "Namespace") (eq $name "compute-domain-nodes") }}
{{- include "kustomize.merge" (dict "into" .object "patch" (dict "metadata" (dict "name" $of.namespaces.nodes.name "labels" $of.namespaces.nodes.labels))) }}
{{- else if eq $kind "CustomResourceDefinition" }}
{{- if $of.crds.keep }}
{{- include "kustomize.merge" (dict "into" .object "patch" (dict "metadata" (dict "annotations" (dict "helm.sh/resource-policy" "keep")))) }}
{{- end }}
{{- else if and (eq $kind "NetworkPolicy") (ne $name "compute-domain-imex") }}
{{- range .object.spec.ingress }}{{ $_ := set . "from" $of.networkPolicy.metricsFrom }}{{ end }}
{{- else if eq $kind "ServiceMonitor" }}
{{- include "compute-domain.monitor" . }}
{{- else if eq $kind "PrometheusRule" }}
{{- $_ := set .object.metadata "labels" (merge dict .object.metadata.labels $of.metrics.rules.labels) }}
{{- with $of.metrics.rules.runbookUrl }}{{ include "compute-domain.runbooks" (dict "groups" $.object.spec.groups "url" .) }}{{ end }}
{{- else if eq $name "compute-domain-dashboard" }}
{{- $_ := set .object.metadata "labels" (mergeOverwrite dict .object.metadata.labels $of.metrics.dashboard.labels) }}
{{- with $of.metrics.dashboard.annotations }}{{ $_ := set $.object.metadata "annotations" . }}{{ end }}
{{- else if eq $kind "Deployment" }}
{{- include "compute-domain.controller" . }}
{{- else if and (eq $kind "DaemonSet") (eq $name "compute-domain-agent") }}
{{- include "compute-domain.agent" . }}
{{- else if and (eq $kind "DaemonSet") (eq $name "compute-domain-imex") }}
{{- include "compute-domain.imex" . }}
{{- end }}
{{- include "compute-domain.label" . }}
{{- end }}

{{/* Of: root, object. */}}
{{- define "compute-domain.monitor" -}}
{{- $of := .root.Values.metrics }}
{{- $_ := set .object.metadata "labels" (merge dict .object.metadata.labels $of.monitors.labels) }}
{{- range .object.spec.endpoints }}
{{- if $of.monitors.interval }}{{ $_ := set . "interval" $of.monitors.interval }}{{ end }}
{{- with .tlsConfig.ca }}{{ $_ := set .secret "name" $of.tls.secretName }}{{ end }}
{{- end }}
{{- end }}

{{/* Each alert's description ends with its section of docs/troubleshooting.md. Of: groups, url. */}}
{{- define "compute-domain.runbooks" -}}
{{- range $group := .groups }}
{{- range $rule := $group.rules }}
{{- $section := regexFind "#[a-z-]+\\.$" $rule.annotations.description | trimSuffix "." }}
{{- $_ := set $rule.annotations "runbook_url" (printf "%s%s" $.url $section) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "compute-domain.label" -}}
{{- $labels := dict
      "app.kubernetes.io/instance" .root.Release.Name
      "app.kubernetes.io/managed-by" .root.Release.Service
      "app.kubernetes.io/part-of" "compute-domain-operator"
      "app.kubernetes.io/version" .root.Chart.AppVersion }}
{{- range $meta := list .object.metadata ((.object.spec | default dict).template | default dict).metadata }}
{{- if $meta }}
{{- $_ := set $meta "labels" (mergeOverwrite dict $.root.Values.commonLabels $meta.labels $labels) }}
{{- end }}
{{- end }}
{{- $_ := set .object.metadata.labels "helm.sh/chart" (printf "%s-%s" .root.Chart.Name (replace "+" "_" .root.Chart.Version)) }}
{{- end }}

{{/*
What the values make of the three programs. For each workload of manifests/default: what all programs have, and a strategic merge
patch of its own. Arguments are a dict of: root, object.
*/}}

{{/* Of: into (an object), root, patch (the name of its template). */}}
{{- define "compute-domain.merge" -}}
{{- $patch := dict }}
{{- include "kustomize.parse" (dict "text" (include .patch .root) "place" .patch "parsed" $patch) }}
{{- include "kustomize.merge" (dict "into" .into "patch" $patch.map) }}
{{- end }}

{{- define "compute-domain.controller" -}}
{{- $values := .root.Values.controller }}
{{- include "compute-domain.merge" (dict "into" .object "root" .root "patch" "compute-domain.controller-patch") }}
{{- $_ := set .object.spec "replicas" $values.replicas }}
{{- $container := first .object.spec.template.spec.containers }}
{{- if not $values.leaderElection.enabled }}
{{- $_ := set $container "args" (without $container.args "--leader-election-enabled") }}
{{- end }}
{{- include "compute-domain.program" (dict "root" .root "object" .object "values" $values "args" list) }}
{{- end }}

{{- define "compute-domain.controller-patch" -}}
{{- $leader := .Values.controller.leaderElection -}}
spec:
  template:
    spec:
      containers:
      - name: controller
        env:
        {{- if $leader.enabled }}
        {{- range $name, $value := dict "LEASE_DURATION" $leader.leaseDuration "RENEW_DEADLINE" $leader.renewDeadline "RETRY_PERIOD" $leader.retryPeriod }}
        {{- if $value }}
        - name: LEADER_ELECTION_{{ $name }}
          value: {{ quote $value }}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- include "compute-domain.channels-env" . | nindent 8 }}
        {{- with .Values.imex.maxNodesPerDomain }}
        - name: MAX_NODES_PER_IMEX_DOMAIN
          value: {{ quote . }}
        {{- end }}
        {{- with .Values.adoptFrom }}
        - name: ADOPT_FROM
          value: {{ join "," . | quote }}
        {{- end }}
        {{- include "compute-domain.common-env" (list . .Values.controller) | nindent 8 }}
      {{- include "compute-domain.metrics-secret" . | nindent 6 }}
{{- end }}

{{- define "compute-domain.agent" -}}
{{- include "compute-domain.merge" (dict "into" .object "root" .root "patch" "compute-domain.agent-patch") }}
{{- include "compute-domain.program" (dict "root" .root "object" .object "values" (merge dict .root.Values.agent .root.Values.daemonSets) "args" list) }}
{{- end }}

{{- define "compute-domain.agent-patch" -}}
spec:
  template:
    spec:
      containers:
      - name: agent
        {{- with .Values.agent.seLinuxOptions }}
        securityContext:
          seLinuxOptions:
            {{- toYaml . | nindent 12 }}
        {{- end }}
        env:
        {{- if eq .Values.imex.isolation "channel" }}
        - name: IMEX_CHANNEL_SEATS
          value: {{ quote .Values.imex.claimsPerNode }}
        {{- end }}
        {{- include "compute-domain.channels-env" . | nindent 8 }}
        {{- include "compute-domain.kubelet-env" . | nindent 8 }}
        {{- include "compute-domain.common-env" (list . .Values.agent) | nindent 8 }}
      {{- include "compute-domain.metrics-secret" . | nindent 6 }}
{{- end }}

{{- define "compute-domain.imex" -}}
{{- include "compute-domain.merge" (dict "into" .object "root" .root "patch" "compute-domain.imex-patch") }}
{{- $args := list }}
{{- range .root.Values.driver.programFolders }}{{ $args = append $args (printf "--driver-programs=%s" .) }}{{ end }}
{{- range .root.Values.driver.libraryFolders }}{{ $args = append $args (printf "--driver-libraries=%s" .) }}{{ end }}
{{- if ne .root.Values.kubelet.directory "/var/lib/kubelet" }}
{{- $args = append $args (printf "--kubelet-state-file=%s/dra_manager_state" .root.Values.kubelet.directory) }}
{{- end }}
{{- include "compute-domain.program" (dict "root" .root "object" .object "values" (merge dict .root.Values.imex .root.Values.daemonSets) "args" $args) }}
{{- end }}

{{- define "compute-domain.imex-patch" -}}
{{- $root := .Values.driver.root -}}
spec:
  template:
    spec:
      containers:
      - name: imex
        env:
        {{- if and $root (eq .Values.driver.installedBy "gpuOperator") }}
        - name: DRIVER_ROOT_CTR_PATH
          value: {{ printf "/driver-root/%s" (base $root) | quote }}
        {{- end }}
        {{- if eq .Values.imex.mode "hostManaged" }}
        - name: IMEX_HOST_SOCKET_PATH
          value: {{ quote .Values.imex.hostSocketPath }}
        {{- end }}
        {{- include "compute-domain.channels-env" . | nindent 8 }}
        {{- include "compute-domain.kubelet-env" . | nindent 8 }}
        {{- include "compute-domain.common-env" (list . .Values.imex) | nindent 8 }}
      volumes:
      {{- if $root }}
      - name: driver-root
        hostPath:
          path: {{ eq .Values.driver.installedBy "gpuOperator" | ternary (dir $root) $root | quote }}
      {{- end }}
      {{- if .Values.imex.tls.enabled }}
      - name: tls
        secret:
          secretName: {{ quote .Values.imex.tls.secretName }}
      {{- end }}
      {{- if and .Values.imex.metrics.enabled .Values.metrics.tls.enabled }}
      - name: metrics-tls
        secret:
          secretName: {{ quote .Values.metrics.tls.secretName }}
      {{- end }}
{{- end }}

{{/* The controller gives as many channels as agents and nodes are held to. */}}
{{- define "compute-domain.channels-env" -}}
{{- with .Values.imex.channels }}
- name: IMEX_CHANNELS
  value: {{ . | int64 | quote }}
{{- end }}
{{- end }}

{{/* Kubelet's folder is at the same path on the node and in the containers: kustomize.file has put it there. */}}
{{- define "compute-domain.kubelet-env" -}}
{{- if ne .Values.kubelet.directory "/var/lib/kubelet" }}
- name: KUBELET_PLUGINS_DIRECTORY_PATH
  value: {{ printf "%s/plugins" .Values.kubelet.directory | quote }}
- name: KUBELET_REGISTRAR_DIRECTORY_PATH
  value: {{ printf "%s/plugins_registry" .Values.kubelet.directory | quote }}
- name: KUBELET_PODS_SOCKET
  value: {{ printf "%s/pods-api/pods-api.sock" .Values.kubelet.directory | quote }}
{{- end }}
{{- end }}

{{- define "compute-domain.common-env" -}}
{{- with (last .).env }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "compute-domain.metrics-secret" -}}
{{- if .Values.metrics.tls.enabled }}
volumes:
- name: metrics-tls
  secret:
    secretName: {{ quote .Values.metrics.tls.secretName }}
{{- end }}
{{- end }}

{{/* What all three have. Of: root, object, values, args (in addition to those that it has). */}}
{{- define "compute-domain.program" -}}
{{- $of := .values }}
{{- $template := .object.spec.template }}
{{- $pod := $template.spec }}
{{- $container := first $pod.containers }}
{{- $_ := set $container "image" (include "compute-domain.image" (dict "root" .root "name" .object.metadata.name "values" $of)) }}
{{- $_ := set $container "resources" $of.resources }}
{{- range $container.env }}
{{- if and (hasKey . "value") (hasKey . "valueFrom") }}
{{- $program := trimPrefix "compute-domain-" $.object.metadata.name }}
{{- fail (printf "%s.env sets %s, which would then have a value and a valueFrom, and Kubernetes takes only one: take it out of %s.env" $program .name $program) }}
{{- end }}
{{- end }}
{{- $args := concat $container.args .args $of.args }}
{{- if ne .root.Values.logLevel "info" }}{{ $args = append $args (printf "--log-level=%s" .root.Values.logLevel) }}{{ end }}
{{- $_ := set $container "args" $args }}
{{- with .root.Values.image.pullPolicy }}{{ $_ := set $container "imagePullPolicy" . }}{{ end }}
{{- with $of.volumeMounts }}{{ $_ := set $container "volumeMounts" (concat ($container.volumeMounts | default list) .) }}{{ end }}
{{- with $of.volumes }}{{ $_ := set $pod "volumes" (concat ($pod.volumes | default list) .) }}{{ end }}
{{- $_ := set $pod "tolerations" $of.tolerations }}
{{- $_ := set $pod "priorityClassName" $of.priorityClassName }}
{{- with .root.Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end }}
{{- with $of.nodeSelector }}{{ $_ := set $pod "nodeSelector" . }}{{ end }}
{{- with $of.affinity }}{{ $_ := set $pod "affinity" . }}{{ end }}
{{- with $of.podAnnotations }}{{ $_ := set $template.metadata "annotations" . }}{{ end }}
{{- end }}

{{/*
What the values say; else the digest that the release of this chart has for the program (tools/release writes it into Chart.yaml);
else the appVersion as a tag. Of: root, name, values.
*/}}
{{- define "compute-domain.image" -}}
{{- $image := .values.image }}
{{- $name := printf "%s/%s" .root.Values.image.registry $image.repository }}
{{- $tag := coalesce $image.tag .root.Values.image.tag }}
{{- $digest := $image.digest }}
{{- if not (or $digest $tag) }}
{{- range index (.root.Chart.Annotations | default dict) "artifacthub.io/images" | default "[]" | fromYamlArray }}
{{- if eq .name $.name }}{{ $digest = last (splitList "@" .image) }}{{ end }}
{{- end }}
{{- end }}
{{- if $digest }}
{{- printf "%s@%s" $name $digest }}
{{- else }}
{{- printf "%s:%s" $name (default .root.Chart.AppVersion $tag) }}
{{- end }}
{{- end }}

{{/*
What the chart installs is written once, in manifests/ and crds/, which the folder kustomize/ links to. These templates read the
kustomizations there as kustomize does, as far as those use it: resources, ConfigMaps made of files, strategic merge patches, and of
JSON patches "replace", and "add" of a field.
The first argument of each is a dict; objects are maps, which they change in place. docs/design/packaging.md
*/}}

{{/* A file below kustomize/, with the names of namespaces and kubelet's folder that the values say. Of: root, path. */}}
{{- define "kustomize.file" -}}
{{- $text := .root.Files.Get (printf "kustomize/%s" .path) | required (printf "the chart lacks kustomize/%s: was it copied without what its links lead to?" .path) }}
{{- $names := dict "compute-domain-operator" .root.Release.Namespace "compute-domain-nodes" .root.Values.namespaces.nodes.name }}
{{- range $from := keys $names }}{{/* both before any value is there, which may be the other's name; no namespace has an @ */}}
{{- $text = regexReplaceAll (printf "(?m)\\b(namespace|value): %s$" $from) $text (printf "${1}: \"@%s@\"" $from) }}
{{- $text = replace (printf "system:serviceaccount:%s:" $from) (printf "system:serviceaccount:@%s@:" $from) $text }}
{{- $text = regexReplaceAll (printf "(?m)\\.%s\\.svc$" $from) $text (printf ".@%s@.svc" $from) }}
{{- end }}
{{- range $from, $to := $names }}
{{- $text = replace (printf "@%s@" $from) $to $text }}
{{- end }}
{{- $text | replace "/var/lib/kubelet" .root.Values.kubelet.directory }}
{{- end }}

{{/* What a text has is set as parsed.map; text that is not YAML of a map is an error, which names its place. Of: text, place, parsed. */}}
{{- define "kustomize.parse" -}}
{{- $map := fromYaml .text }}
{{- if hasKey $map "Error" }}{{ fail (printf "%s: %s" .place $map.Error) }}{{ end }}
{{- $_ := set .parsed "map" $map }}
{{- end }}

{{/* The objects that are listed in the kustomization of a folder, appended to state.objects. Of: root, folder, state. */}}
{{- define "kustomize.read" -}}
{{- $place := printf "%s/kustomization.yaml" .folder }}
{{- $kustomization := dict }}
{{- include "kustomize.parse" (dict "text" (include "kustomize.file" (dict "root" .root "path" $place)) "place" $place "parsed" $kustomization) }}
{{- range $resource := $kustomization.map.resources }}
{{- if hasSuffix ".yaml" $resource }}{{/* else a folder */}}
{{- $path := printf "%s/%s" $.folder $resource }}
{{- range regexSplit "(?m)^---$" (include "kustomize.file" (dict "root" $.root "path" $path)) -1 }}
{{- $object := dict }}
{{- include "kustomize.parse" (dict "text" . "place" $path "parsed" $object) }}
{{- $_ := set $.state "objects" (append $.state.objects $object.map) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $entry := $kustomization.map.configMapGenerator }}
{{- $object := include "kustomize.config-map" (dict "root" $.root "folder" $.folder "entry" $entry) | fromJson }}
{{- $_ := set $.state "objects" (append $.state.objects $object) }}
{{- end }}
{{- end }}

{{/* A ConfigMap of an entry of configMapGenerator, as JSON. Of: root, folder, entry. */}}
{{- define "kustomize.config-map" -}}
{{- $data := dict }}
{{- range .entry.files }}{{ $_ := set $data . ($.root.Files.Get (printf "kustomize/%s/%s" $.folder .)) }}{{ end }}
{{- $meta := merge (pick .entry "name" "namespace") (pick .entry.options "labels") }}
{{- dict "apiVersion" "v1" "kind" "ConfigMap" "metadata" $meta "data" $data | toJson }}
{{- end }}

{{/* The patches of the component in a folder, on state.objects. Of: root, folder, state. */}}
{{- define "kustomize.patch" -}}
{{- $place := printf "%s/kustomization.yaml" .folder }}
{{- $kustomization := dict }}
{{- include "kustomize.parse" (dict "text" (include "kustomize.file" (dict "root" .root "path" $place)) "place" $place "parsed" $kustomization) }}
{{- range $entry := $kustomization.map.patches }}
{{- $patch := dict }}
{{- $text := hasKey $entry "target" | ternary (printf "steps:\n%s" (indent 2 $entry.patch)) $entry.patch }}
{{- include "kustomize.parse" (dict "text" $text "place" $place "parsed" $patch) }}
{{- if $entry.target }}
{{- range $object := $.state.objects }}
{{- if and (eq $object.kind $entry.target.kind) (eq $object.metadata.name (default $object.metadata.name $entry.target.name)) }}
{{- range $step := $patch.map.steps }}
{{- if or (eq $step.op "replace") (and (eq $step.op "add") (not (regexMatch "/([0-9]+|-)$" $step.path))) }}
{{- include "kustomize.replace" (dict "in" $object "path" (splitList "/" (trimPrefix "/" $step.path)) "value" $step.value) }}
{{- else if ne $step.op "test" }}{{/* which components go together the chart checks itself */}}
{{- fail (printf "%s: the chart knows no JSON patch %q" $.folder $step.op) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- else }}
{{- range $object := $.state.objects }}
{{- if and (eq $object.kind $patch.map.kind) (eq $object.metadata.name $patch.map.metadata.name) }}
{{- include "kustomize.merge" (dict "into" $object "patch" $patch.map) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The value at a path of map keys and list positions. Of: in, path, value. */}}
{{- define "kustomize.replace" -}}
{{- $at := .in }}
{{- range initial .path }}
{{- $at = ternary (index $at (ternary (atoi .) . (kindIs "slice" $at))) nil (not (kindIs "invalid" $at)) }}
{{- end }}
{{- $_ := set $at (last .path) .value }}
{{- end }}

{{/*
A strategic merge of a patch into a map: maps are merged, lists whose items have a merge key are merged by it, everything else
takes the place of what was there; null removes, but as such a list it is an empty one. Of: into, patch.
*/}}
{{- define "kustomize.merge" -}}
{{- $mergeKeys := dict "containers" "name" "env" "name" "volumes" "name" "volumeMounts" "mountPath" "ports" "containerPort" "imagePullSecrets" "name" }}
{{- range $key, $value := .patch }}
{{- $old := get $.into $key }}
{{- if kindIs "invalid" $value }}
{{- if not (hasKey $mergeKeys $key) }}{{ $_ := unset $.into $key }}{{ end }}
{{- else if and (kindIs "map" $value) (kindIs "map" $old) }}
{{- include "kustomize.merge" (dict "into" $old "patch" $value) }}
{{- else if and (hasKey $mergeKeys $key) (kindIs "slice" $old) }}
{{- $_ := set $.into $key (include "kustomize.merge-lists" (dict "old" $old "patch" $value "by" (get $mergeKeys $key)) | fromYamlArray) }}
{{- else }}
{{- $_ := set $.into $key $value }}
{{- end }}
{{- end }}
{{- end }}

{{/* The list, as YAML. Of: old, patch, by. */}}
{{- define "kustomize.merge-lists" -}}
{{- $merged := .old }}
{{- range $item := .patch }}
{{- $name := get $item $.by }}
{{- $kept := list }}
{{- $found := false }}
{{- range $old := $merged }}
{{- if eq (get $old $.by) $name }}
{{- $found = true }}
{{- if ne (get $item "$patch") "delete" }}
{{- include "kustomize.merge" (dict "into" $old "patch" $item) }}
{{- $kept = append $kept $old }}
{{- end }}
{{- else }}
{{- $kept = append $kept $old }}
{{- end }}
{{- end }}
{{- $merged = $found | ternary $kept (append $merged $item) }}
{{- end }}
{{- toYaml $merged }}
{{- end }}

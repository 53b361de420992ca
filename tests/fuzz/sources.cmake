# What the decoders are made of: all of api, and of the other modules the files that take bytes.
set(sources
    base/clock.cpp base/daemon_status.cpp base/digest.cpp base/files.cpp base/ip_address.cpp base/log.cpp base/metrics.cpp base/path_below.cpp base/random.cpp
    base/ranges.cpp base/result.cpp base/system_error.cpp base/text.cpp base/utf8.cpp
    api/asked_pods.cpp api/domain/channel_config.cpp api/domain/compute_domain.cpp api/core.cpp api/fields/definition_fields.cpp api/json/document.cpp
    api/domain/domain_config.cpp api/dynamic_object.cpp api/fields/fields.cpp api/json/json_scanner.cpp api/json/json_text.cpp api/json/json_view.cpp
    api/json/quick_reader.cpp api/json/structure_walk.cpp api/json/wanted_index.cpp api/kind.cpp api/node_selector.cpp
    api/protobuf/core_messages.cpp api/protobuf/envelope.cpp api/protobuf/message_reader.cpp api/protobuf/meta_messages.cpp
    api/protobuf/resource_messages.cpp
    api/meta.cpp api/domain/node_list.cpp api/domain/text_table.cpp api/observed.cpp api/partial_metadata.cpp api/patch.cpp api/plan_report.cpp api/program.cpp
    api/domain/report_bounds.cpp api/resource.cpp api/resource_versions.cpp api/review.cpp api/status.cpp
    api/json/strict.cpp api/json/yaml.cpp api/json/yaml_document.cpp api/json/yaml_scalar.cpp
    http/acknowledged.cpp http/late_response.cpp http/client/stream/frame_splitter.cpp http/client/stream/line_splitter.cpp http/message.cpp http/pem.cpp http/outbox.cpp http/reply_head.cpp http/session.cpp
    http/transport.cpp
    core/placement/reservations.cpp core/node/checkpoint.cpp core/node/node_plan.cpp
    imex/host/elf.cpp imex/host/fabric_line.cpp imex/host/lack_line.cpp imex/daemon/hosts_file.cpp imex/daemon/last_words.cpp imex/process/line.cpp imex/protocol.cpp imex/daemon/state_file.cpp imex/process/tool_answer.cpp
    kube/base64.cpp kube/client.cpp kube/exec_credential.cpp kube/kubeconfig.cpp kube/unreadable_objects.cpp kube/watch_loop.cpp
    agent/files/cdi_spec.cpp agent/files/checkpoint_codec.cpp agent/fabric_reading.cpp agent/files/file_fabric.cpp
    agent/files/kubelet_state_file.cpp agent/whole_number.cpp
    node_check/runtime_config.cpp nvidia/device_nodes.cpp nvidia/fabric_verdict.cpp)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE fuzzed_sources)

# What reads bundles, and of the core what it asks.
set(sources
    core/agent_label.cpp core/claim_config.cpp core/imex_group/membership.cpp core/imex_group/channels.cpp core/imex_group/node_lists.cpp core/imex_group/slots.cpp core/imex_group/list_draft.cpp core/node_pause.cpp
    plugin/archive.cpp plugin/bundle.cpp plugin/cluster_view.cpp plugin/text/json_report.cpp)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE fuzzed_bundles)

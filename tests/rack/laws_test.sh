#!/usr/bin/env bash
# What nobody may do to others, on three real kubelets and a real API server with the operator as it is shipped: silent
# connections by the thousand, labels of Nodes that come and go, a quota, a node that cannot serve, and what a tenant writes
# or a stolen token of a node says. What others have goes on. Prints a line per check and their count.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/smoke/check.sh
. tests/rack/rack.sh
. tests/rack/domains.sh
. tests/rack/laws.sh

set_up_rack 3
form_train n01 n02
before=$(state)
remember_operator

# --- a flood
check "a domain forms and goes" form_and_go_as_usual
check "1,400 silent connections to each agent and controller" flood 1400
check "probes answer" probes_answer
check "for 32 s, as kubelet would end what fails its probe, domains form and go in time" form_and_go_for 32
check "no agent has many files open" at_most 120 files_of compute-domain-agent
check "and no controller" at_most 120 files_of compute-domain-controller
check "the flood has lasted" end_flood
check "nothing has restarted, and the leader leads" nothing_has_restarted
check "kubelet has waited for no call in vain" is_empty calls_in_vain
check "no daemon and no container has ended" nothing_has_ended

# --- labels that flap
clique=$(clique_of n02)
check "a Node in use loses the labels of its GPUs" labels_go n02
check "its agent, IMEX and pods stay, and the controller's label" stays_for 6 node_keeps_its_pods
check "the labels come back" labels_come n02 "$clique"
check "and nothing has ended" stays_for 2 node_keeps_its_pods
check "nobody else may take the controller's label" prints 'set it to "false"' \
  kubectl label node n02 resource.nvidia.com/compute-domain-agent-
check "and nothing has ended" stays_for 2 node_keeps_its_pods
check "the labels of its GPUs go once more" labels_go n02
check "its pod ends" kubectl delete pod train-n02 --timeout=60s
check "the agent and IMEX follow" eventually 60 all_ready daemonset compute-domain-agent 2
check "the labels come back" labels_come n02 "$clique"
check "and the agent" eventually 60 all_ready daemonset compute-domain-agent 3
check "and IMEX" eventually 60 all_ready daemonset compute-domain-imex 3
check "a pod of the domain" apply_pods train n02
check "and the domain is Ready" is_ready train
check "with its channel" starts_with_channel train-n02
before=$(state)
remember_operator

# --- a quota
check "a tenant" may_edit poor
check "with a quota of no claim templates" refuse_templates poor
check "a domain there" inside poor apply_domain debt 1
check "says what the API server says" eventually 20 inside poor says debt WriteRefused 'exceeded quota: none'
check "so does an Event" eventually 10 inside poor has_event WriteRefused 'exceeded quota: none' debt
check "domains of others form and go" forms_and_goes rich n03
check "a pod for it" inside poor apply_pods debt n03
check "the quota goes" kubectl delete quota none -n poor
check "the domain forms" inside poor is_ready debt
check "with its pod" inside poor pods_run debt
check "and goes" inside poor dissolve debt

# --- a node without channels
check "n03 has no IMEX channels" channels_go n03
check "it offers no seat" eventually 90 has_no_seat n03
check "and says why" prints 'no character device nvidia-caps-imex-channels' can_serve n03
check "a domain there" form nowhere n03
check "is not Ready, and its pod waits for a node" stays_for 8 is_not_ready nowhere n03
check "it is told that there is no seat" eventually 10 prints 'cannot allocate all claims' kubectl describe pod nowhere-n03
check "the channels come" channels_come n03
check "and a seat with them" eventually 90 has_seat n03
check "the domain is Ready" is_ready nowhere 90
check "its pod has its channel" starts_with_channel nowhere-n03
check "it goes" dissolve nowhere

# --- what a tenant writes
check "another tenant" may_edit odd
check "writes what it can" odd_objects odd train
check "domains of others form and go" forms_and_goes beside n03
check "a domain of its own" as_dev odd create -f - <<<"$(domain_yaml own 1)"
check "on which another controller writes" eventually 20 set_foreign_condition odd own
check "has a status" eventually 20 inside odd says own WaitingForPods ''
check "beside what the other one wrote" prints +00:00 foreign_time odd own
check "a claim that names no domain is told" eventually 20 inside odd has_event InvalidConfig 'is not the UID of a ComputeDomain' ours-no-uid
check "and one that contradicts itself" eventually 20 inside odd has_event ContradictoryConfig 'leave one of them out' ours-contradictory
check "the definition lets words be numbers" let_words_be_numbers
check "it writes one" eventually 20 odd_domain odd
check "the domain is told that it cannot be read" eventually 20 inside odd has_event Unreadable 'spec.numNodes' odd
check "the leader counts it" metric_of_leader 'compute_domain_unreadable_objects{resource="computedomains"} 1'
check "and logs it" prints 'skipped an object that cannot be read' operator logs "$(leader)"
check "domains of others form and go" forms_and_goes beside n03
check "the domain of others is Ready" is_ready train 5
check "nothing has restarted, and the leader leads" nothing_has_restarted
check "controllers start again beside all that" controllers_restart
check "are ready" eventually 20 metric_of_leader 'compute_domain_unreadable_objects{resource="computedomains"} 1'
check "with little memory" at_most 131072 memory_of compute-domain-controller
check "domains of others form and go" forms_and_goes beside n03
check "no daemon and no container has ended" nothing_has_ended
check "the first domain goes" dissolve train
check_requests "compute-domain-controller create resourceclaimtemplates.resource.k8s.io 403"

# --- a container runtime that leaves CDI files alone
check "n03's container runtime is told so" cdi_goes n03
check "a new supervisor that sees its node" see_nodes n03
check "its agent says so" eventually 30 prints 'False CdiNotRead' condition_of n03 ContainerRuntime
check "a file is no proof, so the seat stays" has_seat n03
check "CDI is on again" cdi_comes n03
check "which is seen" eventually 60 is_empty condition_of n03 ContainerRuntime

# --- another plugin of the driver
check "for that supervisor the socket of n03's agent has a longer path than a socket may have" has_long_socket n03
check "another plugin listens beside it" other_plugin_listens n03
check "the agent reports it" eventually 60 prints 'False OtherPlugin' condition_of n03 KubeletPlugin
check "and offers no seat" eventually 30 has_no_seat n03
check "the other plugin goes" other_plugin_goes n03
check "which is seen" eventually 60 is_empty condition_of n03 KubeletPlugin
check "the seat is back" eventually 30 has_seat n03

# --- a stolen token, on simulated nodes
# Their DaemonSet would take the agents of simulated nodes for its own.
check "no DaemonSet keeps agents any more" node_programs delete daemonset --all --cascade=orphan
check "simulated nodes join" join_simulated_nodes
check "what one of them says harms no other" tests/manifests/hostile_reports_test.py "$work/kubeconfig"
finish_checks

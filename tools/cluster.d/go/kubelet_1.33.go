//go:build kubelet_1.33

package main

import kubelet "k8s.io/kubernetes/cmd/kubelet/app"

func init() {
	// It sets up signals itself.
	commands["kubelet"] = kubelet.NewKubeletCommand
}

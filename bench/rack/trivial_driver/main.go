// trivial-driver NODE KUBECONFIG: a DRA driver that has nothing to do, as the measure of what a claim costs by itself. It
// is made as most drivers are, of Kubernetes' own package kubeletplugin: that GETs each claim, and calls the driver, which
// answers at once, for one request after the other. Its slice is applied by who starts it; prepared is device-0 of this
// node, without anything for the container.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	resource "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
)

const name = "trivial.example.com"

type driver struct{ node string }

func (d driver) PrepareResourceClaims(_ context.Context, claims []*resource.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	prepared := make(map[types.UID]kubeletplugin.PrepareResult)
	for _, claim := range claims {
		prepared[claim.UID] = kubeletplugin.PrepareResult{Devices: []kubeletplugin.Device{{PoolName: d.node, DeviceName: "device-0"}}}
	}
	return prepared, nil
}

func (driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	unprepared := make(map[types.UID]error)
	for _, claim := range claims {
		unprepared[claim.UID] = nil
	}
	return unprepared, nil
}

func (driver) HandleError(_ context.Context, err error, msg string) {
	fmt.Fprintf(os.Stderr, "trivial-driver: %s: %v\n", msg, err)
	if !errors.Is(err, kubeletplugin.ErrRecoverable) {
		os.Exit(1)
	}
}

func (driver) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}

func run(node, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	// The connection is there before it is measured.
	if _, err := client.Discovery().ServerVersion(); err != nil {
		return err
	}
	folder := kubeletplugin.KubeletPluginsDir + "/" + name
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	ends, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	plugin, err := kubeletplugin.Start(ends, driver{node}, kubeletplugin.DriverName(name), kubeletplugin.NodeName(node),
		kubeletplugin.KubeClient(client), kubeletplugin.HealthService(false))
	if err != nil {
		return err
	}
	<-ends.Done()
	plugin.Stop()
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: trivial-driver NODE KUBECONFIG")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "trivial-driver: %v\n", err)
		os.Exit(1)
	}
}

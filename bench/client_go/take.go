package main

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Far more than it ever takes.
const patience = 2 * time.Minute

func takeLine(line string, number int) (string, error) {
	encoding, url, _ := strings.Cut(line, " ")
	mediaType, known := mediaTypes[encoding]
	if !known {
		return "", fmt.Errorf("encoding %q: must be json or protobuf", encoding)
	}
	config := &rest.Config{Host: url, TLSClientConfig: rest.TLSClientConfig{Insecure: strings.HasPrefix(url, "https:")}}
	config.ContentType, config.AcceptContentTypes = mediaType, mediaType
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	runtime.GC() // what an earlier one has left is not of this one's time

	before := cpuSeconds()
	factory := informers.NewSharedInformerFactory(clients, 0)
	taken, all := 0, make(chan struct{})
	count := func() {
		if taken++; taken == number {
			close(all)
		}
	}
	if _, err := factory.Resource().V1().ResourceClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { count() },
		UpdateFunc: func(any, any) { count() },
	}); err != nil {
		return "", err
	}
	stop := make(chan struct{})
	factory.Start(stop)
	select {
	case <-all:
	case <-time.After(patience):
		return "", fmt.Errorf("of %d events have not all come within %s", number, patience)
	}
	spent := cpuSeconds() - before
	close(stop)
	factory.Shutdown()
	return fmt.Sprint(spent), nil
}

// cpuSeconds is what this process has used, user and system, its garbage collector too.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}

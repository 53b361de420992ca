package main

import (
	"context"
	"fmt"
	"net"
	"sort"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	health "k8s.io/kubelet/pkg/apis/dra-health/v1alpha1"
	drav1 "k8s.io/kubelet/pkg/apis/dra/v1"
	drav1beta1 "k8s.io/kubelet/pkg/apis/dra/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const kubeletDeadline = 45 * time.Second

// Plugin is kubelet's side of an agent's sockets.
type Plugin struct {
	conn    *grpc.ClientConn
	v1      drav1.DRAPluginClient
	v1beta1 drav1beta1.DRAPluginClient
	health  health.DRAResourceHealthClient
}

// dialPlugin connects at the first call; as kubelet since 1.34 does.
func dialPlugin(socket string) *Plugin {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	return &Plugin{conn, drav1.NewDRAPluginClient(conn), drav1beta1.NewDRAPluginClient(conn),
		health.NewDRAResourceHealthClient(conn)}
}

func (p *Plugin) Close() { p.conn.Close() }

// dialRegistration connects as kubelet's plugin watcher does: the path itself is the authority.
func dialRegistration(socket string) (registration.RegistrationClient, *grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := grpc.DialContext(ctx, socket, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithBlock(),
		grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	if err != nil {
		return nil, nil, err
	}
	return registration.NewRegistrationClient(conn), conn, nil
}

// Claim is what kubelet says of one.
type Claim struct{ Namespace, Name, UID string }

// Answer is what it hears of one: an error, or devices as text.
type Answer struct{ Err, Devices string }

type Answers map[string]Answer

func (p *Plugin) Prepare(ctx context.Context, claims ...Claim) (Answers, error) {
	request := &drav1.NodePrepareResourcesRequest{Claims: each(claims, v1Claim)}
	response, err := p.v1.NodePrepareResources(ctx, request)
	return prepareAnswers(response.GetClaims()), err
}

func (p *Plugin) Unprepare(ctx context.Context, claims ...Claim) (Answers, error) {
	request := &drav1.NodeUnprepareResourcesRequest{Claims: each(claims, v1Claim)}
	response, err := p.v1.NodeUnprepareResources(ctx, request)
	return unprepareAnswers(response.GetClaims()), err
}

func (p *Plugin) PrepareBeta(ctx context.Context, claims ...Claim) (Answers, error) {
	request := &drav1beta1.NodePrepareResourcesRequest{Claims: each(claims, v1beta1Claim)}
	response, err := p.v1beta1.NodePrepareResources(ctx, request)
	return prepareAnswers(response.GetClaims()), err
}

func (p *Plugin) UnprepareBeta(ctx context.Context, claims ...Claim) (Answers, error) {
	request := &drav1beta1.NodeUnprepareResourcesRequest{Claims: each(claims, v1beta1Claim)}
	response, err := p.v1beta1.NodeUnprepareResources(ctx, request)
	return unprepareAnswers(response.GetClaims()), err
}

func v1Claim(c Claim) *drav1.Claim {
	return &drav1.Claim{Namespace: c.Namespace, Name: c.Name, Uid: c.UID}
}

func v1beta1Claim(c Claim) *drav1beta1.Claim {
	return &drav1beta1.Claim{Namespace: c.Namespace, Name: c.Name, Uid: c.UID}
}

func each[T any](claims []Claim, as func(Claim) T) []T {
	var all []T
	for _, claim := range claims {
		all = append(all, as(claim))
	}
	return all
}

// What both versions say of a device, and of a claim.
type preparedDevice interface {
	GetRequestNames() []string
	GetPoolName() string
	GetDeviceName() string
	GetCdiDeviceIds() []string
}

type preparedClaim[D preparedDevice] interface {
	GetError() string
	GetDevices() []D
}

func prepareAnswers[C preparedClaim[D], D preparedDevice](claims map[string]C) Answers {
	answers := Answers{}
	for uid, claim := range claims {
		answer := Answer{Err: claim.GetError()}
		for _, d := range claim.GetDevices() {
			answer.Devices += fmt.Sprintf("%s/%s for %s: %s\n", d.GetPoolName(), d.GetDeviceName(),
				strings.Join(d.GetRequestNames(), ","), strings.Join(d.GetCdiDeviceIds(), ","))
		}
		answers[uid] = answer
	}
	return answers
}

func unprepareAnswers[C interface{ GetError() string }](claims map[string]C) Answers {
	answers := Answers{}
	for uid, claim := range claims {
		answers[uid] = Answer{Err: claim.GetError()}
	}
	return answers
}

// Health is the first message of a stream, as text.
func (p *Plugin) Health(ctx context.Context) (string, error) {
	stream, err := p.health.NodeWatchResources(ctx, &health.NodeWatchResourcesRequest{})
	if err != nil {
		return "", err
	}
	message, err := stream.Recv()
	if err != nil {
		return "", err
	}
	var lines []string
	for _, d := range message.Devices {
		lines = append(lines, fmt.Sprintf("%s/%s %s", d.Device.PoolName, d.Device.DeviceName, d.Health))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n"), nil
}

func within(limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// prepared and unprepared make a call as kubelet does, and give what is wrong with the answer.
func (p *Plugin) prepared(claim Claim) (string, error) {
	answers, err := p.Prepare(within(kubeletDeadline), claim)
	if err != nil {
		return "", err
	}
	answer, is := answers[claim.UID]
	return answer.Devices, holds(is && answer.Err == "" && answer.Devices != "", "%+v", answers)
}

func (p *Plugin) unprepared(claim Claim) error {
	answers, err := p.Unprepare(within(kubeletDeadline), claim)
	if err != nil {
		return err
	}
	answer, is := answers[claim.UID]
	return holds(is && answer.Err == "", "%+v", answers)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// rawMessage goes over the wire as it is.
type rawMessage []byte

type rawCodec struct{}

func (rawCodec) Marshal(value any) ([]byte, error) { return *value.(*rawMessage), nil }
func (rawCodec) Unmarshal(data []byte, value any) error {
	*value.(*rawMessage) = append(rawMessage{}, data...)
	return nil
}
func (rawCodec) Name() string { return "proto" }

func (p *Plugin) raw(ctx context.Context, method string, message []byte) error {
	request, response := rawMessage(message), rawMessage{}
	return p.conn.Invoke(ctx, method, &request, &response, grpc.ForceCodec(rawCodec{}))
}

const prepareMethod = "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"

// checkRawRequests: gRPC calls that no client of these services would make.
func checkRawRequests(c *Checks, plugin *Plugin, node *Node) {
	for _, method := range []string{"/nobody/Nothing", "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/Nothing", "/" + strings.Repeat("x", 4000),
		"/pluginregistration.Registration/GetInfo"} {
		err := plugin.raw(within(atOnce), method, nil)
		c.Check(fmt.Sprintf("no such method: %.60s", method), holds(status.Code(err) == codes.Unimplemented, "%v", err))
	}
	c.Check("an empty message is a request for nothing", plugin.raw(within(atOnce), prepareMethod, nil))
	// Field 1 (a claim) with a namespace that is no UTF-8, a name that is a number, one that is cut off.
	for what, message := range map[string]string{"no UTF-8": "\x0a\x04\x0a\x02\xff\xfe", "cut off": "\x0a\x40\x0a\x02aa",
		"of a wrong type": "\x08\x05\x0d\x01", "an endless number": strings.Repeat("\xff", 40)} {
		err := plugin.raw(within(atOnce), prepareMethod, []byte(message))
		c.Check("a message that is "+what+" is answered", holds(status.Code(err) != codes.DeadlineExceeded && status.Code(err) != codes.Unavailable, "%v", err))
	}
	random := rand.New(rand.NewSource(1))
	var problem error
	for range 500 {
		message := make([]byte, random.Intn(300))
		random.Read(message)
		if err := plugin.raw(within(atOnce), prepareMethod, message); status.Code(err) == codes.DeadlineExceeded || status.Code(err) == codes.Unavailable {
			problem = first(problem, err)
		}
	}
	c.Check("so are 500 of random bytes", first(problem, node.isRunning()))
}

// checkRawConnections: what is no gRPC at all, and connections that say nothing.
func checkRawConnections(c *Checks, plugin *Plugin, node *Node, claim Claim) {
	random := rand.New(rand.NewSource(2))
	noise := make([]byte, 100_000)
	random.Read(noise)
	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	speeches := []string{string(noise), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", preface + string(noise),
		preface + settings + string(noise), preface + settings + "\xff\xff\xff\x00\x00\x00\x00\x00\x01",
		preface + settings + "\x00\x00\x05\x01\x04\x00\x00\x00\x01\xff\xff\xff\xff\xff"}
	var problem error
	for _, socket := range []string{node.socket(), node.registrationSocket()} {
		for _, speech := range speeches {
			for cut := range 4 {
				conn, err := net.Dial("unix", socket)
				if err != nil {
					problem = first(problem, err)
					continue
				}
				conn.SetDeadline(time.Now().Add(200 * time.Millisecond))
				conn.Write([]byte(speech[:len(speech)*(cut+1)/4]))
				conn.Read(make([]byte, 100))
				conn.Close()
			}
		}
	}
	c.Check("noise, HTTP/1.1, TLS and broken HTTP/2 on both sockets", first(problem, node.isRunning()))
	_, err := plugin.prepared(claim)
	c.Check("then calls are answered as before", err)

	conn, err := net.Dial("unix", node.socket())
	if err == nil {
		conn.SetDeadline(time.Now().Add(atOnce))
		conn.Write([]byte(preface + settings + string(noise[:1000])))
		_, err = io.Copy(io.Discard, conn)
		conn.Close()
	}
	c.Check("a client that breaks HTTP/2 is shown out", holds(!errors.Is(err, os.ErrDeadlineExceeded), "%v", err))

	checkCrowd(c, plugin, node, claim, "that say nothing", func(i int) string { return preface[:i%2*(i%len(preface))] })
	checkCrowd(c, plugin, node, claim, "that speak HTTP/2", func(int) string { return preface + settings })
}

// checkCrowd: far more clients at a time than a node has.
func checkCrowd(c *Checks, plugin *Plugin, node *Node, claim Claim, who string, speech func(i int) string) {
	const size = 3000
	var crowd []net.Conn
	var problem error
	for i := range size {
		var conn net.Conn
		// A queue of connections that is full for a moment is no refusal.
		err := eventually(time.Second, func() (err error) {
			conn, err = net.Dial("unix", node.socket())
			return err
		})
		if err != nil {
			problem = first(problem, fmt.Errorf("connection %d: %w", i, err))
			break
		}
		conn.Write([]byte(speech(i)))
		crowd = append(crowd, conn)
	}
	c.Check(fmt.Sprint(size, " connections ", who), first(problem, node.isRunning()))
	_, err := plugin.prepared(claim)
	c.Check("do not keep kubelet's own from being answered", err)
	fresh := dialPlugin(node.socket())
	_, err = fresh.prepared(claim)
	c.Check("nor a new one", err)
	fresh.Close()
	c.Check("nor the registration", node.AwaitSockets())
	now := node.use()
	fmt.Printf("        %d connections %s: %d file descriptors of the agent, %d kB of its own\n", size, who, now.descriptors, now.kilobytes)
	// The agent looks for memory to give back each five seconds: also while they are there.
	time.Sleep(6 * time.Second)
	for _, conn := range crowd {
		conn.Close()
	}
	c.Check("and go with their clients", eventually(20*time.Second, func() error {
		return holds(node.use().descriptors < 200, "%d file descriptors", node.use().descriptors)
	}))
	c.Check("with what they took", eventually(20*time.Second, func() error {
		now = node.use()
		return holds(now.kilobytes <= mostMemory, "%d kB", now.kilobytes)
	}))
	fmt.Printf("        and after them: %d kB of its own\n", now.kilobytes)
}

// openFiles is for people.
func (n *Node) openFiles() string {
	folder := fmt.Sprintf("/proc/%d/fd", n.agent.Process.Pid)
	entries, _ := os.ReadDir(folder)
	var lines []string
	for _, entry := range entries {
		target, _ := os.Readlink(folder + "/" + entry.Name())
		lines = append(lines, target)
	}
	return strings.Join(lines, "\n")
}

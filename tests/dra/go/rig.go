package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const driver = "compute-domain.nvidia.com"

// Rig is the API server with the controller, and nodes with an IMEX supervisor each.
type Rig struct {
	build, dir string
	Cluster    *Cluster
	mutex      sync.Mutex
	programs   []*exec.Cmd
	nodes      []*Node
}

// Node has an IMEX supervisor, and at most one agent.
type Node struct {
	rig         *Rig
	Name, dir   string
	Flags       map[string]string
	Environment []string
	agent, imex *exec.Cmd
	ended       chan struct{} // of the agent
}

func startRig() (*Rig, error) {
	build := os.Getenv("CDOM_BUILD")
	if build == "" {
		build = "build/release"
	}
	dir, err := os.MkdirTemp("", "agent-")
	rig := &Rig{build: build, dir: dir}
	if err != nil {
		return rig, err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if _, err = rig.start("sandbox", nil, "bin/compute-domain-sandbox", "--racks", "0", "--kubeconfig", kubeconfig); err != nil {
		return rig, err
	}
	err = eventually(30*time.Second, func() (err error) {
		if err = contains(rig.Log("sandbox"), "ready: KUBECONFIG="); err == nil {
			rig.Cluster, err = clusterOf(kubeconfig)
		}
		return err
	})
	return rig, err
}

func (r *Rig) start(log string, environment []string, program string, arguments ...string) (*exec.Cmd, error) {
	out, err := os.OpenFile(filepath.Join(r.dir, log+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	command := exec.Command(filepath.Join(r.build, program), arguments...)
	command.Stdout, command.Stderr = out, out
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "KUBECONFIG", "NODE_NAME", "NAMESPACE", "POD_UID", "POD_IP":
		default:
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, environment...)
	// Nothing outlives this program, however it ends.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.programs = append(r.programs, command)
	return command, nil
}

func (r *Rig) Log(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.dir, name+".log"))
	return string(text)
}

func (r *Rig) PrintLogs() {
	logs, _ := filepath.Glob(filepath.Join(r.dir, "*.log"))
	for _, log := range logs {
		text, _ := os.ReadFile(log)
		lines := strings.Split(string(text), "\n")
		fmt.Println("--- " + log)
		fmt.Println(strings.Join(lines[max(0, len(lines)-60):], "\n"))
	}
}

func (r *Rig) End() {
	for _, program := range r.programs {
		program.Process.Kill()
	}
	for _, program := range r.programs {
		program.Wait() // those that have ended long ago give an error
	}
	if os.Getenv("KEEP") == "" {
		os.RemoveAll(r.dir)
	}
}

// AddNode adds a Node with its folders, in a clique of its own, and starts its IMEX supervisor.
func (r *Rig) AddNode(name string) (*Node, error) {
	dir := filepath.Join(r.dir, name)
	n := &Node{rig: r, Name: name, dir: dir}
	r.nodes = append(r.nodes, n)
	for _, folder := range []string{"plugins", "plugins_registry", "cdi", "os"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return n, err
		}
	}
	maker := exec.Command("tests/imex/stand_in/make_driver_root", r.build, n.path("root"))
	if output, err := maker.CombinedOutput(); err != nil {
		return n, fmt.Errorf("%w: %s", err, output)
	}
	for file, text := range map[string]string{
		"boot_id":     "boot-1\n",
		"hosts":       "127.0.0.1\tlocalhost\n",
		"devices":     "Character devices:\n235 nvidia-caps-imex-channels\n\nBlock devices:\n",
		"fabric.yaml": fmt.Sprintf("gpus: [{uuid: GPU-0, state: completed, clusterUUID: 6f0a3c52-1c7e, cliqueID: %d}]\n", len(r.nodes)),
	} {
		if err := os.WriteFile(n.path(file), []byte(text), 0o644); err != nil {
			return n, err
		}
	}
	n.Flags = map[string]string{
		"--kubeconfig": filepath.Join(r.dir, "kubeconfig"), "--node-name": name,
		"--kubelet-plugins-dir": n.path("plugins"), "--kubelet-registrar-dir": n.path("plugins_registry"),
		"--cdi-root":    n.path("cdi"),
		"--fabric-file": n.path("fabric.yaml"), "--imex-socket": n.path("imex.sock"),
		"--boot-id-file": n.path("boot_id"), "--alt-proc-devices": n.path("devices"), "--metrics-listen": "",
	}
	imex, err := r.start(name+"-imex", []string{fmt.Sprintf("POD_IP=127.121.%d.%d", os.Getpid()>>8&255, os.Getpid()&255/8*8+len(r.nodes))},
		"bin/compute-domain-imex", "--socket", n.path("imex.sock"), "--directory", n.path("imex"), "--driver-root", n.path("root"),
		"--hosts-file", n.path("hosts"), "--persist-file", n.path("os/persist.dat"), "--device-files", "given",
		"--boot-id-file", n.path("boot_id"), "--kubelet-state-file", n.path("dra_manager_state"),
		"--imex-option", "STAND_IN_OS_DIRECTORY="+n.path("os"),
		"--imex-option", "STAND_IN_HOSTS_FILE="+n.path("hosts"))
	n.imex = imex
	return n, first(err, r.Cluster.addNode(name))
}

func (n *Node) path(parts ...string) string {
	return filepath.Join(append([]string{n.dir}, parts...)...)
}
func (n *Node) socket() string             { return n.Flags["--kubelet-plugins-dir"] + "/" + driver + "/dra.sock" }
func (n *Node) registrationSocket() string { return n.path("plugins_registry", driver+"-reg.sock") }
func (n *Node) checkpoint() string {
	return n.Flags["--kubelet-plugins-dir"] + "/" + driver + "/checkpoint"
}
func (n *Node) cdiFile(claim Claim) string {
	return n.Flags["--cdi-root"] + "/k8s." + driver + "-claim_" + claim.UID + ".yaml"
}
func (n *Node) log() string { return n.rig.Log(n.Name) }

// Start starts the agent; its sockets come a moment later.
func (n *Node) Start() error {
	var flags []string
	for name, value := range n.Flags {
		flags = append(flags, name, value)
	}
	agent, err := n.rig.start(n.Name, n.Environment, "bin/compute-domain-agent", flags...)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	n.agent, n.ended = agent, ended
	go func() {
		agent.Wait()
		close(ended)
	}()
	return nil
}

// AwaitSockets waits until kubelet is served, or the agent has ended.
func (n *Node) AwaitSockets() error {
	return eventually(20*time.Second, func() error {
		if n.HasEnded() {
			return nil
		}
		// Before gRPC, which would wait a second after a refusal.
		probe, err := net.Dial("unix", n.registrationSocket())
		if err != nil {
			return err
		}
		probe.Close()
		client, conn, err := dialRegistration(n.registrationSocket())
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = client.GetInfo(within(time.Second), &registration.InfoRequest{})
		return err
	})
}

func (n *Node) HasEnded() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

func (n *Node) AwaitEnd(limit time.Duration) error {
	select {
	case <-n.ended:
		return nil
	case <-time.After(limit):
		return errors.New("the agent has not ended")
	}
}

// Kill is SIGKILL.
func (n *Node) Kill() {
	n.agent.Process.Kill()
	<-n.ended
}

// Stop is SIGTERM, and the end with code 0.
func (n *Node) Stop() error {
	n.agent.Process.Signal(syscall.SIGTERM)
	err := n.AwaitEnd(20 * time.Second)
	return first(err, holds(err != nil || n.agent.ProcessState.ExitCode() == 0, "%v", n.agent.ProcessState))
}

func (n *Node) isRunning() error {
	return holds(!n.HasEnded(), "the agent has ended")
}

// spareConnections to the API server may be open a while longer.
const spareConnections = 4

// use is what the agent has at the moment.
// kilobytes are resident ones but for the pages of its program and libraries, which the kernel keeps and takes back as it likes.
type use struct{ descriptors, threads, kilobytes int }

func (n *Node) use() use {
	var u use
	proc := fmt.Sprintf("/proc/%d", n.agent.Process.Pid)
	entries, _ := os.ReadDir(proc + "/fd")
	u.descriptors = len(entries)
	status, _ := os.ReadFile(proc + "/status")
	for _, line := range strings.Split(string(status), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "Threads:":
			u.threads, _ = strconv.Atoi(words[1])
		case "RssAnon:":
			u.kilobytes, _ = strconv.Atoi(words[1])
		}
	}
	return u
}

// files are those of the agent's folders, with the dead sockets and the like that should not be there.
func (n *Node) files() []string {
	var names []string
	for _, folder := range []string{n.Flags["--kubelet-plugins-dir"], n.path("plugins_registry"), n.Flags["--cdi-root"]} {
		filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				name, _ := filepath.Rel(n.dir, path)
				names = append(names, name)
			}
			return nil
		})
	}
	sort.Strings(names)
	return names
}

// startsOfIMEX counts the daemons so far.
func (n *Node) startsOfIMEX() int {
	return strings.Count(n.rig.Log(n.Name+"-imex"), "started nvidia-imex")
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// testDisks needs a mount namespace of its own, as root. The nodes have their faults at the same time, as each is waited
// for as long as kubelet waits.
func testDisks(c *Checks, rig *Rig) {
	c.Check("there is a mount namespace", syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	faults := []struct {
		name string
		test func(*Checks, *Rig, *Node)
	}{
		{"full-checkpoint", func(c *Checks, r *Rig, n *Node) { testDisk(c, r, n, n.driverFolder(), n.checkpoint, fill, freeSpace) }},
		{"full-cdi", func(c *Checks, r *Rig, n *Node) { testDisk(c, r, n, n.path("cdi"), n.firstCDIFile, fill, freeSpace) }},
		{"readonly-start", testReadOnlyStart},
		{"readonly-cdi", func(c *Checks, r *Rig, n *Node) {
			testDisk(c, r, n, n.path("cdi"), n.firstCDIFile, makeReadOnly, makeWritable)
		}},
		{"full-unprepare", testFullUnprepare},
		{"nvml", testHangingNVML},
		{"checkpoints", testCheckpoints},
	}
	var group sync.WaitGroup
	for _, fault := range faults {
		node, err := rig.AddNode(fault.name)
		c.Check(fault.name+": there is a node", err)
		own := c.Called(fault.name + ": ")
		group.Go(func() { fault.test(own, rig, node) })
	}
	group.Wait()
	// A folder that is mounted on cannot be removed.
	for _, node := range rig.nodes {
		syscall.Unmount(node.driverFolder(), syscall.MNT_DETACH)
		syscall.Unmount(node.path("cdi"), syscall.MNT_DETACH)
	}
}

// ---- Disks

const diskSize = 128 << 10

func (n *Node) driverFolder() string { return filepath.Dir(n.checkpoint()) }
func (n *Node) firstCDIFile() string { return n.path("cdi") }

func mountDisk(folder string) error {
	return first(os.MkdirAll(folder, 0o755), syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)))
}

func fill(folder string) error {
	file, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		return err
	}
	defer file.Close()
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}
func freeSpace(folder string) error { return os.Remove(filepath.Join(folder, "filler")) }
func makeReadOnly(folder string) error {
	return syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
}
func makeWritable(folder string) error { return syscall.Mount("", folder, "", syscall.MS_REMOUNT, "") }

var remedies = []string{"free some space there", "mount it writable"}

func namesPathAndRemedy(problem, path string) error {
	for _, remedy := range remedies {
		if strings.Contains(problem, path) && strings.Contains(problem, remedy) {
			return nil
		}
	}
	return fmt.Errorf("it names not %s, or no remedy: %s", path, problem)
}

// testDisk: a prepare while nothing can be written to the folder, and after that.
func testDisk(c *Checks, rig *Rig, n *Node, folder string, file func() string, spoil, mend func(string) error) {
	c.Check("the disk is mounted", mountDisk(folder))
	c.Check("the agent starts", first(n.Start(), n.AwaitSockets()))
	plugin := dialPlugin(n.socket())
	defer plugin.Close()
	claim, err := rig.Cluster.claimFor(n.Name, n.Name)
	c.Check("a claim is allocated", err)
	_, err = plugin.prepared(claim)
	c.Check("it is prepared and unprepared while all is well", first(err, plugin.unprepared(claim)))
	time.Sleep(500 * time.Millisecond)
	c.Check("nothing can be written any more", spoil(folder))
	start := time.Now()
	answered := make(chan Answers, 1)
	go func() {
		answers, err := plugin.Prepare(within(kubeletDeadline), claim)
		if err != nil {
			answers = Answers{claim.UID: {Err: "the call failed: " + err.Error()}}
		}
		answered <- answers
	}()
	c.Check("others are answered meanwhile", othersAreAnswered(n, plugin))
	answer := (<-answered)[claim.UID]
	fmt.Printf("        %s, after %.0f s: %s\n", n.Name, time.Since(start).Seconds(), answer.Err)
	c.Check("a prepare has an error that names path and remedy", namesPathAndRemedy(answer.Err, file()))
	c.Check("the agent goes on", n.isRunning())
	go func() {
		answers, err := plugin.Prepare(within(kubeletDeadline), claim)
		if err != nil {
			answers = Answers{claim.UID: {Err: "the call failed: " + err.Error()}}
		}
		answered <- answers
	}()
	time.Sleep(500 * time.Millisecond)
	c.Check("all is well again", mend(folder))
	start = time.Now()
	answer = (<-answered)[claim.UID]
	c.Check("then the prepare that waits is done", first(holds(answer.Err == "", "%s", answer.Err), holds(time.Since(start) < 2*atOnce, "%v", time.Since(start))))
	_, err = os.Stat(n.cdiFile(claim))
	c.Check("with its CDI file", err)
	c.Check("unprepared", first(plugin.unprepared(claim), noFile(n.cdiFile(claim))))
	c.Check("nothing is left over", noDrafts(n))
	c.Check("SIGTERM ends the agent with code 0", n.Stop())
}

func noDrafts(n *Node) error {
	for _, name := range n.files() {
		if strings.HasSuffix(name, ".next") {
			return fmt.Errorf("%s is left", name)
		}
	}
	return nil
}

// othersAreAnswered: what needs no disk.
func othersAreAnswered(n *Node, plugin *Plugin) error {
	client, conn, err := dialRegistration(n.registrationSocket())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = client.GetInfo(within(time.Second), &registration.InfoRequest{})
	_, unhealthy := plugin.Health(within(atOnce))
	answers, refused := plugin.Prepare(within(atOnce), Claim{"default", "nobody", ""})
	return first(err, unhealthy, refused, holds(answers[""].Err != "", "%+v", answers))
}

// testReadOnlyStart: without its sockets an agent is of no use; it says why, and ends.
func testReadOnlyStart(c *Checks, _ *Rig, n *Node) {
	folder := n.driverFolder()
	c.Check("nothing can be written", first(mountDisk(folder), makeReadOnly(folder)))
	c.Check("the agent ends", first(n.Start(), n.AwaitEnd(atOnce)))
	c.Check("with code 1", holds(n.agent.ProcessState.ExitCode() == 1, "%v", n.agent.ProcessState))
	lines := strings.Split(strings.TrimSpace(n.log()), "\n")
	fmt.Printf("        %s\n", strings.Join(lines, "\n        "))
	c.Check("and one line that names path and remedy", first(holds(len(lines) == 1, "%d lines", len(lines)), namesPathAndRemedy(lines[0], folder)))
	c.Check("it starts when that is healed", first(makeWritable(folder), n.Start(), n.AwaitSockets(), n.isRunning(), n.Stop()))
}

func testFullUnprepare(c *Checks, rig *Rig, n *Node) {
	folder := n.driverFolder()
	c.Check("the agent starts", first(mountDisk(folder), n.Start(), n.AwaitSockets()))
	plugin := dialPlugin(n.socket())
	defer plugin.Close()
	claim, err := rig.Cluster.claimFor(n.Name, n.Name)
	_, unprepared := plugin.prepared(claim)
	c.Check("a claim is prepared", first(err, unprepared))
	time.Sleep(500 * time.Millisecond)
	c.Check("the disk is full", fill(folder))
	answers, err := plugin.Unprepare(within(kubeletDeadline), claim)
	c.Check("an unprepare has an error that names path and remedy", first(err, namesPathAndRemedy(answers[claim.UID].Err, n.checkpoint())))
	c.Check("the agent that is killed now", n.isRunning())
	n.Kill()
	c.Check("has a successor that serves", first(n.Start(), n.AwaitSockets()))
	c.Check("there is space again", freeSpace(folder))
	c.Check("and unprepares", first(eventually(10*time.Second, func() error {
		again := dialPlugin(n.socket())
		defer again.Close()
		return again.unprepared(claim)
	}), noFile(n.cdiFile(claim))))
	c.Check("SIGTERM ends it with code 0", n.Stop())
}

// ---- Checkpoints that cannot be read

func testCheckpoints(c *Checks, rig *Rig, n *Node) {
	c.Check("the agent starts", first(n.Start(), n.AwaitSockets()))
	plugin := dialPlugin(n.socket())
	claim, err := rig.Cluster.claimFor(n.Name, n.Name)
	_, unprepared := plugin.prepared(claim)
	c.Check("a claim is prepared", first(err, unprepared))
	c.Check("and the agent ended", n.Stop())
	plugin.Close()
	good, err := os.ReadFile(n.checkpoint())
	c.Check("its checkpoint is there", err)
	for i, bad := range []struct{ what, text, told string }{
		{"torn", string(good[:len(good)/2]), "torn"},
		{"empty", "", "torn"},
		{"of a newer format", strings.Replace(string(good), `"format":1`, `"format":2`, 1), "format 2"},
		{"changed by somebody", strings.Replace(string(good), "PrepareCompleted", "PrepareStarted", 1), "checksum"},
		{"no JSON object", "root:x:0:0:root:/root:/bin/bash\n", "torn"},
		{"another program's", `{"hello": "world"}`, "another program"},
		{"the reference driver's", `{"checksum": 1, "v1": {}, "v2": {}}`, "NVIDIA's DRA driver"},
		{"zeros", strings.Repeat("\x00", 4096), "torn"},
	} {
		before := len(n.log())
		c.Check(bad.what+": the agent starts", first(os.WriteFile(n.checkpoint(), []byte(bad.text), 0o644), n.Start(), n.AwaitSockets()))
		again := dialPlugin(n.socket())
		_, err := again.prepared(claim)
		c.Check(bad.what+": the claim is prepared again", err)
		again.Close()
		aside := fmt.Sprintf("%s.unreadable-%d", n.checkpoint(), i+1)
		kept, err := os.ReadFile(aside)
		c.Check(bad.what+": it is kept", first(err, holds(string(kept) == bad.text, "%q", kept)))
		told := linesWith(n.log()[before:], "checkpoint; the old one")
		fmt.Printf("        %s\n", strings.Join(told, "\n        "))
		c.Check(bad.what+": and told in one line, with the file", holds(len(told) == 1 && strings.Contains(told[0], bad.told) && strings.Contains(told[0], aside),
			"wanted %s and %s", bad.told, aside))
		c.Check(bad.what+": SIGTERM ends it", n.Stop())
	}
	starts := n.startsOfIMEX()
	c.Check("all over one IMEX daemon", holds(starts == 1, "%d", starts))
	c.Check("a folder in its place", first(os.Remove(n.checkpoint()), os.Mkdir(n.checkpoint(), 0o755)))
	before := len(n.log())
	c.Check("is not fatal", first(n.Start(), n.AwaitSockets()))
	again := dialPlugin(n.socket())
	defer again.Close()
	answers, err := again.Prepare(within(kubeletDeadline), claim)
	fmt.Printf("        %+v\n", answers)
	c.Check("but told", first(err, contains(answers[claim.UID].Err, n.checkpoint()), contains(answers[claim.UID].Err, "remove the folder")))
	told := linesWith(n.log()[before:], "cannot read the checkpoint")
	c.Check("in one line, and by the call", holds(len(told) == 2, "%d lines", len(told)))
	c.Check("and healed when it is gone", first(os.Remove(n.checkpoint()), eventually(10*time.Second, func() error {
		_, err := again.prepared(claim)
		return err
	})))
	c.Check("SIGTERM ends it with code 0", n.Stop())
}

func linesWith(log, part string) []string {
	var lines []string
	for _, line := range strings.Split(log, "\n") {
		if strings.Contains(line, part) {
			lines = append(lines, line)
		}
	}
	return lines
}

// ---- A GPU driver that hangs

func testHangingNVML(c *Checks, rig *Rig, n *Node) {
	library, err := os.ReadFile(filepath.Join(rig.build, "tests/nvidia/stand_in/libnvidia-ml.so.1"))
	path, pipe := n.path("root/usr/lib64/libnvidia-ml.so.1"), n.path("pipe")
	says := fmt.Sprintf(`{"driver": "580.65.06", "hangs": "nvmlDeviceGetCount_v2", "until": %q, "gpus": [{"uuid": "GPU-0", "name": "GB200",
		"state": 3, "cluster": "6f0a3c521c7e4b1f9d530c2f6c2b7a10", "clique": 7, "health": 1}]}`, pipe)
	os.Remove(path) // a link of the driver root: the stand-in reads the file beside its own name
	c.Check("a driver hangs", first(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, library, 0o755),
		os.WriteFile(path+".json", []byte(says), 0o644), syscall.Mkfifo(pipe, 0o600)))
	delete(n.Flags, "--fabric-file")
	c.Check("the agent starts", first(n.Start(), n.AwaitSockets()))
	plugin := dialPlugin(n.socket())
	defer plugin.Close()
	claim := Claim{"default", "nobody", "hanging"}
	c.Check("calls are answered", othersAreAnswered(n, plugin))
	c.Check("an unprepare, too", plugin.unprepared(claim))
	c.Check("the call that hangs is told", eventually(30*time.Second, func() error {
		return contains(n.log(), "NVML has not answered for 10s (nvmlDeviceGetCount)")
	}))
	fmt.Printf("        %s\n", strings.Join(linesWith(n.log(), "cannot read the NVLink fabric"), "\n        "))
	c.Check("calls are answered still", othersAreAnswered(n, plugin))
	says = strings.Replace(says, `"hangs": "nvmlDeviceGetCount_v2", `, "", 1)
	c.Check("the driver goes on", os.WriteFile(path+".json", []byte(says), 0o644))
	claim, err = rig.Cluster.claimFor(n.Name, n.Name)
	c.Check("then the node has its seat", err)
	_, err = plugin.prepared(claim)
	c.Check("and prepares", err)
	c.Check("SIGTERM ends it with code 0", n.Stop())
}

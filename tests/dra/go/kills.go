package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// killing is one agent that dies at each of its writes in turn.
type killing struct {
	checks *Checks
	node   *Node
	last   *LastWrite
	claim  Claim
	// What an agent leaves that nobody disturbs.
	prepared, unprepared state
	kills                int
	what                 string // the last write
	problems             []error
}

// state is what can be seen on the node of a claim; without what differs from agent to agent.
type state struct {
	files, cdi, checkpoint string
	daemons                int
}

func testKills(c *Checks, rig *Rig) {
	node, err := rig.AddNode("gpu1")
	k := &killing{checks: c, node: node}
	if err == nil {
		k.last, err = lastWriteOf(node)
	}
	c.Check("there is a node", first(err, node.Start(), node.AwaitSockets()))
	k.claim, err = rig.Cluster.claimFor("train", "gpu1")
	c.Check("a claim is allocated", err)
	c.Check("an agent that nobody disturbs prepares and unprepares it", first(k.prepare(), k.unprepare(), k.prepare()))
	time.Sleep(time.Second)
	k.prepared = k.now()
	c.Check("and once more", k.unprepare())
	time.Sleep(time.Second)
	k.unprepared = k.now()

	for _, when := range []int64{beforeIt, afterIt} {
		word := []string{"before", "after"}[when]
		k.each(word+" each write of a prepare and of an unprepare, each asked for again", func(n int64) bool {
			inPrepare := k.isKilledIn(k.prepare, n, when)
			k.settles(k.prepare, k.prepared)
			inUnprepare := k.isKilledIn(k.unprepare, n, when)
			k.settles(k.unprepare, k.unprepared)
			return inPrepare || inUnprepare
		})
	}
	k.each("before each write of a prepare that is then taken back", func(n int64) bool {
		killed := k.isKilledIn(k.prepare, n, beforeIt)
		k.settles(k.unprepare, k.unprepared)
		return killed
	})
	k.settles(k.prepare, k.prepared)
	k.each("before each write of a start with a prepared claim", func(n int64) bool {
		node.Kill()
		killed := k.isKilledIn(func() error { return first(node.Start(), node.AwaitSockets()) }, n, beforeIt)
		k.settles(k.prepare, k.prepared)
		return killed
	})
	c.Check("in the end it is unprepared", first(k.unprepare(), node.Stop()))
}

// each calls it for the first write, the second and so on, until none is left to be killed at.
func (k *killing) each(what string, f func(n int64) bool) {
	start, kills := time.Now(), k.kills
	k.problems = nil
	n := int64(1)
	for f(n) && n < 200 && len(k.problems) < 5 {
		n++
	}
	k.checks.Check(fmt.Sprintf("SIGKILL %s", what), errors.Join(append(k.problems, holds(n < 200, "there is no end"))...))
	fmt.Printf("        %d kills, %.0f s\n", k.kills-kills, time.Since(start).Seconds())
}

// isKilledIn calls it, with a kill at that write, and starts the next agent.
func (k *killing) isKilledIn(call func() error, number, when int64) bool {
	k.last.Set(number, when)
	k.what = "none"
	err := call()
	// What an agent writes after its answer counts, too: until it writes nothing more.
	for left, quiet := k.last.Left(), 0; quiet < 10 && !k.node.HasEnded(); quiet++ {
		time.Sleep(10 * time.Millisecond)
		if now := k.last.Left(); now != left {
			left, quiet = now, 0
		}
	}
	killed := k.last.Left() <= 0
	if killed {
		k.kills++
		k.what = k.last.What()
		k.note(k.node.AwaitEnd(atOnce))
	} else {
		k.note(err)
	}
	k.last.Set(0, when)
	if killed {
		k.note(k.node.Start())
	}
	return killed
}

// settles calls it until it succeeds, as kubelet does, and compares what is there then.
func (k *killing) settles(call func() error, want state) {
	starts := k.node.startsOfIMEX()
	err := eventually(10*time.Second, call)
	if err == nil {
		err = eventually(2*time.Second, func() error {
			now := k.now()
			return holds(now == want, "there is\n%+v\nbut should be\n%+v", now, want)
		})
	}
	k.note(first(err, holds(k.node.startsOfIMEX() <= starts+1, "%d IMEX daemons were started", k.node.startsOfIMEX()-starts)))
}

func (k *killing) note(err error) {
	if err != nil {
		k.problems = append(k.problems, fmt.Errorf("at: %s\n%w", k.what, err))
	}
}

func (k *killing) prepare() error {
	return k.call(func(plugin *Plugin) error {
		_, err := plugin.prepared(k.claim)
		return err
	})
}

func (k *killing) unprepare() error {
	return k.call(func(plugin *Plugin) error { return plugin.unprepared(k.claim) })
}

// call is on a connection of its own, as an agent has a socket of its own.
func (k *killing) call(f func(*Plugin) error) error {
	plugin := dialPlugin(k.node.socket())
	defer plugin.Close()
	return f(plugin)
}

var nameOfAgent = regexp.MustCompile(`\.agent-[0-9a-f]+`)
var startOfDaemon = regexp.MustCompile(`started nvidia-imex .*instance=([0-9a-f]+)`)

func (k *killing) now() state {
	cdi, _ := os.ReadFile(k.node.cdiFile(k.claim))
	files := nameOfAgent.ReplaceAllString(strings.Join(k.node.files(), " "), ".agent")
	log := k.node.rig.Log(k.node.Name + "-imex")
	daemons := k.node.startsOfIMEX() - strings.Count(log, "state=stopped")
	whole := object{}
	content, _ := os.ReadFile(k.node.checkpoint())
	if err := json.Unmarshal(content, &whole); err != nil {
		return state{checkpoint: err.Error()}
	}
	checkpoint, _ := whole["checkpoint"].(object)
	delete(checkpoint, "agent")
	told, _ := json.Marshal(checkpoint)
	// A claim names the daemon that it was prepared with, which has to be the last one that was started.
	if starts := startOfDaemon.FindAllStringSubmatch(log, -1); len(starts) > 0 {
		told = bytes.ReplaceAll(told, []byte(starts[len(starts)-1][1]), []byte("the last"))
	}
	return state{files, string(cdi), string(told), daemons}
}

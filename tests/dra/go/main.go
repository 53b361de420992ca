// agent-tests: one compute-domain-agent, as the real program, under calls and faults. Kubelet's side is made of
// Kubernetes' own client packages; the API server and the controller are the sandbox's, nvidia-imex is a stand-in.
//
//	agent-tests calls  what is asked on the sockets: rightly, wrongly, all at once, given up
//	agent-tests formations [N]  100 or N claims prepared and unprepared, each of a domain of its own
//	agent-tests disks  full and read-only disks, checkpoints that cannot be read, a GPU driver that hangs
//	agent-tests kills  SIGKILL before and after each write of a prepare, of an unprepare and of a start
//
// Prints a line per check and their count. CDOM_BUILD names the build directory (default: build/release).
package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	words := append(os.Args[1:], "", "")
	number, err := strconv.Atoi(words[1])
	if err != nil || number < 10 {
		number = 100
	}
	suite := map[string]func(*Checks, *Rig){
		"calls":      testCalls,
		"kills":      testKills,
		"disks":      testDisks,
		"formations": func(c *Checks, r *Rig) { testFormations(c, r, number) },
	}[words[0]]
	if suite == nil {
		fmt.Fprintln(os.Stderr, "usage: agent-tests calls|kills|disks|formations [N]")
		os.Exit(2)
	}
	checks := &Checks{}
	rig, err := startRig()
	checks.Check("the API server and the IMEX supervisor are there", err)
	if err == nil {
		suite(checks, rig)
	}
	if checks.failed > 0 {
		rig.PrintLogs()
	}
	rig.End()
	checks.Finish()
}

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// What an agent may need more at the end than after the first tenth: the allocator's slack.
const mostGrowth = 3 << 10 // kB

// testFormations prepares and unprepares claims, each of a domain of its own, one after the other.
func testFormations(c *Checks, rig *Rig, number int) {
	node, err := rig.AddNode("gpu1")
	c.Check("there is a node", first(err, node.Start(), node.AwaitSockets()))
	plugin := dialPlugin(node.socket())
	defer plugin.Close()
	var warm use
	var files int
	start := time.Now()
	for i := range number {
		err = first(err, formOnce(rig, plugin, fmt.Sprintf("train-%d", i)))
		if i == number/10 {
			warm = node.use()
			// But for a draft that is about to get its name.
			files = len(slices.DeleteFunc(node.files(), func(name string) bool { return strings.HasSuffix(name, ".next") }))
		}
		if err != nil {
			break
		}
	}
	took := time.Since(start)
	c.Check(fmt.Sprintf("%d formations of a domain on one agent", number), err)
	c.Check("each over a daemon of its own", holds(node.startsOfIMEX() == number, "%d daemons", node.startsOfIMEX()))
	now := node.use()
	fmt.Printf("        %.0f s; %d kB of its own, then %d kB; file descriptors %d, then %d; checkpoint %d bytes\n", took.Seconds(),
		warm.kilobytes, now.kilobytes, warm.descriptors, now.descriptors, size(node.checkpoint()))
	c.Check("its memory does not grow", holds(now.kilobytes <= warm.kilobytes+mostGrowth, "%d kB, then %d kB", warm.kilobytes, now.kilobytes))
	c.Check("nor do its file descriptors", eventually(10*time.Second, func() error {
		now = node.use()
		return holds(now.descriptors <= warm.descriptors+spareConnections, "%d, then %d", warm.descriptors, now.descriptors)
	}))
	c.Check("nor its files", eventually(10*time.Second, func() error {
		return holds(len(node.files()) == files, "%d, then %v", files, node.files())
	}))
	c.Check("nor its checkpoint", eventually(10*time.Second, func() error {
		return holds(size(node.checkpoint()) < 2000, "%d bytes", size(node.checkpoint()))
	}))
	c.Check("SIGTERM ends it with code 0", node.Stop())
}

func formOnce(rig *Rig, plugin *Plugin, name string) error {
	claim, err := rig.Cluster.claimFor(name, "gpu1")
	if err != nil {
		return err
	}
	if _, err = plugin.prepared(claim); err != nil {
		return err
	}
	// A pod that came before its seat is free would be looked at again a second later.
	return first(plugin.unprepared(claim), rig.Cluster.delete(pods+"/"+name), rig.Cluster.delete(domains+"/"+name),
		rig.Cluster.awaitNone(claims+"/"+claim.Name))
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

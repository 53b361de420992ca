package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	health "k8s.io/kubelet/pkg/apis/dra-health/v1alpha1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// What an answer may take that does not wait for anything.
const atOnce = 5 * time.Second

// What an agent may have resident of its own, whatever it has been asked.
const mostMemory = 7 << 10 // kB

func testCalls(c *Checks, rig *Rig) {
	node, err := rig.AddNode("gpu1")
	c.Check("there is a node", first(err, node.Start(), node.AwaitSockets()))
	claim, err := rig.Cluster.claimFor("train", "gpu1")
	c.Check("a claim is allocated", err)
	plugin := dialPlugin(node.socket())
	defer plugin.Close()

	checkRegistration(c, node)
	checkBothVersions(c, plugin, node, claim)
	// From here on everything has been used once.
	time.Sleep(2 * time.Second)
	before := node.use()
	checkWrongClaims(c, plugin, node, claim)
	checkRawRequests(c, plugin, node)
	checkManyClaims(c, plugin, claim)
	checkConcurrentCalls(c, plugin, node, claim)
	checkCallsGivenUp(c, plugin, node, claim)
	checkHealthStreams(c, plugin, node)
	checkRawConnections(c, plugin, node, claim)
	c.Check("in the end the claim is unprepared", plugin.unprepared(claim))
	c.Check("and its file gone", noFile(node.cdiFile(claim)))
	c.Check("the agent is the same process still", node.isRunning())
	c.Check("with no more file descriptors but for connections to the API server", eventually(20*time.Second, func() error {
		now := node.use()
		return holds(now.descriptors <= before.descriptors+spareConnections, "%d, before %d:\n%s", now.descriptors, before.descriptors, node.openFiles())
	}))
	c.Check("and no more threads than gRPC keeps for later", eventually(20*time.Second, func() error {
		now := node.use()
		return holds(now.threads <= before.threads+8, "%d, before %d", now.threads, before.threads)
	}))
	now := node.use()
	fmt.Printf("        file descriptors %d, then %d; threads %d, then %d; %d kB of its own, then %d kB\n", before.descriptors,
		now.descriptors, before.threads, now.threads, before.kilobytes, now.kilobytes)
	c.Check("and at most 7 MB of memory of its own", eventually(20*time.Second, func() error {
		return holds(node.use().kilobytes <= mostMemory, "%d kB", node.use().kilobytes)
	}))
	c.Check("no line of its log is longer than 4 kB", shortLines(node.log()))
	c.Check("SIGTERM ends it with code 0", node.Stop())
	c.Check("no sanitizer has complained", holds(!strings.Contains(node.log(), "Sanitizer"), "%s", node.log()))
}

func checkRegistration(c *Checks, node *Node) {
	client, conn, err := dialRegistration(node.registrationSocket())
	c.Check("kubelet's plugin watcher connects", err)
	if err != nil {
		return
	}
	defer conn.Close()
	// Kubelet waits for a second, and asks again later.
	info, err := client.GetInfo(within(time.Second), &registration.InfoRequest{})
	for try := 1; err != nil && try < 3; try++ {
		info, err = client.GetInfo(within(time.Second), &registration.InfoRequest{})
	}
	c.Check("GetInfo within its second", err)
	got := fmt.Sprint(info.GetType(), " ", info.GetName(), " ", info.GetEndpoint(), " ", info.GetSupportedVersions())
	c.Check("tells what the plugin is", contains(got, fmt.Sprintf("DRAPlugin %s %s [v1.DRAPlugin v1beta1.DRAPlugin v1.DRAResourceHealth v1alpha1.DRAResourceHealth]",
		driver, node.socket())))
	notify := func(is bool, problem string) error {
		_, err := client.NotifyRegistrationStatus(within(5*time.Second), &registration.RegistrationStatus{PluginRegistered: is, Error: problem})
		return err
	}
	c.Check("a refusal is taken", notify(false, "another one is there"))
	c.Check("and told", eventually(atOnce, func() error { return contains(node.log(), "another one is there") }))
	c.Check("the registration is taken", notify(true, ""))
}

func checkBothVersions(c *Checks, plugin *Plugin, node *Node, claim Claim) {
	devices, err := plugin.prepared(claim)
	c.Check("v1 prepares", err)
	if err != nil {
		return
	}
	c.Check("with the device of its CDI file", holds(devices == fmt.Sprintf("gpu1/channel-0 for channel: k8s.%s/claim=%s-channel-0\n",
		driver, claim.UID), "%s", devices))
	_, err = os.Stat(node.cdiFile(claim))
	c.Check("which is there", err)
	answers, err := plugin.PrepareBeta(within(kubeletDeadline), claim)
	c.Check("v1beta1 answers the same", first(err, holds(answers[claim.UID] == Answer{Devices: devices}, "%+v", answers)))
	answers, err = plugin.UnprepareBeta(within(kubeletDeadline), claim)
	got, is := answers[claim.UID]
	c.Check("v1beta1 unprepares", first(err, holds(is && got == Answer{}, "%+v", answers), noFile(node.cdiFile(claim))))
	c.Check("v1 unprepares once more", plugin.unprepared(claim))
	answers, err = plugin.PrepareBeta(within(kubeletDeadline), claim)
	c.Check("v1beta1 prepares", first(err, holds(answers[claim.UID] == Answer{Devices: devices}, "%+v", answers)))
	c.Check("v1 unprepares", first(plugin.unprepared(claim), noFile(node.cdiFile(claim))))
	_, err = plugin.prepared(claim)
	c.Check("and prepares again", err)
}

// checkWrongClaims: each has an answer of its own, short and soon, and does not disturb the right one.
func checkWrongClaims(c *Checks, plugin *Plugin, node *Node, claim Claim) {
	refused := func(what string, wrong Claim, part string) {
		start := time.Now()
		answers, err := plugin.Prepare(within(kubeletDeadline), wrong, claim)
		took := time.Since(start)
		got := answers[wrong.UID]
		c.Check("refused: "+what, first(err, contains(got.Err, part), holds(len(got.Err) < 2000, "an error of %d bytes", len(got.Err)),
			holds(took < atOnce, "after %v: %s", took, got.Err),
			holds(wrong.UID == claim.UID || answers[claim.UID].Err == "", "the right one: %+v", answers[claim.UID])))
	}
	answers, err := plugin.Prepare(within(atOnce))
	c.Check("no claims: no answers", first(err, holds(len(answers) == 0, "%+v", answers)))
	answers, err = plugin.Unprepare(within(atOnce))
	c.Check("none to unprepare, either", first(err, holds(len(answers) == 0, "%+v", answers)))
	other := "11111111-2222-3333-4444-555555555555"
	noObject := "no object can have such a namespace or name"
	refused("no UID", Claim{"default", claim.Name, ""}, "no UID")
	refused("no name", Claim{"default", "", other}, "no name")
	refused("nothing at all", Claim{}, "no UID")
	refused("no such claim", Claim{"default", "nobody", other}, "nobody")
	refused("another namespace", Claim{"kube-system", claim.Name, other}, claim.Name)
	refused("another UID", Claim{"default", claim.Name, other}, "UID")
	refused("the UID under another name", Claim{"default", "nobody", claim.UID}, "UID")
	refused("a UID that is a path", Claim{"default", claim.Name, "../../../etc/passwd"}, "is not a UID")
	refused("a name that is a path", Claim{"default", "../../../api/v1/nodes", other}, noObject)
	refused("a name with a zero byte", Claim{"default", "a\x00b", other}, noObject)
	refused("a name with a query", Claim{"default", claim.Name + "?watch=true", other}, noObject)
	refused("a huge UID", Claim{"default", claim.Name, strings.Repeat("u", 1<<20)}, "is not a UID")
	refused("a huge name", Claim{"default", strings.Repeat("n", 1<<20), other}, noObject)
	refused("a huge namespace", Claim{strings.Repeat("n", 1<<20), claim.Name, other}, noObject)

	answers, err = plugin.Prepare(within(kubeletDeadline), claim, claim, claim)
	c.Check("the same claim three times has one answer", first(err, holds(len(answers) == 1 && answers[claim.UID].Err == "", "%+v", answers)))
	answers, err = plugin.Unprepare(within(atOnce), Claim{"default", "gone", other})
	got, is := answers[other]
	c.Check("what nobody knows is unprepared", first(err, holds(is && got.Err == "", "%+v", answers)))
	answers, err = plugin.Unprepare(within(atOnce), Claim{"default", "gone", ""})
	c.Check("but not without a UID", first(err, contains(answers[""].Err, "no UID")))
	answers, err = plugin.Unprepare(within(atOnce), Claim{strings.Repeat("n", 1<<20), strings.Repeat("n", 1<<20), other})
	got, is = answers[other]
	c.Check("nor held up by a name, however long", first(err, holds(is && got.Err == "", "%d bytes", len(got.Err))))
	_, err = plugin.Prepare(within(kubeletDeadline), Claim{"default", strings.Repeat("n", 5<<20), other})
	c.Check("five megabytes are no request", holds(status.Code(err) == codes.ResourceExhausted, "%v", err))
	_, err = os.Stat(node.cdiFile(claim))
	c.Check("the right one has its file still", err)
}

func checkManyClaims(c *Checks, plugin *Plugin, claim Claim) {
	many := []Claim{claim}
	for i := range 2000 {
		many = append(many, Claim{"default", fmt.Sprintf("c%d", i), fmt.Sprintf("many-%d", i)})
	}
	answers, err := plugin.Prepare(within(kubeletDeadline), many...)
	good := 0
	for _, answer := range answers {
		if answer.Err == "" {
			good++
		}
	}
	c.Check("2,001 claims in a request: one is right, each has an answer", first(err, holds(len(answers) == len(many) && good <= 1,
		"%d answers, %d good", len(answers), good)))
	_, err = plugin.prepared(claim)
	c.Check("and then it is prepared as before", err)
}

func checkConcurrentCalls(c *Checks, plugin *Plugin, node *Node, claim Claim) {
	const crowd = 64
	want, err := plugin.prepared(claim)
	c.Check("the claim is prepared", err)
	all := func(f func(i int) error) error {
		problems := make([]error, crowd)
		var group sync.WaitGroup
		for i := range crowd {
			group.Go(func() { problems[i] = f(i) })
		}
		group.Wait()
		return first(problems...)
	}
	prepare := func(int) error {
		devices, err := plugin.prepared(claim)
		return first(err, holds(devices == want, "%s", devices))
	}
	c.Check("64 at once prepare what is prepared", all(prepare))
	c.Check("64 unprepare it", all(func(int) error { return plugin.unprepared(claim) }))
	c.Check("and its file is gone", noFile(node.cdiFile(claim)))
	starts := node.startsOfIMEX()
	c.Check("64 prepare it", all(prepare))
	c.Check("over one IMEX daemon", holds(node.startsOfIMEX() == starts+1, "%d daemons", node.startsOfIMEX()-starts))
	c.Check("64 do both by turns, and each is answered", all(func(i int) error {
		if i%2 == 0 {
			return prepare(i)
		}
		return plugin.unprepared(claim)
	}))
	c.Check("64 for a claim each: the right one is prepared, the others refused", all(func(i int) error {
		if i == 0 {
			return prepare(i)
		}
		uid := fmt.Sprintf("other-%d", i)
		answers, err := plugin.Prepare(within(kubeletDeadline), Claim{"default", fmt.Sprintf("other%d", i), uid})
		return first(err, contains(answers[uid].Err, "other"))
	}))
	c.Check("64 on a connection each", all(func(i int) error {
		mine := dialPlugin(node.socket())
		defer mine.Close()
		devices, err := mine.prepared(claim)
		return first(err, holds(devices == want, "%s", devices))
	}))
	names, _ := os.ReadDir(node.Flags["--cdi-root"])
	c.Check("one CDI file is there", holds(len(names) == 1, "%v", names))
}

// checkCallsGivenUp: unprepares that wait for ever, as the IMEX supervisor is silent.
func checkCallsGivenUp(c *Checks, plugin *Plugin, node *Node, prepared Claim) {
	_, err := plugin.prepared(prepared)
	c.Check("the claim is prepared, and the IMEX supervisor stops", first(err, node.imex.Process.Signal(syscall.SIGSTOP)))
	defer node.imex.Process.Signal(syscall.SIGCONT)
	for _, way := range []struct {
		what string
		end  func(context.Context) (context.Context, context.CancelFunc)
		code codes.Code
	}{
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			inner, cancel := context.WithCancel(ctx)
			time.AfterFunc(300*time.Millisecond, cancel)
			return inner, cancel
		}, codes.Canceled},
		{"over their deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 300*time.Millisecond)
		}, codes.DeadlineExceeded},
	} {
		given := strings.Count(node.log(), "the call was given up")
		var group sync.WaitGroup
		problems := make([]error, 64)
		start := time.Now()
		for i := range problems {
			group.Go(func() {
				ctx, cancel := way.end(context.Background())
				defer cancel()
				_, err := plugin.Unprepare(ctx, prepared)
				problems[i] = holds(status.Code(err) == way.code, "%v", err)
			})
		}
		group.Wait()
		c.Check("64 calls end that are "+way.what, first(append(problems, holds(time.Since(start) < atOnce, "%v", time.Since(start)))...))
		c.Check("at once in the agent, too", eventually(atOnce, func() error {
			now := strings.Count(node.log(), "the call was given up")
			return holds(now > given, "%d lines", now-given)
		}))
	}
	c.Check("no thread is left in them", eventually(atOnce, func() error {
		return holds(node.use().threads < 64, "%d threads", node.use().threads)
	}))
	answers, err := plugin.Prepare(within(kubeletDeadline), Claim{"default", "nobody", "given-up"})
	c.Check("meanwhile others are answered", first(err, contains(answers["given-up"].Err, "nobody")))
}

func checkHealthStreams(c *Checks, plugin *Plugin, node *Node) {
	seat, err := plugin.Health(within(atOnce))
	c.Check("the health stream tells the seat", first(err, contains(seat, "gpu1/channel-0 ")))
	ctx, cancel := context.WithCancel(context.Background())
	for range 200 {
		stream, failed := plugin.health.NodeWatchResources(ctx, &health.NodeWatchResourcesRequest{})
		if failed == nil {
			_, failed = stream.Recv()
		}
		err = first(err, failed)
	}
	c.Check("200 streams at a time", err)
	cancel()
	for range 100 {
		mine := dialPlugin(node.socket())
		_, failed := mine.Health(within(atOnce))
		err = first(err, failed)
		mine.Close()
	}
	c.Check("100 that end with their connection", err)
	c.Check("and still one more", eventually(atOnce, func() error {
		seat, err = plugin.Health(within(atOnce))
		return first(err, contains(seat, "gpu1/channel-0 HEALTHY"))
	}))
}

func noFile(path string) error {
	_, err := os.Stat(path)
	return holds(os.IsNotExist(err), "%s is there: %v", path, err)
}

func shortLines(log string) error {
	for _, line := range strings.Split(log, "\n") {
		if len(line) > 4096 {
			return fmt.Errorf("%d bytes: %s…", len(line), line[:300])
		}
	}
	return nil
}

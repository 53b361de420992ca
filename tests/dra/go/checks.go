package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Checks counts what holds, as tests/smoke/check.sh does. For several goroutines.
type Checks struct {
	mutex          sync.Mutex
	passed, failed int
	whole          *Checks // that this is a part of, or nil
	prefix         string
}

// Called is a part whose lines begin so.
func (c *Checks) Called(prefix string) *Checks { return &Checks{whole: c, prefix: prefix} }

func (c *Checks) Check(what string, err error) {
	if c.whole != nil {
		c.whole.Check(c.prefix+what, err)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err == nil {
		c.passed++
		fmt.Println("ok     ", what)
		return
	}
	c.failed++
	fmt.Println("FAILED ", what)
	text := err.Error()
	if len(text) > 4000 {
		text = text[:4000] + "…"
	}
	fmt.Println("        " + strings.ReplaceAll(text, "\n", "\n        "))
}

// Finish ends the program.
func (c *Checks) Finish() {
	fmt.Printf("%d passed, %d failed\n", c.passed, c.failed)
	if c.failed > 0 {
		os.Exit(1)
	}
	os.Exit(0)
}

// eventually calls it until it succeeds, or gives its last error.
func eventually(limit time.Duration, f func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func holds(condition bool, format string, arguments ...any) error {
	if condition {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

func contains(text, part string) error {
	return holds(strings.Contains(text, part), "wanted: %s\ngot:    %s", part, text)
}

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Checks counts what holds, as tests/smoke/check.sh does.
type Checks struct{ passed, failed int }

func (c *Checks) Check(what string, err error) {
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

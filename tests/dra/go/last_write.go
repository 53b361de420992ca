package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// LastWrite says at which of its writes an agent is killed; see tests/dra/last_write.cpp.
type LastWrite struct{ plan []byte }

const (
	beforeIt = 0
	afterIt  = 1
)

// lastWriteOf is for the agents that the node starts from now on.
func lastWriteOf(n *Node) (*LastWrite, error) {
	path := n.path("last_write")
	if err := os.WriteFile(path, make([]byte, 256), 0o600); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plan, err := syscall.Mmap(int(file.Fd()), 0, 256, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	library, err := filepath.Abs(filepath.Join(n.rig.build, "tests/dra/liblast-write.so"))
	if err == nil {
		_, err = os.Stat(library)
	}
	n.Environment = []string{"LD_PRELOAD=" + library, "LAST_WRITE=" + path}
	return &LastWrite{plan}, err
}

func (w *LastWrite) left() *int64 { return (*int64)(unsafe.Pointer(&w.plan[0])) }

// Set counts from now on; 0: never mind.
func (w *LastWrite) Set(number, when int64) {
	*(*int64)(unsafe.Pointer(&w.plan[8])) = when
	clear(w.plan[16:])
	atomic.StoreInt64(w.left(), number)
}

// Left is how many there would still have been.
func (w *LastWrite) Left() int64 { return atomic.LoadInt64(w.left()) }

// What it was, once it has been.
func (w *LastWrite) What() string { return string(bytes.TrimRight(w.plan[16:], "\x00")) }

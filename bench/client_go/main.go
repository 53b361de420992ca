// watch-peer: what watch events cost an informer of client-go, and a server that sends the same ones to any client.
//
//	watch-peer serve N  reads a watch event of a ResourceClaim, in a line of JSON; prints two URLs, of HTTP and of HTTPS
//	watch-peer take N   for each line "ENCODING URL" (json or protobuf) takes the N events; prints the CPU-seconds of that
//	watch-peer encode 0 for each line with an object, a list or a watch event in JSON prints it in protobuf, as hexadecimal digits
//
// Both end with their standard input.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

var mediaTypes = map[string]string{"json": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf}

func main() {
	if len(os.Args) != 3 {
		usage()
	}
	number, err := strconv.Atoi(os.Args[2])
	answer := map[string]func(string, int) (string, error){"serve": serveLine, "take": takeLine, "encode": encodeLine}[os.Args[1]]
	if err != nil || answer == nil {
		usage()
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		text, err := answer(strings.TrimSpace(line), number)
		if err != nil {
			fmt.Fprintln(os.Stderr, "watch-peer:", err)
			os.Exit(1)
		}
		fmt.Println(text)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: watch-peer serve|take|encode N")
	os.Exit(2)
}

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serveLine starts a server, which goes on as long as this process.
func serveLine(line string, number int) (string, error) {
	var event metav1.WatchEvent
	var claim resourcev1.ResourceClaim
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		return "", err
	}
	if err := json.Unmarshal(event.Object.Raw, &claim); err != nil {
		return "", err
	}
	handler := server{}
	for encoding, mediaType := range mediaTypes {
		answers, err := encode(&claim, number, mediaType)
		if err != nil {
			return "", err
		}
		handler[encoding] = answers
	}
	certificate, err := selfSigned()
	if err != nil {
		return "", err
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	// HTTP/2 for who asks for it, which client-go does over TLS, as of any API server.
	web := &http.Server{Handler: handler, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	go web.ServeTLS(secure, "", "")
	go http.Serve(plain, handler)
	return fmt.Sprintf("http://%s https://%s", plain.Addr(), secure.Addr()), nil
}

// A server has its answers by their encoding.
type server map[string]*Answers

func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := s["json"]
	if strings.Contains(r.Header.Get("Accept"), "protobuf") {
		answers = s["protobuf"]
	}
	if !r.URL.Query().Has("watch") {
		w.Header().Set("Content-Type", answers.mediaType)
		w.Write(answers.emptyList)
		return
	}
	w.Header().Set("Content-Type", answers.streamType)
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		w.Write(answers.initialEventsEnd)
	}
	// Without a flush while the next event is there already, as kube-apiserver does it.
	for _, event := range answers.events {
		if _, err := w.Write(event); err != nil {
			return
		}
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// As many as the controller has at 278 domains of 18; each event is of another one.
const claims = 5000

// Answers are what a server sends in one encoding.
type Answers struct {
	mediaType, streamType string
	emptyList             []byte
	initialEventsEnd      []byte   // which a client that watches without a list waits for
	events                [][]byte // a frame each
}

// encode does what kube-apiserver does: first the object, then the event that holds its bytes, then the frame.
func encode(claim *resourcev1.ResourceClaim, number int, mediaType string) (*Answers, error) {
	info, known := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !known || info.StreamSerializer == nil {
		return nil, fmt.Errorf("client-go has no serializer for streams of %s", mediaType)
	}
	version := resourcev1.SchemeGroupVersion
	objects := scheme.Codecs.EncoderForVersion(info.Serializer, version)
	stream := scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, version)
	frame := func(of watch.EventType, object runtime.Object) ([]byte, error) {
		inner, err := runtime.Encode(objects, object)
		if err != nil {
			return nil, err
		}
		event, err := runtime.Encode(stream, &metav1.WatchEvent{Type: string(of), Object: runtime.RawExtension{Raw: inner}})
		if err != nil {
			return nil, err
		}
		var framed bytes.Buffer
		_, err = info.StreamSerializer.Framer.NewFrameWriter(&framed).Write(event)
		return framed.Bytes(), err
	}

	answers := &Answers{mediaType: mediaType, streamType: mediaType}
	if !info.EncodesAsText {
		answers.streamType += ";stream=watch"
	}
	var err error
	empty := &resourcev1.ResourceClaimList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	if answers.emptyList, err = runtime.Encode(objects, empty); err != nil {
		return nil, err
	}
	bookmark := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	if answers.initialEventsEnd, err = frame(watch.Bookmark, bookmark); err != nil {
		return nil, err
	}
	for i := range number {
		of := watch.Modified
		if i < claims {
			of = watch.Added
		}
		event, err := frame(of, state(claim, i))
		if err != nil {
			return nil, err
		}
		answers.events = append(answers.events, event)
	}
	return answers, nil
}

// encodeLine says in protobuf what the line says, of an event without the length of its frame.
func encodeLine(line string, _ int) (string, error) {
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	var event metav1.WatchEvent
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		return "", err
	}
	text := []byte(line)
	if event.Type != "" {
		text = event.Object.Raw
	}
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return "", err
	}
	encoded, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, kind.GroupVersion()), object)
	if err != nil || event.Type == "" {
		return hex.EncodeToString(encoded), err
	}
	event.Object.Raw = encoded
	encoded, err = runtime.Encode(scheme.Codecs.EncoderForVersion(info.StreamSerializer.Serializer, kind.GroupVersion()), &event)
	return hex.EncodeToString(encoded), err
}

// state is what event i says: a claim has a name and an UID of its own, and the newest version of all.
func state(claim *resourcev1.ResourceClaim, i int) *resourcev1.ResourceClaim {
	state := claim.DeepCopy()
	state.Name = fmt.Sprintf("train-%d-channel-x7k2p", i%claims)
	state.UID = types.UID(fmt.Sprintf("%08x-7a55-4a43-9d3b-3f1f3d0c7c11", i%claims))
	state.ResourceVersion = strconv.Itoa(i + 2)
	return state
}

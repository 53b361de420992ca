package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// Cluster is an administrator's view of the sandbox's API server.
type Cluster struct {
	server, token string
	client        *http.Client
}

func clusterOf(kubeconfig string) (*Cluster, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, err
	}
	found := regexp.MustCompile(`(?s)server: (\S+).*token: (\S+)`).FindSubmatch(text)
	if found == nil {
		return nil, fmt.Errorf("no server and token in %s", kubeconfig)
	}
	return &Cluster{string(found[1]), string(found[2]), &http.Client{Timeout: 10 * time.Second}}, nil
}

type object = map[string]any

func (c *Cluster) call(method, path, kind string, body any) (object, error) {
	var content []byte
	if text, is := body.(string); is {
		content = []byte(text)
	} else if body != nil {
		content, _ = json.Marshal(body)
	}
	request, err := http.NewRequest(method, c.server+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", kind)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	result := object{}
	return result, json.Unmarshal(answer, &result)
}

func (c *Cluster) create(path, body string) error {
	_, err := c.call("POST", path, "application/json", body)
	return err
}

func (c *Cluster) delete(path string) error {
	_, err := c.call("DELETE", path, "application/json", `{"gracePeriodSeconds": 0}`)
	return err
}

func (c *Cluster) awaitNone(path string) error {
	return eventually(20*time.Second, func() error {
		_, err := c.call("GET", path, "application/json", nil)
		return holds(err != nil && strings.Contains(err.Error(), ": 404 "), "%s is there: %v", path, err)
	})
}

const (
	pods      = "/api/v1/namespaces/default/pods"
	claims    = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
	templates = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
	domains   = "/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains"
)

func (c *Cluster) addNode(name string) error {
	ready := `{"status": {"nodeInfo": {"bootID": "boot-1"}, "conditions": [{"type": "Ready", "status": "True",
		"reason": "KubeletReady"}], "capacity": {"cpu": "8", "pods": "110"}, "allocatable": {"cpu": "8", "pods": "110"}}}`
	err := c.create("/api/v1/nodes", fmt.Sprintf(
		`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": %q, "labels": {"kubernetes.io/hostname": %q}}}`, name, name))
	if err != nil {
		return err
	}
	_, err = c.call("PATCH", "/api/v1/nodes/"+name+"/status", "application/merge-patch+json", ready)
	return err
}

// addDomain adds a domain of that many nodes, whose template is called as itself.
func (c *Cluster) addDomain(name string, nodes int) error {
	return c.create(domains, fmt.Sprintf(`{"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain",
		"metadata": {"name": %q}, "spec": {"numNodes": %d, "channel": {"resourceClaimTemplate": {"name": %q}}}}`,
		name, nodes, name))
}

// addPod adds a pod for that node, with a claim of the domain.
func (c *Cluster) addPod(name, domain, node string) error {
	return c.create(pods, fmt.Sprintf(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q},
		"spec": {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"kubernetes.io/hostname": %q},
		"containers": [{"name": "c", "image": "busybox", "resources": {"claims": [{"name": "channel"}]}}],
		"resourceClaims": [{"name": "channel", "resourceClaimTemplateName": %q}]}}`, name, node, domain))
}

func at(value any, path ...any) any {
	for _, key := range path {
		switch v := value.(type) {
		case object:
			name, _ := key.(string)
			value = v[name]
		case []any:
			index, is := key.(int)
			if !is || index >= len(v) {
				return nil
			}
			value = v[index]
		default:
			return nil
		}
	}
	return value
}

func text(value any, path ...any) string {
	found, _ := at(value, path...).(string)
	return found
}

// claimOf is the pod's claim, once it is allocated.
func (c *Cluster) claimOf(pod string) (Claim, error) {
	var claim Claim
	err := eventually(20*time.Second, func() error {
		found, err := c.call("GET", pods+"/"+pod, "application/json", nil)
		if err != nil {
			return err
		}
		name := text(found, "status", "resourceClaimStatuses", 0, "resourceClaimName")
		if name == "" {
			return fmt.Errorf("the pod %s has no claim", pod)
		}
		if found, err = c.call("GET", claims+"/"+name, "application/json", nil); err != nil {
			return err
		}
		claim = Claim{"default", name, text(found, "metadata", "uid")}
		return holds(at(found, "status", "allocation") != nil && at(found, "status", "reservedFor") != nil,
			"the claim %s is not allocated", name)
	})
	return claim, err
}

// claimFor adds a domain and a pod of that name, and gives its claim.
func (c *Cluster) claimFor(name, node string) (Claim, error) {
	if err := c.addDomain(name, 1); err != nil {
		return Claim{}, err
	}
	// A pod that came before its template would be looked at again a second later.
	err := eventually(20*time.Second, func() error {
		_, err := c.call("GET", templates+"/"+name, "application/json", nil)
		return err
	})
	if err = first(err, c.addPod(name, name, node)); err != nil {
		return Claim{}, err
	}
	return c.claimOf(name)
}

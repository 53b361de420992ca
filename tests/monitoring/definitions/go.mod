// The Prometheus operator whose CustomResourceDefinitions take what manifests/monitoring has: the newest one that the tests know.
// go-0.66.mod is the oldest one, by docs/monitoring.md. Nothing is built of either: tests/manifests/manifests_test.sh reads
// example/prometheus-operator-crd.
module compute-domain-operator/tests/monitoring

go 1.25.0

require github.com/prometheus-operator/prometheus-operator v0.85.0

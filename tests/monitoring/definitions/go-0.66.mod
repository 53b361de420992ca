module compute-domain-operator/tests/monitoring

go 1.25.0

require github.com/prometheus-operator/prometheus-operator v0.66.0

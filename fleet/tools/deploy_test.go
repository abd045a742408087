// Package tools checks the examples of fleet/deploy with the programs that read them.
package tools

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// TestUnits has systemd verify the units, with a program that exists.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("skipped: systemd-analyze of the Debian package systemd is not installed")
	}
	units, err := filepath.Glob("../deploy/systemd/*@.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("%q, %v", units, err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		installed := bytes.ReplaceAll(text, []byte("/usr/local/bin/switchyard-fleet "), []byte("/bin/true "))
		file := filepath.Join(t.TempDir(), filepath.Base(unit))
		if err := os.WriteFile(file, installed, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(analyze, "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", unit, err, out)
		}
	}
}

// TestDeployment decodes the Deployment with the types of Kubernetes, which knows every
// field and its type.
func TestDeployment(t *testing.T) {
	text, err := os.ReadFile("../deploy/kubernetes/worker.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d appsv1.Deployment
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template
	if d.APIVersion != "apps/v1" || d.Kind != "Deployment" || len(pod.Spec.Containers) != 1 {
		t.Errorf("%s %s with %d containers", d.APIVersion, d.Kind, len(pod.Spec.Containers))
	}
	for name, value := range d.Spec.Selector.MatchLabels {
		if pod.Labels[name] != value {
			t.Errorf("the selector's label %s is not that of the pods", name)
		}
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
}

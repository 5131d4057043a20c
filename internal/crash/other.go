//go:build !linux

package crash

import (
	"context"
	"errors"
	"io"
	"syscall"

	"assay"
)

const needsLinux = "it takes Linux, with FUSE and loop devices"

// Missing says what this machine lacks for a fault.
func Missing(assay.Fault, assay.FileSystem) string { return needsLinux }

func available(assay.Fault) assay.FileSystem { return assay.Ext4 }

// Serve is not there: it takes Linux.
func Serve(context.Context, string, io.Reader, io.Writer) error { return errors.New(needsLinux) }

// Host is not there: it takes Linux.
func Host(context.Context, string, string, string, io.Reader, io.Writer) error {
	return errors.New(needsLinux)
}

// trial is not there: it takes Linux.
type trial struct{}

func table() []fault {
	return []fault{{Fault: assay.PowerCut}, {Fault: assay.FileCut}, {Fault: assay.Kill}, {Fault: assay.FullDisk}, {Fault: assay.PowerShared, shared: true},
		{Fault: assay.KillShared, shared: true}, {Fault: assay.FailingIO}}
}

func namespaceAttributes() *syscall.SysProcAttr { return nil }

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/belay-agent/belay/internal/world/workspace"
)

// lateWrites tells the person of what somebody wrote to a file through a
// descriptor that they had open while the agent replaced it: their words are in
// no file any more, but in one that is named here.
func (r *rig) lateWrites() error {
	if r.workspace == nil || r.ui == nil {
		return nil
	}
	var errs []error
	for _, lost := range r.workspace.Recheck() {
		file, err := r.keepLate(lost)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.ui.Say(fmt.Sprintf("while %s was changed, somebody who had it open wrote to it: what they wrote is in %s", lost.Path, file))
	}
	return errors.Join(errs...)
}

// keepLate returns the file that has what was written late: the image that the
// workspace keeps or, where it keeps none, a new one.
func (r *rig) keepLate(lost workspace.Lost) (string, error) {
	if r.kept && r.images != "" {
		image := filepath.Join(r.images, lost.Digest)
		if _, err := os.Stat(image); err == nil {
			return image, nil
		}
	}
	f, err := os.CreateTemp("", "belay-late-*-"+filepath.Base(lost.Path))
	if err != nil {
		return "", fmt.Errorf("keep what was written late to %s: %w", lost.Path, err)
	}
	_, err = f.Write(lost.Bytes)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("keep what was written late to %s: %w", lost.Path, err)
	}
	return f.Name(), nil
}

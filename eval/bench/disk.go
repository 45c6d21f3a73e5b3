package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// diskSpeed measures what the disk under dir takes to make something durable,
// whoever asks: a record that is added to a file, and a file that takes the
// place of another.
func diskSpeed(dir string, n int) (record, replace spread, err error) {
	f, err := os.Create(filepath.Join(dir, "records"))
	if err != nil {
		return record, replace, err
	}
	records := make([]float64, 0, n)
	replaces := make([]float64, 0, n)
	line := make([]byte, 400)
	if _, err = f.Write(make([]byte, 1<<20)); err == nil {
		err = f.Sync()
	}
	for i := 0; i < n && err == nil; i++ {
		began := time.Now()
		if _, err = f.WriteAt(line, int64(i*len(line))); err == nil {
			err = f.Sync()
		}
		records = append(records, milliseconds(time.Since(began)))
		if err == nil {
			began = time.Now()
			err = replaceFile(dir)
			replaces = append(replaces, milliseconds(time.Since(began)))
		}
	}
	err = errors.Join(err, f.Close())
	return spreadOf(records), spreadOf(replaces), err
}

func replaceFile(dir string) error {
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 8<<10))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "replaced")); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

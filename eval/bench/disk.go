package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// A disk is measured beside the subjects: what it takes to make something
// durable, whoever asks. It must be closed.
type disk struct {
	dir      string
	log      *os.File
	end      int64
	records  []float64 // ms to add a record to a file
	replaces []float64 // ms to put a file in the place of another
}

func openDisk(dir string) (*disk, error) {
	f, err := os.Create(filepath.Join(dir, "records"))
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(make([]byte, 1<<20)); err == nil { // so that its size stays
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &disk{dir: dir, log: f}, nil
}

func (d *disk) close() error { return d.log.Close() }

// measure takes both times once more.
func (d *disk) measure() error {
	record := make([]byte, 400)
	began := time.Now()
	if _, err := d.log.WriteAt(record, d.end); err != nil {
		return err
	}
	if err := d.log.Sync(); err != nil {
		return err
	}
	d.end += int64(len(record))
	d.records = append(d.records, milliseconds(time.Since(began)))
	began = time.Now()
	if err := replaceFile(d.dir); err != nil {
		return err
	}
	d.replaces = append(d.replaces, milliseconds(time.Since(began)))
	return nil
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

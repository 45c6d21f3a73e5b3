package effect

// Conflicts reports whether running s and t in either order could differ. It
// is symmetric, and false for two sets that only read.
//
// Sets conflict if an effect of one conflicts with an effect of the other:
//
//	           read     write    process  network  git      resource permanent anything
//	read       no       meet     no       no       in .git  no       yes       yes
//	write      meet     meet     no       no       in .git  no       yes       yes
//	process    no       no       no       no       no       no       yes       yes
//	network    no       no       no       same     no       no       yes       yes
//	git        in .git  in .git  no       no       yes      no       yes       yes
//	resource   no       no       no       no       no       same     yes       yes
//	permanent  yes      yes      yes      yes      yes      yes      yes       yes
//	anything   yes      yes      yes      yes      yes      yes      yes       yes
//
// Two paths meet if they are equal or one is above the other, by whole
// elements, whether or not either is a Tree: a directory that is read shows
// what was written in it, and a file and a directory cannot both have the same
// name. A path is in .git if an element of it is .git, in any case of letters,
// or if it is a Tree, which may hold a repository. Network and Resource are the
// same if their names are equal or one of them is "", which is any. A path of
// "" is every path, "." holds the workspace, and "/" holds the workspace too;
// whoever touches another tree that the workspace lies in declares "." as well.
// A kind that is not in the closed list counts as Anything.
func (s Set) Conflicts(t Set) bool {
	_, _, ok := s.Conflict(t)
	return ok
}

// Conflict returns the first effect of s that conflicts with one of t, and that
// one, so that a log can say why a call was held back by another.
func (s Set) Conflict(t Set) (ofS, ofT Effect, ok bool) {
	for _, e := range s {
		for _, f := range t {
			if e.conflicts(f) {
				return e, f, true
			}
		}
	}
	return Effect{}, Effect{}, false
}

func (e Effect) conflicts(f Effect) bool {
	switch {
	case e.unbounded() || f.unbounded():
		return true
	case e.onPath() && f.onPath():
		p, _ := e.place()
		q, _ := f.place()
		return (e.Kind == Write || f.Kind == Write) && meet(p, q)
	case e.Kind == Git:
		return f.Kind == Git || f.touchesGit()
	case f.Kind == Git:
		return e.touchesGit()
	case e.Kind == f.Kind && e.Kind != Process:
		return e.On == "" || f.On == "" || e.On == f.On
	}
	return false
}

// unbounded reports whether nothing is known of what e leaves alone.
func (e Effect) unbounded() bool {
	switch e.Kind {
	case Read, Write, Process, Network, Git, Resource:
		return false
	}
	return true
}

package shell

import "strings"

// maxJobs is how many commands of parallel are followed.
const maxJobs = 40

// parallel follows parallel, as far as what it runs is written out.
func (m *match) parallel(args []arg) {
	d := m.d
	d.process("parallel")
	d.unclear("parallel runs a command for each of its inputs")
	n := 0
	for n < len(args) && strings.HasPrefix(args[n].text, "-") && args[n].text != "-" {
		switch a := args[n]; {
		case a.text == "-j" || a.text == "-P" || a.text == "--jobs" || a.text == "-n" || a.text == "-N":
			n++
		case strings.HasPrefix(a.text, "-j"), a.text == "-k", a.text == "--keep-order", a.text == "-q", a.text == "-m", a.text == "-X", a.text == "-u", a.text == "-v", a.text == "-t":
		default:
			d.hides("what parallel runs")
		}
		n++
	}
	args = args[min(n, len(args)):]
	at := 0
	for at < len(args) && args[at].text != ":::" {
		at++
	}
	words, jobs := args[:at], args[min(at+1, len(args)):]
	if at == len(args) || len(jobs) > maxJobs {
		d.hides("what parallel runs")
		jobs = []arg{{shown: "..."}}
	}
	for _, job := range jobs {
		switch job.text {
		case ":::":
			d.hides("what parallel runs")
			continue
		case "::::", ":::+", "::::+":
			d.hides("what parallel runs")
		}
		m.job(words, job)
	}
}

// job follows one command of parallel, which a shell reads.
func (m *match) job(words []arg, job arg) {
	text, placed := "", false
	for _, w := range words {
		if strings.Contains(w.text, "{}") {
			placed = true
		}
		text += strings.ReplaceAll(w.whole(), "{}", job.whole()) + " "
	}
	if !placed {
		if job.known {
			text += job.whole()
		} else {
			text += unknown
		}
	}
	m.d.r.inner(text, m.d.r.lang, state{dirs: m.d.s.dirs})
}

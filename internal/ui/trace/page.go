package trace

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's script, in the order in which they stand.
var scripts = []string{
	"text.js", "data.js", "model.js", "filter.js", "state.js", "list.js", "value.js", "diff.js",
	"request.js", "call.js", "step.js", "facts.js", "detail.js", "lanes.js", "curves.js", "files.js", "keys.js", "follow.js", "main.js",
}

// A form is where a page is looked at.
type form string

const (
	static form = "static" // a file: it reaches nothing
	live   form = "live"   // served by us: it may ask us for more
)

// A page is all that does not depend on the session.
type page struct {
	script, style, body string
	scriptSum, styleSum string // for the policy
}

var thePage = sync.OnceValue(func() page {
	read := func(name string) string {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic("trace: " + err.Error()) // it is embedded
		}
		return string(b)
	}
	var script strings.Builder
	script.WriteString("'use strict';\n(() => {\n")
	for _, name := range scripts {
		script.WriteString(read(name))
	}
	script.WriteString("main();\n})();\n")
	p := page{script: script.String(), style: read("style.css"), body: read("body.html")}
	p.scriptSum, p.styleSum = digest(p.script), digest(p.style)
	return p
})

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy is the Content-Security-Policy of a page: its own script and style, by
// their digests, and pictures that are in it.
func (p page) policy(f form) string {
	csp := "default-src 'none'; script-src " + p.scriptSum + "; style-src " + p.styleSum + "; img-src data:; base-uri 'none'; form-action 'none'"
	if f == live {
		csp += "; connect-src 'self'"
	}
	return csp
}

// A pageWriter writes a page from top to bottom, and remembers what went wrong.
type pageWriter struct {
	w   io.Writer
	err error
}

func (p *pageWriter) put(parts ...string) {
	for _, s := range parts {
		if p.err == nil {
			_, p.err = io.WriteString(p.w, s)
		}
	}
}

func (p *pageWriter) head(f form) {
	page := thePage()
	p.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="`, page.policy(f), `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Belay trace</title>
<style>`, page.style, `</style>
</head>
<body data-form="`, string(f), "\">\n", page.body)
}

// chunk writes events as data that no browser runs.
func (p *pageWriter) chunk(c chunk) {
	if len(c.Rows) == 0 {
		return
	}
	rows, err := json.Marshal(c.Rows)
	if err == nil {
		p.data("rows", "", rows)
		rows, err = json.Marshal(c.Bodies)
	}
	if err != nil {
		if p.err == nil {
			p.err = fmt.Errorf("write a trace: %w", err)
		}
		return
	}
	p.data("bodies", "", rows)
	for _, name := range c.order {
		p.data("", "a-"+name, c.Artifacts[name])
	}
}

// data writes an element of data, which value cannot end.
func (p *pageWriter) data(class, id string, value []byte) {
	p.put(`<script type="application/json"`)
	if class != "" {
		p.put(` class="`, class, `"`)
	}
	if id != "" {
		p.put(` id="`, id, `"`)
	}
	p.put(">", string(tamed(value)), "</script>\n")
}

func (p *pageWriter) tail() {
	p.put("<script>", thePage().script, "</script>\n</body>\n</html>\n")
}

package repo

import (
	"path"
	"slices"
	"strings"
)

// languages are the names of each language, and what the names of its files are:
// an extension, or a whole name.
var languages = [...]struct{ names, files string }{
	{"c", ".c .h"},
	{"c# cs csharp", ".cs .csx"},
	{"c++ cpp", ".cc .cpp .cxx .h .hh .hpp .hxx .ipp .tpp"},
	{"clojure", ".clj .cljc .cljs .edn"},
	{"cmake", ".cmake CMakeLists.txt"},
	{"css scss", ".css .less .sass .scss"},
	{"dart", ".dart"},
	{"docker dockerfile", ".dockerfile Containerfile Dockerfile"},
	{"elixir", ".ex .exs"},
	{"erlang", ".erl .hrl"},
	{"fortran", ".f .f03 .f08 .f90 .f95 .for"},
	{"go golang", ".go"},
	{"groovy", ".gradle .groovy Jenkinsfile"},
	{"haskell", ".hs .lhs"},
	{"html", ".htm .html .xhtml"},
	{"java", ".java"},
	{"javascript js jsx", ".cjs .js .jsx .mjs"},
	{"json", ".json .json5 .jsonc .jsonl .ndjson"},
	{"julia", ".jl"},
	{"kotlin kt", ".kt .kts"},
	{"lua", ".lua"},
	{"make makefile", ".mak .mk GNUmakefile Makefile makefile"},
	{"markdown md", ".markdown .md .mdx"},
	{"nix", ".nix"},
	{"objc objective-c", ".h .m .mm"},
	{"ocaml", ".ml .mli"},
	{"perl", ".pl .pm .t"},
	{"php", ".php .phtml"},
	{"powershell ps1", ".ps1 .psd1 .psm1"},
	{"proto protobuf", ".proto"},
	{"python py", ".py .pyi .pyw"},
	{"r", ".R .Rmd .r"},
	{"ruby rb", ".gemspec .rake .rb Gemfile Rakefile"},
	{"rust rs", ".rs"},
	{"scala", ".sbt .sc .scala"},
	{"shell bash sh zsh", ".bash .ksh .sh .zsh"},
	{"sql", ".sql"},
	{"svelte", ".svelte"},
	{"swift", ".swift"},
	{"terraform hcl tf", ".tf .tfvars"},
	{"toml", ".toml"},
	{"typescript ts tsx", ".cts .mts .ts .tsx"},
	{"vue", ".vue"},
	{"xml", ".svg .xml .xsd .xsl"},
	{"yaml yml", ".yaml .yml"},
	{"zig", ".zig"},
}

// Languages returns the languages that files can be told apart by, sorted.
func Languages() []string {
	var all []string
	for _, l := range languages {
		name, _, _ := strings.Cut(l.names, " ")
		all = append(all, name)
	}
	return all
}

// endings returns what the names of files of a language end in, nil if it is
// not known.
func endings(language string) []string {
	for _, l := range languages {
		if slices.Contains(strings.Fields(l.names), strings.ToLower(language)) {
			return strings.Fields(l.files)
		}
	}
	return nil
}

// endsIn reports whether the name of the file at p is one of endings or has one
// of them as its extension.
func endsIn(p string, endings []string) bool {
	name := path.Base(p)
	return slices.Contains(endings, name) || slices.Contains(endings, path.Ext(name))
}

package constraint

import (
	"path"
	"strings"
	"unicode"

	"github.com/belay-agent/belay/internal/decide/policy"
)

// isExtension knows the extensions that show a word to be a file.
func isExtension(word string) bool {
	switch word {
	case "go", "mod", "sum", "work", "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "vue", "svelte", "java", "kt", "kts",
		"scala", "c", "h", "cc", "cpp", "cxx", "hpp", "cs", "fs", "rb", "php", "swift", "m", "mm", "dart", "ex", "exs", "erl", "hs",
		"lua", "pl", "r", "jl", "sh", "bash", "zsh", "ps1", "bat", "sql", "proto", "graphql", "json", "jsonl", "yaml", "yml", "toml",
		"ini", "cfg", "conf", "env", "xml", "html", "htm", "css", "scss", "less", "md", "mdx", "rst", "txt", "csv", "tsv", "lock",
		"gradle", "tf", "tfvars", "ipynb", "svg", "png", "snap", "golden", "pb", "gen", "tmpl", "tpl", "properties", "service",
		"dockerfile", "key", "pem", "crt":
		return true
	}
	return false
}

// isFile knows the files that are known by their whole name.
func isFile(word string) bool {
	switch word {
	case "makefile", "dockerfile", "justfile", "procfile", "gemfile", "rakefile", "jenkinsfile", "vagrantfile", "cmakelists.txt",
		"license", "changelog", "readme", "contributing", "codeowners", ".env", ".gitignore", ".gitattributes", ".editorconfig",
		".npmrc", ".dockerignore", ".gitmodules":
		return true
	}
	return false
}

func hasExtension(s string) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(s), "."))
	return ext != "" && isExtension(ext) && !strings.HasSuffix(s, "/")
}

// looksLikePath reports whether a word names files.
func looksLikePath(s string) bool {
	low := strings.ToLower(s)
	switch {
	case s == "" || s == "/" || strings.Contains(s, "://") || strings.ContainsAny(s, "\x00{}()<>|$=,"):
		return false
	case strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") || strings.Count(s, "@") > 0:
		return false
	case isFile(low) && (strings.Contains(low, ".") || s != low):
		return true
	case strings.Contains(s, "/"):
		return !domain(s) && !among(low, "and/or", "i/o", "tcp/ip", "ci/cd", "yes/no", "on/off", "read/write", "w/o", "n/a", "he/she", "add/remove", "client/server", "http/2", "http/1.1", "either/or", "curl/wget") && !isProgram(strings.SplitN(low, "/", 2)[0])
	case strings.Contains(s, "*"):
		return strings.Contains(s, ".") && strings.Trim(s, "*") != ""
	case strings.HasPrefix(s, ".") && len(s) > 2:
		return isFile(low) || strings.HasPrefix(low, ".env") || strings.HasPrefix(low, ".git")
	}
	ascii := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Han, r) {
			return 'x'
		}
		return r
	}, low)
	return hasExtension(s) && strings.Trim(ascii, "abcdefghijklmnopqrstuvwxyz0123456789._-+") == "" && !among(low, "node.js", "e.g", "i.e", "etc", "next.js", "vue.js", "express.js", "d3.js", "three.js", "moment.js", "socket.io")
}

// domain reports whether the first element is a host, as that of an import path
// is.
func domain(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	_, top, ok := strings.Cut(host, ".")
	return ok && host[0] != '.' && among(top, "com", "org", "io", "net", "dev", "in", "sh", "cn")
}

// globOf returns the glob of a path as the user wrote it: a directory with all
// below it, a file that is only named wherever it is.
func globOf(s string, dir bool) string {
	s = strings.TrimPrefix(strings.ReplaceAll(s, `\`, "/"), "./")
	abs := strings.HasPrefix(s, "/")
	dir = dir && !strings.Contains(s, "/")
	tree := dir || strings.HasSuffix(s, "/") || !strings.Contains(s, "*") && !hasExtension(s) && !isFile(strings.ToLower(path.Base(s)))
	s = strings.TrimRight(s, "/")
	s = strings.TrimSuffix(s, "/...")
	if s == "" || strings.ContainsAny(s, "()") {
		return ""
	}
	if _, err := policy.ParseRule("Edit("+s+")", policy.Deny, policy.FromConstraint); err != nil {
		return ""
	}
	if tree && !strings.HasSuffix(s, "*") {
		if !strings.Contains(s, "/") && dir { // the vendor directory, wherever it is
			return "**/" + s + "/**"
		}
		return s + "/**"
	}
	if isFile(strings.ToLower(s)) && s[0] != '.' && !strings.Contains(s, ".") && !strings.HasSuffix(strings.ToLower(s), "file") { // README, whatever it ends in
		s += "*"
	}
	if !abs && !strings.Contains(s, "/") {
		return "**/" + s
	}
	return s
}

// isSymbol reports whether a quoted word can be a package or a symbol.
func isSymbol(s string) bool {
	return len(s) > 1 && len(s) <= 80 && !strings.ContainsAny(s, " \t\n*") && strings.ContainsAny(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz")
}

// isPackage reports whether a word, not quoted, can only be a package: one that
// is well known, or in a form that no other word has.
func isPackage(s string) bool {
	low := strings.ToLower(s)
	switch {
	case isKnownPackage(low):
		return true
	case strings.HasPrefix(s, "@") && strings.Count(s, "/") == 1 && len(s) > 4:
		return true
	}
	return strings.Contains(s, "/") && domain(s)
}

// isPlain knows the words of code that are words of English too: to ban them would stop
// sentences.
func isPlain(word string) bool {
	switch word {
	case "any", "all", "if", "for", "in", "is", "as", "do", "or", "and", "not", "let", "var", "else", "the", "a", "an", "it", "be", "to",
		"of", "on", "no", "new", "this", "that", "with", "from", "use", "get", "set", "go", "end", "case", "try", "type", "class",
		"import", "return", "main", "test", "tests", "push", "pull", "commit", "merge", "null", "none", "true", "false", "int",
		"string":
		return true
	}
	return false
}

// isKnownPackage knows the packages that are well known by one word that is no word of English, or hardly one
// where code is spoken of.
func isKnownPackage(word string) bool {
	switch word {
	case "redis", "memcached", "mongodb", "mongoose", "mysql", "postgres", "postgresql", "sqlite", "kafka", "rabbitmq", "nats", "celery",
		"elasticsearch", "lodash", "underscore", "moment", "axios", "jquery", "react", "redux", "angular", "vue", "svelte", "nextjs",
		"tailwind", "bootstrap", "express", "fastify", "nestjs", "koa", "webpack", "babel", "eslint", "prettier", "typescript", "gorm",
		"sqlx", "viper", "cobra", "gin", "fiber", "logrus", "zap", "zerolog", "testify", "gomock", "ginkgo", "gomega", "cgo", "numpy",
		"pandas", "scipy", "tensorflow", "pytorch", "torch", "sklearn", "django", "flask", "fastapi", "sqlalchemy", "pydantic",
		"requests", "httpx", "aiohttp", "boto3", "selenium", "playwright", "puppeteer", "cypress", "mockito", "lombok", "guava",
		"hibernate", "junit", "tokio", "serde", "diesel", "actix", "rocket", "rayon", "anyhow", "thiserror", "rxjs", "mobx", "zustand",
		"graphql", "grpc", "protobuf", "immer", "ramda", "dayjs", "date-fns", "luxon", "chalk", "commander", "yargs", "dotenv",
		"prisma", "sequelize", "typeorm", "knex", "socket.io", "sidekiq", "devise", "rspec", "nokogiri", "activerecord", "laravel",
		"symfony", "doctrine", "guzzle", "openssl", "libcurl", "boost", "qt", "eigen", "node.js", "moment.js":
		return true
	}
	return false
}

// isProgram knows the programs that are known by their name alone.
func isProgram(word string) bool {
	switch word {
	case "curl", "wget", "sudo", "rm", "docker", "docker-compose", "podman", "kubectl", "helm", "terraform", "ansible", "npm", "npx",
		"yarn", "pnpm", "pip", "pipx", "poetry", "brew", "apt", "apt-get", "yum", "dnf", "ssh", "scp", "rsync", "psql", "mysqldump",
		"redis-cli", "sed", "awk", "chmod", "chown", "systemctl", "make", "cmake", "gofmt", "goimports", "gh", "glab", "aws", "gcloud",
		"az", "netcat", "nc", "telnet", "ftp", "flyway", "alembic", "liquibase", "goose", "vagrant", "heroku", "vercel", "netlify",
		"fly", "pm2", "eslint", "prettier", "black", "ruff":
		return true
	}
	return false
}

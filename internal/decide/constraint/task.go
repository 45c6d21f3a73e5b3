package constraint

import (
	"strings"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// A task is something that is known by words of its own, and the commands that do
// it.
type task struct {
	words    [][]string // any of these, all of whose parts are there
	not      []string   // and none of these
	fine     []string   // further words that leave it as wide as it is
	anywhere bool       // and not of one branch or place alone
	commands []string   // for Bash
	bans     []tool.Ban
}

// said reports whether d is about the task.
func (t task) said(d deed) bool {
	if contains(d.words, t.not) || t.anywhere && contains(d.words, somewhere) {
		return false
	}
	for _, all := range t.words {
		there := true
		for _, part := range all {
			there = there && d.speaks(part)
		}
		if there {
			return true
		}
	}
	return false
}

// speaks reports whether the words have a part of them: in English a whole word,
// in any of its forms where it is a verb.
func (d deed) speaks(part string) bool {
	if part[0] >= 0x80 {
		return strings.Contains(d.words, part)
	}
	return d.verbs[part] || strings.Contains(d.words, " "+part+" ") || strings.Contains(d.words, " "+part+". ") || hasLatin(d.words, part)
}

// hasLatin is for a Latin word in Chinese, which no blank sets apart.
func hasLatin(words, part string) bool {
	at := strings.Index(words, part)
	if at <= 0 || at+len(part) >= len(words) {
		return false
	}
	return words[at-1] >= 0x80 && !letter(words[at+len(part)]) || words[at+len(part)] >= 0x80 && !letter(words[at-1])
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b == '-' || b == '_' }

// somewhere are main branches and other aims, of which a command is only one.
var somewhere = []string{" main ", " master ", " main.", " production", " prod ", "主分支", "生产"}

// tasks are what people name rather than write as a command.
var tasks = []task{
	{words: [][]string{{"push"}, {"no", "pushes"}, {"推送"}, {"推到"}}, not: []string{"force", "强制", "强推", " notification", " array", " item"}, anywhere: true, commands: []string{"git push **"}},
	{words: [][]string{{"push", "main"}, {"push", "master"}, {"推送", "main"}, {"推送", "master"}, {"推送", "主分支"}, {"推到", "main"}}, not: []string{"force"}, commands: []string{"git push main **", "git push master **"}, bans: []tool.Ban{tool.Ban{Rule: "Bash(git push **)", Ask: true}}},
	{words: [][]string{{"force-push"}, {"force", "push"}, {"force-pushing"}, {"force-pushes"}, {"force", "pushes"}, {"强制推送"}, {"强推"}}, commands: []string{"git push --force **", "git push -f **", "git push --force-with-lease **"}},
	{words: [][]string{{"commit"}, {"comit"}, {"commits"}, {"提交"}}, not: []string{"message", "消息", "amend", "secrets", "credentials", "表单", "订单", " history"}, anywhere: true, commands: []string{"git commit **"}},
	{words: [][]string{{"commit", "main"}, {"commit", "master"}, {"提交", "main"}}, bans: []tool.Ban{{Rule: "Bash(git commit **)", Ask: true}}},
	{words: [][]string{{"amend"}}, commands: []string{"git commit --amend **"}},
	{words: [][]string{{"merge"}, {"merges"}, {"合并"}}, not: []string{"conflict", "冲突", "sort"}, commands: []string{"git merge **", "gh pr merge **"}},
	{words: [][]string{{"rebase"}, {"rebases"}, {"变基"}}, commands: []string{"git rebase **"}},
	{words: [][]string{{"switch", "branches"}, {"switch", "branch"}, {"change", "branches"}, {"checkout", "branches"}, {"切换", "分支"}, {"切到", "分支"}}, commands: []string{"git switch **"}, bans: []tool.Ban{tool.Ban{Rule: "Bash(git checkout **)", Except: "git checkout -- **"}}},
	{words: [][]string{{"create", "branch"}, {"create", "branches"}, {"new", "branch"}, {"新建", "分支"}, {"创建", "分支"}, {"建", "新分支"}}, commands: []string{"git switch -c **", "git checkout -b **"}},
	{words: [][]string{{"reset", "git"}, {"git", "history"}, {"rewrite", "history"}}, commands: []string{"git reset **", "git rebase **", "git commit --amend **", "git filter-branch **"}},
	{words: [][]string{{"stash"}}, commands: []string{"git stash **"}},
	{words: [][]string{{"git"}}, not: []string{" push", " commit", " history", "提交", "推送", "stash", "rebase", "reset", ".git", " merge", "checkout"}, commands: []string{"git **"}},
	{words: [][]string{{"deploy"}, {"deploys"}, {"deployments"}, {"部署"}, {"上线"}}, fine: []string{"production", "prod", "staging", "live", "生产", "环境", "线上", "服务器"}, not: []string{" script", " config", "脚本", "配置", "`"}, commands: []string{"kubectl apply **", "helm upgrade **", "helm install **", "terraform apply **", "vercel **", "fly deploy **", "gcloud app deploy **"}, bans: []tool.Ban{{Rule: "Bash", Text: "deploy"}}},
	{words: [][]string{{"publish"}, {"releases"}, {"release", "publish"}, {"发布"}}, commands: []string{"npm publish **", "yarn publish **", "pnpm publish **", "cargo publish **", "twine upload **", "gem push **", "poetry publish **", "uv publish **", "gh release create **", "goreleaser **", "git push --tags **"}},
	{words: [][]string{{"run", "migrations"}, {"run", "migration"}, {"execute", "migrations"}, {"execute", "migration"}, {"migrate", "database"}, {"migrations", "against"}, {"no", "migrations"}, {"start", "migrations"}, {"apply", "migrations"}, {"运行", "迁移"}, {"执行", "迁移"}, {"跑", "迁移"}, {"run", "迁移"}, {"跑", "migration"}, {"执行", "migration"}, {"运行", "migration"}, {"跑", "migrations"}, {"执行", "migrations"}, {"运行", "migrations"}},
		fine:     []string{"database", "db", "databases", "against", "staging", "production", "prod", "schema", "迁移"},
		commands: []string{"alembic **", "flyway **", "goose **", "liquibase **", "atlas **", "dotnet ef database **"}, bans: []tool.Ban{{Rule: "Bash", Text: "migrate"}, {Rule: "Bash", Text: "migration"}, {Rule: "Bash", Text: "migrations"}}},
	{words: [][]string{{"drop", "table"}, {"drop", "tables"}, {"truncate", "table"}, {"drop", "database"}, {"drop", "表"}, {"删", "表"}, {"删除", "数据库"}}, not: []string{"表单", "列表"},
		bans: []tool.Ban{{Rule: "Bash", Text: "drop table"}, {Rule: "Bash", Text: "truncate table"}, {Rule: "Bash", Text: "truncate"}, {Rule: "Bash", Text: "drop database"}}},
	{words: [][]string{{"install", "packages"}, {"install", "package"}, {"install", "anything"}, {"install", "dependencies"}, {"install", "new"}, {"install", "software"}, {"no", "installs"}, {"add", "dependencies"}, {"add", "dependency"}, {"new", "dependencies"}, {"new", "dependency"}, {"introduce", "dependencies"}, {"additional", "dependencies"}, {"external", "dependencies"}, {"third-party", "dependencies"}, {"add", "packages"}, {"add", "package"}, {"add", "libraries"}, {"add", "library"}, {"new", "packages"}, {"new", "libraries"}, {"no", "dependencies"}, {"安装", "包"}, {"安装", "依赖"}, {"装", "包"}, {"引入", "依赖"}, {"添加", "依赖"}, {"加", "依赖"}, {"增", "依赖"}, {"新", "依赖"}, {"引入", "库"}, {"第三方库"}},
		not: []string{"global", "全局"}, commands: installs, bans: installing},
	{words: [][]string{{"install", "globally"}, {"global", "install"}, {"全局", "安装"}, {"全局", "装"}}, commands: []string{"npm install -g **", "npm i -g **", "npm install --global **", "yarn global add **", "pnpm add -g **", "sudo pip install **", "sudo apt install **", "sudo apt-get install **", "brew install **"}},
	{words: [][]string{{"upgrade", "packages"}, {"upgrade", "dependencies"}, {"update", "dependencies"}, {"bump", "dependencies"}, {"bump", "versions"}, {"upgrade", "package"}, {"upgrade", "libraries"}, {"upgrade", "anything"}, {"upgrade", "any"}, {"update", "packages"}, {"升级", "依赖"}, {"升级", "包"}, {"更新", "依赖"}, {"升级", "版本"}},
		commands: []string{"npm update **", "npm upgrade **", "yarn upgrade **", "pnpm update **", "go get -u **", "cargo update **", "cargo upgrade **", "pip install --upgrade **", "pip install -U **", "poetry update **", "bundle update **", "composer update **", "ncu **", "apt upgrade **", "brew upgrade **", "uv lock --upgrade **"}},
	{words: [][]string{{"run", "tests"}, {"run", "test"}, {"跑", "测试"}, {"运行", "测试"}, {"执行", "测试"}}, not: []string{" add ", " e2e", " integration", "集成测试", " slow ", " load "},
		commands: []string{"go test **", "npm test **", "npm run test **", "yarn test **", "pnpm test **", "pytest **", "cargo test **", "make test **", "jest **", "vitest **", "mvn test **", "gradle test **", "./gradlew test **", "tox **", "rspec **", "phpunit **", "dotnet test **"}, bans: []tool.Ban{{Rule: "Test"}}},
	{words: [][]string{{"use", "bash"}, {"use", "shell"}, {"using", "bash"}, {"the", "shell"}, {"用", "bash"}, {"shell", "commands"}, {"run", "commands"}, {"用", "shell"}, {"执行", "命令"}, {"运行", "命令"}}, not: []string{" script", "脚本", " for edit", " to edit", " git ", "去改", "改文件", "编辑", " any commands that", " in bash", " on production", " commands that", " commands with "}, bans: []tool.Ban{{Rule: "Bash"}}},
}

// installs are the commands that add a package to a project.
var installs = []string{"go get **", "cargo add **", "yarn add **", "pnpm add **", "bun add **", "poetry add **", "uv add **", "uv pip install **", "gem install **", "bundle add **",
	"composer require **", "dotnet add **", "apt install **", "apt-get install **", "brew install **", "apk add **", "conda install **"}

// installing are those of which one form installs what the project names already.
var installing = []tool.Ban{
	{Rule: "Bash(npm install **)", Except: "npm install"}, {Rule: "Bash(npm i **)", Except: "npm i"}, {Rule: "Bash(pnpm install **)", Except: "pnpm install"},
	{Rule: "Bash(pip install **)", Except: "pip install -r *"}, {Rule: "Bash(pip3 install **)", Except: "pip3 install -r *"},
}

// offline reports whether the words are to do without the network.
func (d deed) offline() bool {
	return contains(d.words, []string{" offline ", " offline. ", "离线", "脱机"}) && !negative(d.target)
}

// network reports whether the network as a whole is meant.
func (d deed) network() bool {
	if d.offline() {
		return true
	}
	if contains(d.words, []string{" external host", " external server", " external service", " outside world", "外部主机", "外部网络", "外部服务"}) {
		return true
	}
	if contains(d.words, []string{" api", "接口", " host", "主机", " request", " drive", " tests", " server", " production", "生产", " staging", " from ", " code ", "代码", "测试"}) {
		return false
	}
	if contains(d.words, []string{"联网", "上网", "访问网络", "使用网络", "访问外网", "访问互联网", "连外网", "用网络", "网络请求", "网络访问"}) {
		return true
	}
	if !contains(d.words, []string{" network ", " internet ", " network. ", " internet. ", " online ", " network access ", " network calls "}) {
		return false
	}
	return d.bare || d.does(class{"use access contact connect touch make download query open reach", nil}) || contains(d.words, []string{" go online ", " access ", " allowed "})
}

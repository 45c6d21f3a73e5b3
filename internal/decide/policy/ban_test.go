package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/edit"
	"github.com/belay-agent/belay/internal/contract/effect"
	"github.com/belay-agent/belay/internal/contract/tool"
)

func banned(t *testing.T, b tool.Ban, src Source) Rule {
	t.Helper()
	r, err := Ban{Ban: b, ID: "k1", Words: "do not", Seq: 12}.Rule(src)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// writes is a call of Edit that replaces old by text in a file.
func writes(path, old, text string) (tool.Call, *tool.Action) {
	return tool.Call{Tool: "Edit", Args: json.RawMessage(`{}`)}, &tool.Action{
		Parts: []tool.Part{{Name: path, Effects: on(effect.Write, path)}},
		Edits: []edit.Intent{{Path: path, Base: "b", Regions: []edit.Region{{Old: []byte(old), New: []byte(text)}}}},
	}
}

func removes(path string) (tool.Call, *tool.Action) {
	return tool.Call{Tool: "Edit", Args: json.RawMessage(`{}`)}, &tool.Action{
		Parts: []tool.Part{{Name: path, Effects: on(effect.Write, path)}},
		Edits: []edit.Intent{{Path: path, Base: "b", Remove: true}},
	}
}

// runs is a call of Bash of one command.
func runs1(command string, effects ...effect.Effect) (tool.Call, *tool.Action) {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	if effects == nil {
		effects = effect.Set{{Kind: effect.Process}}
	}
	return tool.Call{Tool: "Bash", Args: args}, &tool.Action{Parts: []tool.Part{{Name: command, Effects: effects}}}
}

func TestR260_R306_BansMeetWhatTheyMean(t *testing.T) {
	type made struct {
		call   tool.Call
		action *tool.Action
	}
	of := func(c tool.Call, a *tool.Action) made { return made{c, a} }
	tests := []struct {
		name string
		ban  tool.Ban
		on   made
		want Verdict
	}{
		{"a path", tool.Ban{Rule: "Edit(api/**)"}, of(writes("api/x.go", "", "a")), Deny},
		{"another path", tool.Ban{Rule: "Edit(api/**)"}, of(writes("web/x.go", "", "a")), Allow},
		{"a path by a command", tool.Ban{Rule: "Edit(api/**)"}, of(runs1("sed -i s/a/b/ api/x.go", effect.Effect{Kind: effect.Write, On: "api/x.go"})), Deny},
		{"all but a path, outside", tool.Ban{Rule: "Edit(**)", Except: "docs/**"}, of(writes("a.go", "", "a")), Deny},
		{"all but a path, inside", tool.Ban{Rule: "Edit(**)", Except: "docs/**"}, of(writes("docs/a.md", "", "a")), Allow},
		{"all but a path, a command inside", tool.Ban{Rule: "Edit(**)", Except: "docs/**"}, of(runs1("touch docs/a", effect.Effect{Kind: effect.Write, On: "docs/a"})), Allow},
		{"all but a path, a command outside", tool.Ban{Rule: "Edit(**)", Except: "docs/**"}, of(runs1("touch b", effect.Effect{Kind: effect.Write, On: "b"})), Deny},
		{"a directory above is moved", tool.Ban{Rule: "Edit(api/v1/x.go)"}, of(runs1("mv api old", effect.Effect{Kind: effect.Write, On: "api", Tree: true}, effect.Effect{Kind: effect.Write, On: "old", Tree: true})), Deny},
		{"a directory above is removed", tool.Ban{Rule: "Edit(api/v1/**)"}, of(runs1("rm -r ./api", effect.Effect{Kind: effect.Write, On: "api", Tree: true})), Deny},
		{"something is moved into the directory above", tool.Ban{Rule: "Edit(api/x.go)"}, of(runs1("mv b.go api", effect.Effect{Kind: effect.Write, On: "b.go"}, effect.Effect{Kind: effect.Write, On: "api", Tree: true})), Allow},
		{"a directory beside is moved", tool.Ban{Rule: "Edit(api/v1/x.go)"}, of(runs1("mv api/v2 old", effect.Effect{Kind: effect.Write, On: "api/v2", Tree: true})), Allow},
		{"a directory above is built", tool.Ban{Rule: "Edit(web/package.json)"}, of(runs1("npm --prefix web test", effect.Effect{Kind: effect.Write, On: "web", Tree: true})), Allow},
		{"any file, an edit", tool.Ban{Rule: "Edit(**)"}, of(writes("a.go", "", "a")), Deny},
		{"any file, a command that writes one", tool.Ban{Rule: "Edit(**)"}, of(runs1("touch b", effect.Effect{Kind: effect.Write, On: "b"})), Deny},
		{"any file, a command that may write somewhere", tool.Ban{Rule: "Edit(**)"}, of(runs1("go test ./...", effect.Effect{Kind: effect.Write, On: ".", Tree: true})), Allow},
		{"a command", tool.Ban{Rule: "Bash(git push **)"}, of(runs1("git push origin main")), Deny},
		{"another command", tool.Ban{Rule: "Bash(git push **)"}, of(runs1("git status")), Allow},
		{"but for one form of it", tool.Ban{Rule: "Bash(npm install **)", Except: "npm install"}, of(runs1("npm install")), Allow},
		{"and no other", tool.Ban{Rule: "Bash(npm install **)", Except: "npm install"}, of(runs1("npm install redis")), Deny},
		{"the network", tool.Ban{Effect: effect.Network}, of(runs1("curl x.test", effect.Effect{Kind: effect.Network, On: "x.test"})), Deny},
		{"no network", tool.Ban{Effect: effect.Network}, of(runs1("ls")), Allow},
		{"asked about", tool.Ban{Rule: "Edit(api/**)", Ask: true}, of(writes("api/x.go", "", "a")), Ask},
		{"a removal", tool.Ban{Rule: "Edit(**)", Removes: true}, of(removes("a.go")), Deny},
		{"a change is no removal", tool.Ban{Rule: "Edit(**)", Removes: true}, of(writes("a.go", "", "a")), Allow},
		{"a removal by a command", tool.Ban{Rule: "Edit(**)", Removes: true}, of(runs1("rm a.go", effect.Effect{Kind: effect.Write, On: "a.go"})), Deny},
		{"a command that writes removes nothing", tool.Ban{Rule: "Edit(**)", Removes: true}, of(runs1("touch a.go", effect.Effect{Kind: effect.Write, On: "a.go"})), Allow},
		{"a name that is written", tool.Ban{Text: "redis"}, of(writes("a.go", "x", `import "redis"`)), Deny},
		{"a name that was there", tool.Ban{Text: "redis"}, of(writes("a.go", "redis.Get()", "redis.Set()")), Allow},
		{"a name that goes", tool.Ban{Text: "redis"}, of(writes("a.go", "redis", "")), Allow},
		{"once more", tool.Ban{Text: "redis"}, of(writes("a.go", "redis", "redis redis")), Deny},
		{"part of a name", tool.Ban{Text: "redis"}, of(writes("a.go", "", "redisson, my_redis")), Allow},
		{"a package of it", tool.Ban{Text: "redis"}, of(writes("a.go", "", "go-redis")), Deny},
		{"a module's path", tool.Ban{Text: "redis"}, of(writes("a.go", "", "github.com/redis/go-redis/v9")), Deny},
		{"beside Chinese", tool.Ban{Text: "redis"}, of(writes("a.go", "", "用redis缓存")), Deny},
		{"installed", tool.Ban{Text: "redis"}, of(runs1("npm install Redis@4")), Deny},
		{"taken away", tool.Ban{Text: "redis"}, of(runs1("npm uninstall redis")), Allow},
		{"spoken of", tool.Ban{Text: "redis"}, of(runs1("git commit -m 'no redis'")), Allow},
		{"looked for", tool.Ban{Text: "redis"}, of(runs1("grep redis a", effect.Effect{Kind: effect.Read, On: "a"})), Allow},
		{"a file of that name", tool.Ban{Text: "redis"}, of(runs1("go test ./redis/...")), Allow},
		{"in what a command is given to read", tool.Ban{Text: "redis"}, of(runs1("cat > a.py <<E\nimport redis\nE")), Deny},
		{"the tool of a name only", tool.Ban{Rule: "Bash", Text: "migrate"}, of(writes("a.go", "", "migrate")), Allow},
	}
	for _, tt := range tests {
		for _, m := range []Mode{ModeAsk, ModeAuto, ModeFull} {
			t.Run(tt.name+"/"+string(m), func(t *testing.T) {
				spec := pathTool
				if tt.on.call.Tool == "Bash" {
					spec = commandTool
				}
				p := Policy{Mode: m}
				without := p.Decide(spec, tt.on.action.Parts)
				p.Rules = []Rule{banned(t, tt.ban, FromConstraint)}
				got := p.About(tt.on.call, tt.on.action).Decide(spec, tt.on.action.Parts)
				if tt.want == Allow {
					if diff := cmp.Diff(without, got); diff != "" {
						t.Errorf("a call that meets no ban is decided otherwise (-without +with):\n%s", diff)
					}
					return
				}
				if got.Verdict != max(tt.want, without.Verdict) || got.Ban != "k1" || !strings.Contains(got.Reason, `the user said (k1, event 12): "do not"`) {
					t.Errorf("decided %+v", got)
				}
			})
		}
	}
}

func TestR254_AnEqualCallIsStopped(t *testing.T) {
	call := tool.Call{ID: "c1", Tool: "Bash", Args: json.RawMessage(`{"command":"make x","timeout_s":3}`)}
	again := tool.Call{ID: "c9", Tool: "Bash", Args: json.RawMessage(`{ "timeout_s": 3, "command": "make x" }`)}
	other := tool.Call{ID: "c9", Tool: "Bash", Args: json.RawMessage(`{"command":"make y"}`)}
	p := Policy{Mode: ModeFull, Rules: []Rule{banned(t, tool.Ban{Call: call.Signature()}, FromNote)}}
	for c, want := range map[*tool.Call]Verdict{&again: Deny, &other: Allow} {
		_, action := runs1("make x")
		got := p.About(*c, action).Decide(commandTool, action.Parts)
		if got.Verdict != want || want == Deny && !strings.Contains(got.Reason, `it was ruled out earlier (k1): "do not"`) {
			t.Errorf("%s: %+v", c.Args, got)
		}
	}
	if got := p.Decide(commandTool, []tool.Part{{Name: "make x"}}); got.Verdict != Allow {
		t.Errorf("without a call there is nothing that it equals: %+v", got)
	}
}

// TestR306_ABanOnlyTightens: whatever mode and rules there are, one more ban never
// makes a verdict milder, and one of a tool denies it.
func TestR306_ABanOnlyTightens(t *testing.T) {
	d := newDice(t)
	for range rounds {
		p, spec, ls := d.policy(), d.tool(), d.parts()
		before := p.Decide(spec, parts(ls))
		b := tool.Ban{
			Rule: pick(d, []string{"Edit(src/**)", "Bash(rm **)", "Bash", "*(src/a.go)", "Edit"}), Ask: d.IntN(2) == 0,
			Removes: d.IntN(4) == 0, Effect: pick(d, []effect.Kind{"", "", effect.Network, effect.Git}), Except: pick(d, []string{"", "", "src/a.go"}),
		}
		r := banned(t, b, pick(d, []Source{FromConstraint, FromNote}))
		p.Rules = append(p.Rules[:len(p.Rules):len(p.Rules)], r)
		after := p.Decide(spec, parts(ls))
		if after.Verdict < before.Verdict {
			t.Fatalf("%+v\n%s %+v\nwith %s: %+v, before %+v", p, spec.Name, parts(ls), Banned(b), after, before)
		}
		p.Rules[len(p.Rules)-1] = banned(t, tool.Ban{Rule: spec.Name}, FromConstraint)
		if got := p.Decide(spec, parts(ls)); got.Verdict != Deny {
			t.Fatalf("%+v\n%s %+v\nthe tool is banned, but %+v", p, spec.Name, parts(ls), got)
		}
	}
}

func TestBansThatAreNone(t *testing.T) {
	for _, b := range []tool.Ban{{}, {Ask: true}, {Except: "a"}, {Rule: "Edit("}, {Effect: "later"}, {Effect: effect.Read}} {
		if r, err := (Ban{Ban: b}).Rule(FromConstraint); err == nil {
			t.Errorf("%+v became %s", b, r)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "ab": 1, "AB": 1, "abab": 0, "ab ab": 2, "ab.ab": 2, "xab": 0, "ab-x": 1, "(ab)": 1, "ab_": 0, "ab2": 1, "ab2x": 0, "用ab写": 1, "éab": 0,
	} {
		if got := mentions(text, "ab"); got != want {
			t.Errorf("%q mentions it %d times, want %d", text, got, want)
		}
	}
	if mentions("DROP\n  TABLE x", "drop table") != 1 {
		t.Error("white space makes a difference")
	}
}

package toolbox

import (
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belay-agent/belay/internal/contract/tool"
)

// renameDesk is a desk with Rename, where one file has been read.
func renameDesk(t testing.TB, files map[string]string, read string) *desk {
	t.Helper()
	d := newDesk(t, files)
	d.tools["Rename"] = (&changer{w: d.w, shown: new(shown)}).rename()
	d.ok("Read", args{"path": read})
	return d
}

const mod = "module example.com/m\n\ngo 1.26\n"

// shop is a package in which one word means many things.
var shop = map[string]string{
	"go.mod": mod,
	"shop/shop.go": `// Package shop sells. An Item is sold.
package shop

import "fmt"

// Item is what is sold.
type Item struct {
	Name  string
	price int // of Item
}

type box struct {
	*Item
	note string
}

func (i *Item) total(n int) int { return i.price * n }

func sum(items []Item) (price int) {
	for _, i := range items {
		price += i.price // the result, and the field
	}
	total := func(n int) int { return n }
	return total(price) + items[0].total(1)
}

func show(b box) string { return fmt.Sprint(b.Item, b.price, b.total(2), box{Item: &Item{price: 1}}) }

type list[T any] struct{ head T }

func (l list[T]) first() T { return l.head }

var _ = list[int]{head: 1}.first()
`,
	"shop/shop_linux.go":   "package shop\n\nfunc system() string { return \"linux\" }\n",
	"shop/shop_windows.go": "package shop\r\n\r\nfunc system() string { return \"windows\" }\r\n",
	"shop/shop_test.go":    "package shop\n\nvar cheap = Item{Name: \"x\", price: sum(nil)}\n\nvar where = system()\n",
	"shop/x_test.go":       "package shop_test\n\nimport \"example.com/m/shop\"\n\nvar one = shop.Item{Name: \"y\"}\n\ntype Item = shop.Item\n",
	"shop/gen.go":          "//go:build ignore\n\npackage main\n\ntype Item int\n",
}

func TestR107_RenameChangesNamesAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		symbol, to string
		changes    map[string][]string // by file: pairs of old and new
	}{
		{"Item", "Good", map[string][]string{
			"shop/shop.go":      {"type Item struct {\n", "type Good struct {\n", "\t*Item\n", "\t*Good\n", "(i *Item)", "(i *Good)", "[]Item", "[]Good", "b.Item,", "b.Good,", "box{Item: &Item{", "box{Good: &Good{"},
			"shop/shop_test.go": {"= Item{", "= Good{"},
			"shop/x_test.go":    {"shop.Item", "shop.Good"},
		}},
		{"Item.price", "cost", map[string][]string{
			"shop/shop.go":      {"\tprice int", "\tcost int", "i.price * n", "i.cost * n", "+= i.price", "+= i.cost", "b.price", "b.cost", "{price: 1", "{cost: 1"},
			"shop/shop_test.go": {"price:", "cost:"},
		}},
		{"Item.total", "amount", map[string][]string{
			"shop/shop.go": {") total(n int) int {", ") amount(n int) int {", "[0].total(", "[0].amount(", "b.total(", "b.amount("},
		}},
		{"sum", "add", map[string][]string{"shop/shop.go": {"func sum(", "func add("}, "shop/shop_test.go": {"sum(", "add("}}},
		{"list.head", "top", map[string][]string{"shop/shop.go": {"{ head T }", "{ top T }", "l.head", "l.top", "{head: 1}", "{top: 1}"}}},
		{"list.first", "top", map[string][]string{"shop/shop.go": {"first()", "top()"}}},
		{"system", "os", map[string][]string{
			"shop/shop_linux.go": {"system", "os"}, "shop/shop_windows.go": {"system", "os"}, "shop/shop_test.go": {"system", "os"},
		}},
		{"box", "Box", map[string][]string{"shop/shop.go": {"type box", "type Box", "(b box)", "(b Box)", ", box{", ", Box{"}}},
	} {
		t.Run(c.symbol, func(t *testing.T) {
			d := renameDesk(t, shop, "shop/shop.go")
			r := d.ok("Rename", args{"path": "shop/shop.go", "symbol": c.symbol, "to": c.to})
			want := maps.Clone(shop)
			for path, pairs := range c.changes {
				want[path] = strings.NewReplacer(pairs...).Replace(want[path])
			}
			if diff := cmp.Diff(want, d.tree()); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			if len(r.Edits) != len(c.changes) {
				t.Errorf("%d intents, want %d: %s", len(r.Edits), len(c.changes), r.Text)
			}
			for path := range r.Seen {
				if path != "shop/shop.go" {
					t.Errorf("the model knows %s, which it has not read", path)
				}
			}
			built(t, d)
		})
	}
}

// built checks that the package still compiles, where Go is there to say so.
func built(t *testing.T, d *desk) {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	c := exec.Command(goTool, "vet", "./shop")
	c.Dir = d.dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

func TestR107_RenameRefusesWhatItCannotBeSureOf(t *testing.T) {
	one := func(body string) map[string]string {
		return map[string]string{"go.mod": mod, "a.go": "package a\n\n" + body}
	}
	for _, c := range []struct {
		name, symbol, to string
		files            map[string]string
		kind             tool.Kind
		says             string
	}{
		{"the name is taken", "f", "g", one("func f() {}\nfunc g() {}\n"), tool.Invalid, "it would mean something else"},
		{"in another file", "f", "g", map[string]string{"go.mod": mod, "a.go": "package a\n\nfunc f() {}\n", "b.go": "package a\n\nvar g int\n"}, tool.Invalid, "it would mean something else"},
		{"a local would hide it", "f", "g", one("func f() {}\nfunc h(g int) { f() }\n"), tool.Invalid, "at a.go:4 it would mean something else"},
		{"it would hide what is built in", "f", "len", one("func f() {}\nvar x = len(\"\")\n"), tool.Invalid, "at a.go:4 it would mean something else"},
		{"it would hide an import", "f", "fmt", one("import \"fmt\"\n\nfunc f() {}\nvar x = fmt.Sprint()\n"), tool.Invalid, ""},
		{"a field of that name", "T.a", "b", one("type T struct{ a, b int }\n"), tool.Invalid, "it would mean something else"},
		{"a method that hides one that is embedded", "T.a", "b", one("type U struct{ b int }\ntype T struct{ U; a int }\nvar t T\nvar x = t.b\n"), tool.Invalid, "it would mean something else"},
		{"an interface has the method", "T.m", "n", one("type T int\nfunc (T) m() {}\nfunc f(x any) { x.(interface{ m() }).m() }\n"), tool.Invalid, "an interface at a.go:5"},
		{"what it is selected from is not known", "T.m", "n", one("import \"slices\"\n\ntype T struct{ m int }\nvar x = slices.Clone([]T{})[0].m\n"), tool.Invalid, "cannot be told"},
		{"its body is not Go", "f", "g", one("func f()\n"), tool.Invalid, "its body is not Go"},
		{"linked by name", "f", "g", one("import _ \"unsafe\"\n\n//go:linkname f runtime.f\nfunc f() {}\n"), tool.Invalid, "tells the compiler"},
		{"main", "main", "run", one("func main() {}\n"), tool.Invalid, "mean something to Go"},
		{"init", "f", "init", one("func f() {}\n"), tool.Invalid, "mean something to Go"},
		{"an embedded field", "T.U", "V", one("type U int\ntype T struct{ U }\n"), tool.Invalid, "the type that it embeds"},
		{"another file cannot be parsed", "f", "g", map[string]string{"go.mod": mod, "a.go": "package a\n\nfunc f() {}\n", "b.go": "package a\n\nfunc {\n"}, tool.Invalid, "b.go cannot be parsed"},
		{"no such name", "F", "g", one("func f() {}\n"), tool.NotFound, "no F"},
		{"no such member", "T.x", "g", one("type T int\n"), tool.NotFound, "no T.x"},
		{"not a type", "f.x", "g", one("func f() {}\n"), tool.NotFound, "no type f"},
		{"not a name", "f", "a b", one("func f() {}\n"), tool.Invalid, "not a name"},
		{"a word of Go", "f", "func", one("func f() {}\n"), tool.Invalid, "not a name"},
		{"no change", "f", "f", one("func f() {}\n"), tool.NoChange, "has that name"},
		{"tests outside, of a package whose path is not known", "F", "G", map[string]string{"a.go": "package a\n\nfunc F() {}\n", "a_test.go": "package a_test\n"}, tool.Invalid, "no go.mod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := renameDesk(t, c.files, "a.go")
			f := d.fails(c.kind, "Rename", args{"path": "a.go", "symbol": c.symbol, "to": c.to})
			if !strings.Contains(f.Message, c.says) || f.Hint == "" {
				t.Errorf("message %q, hint %q; want %q", f.Message, f.Hint, c.says)
			}
			if diff := cmp.Diff(c.files, d.tree()); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
	d := newDesk(t, map[string]string{"a.go": "package a\n\nfunc f() {}\n", "b.txt": "f\n"})
	d.tools["Rename"] = Rename(d.w)
	d.fails(tool.NotRead, "Rename", args{"path": "a.go", "symbol": "f", "to": "g"})
	d.ok("Read", args{"path": "b.txt"})
	d.fails(tool.Invalid, "Rename", args{"path": "b.txt", "symbol": "f", "to": "g"})
}

// What comes up between the plan and the change is worked out again, if it stays
// within the files that were named.
func TestR107_R124_RenameMeetsAChange(t *testing.T) {
	d := renameDesk(t, map[string]string{"a.go": "package a\n\nfunc f() {}\n", "b.go": "package a\n\nvar x = f\n", "c.go": "package a\n"}, "a.go")
	call := args{"path": "a.go", "symbol": "f", "to": "g"}
	a, err := d.prepare("Rename", call)
	if err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "b.go", "package a\n\nvar x, y = f, f\n")
	if _, err := a.Do(t.Context(), tool.Env{}); err != nil {
		t.Fatal(err)
	}
	d.holds("a.go", "package a\n\nfunc g() {}\n")
	d.holds("b.go", "package a\n\nvar x, y = g, g\n")

	put(t, d.dir, "a.go", "package a\n\nfunc f() {}\n")
	put(t, d.dir, "b.go", "package a\n\nvar x = f\n")
	if a, err = d.prepare("Rename", call); err != nil {
		t.Fatal(err)
	}
	put(t, d.dir, "b.go", "package a\n\nvar x, y = f, f\n")
	put(t, d.dir, "c.go", "package a\n\nvar z = f\n")
	if _, err := a.Do(t.Context(), tool.Env{}); err == nil || !strings.Contains(err.Error(), "would reach c.go too") {
		t.Errorf("a third file uses the name: %v", err)
	}
	d.holds("a.go", "package a\n\nfunc f() {}\n")
}

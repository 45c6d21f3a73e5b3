# go test (text and -json), go build and go vet.
command -v go >/dev/null || { echo "go: not installed"; return; }
v=$(go version | sed 's/go version go\([0-9.]*\).*/\1/')
export GOCACHE=/tmp/home/go-build GOFLAGS=-mod=mod

go_base() {
	fresh
	printf 'module example.com/shop\n\ngo 1.24\n' | file go.mod
	file cart/cart.go <<'END'
package cart

// Sum adds prices.
func Sum(prices []int) int {
	total := 0
	for _, p := range prices {
		total += p
	}
	return total
}

// First returns the first price.
func First(prices []int) int { return prices[0] }
END
	file cart/cart_test.go <<'END'
package cart

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]int{1, 2}); got != 3 {
		t.Errorf("Sum = %d, want 3", got)
	}
}

func TestSkipped(t *testing.T) { t.Skip("needs a database") }
END
	printf 'package money\n\nfunc Cents(n int) int { return n * 100 }\n' | file money/money.go
}

go_base
shoot go-test-$v-passing 'go test ./...'
shoot go-test-$v-passing-verbose 'go test -v ./...'
shoot go-test-json-$v-passing 'go test -json ./...'
shoot go-test-$v-no-match 'go test -run NoSuchTest ./...'
shoot go-test-json-$v-no-match 'go test -json -run NoSuchTest ./cart'

go_base
file cart/more_test.go <<'END'
package cart

import (
	"fmt"
	"testing"
)

func TestTotals(t *testing.T) {
	for _, c := range []struct {
		name   string
		prices []int
		want   int
	}{
		{"empty", nil, 0},
		{"two prices", []int{1, 2}, 4},
		{"größe/umlaut", []int{5}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			fmt.Println("looking at", c.name)
			if got := Sum(c.prices); got != c.want {
				t.Errorf("Sum(%v) = %d,\nwant %d", c.prices, got, c.want)
			}
		})
	}
}

func TestFatal(t *testing.T) {
	t.Log("about to stop")
	t.Fatal("no stock left")
}
END
file money/money_test.go <<'END'
package money

import "testing"

func TestCents(t *testing.T) {
	t.Parallel()
	if Cents(1) != 1 {
		t.Error("one euro has 100 cents")
	}
}
END
shoot go-test-$v-several-failures 'go test ./...'
shoot go-test-$v-several-failures-verbose 'go test -v ./...'
shoot go-test-json-$v-several-failures 'go test -json ./...'

go_base
file cart/panic_test.go <<'END'
package cart

import "testing"

func TestPanic(t *testing.T) {
	t.Log("first of nothing")
	First(nil)
}
END
shoot go-test-$v-panic 'go test ./cart'
shoot go-test-json-$v-panic 'go test -json ./cart'

go_base
file cart/slow_test.go <<'END'
package cart

import "testing"

func TestSlow(t *testing.T) { select {} }

func TestWaits(t *testing.T) { <-make(chan int) }
END
shoot go-test-$v-timeout 'go test -timeout 200ms ./cart'
shoot go-test-json-$v-timeout 'go test -json -timeout 200ms ./cart'

go_base
printf 'package cart\n\nimport "testing"\n\nfunc TestBroken(t *testing.T) {\n\tvar n int = "three"\n\tSum(1)\n}\n' | file cart/broken_test.go
shoot go-test-$v-compile-error 'go test ./...'
shoot go-test-json-$v-compile-error 'go test -json ./...'

go_base
printf 'package cart\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestVet(t *testing.T) {\n\tfmt.Printf("%%d\\n", "x")\n}\n' | file cart/vet_test.go
shoot go-test-$v-vet-error 'go test ./cart'
printf 'package cart\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Stderr.WriteString("no database\\n")\n\tos.Exit(3)\n}\n' | file cart/vet_test.go
shoot go-test-$v-main-exits 'go test ./cart'

go_base
file cart/extra.go <<'END'
package cart

import "os"

func Half(n int) string {
	return n / 2
}

func Missing() int {
	undefinedThing()
}
END
shoot go-build-$v-type-errors 'go build ./...'
shoot go-vet-$v-type-errors 'go vet ./...'
printf 'package cart\n\nfunc Open( {\n' | file cart/extra.go
shoot go-build-$v-syntax-error 'go build ./...'
shoot go-test-$v-syntax-error 'go test ./...'
shoot go-test-json-$v-syntax-error 'go test -json ./...'
printf 'package cart\n\nimport "example.com/nowhere/lost"\n\nvar _ = lost.Found\n' | file cart/extra.go
shoot go-build-$v-missing-package 'GOFLAGS= GOPROXY=off go build ./...'
printf 'package cart\n\nimport "fmt"\n\nfunc Say(n int) {\n\tfmt.Printf("%%s\\n", n)\n\tfor {\n\t}\n\tfmt.Println("never")\n}\n\nfunc Copy(x int) {\n\tx = x\n}\n' | file cart/extra.go
shoot go-vet-$v-warnings 'go vet ./...'
mkdir -p "my shop" && printf 'package shop\n\nvar Größe int = "groß"\n' | file "my shop/größe.go"
shoot go-build-$v-path-with-space 'go build ./...'
rm -r "my shop" cart/extra.go
shoot go-build-$v-passing 'go build ./...'

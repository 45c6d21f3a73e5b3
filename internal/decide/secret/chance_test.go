package secret

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPromise_P21_PasswordsThatSpellAWordByChance are passwords: of 20 random
// characters one in fifty has "my", "foo" or the like in it. Words that a person put
// together are none.
func TestPromise_P21_PasswordsThatSpellAWordByChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 20))
	r := New(Options{})
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	spelled, stay := 0, 0
	for range 20_000 {
		var b strings.Builder
		for range 18 {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		password := b.String() + "7q"
		if strings.Contains(password, "MY") || strings.Contains(password, "FOO") {
			spelled++
		}
		if got := r.Text("DATABASE_URL=postgres://app:" + password + "@db/x"); strings.Contains(got, password) {
			t.Logf("%s stays", password)
			stay++
		}
	}
	if stay > 10 { // what spells a longer word is rarer than one in two thousand
		t.Errorf("%d of 20,000 stay", stay)
	}
	if spelled < 100 {
		t.Fatalf("only %d spell a word: the test looks at the wrong thing", spelled)
	}
	for _, sample := range []string{"my-password-for-2024-abc", "mytestpassword123456", "change-me-7d7d7d7d", "foo-1-bar-2-foo-3-bar-4", "your4password5here6now"} {
		if got := r.Text("DATABASE_URL=postgres://app:" + sample + "@db/x"); !strings.Contains(got, sample) {
			t.Errorf("%s is a sample, and went: %s", sample, got)
		}
	}
}

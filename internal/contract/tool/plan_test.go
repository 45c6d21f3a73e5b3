package tool

import (
	"encoding/json"
	"testing"
)

func TestSignatureIsThatOfTheCallNotOfItsWriting(t *testing.T) {
	of := func(name, args string) string {
		return Call{ID: "c1", Tool: name, Args: json.RawMessage(args)}.Signature()
	}
	one := of("Bash", `{"command":"make","n":1}`)
	for _, same := range []string{`{"n":1,"command":"make"}`, "{ \"command\" : \"make\",\n\t\"n\": 1}", `{"command":"\u006dake","n":1}`} {
		if of("Bash", same) != one {
			t.Errorf("%s is another call", same)
		}
	}
	for name, other := range map[string]string{
		"another tool":     of("Test", `{"command":"make","n":1}`),
		"another argument": of("Bash", `{"command":"make ","n":1}`),
		"another number":   of("Bash", `{"command":"make","n":1.0}`),
		"not JSON":         of("Bash", `{"command":"make","n":1`),
		"more than JSON":   of("Bash", `{"command":"make","n":1}{}`),
		"none":             of("Bash", ``),
	} {
		if other == one {
			t.Errorf("%s: the same signature", name)
		}
	}
}

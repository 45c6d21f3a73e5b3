//go:build unix

package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-agent/belay/internal/contract/model/modeltest"
)

// encodings are in what forms a secret could get out.
func encodings(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	return map[string]string{
		"raw": secret, "base64": base64.StdEncoding.EncodeToString([]byte(secret)), "url": url.QueryEscape(secret),
		"hex": hex.EncodeToString([]byte(secret)), "json": string(quoted[1 : len(quoted)-1]),
	}
}

// privateKey returns a new one, as a file has it.
func privateKey(t *testing.T) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// random returns 48 hex digits of chance.
func random(t *testing.T) string {
	t.Helper()
	b := make([]byte, 24)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

// everything returns what is on disk below the state directory, but for images of
// the workspace, which come back as they were.
func (p *place) everything(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(p.home, ".local/state"), func(file string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "undo" {
			return filepath.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestPromise_P21_CanariesGoNowhere puts canaries where keys are: those that Belay
// holds in its environment and in settings, and those it is not told of in a
// keyring, a file of settings and a private key. Commands, tools, the user, the model and
// the provider's own errors speak of them in every encoding and in pieces. None is
// in the log, the artifacts, what the model gets, or what is shown.
func TestPromise_P21_CanariesGoNowhere(t *testing.T) {
	eachDialect(t, func(t *testing.T, d modeltest.Dialect) {
		inEnv, inSettings := rand.Text()+"+/&é", rand.Text()+"\"=1"
		unknown := map[string]string{
			"keyring": "ghp_" + rand.Text() + rand.Text()[:10], "dotenv": "sk-" + random(t), "login": rand.Text()[:18] + "7q",
		}
		p := newPlace(t)
		p.env = []string{"OPENAI_API_KEY=" + inEnv, "ANTHROPIC_API_KEY=" + inEnv}
		quoted, _ := json.Marshal(inSettings)
		p.write(t, "../home/.config/belay/config.toml", "[providers.other]\napi = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\nkey = "+string(quoted)+"\n")
		secretKey := privateKey(t)
		p.write(t, "keyring", unknown["keyring"]+"\n"+secretKey)
		p.write(t, "app.ini", "PORT=8080\nAPI_TOKEN="+unknown["dotenv"]+"\nDATABASE_URL=postgres://app:"+unknown["login"]+"@db/x\n")
		for n, held := range []string{inEnv, inSettings} {
			for name, text := range encodings(held) {
				p.write(t, fmt.Sprintf("held%d.%s", n, name), text+"\n")
			}
		}
		const inPieces = `for f in held* keyring app.ini; do while IFS= read -r l; do` +
			` while [ -n "$l" ]; do printf %s "${l%"${l#?????}"}"; [ "${l#?????}" = "$l" ] && { printf %s "$l"; l=; }; l=${l#?????}; done; echo; done < $f; done`
		pieces, _ := json.Marshal(map[string]string{"command": inPieces})
		args, _ := json.Marshal(map[string]string{"command": "echo " + unknown["keyring"] + "; : '" + secretKey + "'"})
		write, _ := json.Marshal(map[string]string{"path": "new.env", "content": "A=1\nTOKEN=" + unknown["keyring"] + "\nKEY='" + inEnv + "'\n"})
		s, m := p.reach(t, d, nil,
			whole(d, calls("Bash", `{"command":"cat held* keyring app.ini; cat held* app.ini >&2; false"}`)),
			whole(d, calls("Bash", string(pieces))),
			whole(d, calls("Bash", `{"command":"for i in $(seq 400); do cat held* keyring app.ini; done"}`)),
			whole(d, calls("Bash", string(args))),
			whole(d, calls("Write", string(write))),
			whole(d, calls("Read", `{"path":"app.ini"}`)),
			whole(d, calls("Read", `{"path":"new.env"}`)),
			whole(d, calls("Grep", `{"pattern":"TOKEN|postgres"}`)),
			whole(d, says("it is "+unknown["keyring"]+" and "+inEnv+" and\n"+secretKey+"so.")),
			modeltest.Response{Status: 401, Body: `{"error":{"type":"authentication_error","message":"Incorrect API key provided: ` + unknown["dotenv"] + ` not ` + string(quoted[1:len(quoted)-1]) + `"}}`})
		first := p.run(t, "run", "-v", "--json", "--mode", "full", "-m", m, "what of "+unknown["keyring"]+"?\n"+secretKey)
		first.wants(t, 0)
		second := p.run(t, "resume", "-v", "--mode", "full", "-m", m, "go on")
		second.wants(t, 5)
		if b, err := os.ReadFile(filepath.Join(p.dir, "new.env")); err != nil || !bytes.Contains(b, []byte("TOKEN="+unknown["keyring"]+"\n")) {
			t.Errorf("what the call wrote is %q, %v", b, err)
		}
		if all := p.everything(t); !strings.Contains(all, "[redacted:") || !strings.Contains(all, "[secret:private-key:") || !strings.Contains(all, "[secret:url-password:") {
			t.Error("there are no marks on disk")
		}
		body := strings.Split(secretKey, "\n")[1]
		for where, text := range map[string]string{
			"the disk": p.everything(t), "a request": strings.Join(s.Bodies(), "\n"),
			"stdout": first.out, "stderr": first.err, "stdout of the second run": second.out, "stderr of the second run": second.err,
		} {
			for _, held := range []string{inEnv, inSettings} {
				for name, form := range encodings(held) {
					if i := strings.Index(text, form); i >= 0 {
						t.Errorf("%s has a held key, %s: %.300q", where, name, text[max(0, i-150):])
					}
				}
			}
			for name, form := range map[string]string{
				"keyring": unknown["keyring"], "dotenv": unknown["dotenv"], "login": unknown["login"], "private key": body, "end of the private key": body[24:],
			} {
				if i := strings.Index(text, form); i >= 0 {
					t.Errorf("%s has the secret of %s: %.300q", where, name, text[max(0, i-150):])
				}
			}
		}
	})
}

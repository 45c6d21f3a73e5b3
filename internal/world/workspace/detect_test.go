package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/belay-agent/belay/internal/contract/edit"
)

// Some text as people write it.
const (
	german   = "// Größe prüfen: « groß », 5 €\nfür := \"Straße\"\n"
	french   = "/* Vérifie que l’élève a bien reçu sa clé – déjà vu */\nnaïveté = où\n"
	chinese  = "# 检查配置文件是否存在，如果不存在就创建一个新的。\nname = \"你好，世界\"\n"
	japan    = "# 設定ファイルを読み込む。なければ作成する。\nprint(\"こんにちは、テスト\")\n"
	russian  = "# Проверить, что файл существует\nname = \"Привет\"\n"
	korea    = "# 설정 파일이 있는지 확인하고 없으면 새로 만듭니다\n"
	taiwan   = "# 檢查設定檔是否存在，若不存在則建立新的設定檔\n"
	greeting = "k = 1\n你好\n"
)

// encoded returns s in an encoding, line endings as CR LF.
func encoded(t testing.TB, e encoding.Encoding, s string) string {
	t.Helper()
	b, err := e.NewEncoder().String(strings.ReplaceAll(s, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestR090_Encodings: what can be told is told and shown right, and an edit of a
// line is in the file's own encoding and leaves every other byte.
func TestR090_Bug_E01_Encodings(t *testing.T) {
	utf16 := func(order unicode.Endianness, mark unicode.BOMPolicy) encoding.Encoding {
		return unicode.UTF16(order, mark)
	}
	for name, test := range map[string]struct {
		in   encoding.Encoding
		text string
		want string
		add  string // a character that the encoding has
	}{
		"utf-8":              {encoding.Nop, russian, UTF8, "日"},
		"utf-8 with mark":    {unicode.UTF8BOM, german, UTF8Mark, "日"},
		"utf-16le with mark": {utf16(unicode.LittleEndian, unicode.UseBOM), japan + "😀", UTF16LEMark, "😀"},
		"utf-16be with mark": {utf16(unicode.BigEndian, unicode.UseBOM), chinese, UTF16BEMark, "😀"},
		"utf-16le":           {utf16(unicode.LittleEndian, unicode.IgnoreBOM), german, UTF16LE, "日"},
		"utf-16be":           {utf16(unicode.BigEndian, unicode.IgnoreBOM), french, UTF16BE, "日"},
		"latin-1":            {charmap.ISO8859_1, strings.ReplaceAll(german, "€", "£"), Latin1, "é"},
		"windows-1252":       {charmap.Windows1252, french, Windows1252, "€"},
		"gb18030":            {simplifiedchinese.GB18030, chinese, GB18030, "囍"},
		"gb18030, four":      {simplifiedchinese.GB18030, chinese + "😀", GB18030, "😀"},
		"gb18030, short":     {simplifiedchinese.GB18030, greeting, GB18030, "们"},
		"shift_jis":          {japanese.ShiftJIS, japan, ShiftJIS, "猫"},
	} {
		t.Run(name, func(t *testing.T) {
			const head, tail = "first line\n", "last line\n"
			raw := encoded(t, test.in, head+test.text+tail)
			w := tree(t, map[string]string{"f": raw})
			text := read(t, w, "f")
			if text.Encoding != test.want || text.Content != head+test.text+tail || text.Newline != CRLF {
				t.Fatalf("%s, newline %q: %q", text.Encoding, text.Newline, text.Content)
			}
			if _, err := w.Write([]edit.Intent{replace(t, text, "first", "1 "+test.add+"\n")}); err != nil {
				t.Fatal(err)
			}
			want := encoded(t, test.in, "1 "+test.add+"\n line\n"+test.text+tail)
			if got := onDisk(t, w, "f"); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
		})
	}
}

// What cannot be told is shown byte by byte, and what the encoding lacks cannot
// be written.
func TestR090_EncodingsThatCannotBeTold(t *testing.T) {
	for name, raw := range map[string]string{
		"windows-1251": encoded(t, charmap.Windows1251, russian),
		"koi8-r":       encoded(t, charmap.KOI8R, russian),
		"euc-kr":       encoded(t, korean.EUCKR, korea),
		"big5":         encoded(t, traditionalchinese.Big5, taiwan),
		"euc-jp":       encoded(t, japanese.EUCJP, japan),
	} {
		text := decode([]byte(raw), detect([]byte(raw)))
		if text.Encoding != Unknown || text.gaps || strings.Contains(text.Content, instead) {
			t.Errorf("%s is taken for %s: %q", name, text.Encoding, text.Content)
		}
		whole, err := text.form(0, len(text.Content), text.Content)
		if err != nil || string(whole) != raw {
			t.Errorf("%s: written back as %q, %v", name, whole, err)
		}
	}
	latin := encoded(t, charmap.ISO8859_1, "é a\n")
	text := decode([]byte(latin), detect([]byte(latin)))
	if r, err := text.Region(3, 4, "日"); !errors.Is(err, ErrUnencodable) || !strings.Contains(err.Error(), "'日' is not in iso-8859-1") {
		t.Errorf("%+v, %v", r, err)
	}
}

// Nothing that is no text is shown: what programs write is refused.
func TestR089_BinaryFilesAreNoText(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"program": program[:1<<20], "utf-32": []byte("\xff\xfe\x00\x00a\x00\x00\x00"), "little": []byte("a\x00b\x00"),
		"numbers": {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0}, "marked": []byte("\xef\xbb\xbf\x00"),
	} {
		if c := detect(raw); c != nil {
			t.Errorf("%s is taken for %s", name, c.name)
		}
	}
}

// Every text file of this repository is UTF-8, and one in the Go tree that is not
// is not taken for it.
func TestR090_OwnFilesAreUTF8(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if c := detect(b); c != &codecUTF8 {
			t.Errorf("%s is taken for %v", name, c)
		}
	}
}

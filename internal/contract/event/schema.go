package event

import _ "embed"

//go:embed events.schema.json
var schema []byte

// Schema returns the JSON Schema of a line that Encode writes, and of one that
// `belay log` and --json print: there a result also has its context. Later
// versions may add fields and types, which readers pass over. It is generated
// from this package, its comments included.
func Schema() []byte { return append([]byte(nil), schema...) }

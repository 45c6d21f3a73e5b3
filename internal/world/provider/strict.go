package provider

import (
	"encoding/json"
	"slices"
)

// strictable reports whether a schema binds the model as it stands, without a
// change to what it means: every object closed, every property required, and
// nothing in it but what all servers that bind models know.
func strictable(schema json.RawMessage) bool {
	var s any
	return json.Unmarshal(schema, &s) == nil && bindsModel(s, 0)
}

// maxNested is how deep the strictest server lets a schema go.
const maxNested = 5

func bindsModel(schema any, depth int) bool {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxNested {
		return false
	}
	for key, value := range s {
		switch key {
		case "type", "description", "enum", "const", "title", "required", "additionalProperties":
		case "properties":
			properties, ok := value.(map[string]any)
			if !ok {
				return false
			}
			for _, p := range properties {
				if !bindsModel(p, depth+1) {
					return false
				}
			}
		case "items":
			if !bindsModel(value, depth+1) {
				return false
			}
		case "anyOf":
			choices, ok := value.([]any)
			if !ok || depth == 0 {
				return false
			}
			for _, c := range choices {
				if !bindsModel(c, depth+1) {
					return false
				}
			}
		default:
			return false
		}
	}
	return s["type"] != "object" || closed(s)
}

// closed reports whether an object has all of its properties, and no others.
func closed(object map[string]any) bool {
	if object["additionalProperties"] != false {
		return false
	}
	required, _ := object["required"].([]any)
	properties, _ := object["properties"].(map[string]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return len(required) == len(properties)
}

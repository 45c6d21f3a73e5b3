package cli

import (
	"slices"
	"strings"
)

// askedForKey says to whoever gave key on the command line that there is no such
// setting, which was meant, or where to see them all.
func askedForKey(key string) error {
	see := "; `belay config` shows those there are, and a provider has providers.NAME." + strings.Join(providerFields, ", ")
	return &ConfigError{Message: unknownKey(key, see)}
}

// unknownKey says that there is no setting of that key, and which was meant.
func unknownKey(key, otherwise string) string {
	return key + " is not a setting" + meant(key, "", keysLike(key), otherwise)
}

// unknownTable says that key is no table that settings are in, and which was meant.
func unknownTable(key string) string {
	var tables []string
	for _, k := range keysLike(key + ".x") {
		if dot := strings.LastIndexByte(k, '.'); dot > 0 && !slices.Contains(tables, k[:dot]) {
			tables = append(tables, k[:dot])
		}
	}
	return key + " is not a table of settings" + meant(key, "", tables, "")
}

// keysLike returns the keys of all settings, among them those of a provider if key
// has the form of one.
func keysLike(key string) (keys []string) {
	for _, k := range knobs() {
		keys = append(keys, k.key)
	}
	if parts := strings.Split(key, "."); len(parts) == 3 && providerRE.MatchString(parts[1]) {
		for _, field := range providerFields {
			keys = append(keys, "providers."+parts[1]+"."+field)
		}
	}
	return keys
}

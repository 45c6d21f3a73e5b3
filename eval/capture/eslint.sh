# eslint.
[ -x "$node/node_modules/.bin/eslint" ] || { echo "eslint: not installed"; return; }
export PATH=$node/node_modules/.bin:$PATH
v=$(eslint --version | sed 's/v//')

fresh
ln -s "$node/node_modules" node_modules
file eslint.config.mjs <<'END'
export default [
  {
    files: ["**/*.js"],
    rules: {
      "no-unused-vars": "warn",
      "no-undef": "error",
      eqeqeq: "error",
      "prefer-const": "error",
      "no-constant-condition": "warn",
    },
  },
];
END
printf 'export const total = (prices) => prices.reduce((a, b) => a + b, 0);\n' | file src/shop.js
shoot eslint-$v-passing 'npx eslint .'
file src/main.js <<'END'
import { total } from "./shop.js";

let n = 1;
if (n == "1") {
  undefinedThing();
}
while (true) {}
END
printf 'const a = 3;\n\nlet b = 4;\n' | file src/other.js
shoot eslint-$v-problems 'npx eslint .'
shoot eslint-$v-problems-colour 'npx eslint --color .'
shoot eslint-$v-max-warnings 'npx eslint --quiet . ; npx eslint --max-warnings 0 src/main.js'
printf 'const a = ;\n' | file src/main.js
shoot eslint-$v-syntax-error 'npx eslint src/main.js'
rm src/main.js src/other.js
printf 'const größe = 3;\n' | file "src/my shop/größe.js"
shoot eslint-$v-warnings-only 'npx eslint .'
printf '// eslint-disable-next-line eqeqeq\nexport const x = 1;\n' | file src/shop.js
shoot eslint-$v-unused-directive 'npx eslint src/shop.js'
shoot eslint-$v-no-files 'npx eslint nowhere'

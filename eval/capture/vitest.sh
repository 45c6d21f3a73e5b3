# vitest.
[ -x "$node/node_modules/.bin/vitest" ] || { echo "vitest: not installed"; return; }
export PATH=$node/node_modules/.bin:$PATH
v=$(vitest --version 2>/dev/null | sed 's|vitest/\([0-9.]*\).*|\1|')

fresh
ln -s "$node/node_modules" node_modules
printf '{"name": "shop", "type": "module", "scripts": {"test": "vitest run"}}\n' | file package.json
printf 'export const total = (prices) => prices.reduce((a, b) => a + b, 0);\nexport const first = (prices) => prices[0].price;\n' | file shop.js
file total.test.js <<'END'
import { test, expect } from "vitest";
import { total } from "./shop";

test("adds two prices", () => {
  expect(total([1, 2])).toBe(3);
});

test.skip("needs a database", () => {});
END
shoot vitest-$v-passing 'npx vitest run'
shoot vitest-$v-passing-verbose 'npx vitest run --reporter=verbose'
shoot vitest-$v-no-match 'npx vitest run -t nosuchtest'
shoot vitest-$v-no-tests 'npx vitest run nosuchfile'
file more.test.js <<'END'
import { describe, it, test, expect } from "vitest";
import { total, first } from "./shop";

describe("total", () => {
  test("of nothing", () => {
    expect(total([])).toBe(0);
  });

  test("of two prices", () => {
    console.log("looking at two");
    expect(total([1, 2])).toBe(4);
  });

  describe("größe", () => {
    it("ist groß", async () => {
      expect({ a: 1, b: [1, 2] }).toEqual({ a: 1, b: [1, 3] });
    });
  });
});

test("first of nothing", () => {
  expect(first([])).toBe(0);
});
END
shoot vitest-$v-several-failures 'npx vitest run'
shoot vitest-$v-several-failures-verbose 'npx vitest run --reporter=verbose'
shoot vitest-$v-several-failures-colour 'FORCE_COLOR=1 npx vitest run'
shoot vitest-$v-several-failures-npm 'npm test'
rm more.test.js
printf 'import { test } from "vitest";\n\ntest("never ends", async () => {\n  await new Promise(() => {});\n}, 50);\n' | file slow.test.js
shoot vitest-$v-timeout 'npx vitest run slow'
rm slow.test.js
printf 'import { test } from "vitest";\n\ntest("x", () => {\n  const a = ;\n});\n' | file syntax.test.js
printf 'import { test } from "vitest";\nimport lost from "./lost";\n\ntest("x", () => lost());\n' | file lost.test.js
shoot vitest-$v-suite-errors 'npx vitest run'
rm syntax.test.js lost.test.js
printf 'import { test } from "vitest";\n\ntest("größe", () => {\n  throw new Error("zu groß");\n});\n' | file "my tests/größe.test.js"
shoot vitest-$v-path-with-space 'npx vitest run größe'

# jest.
[ -x "$node/node_modules/.bin/jest" ] || { echo "jest: not installed"; return; }
v=$("$node/node_modules/.bin/jest" --version)
export PATH=$node/node_modules/.bin:$PATH

fresh
ln -s "$node/node_modules" node_modules
printf '{"name": "shop", "scripts": {"test": "jest"}}\n' | file package.json
printf 'exports.total = (prices) => prices.reduce((a, b) => a + b, 0);\nexports.first = (prices) => prices[0].price;\n' | file shop.js
file total.test.js <<'END'
const { total } = require("./shop");

test("adds two prices", () => {
  expect(total([1, 2])).toBe(3);
});

test.skip("needs a database", () => {});
END
shoot jest-$v-passing 'npx jest'
shoot jest-$v-passing-verbose 'npx jest --verbose'
shoot jest-$v-no-match 'npx jest -t nosuchtest'
shoot jest-$v-no-tests 'npx jest nosuchfile'
file more.test.js <<'END'
const { total, first } = require("./shop");

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
shoot jest-$v-several-failures 'npx jest'
shoot jest-$v-several-failures-verbose 'npx jest --verbose'
shoot jest-$v-several-failures-colour 'npx jest --colors'
shoot jest-$v-several-failures-npm 'npm test'
rm more.test.js
printf 'test("never ends", async () => {\n  await new Promise(() => {});\n}, 50);\n' | file slow.test.js
shoot jest-$v-timeout 'npx jest slow'
rm slow.test.js
printf 'test("x", () => {\n  const a = ;\n});\n' | file syntax.test.js
printf 'const lost = require("./lost");\n\ntest("x", () => {});\n' | file lost.test.js
shoot jest-$v-suite-errors 'npx jest'
rm syntax.test.js lost.test.js
printf 'test("größe", () => {\n  throw new Error("zu groß");\n});\n' | file "my tests/größe.test.js"
shoot jest-$v-path-with-space 'npx jest größe'

# The tests of a small shop, as $tool runs them, which is jest or vitest. Its script
# sets v, its version; run, the command that runs tests, verbose, what makes it
# name each, and coloured, one that colours them; package, what package.json has more;
# export, what stands before a name that shop.js gives away; lost, what a test does
# that cannot import; and has imports NAMES [WHAT FILE] print how a test file begins
# that uses NAMES of the tool and WHAT of FILE.
fresh
ln -s "$node/node_modules" node_modules
printf '{"name": "shop", %s"scripts": {"test": "%s"}}\n' "$package" "${run#npx }" | file package.json
printf '%s = (prices) => %s;\n' \
	"${export}total" 'prices.reduce((a, b) => a + b, 0)' "${export}first" 'prices[0].price' | file shop.js
{
	imports 'test, expect' '{ total }' shop
	cat <<'END'
test("adds two prices", () => {
  expect(total([1, 2])).toBe(3);
});

test.skip("needs a database", () => {});
END
} | file total.test.js
shoot "$tool-$v-passing" "$run"
shoot "$tool-$v-passing-verbose" "$run $verbose"
shoot "$tool-$v-no-match" "$run -t nosuchtest"
shoot "$tool-$v-no-tests" "$run nosuchfile"
{
	imports 'describe, it, test, expect' '{ total, first }' shop
	cat <<'END'
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
} | file more.test.js
shoot "$tool-$v-several-failures" "$run"
shoot "$tool-$v-several-failures-verbose" "$run $verbose"
shoot "$tool-$v-several-failures-colour" "$coloured"
shoot "$tool-$v-several-failures-npm" 'npm test'
rm more.test.js
{ imports test; printf 'test("never ends", async () => {\n  await new Promise(() => {});\n}, 50);\n'; } | file slow.test.js
shoot "$tool-$v-timeout" "$run slow"
rm slow.test.js
{ imports test; printf 'test("x", () => {\n  const a = ;\n});\n'; } | file syntax.test.js
{ imports test lost lost; printf 'test("x", () => %s);\n' "$lost"; } | file lost.test.js
shoot "$tool-$v-suite-errors" "$run"
rm syntax.test.js lost.test.js
{ imports test; printf 'test("größe", () => {\n  throw new Error("zu groß");\n});\n'; } | file "my tests/größe.test.js"
shoot "$tool-$v-path-with-space" "$run größe"

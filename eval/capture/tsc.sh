# tsc.
[ -x "$node/node_modules/.bin/tsc" ] || { echo "tsc: not installed"; return; }
export PATH=$node/node_modules/.bin:$PATH
v=$(tsc --version | sed 's/Version //')

fresh
ln -s "$node/node_modules" node_modules
printf '{"compilerOptions": {"strict": true, "noEmit": true, "types": []}, "include": ["src"]}\n' | file tsconfig.json
printf 'export const total = (prices: number[]): number => prices.reduce((a, b) => a + b, 0);\n' | file src/shop.ts
shoot tsc-$v-passing 'npx tsc'
file src/main.ts <<'END'
import { total } from "./shop";
import { lost } from "./lost";

const n: string = total([1, 2]);

interface Shop {
  name: string;
  prices: { of: (item: string) => number };
}

const shop: Shop = { name: "x", prices: { of: (item: number) => item } };
undefinedThing(n);
shop.nothing();
END
shoot tsc-$v-errors 'npx tsc'
shoot tsc-$v-errors-pretty 'npx tsc --pretty'
shoot tsc-$v-errors-plain-pretty 'NO_COLOR=1 npx tsc --pretty'
printf 'const a = ;\nfunction (\n' | file src/main.ts
shoot tsc-$v-syntax-error 'npx tsc'
rm src/main.ts
printf 'export const größe: number = "groß";\n' | file "src/my shop/größe.ts"
shoot tsc-$v-path-with-space 'npx tsc'
printf '{"compilerOptions": {"strict": "yes", "unknownThing": 1}}\n' | file tsconfig.json
shoot tsc-$v-bad-config 'npx tsc'

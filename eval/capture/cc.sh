# gcc and clang.
for cc in gcc clang; do
	command -v $cc >/dev/null || { echo "$cc: not installed"; continue; }
	case $cc in
	gcc) v=$(gcc -dumpfullversion) ;;
	clang) v=$(clang --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p') ;;
	esac

	fresh
	file main.c <<'END'
#include <stdio.h>
#include "shop.h"

static int half(int n) {
	return n / 2
}

int main(void) {
	int unused = 3;
	undefined_thing(1);
	printf("%d\n", "text");
	return total(1, 2);
}
END
	printf 'int total(int *prices, int n);\n' | file shop.h
	shoot $cc-$v-errors "$cc -Wall -c main.c"
	shoot $cc-$v-errors-colour "$cc -Wall -fdiagnostics-color=always -c main.c"
	printf '#include "lost.h"\n\nint main(void) { return 0; }\n' | file main.c
	shoot $cc-$v-missing-header "$cc -Wall -c main.c"
	printf '#include <stdio.h>\n\nint main(void) {\n\tint unused = 3;\n\tprintf("%%d\\n", "text");\n\tif (unused = 4) return 1;\n}\n' | file main.c
	shoot $cc-$v-warnings "$cc -Wall -Wextra -c main.c"
	printf 'int lost(int n);\n\nint main(void) { return lost(1) + lost(2); }\n' | file main.c
	shoot $cc-$v-link-error "$cc -o main main.c 2>&1 | sed 's|/tmp/[A-Za-z0-9-]*\\.o|/tmp/main.o|'"
	printf '#include "shop.h"\n\nint total(int *prices, int n) { return prices[n] + price; }\n' | file "my shop/größe.c"
	printf '#define PRICE price_of(1)\nint total(int *prices, int n)\nint twice(int n) { return PRICE; }\n' | file "my shop/shop.h"
	shoot $cc-$v-included "$cc -Wall -c 'my shop/größe.c'"
	printf '#include <map>\n#include <string>\n\nint main() {\n\tstd::map<std::string, int> m;\n\tm.insert(3);\n\tstd::string s = 5;\n\treturn m.size;\n}\n' | file main.cc
	case $cc in gcc) cxx=g++ ;; clang) cxx=clang++ ;; esac
	shoot $cc-$v-templates "$cxx -Wall -fsyntax-only main.cc 2>&1 | head -c 12000"
	printf '#include "my shop/shop.h"\nint a = b;\nint c = d;\n' | file many.c
	printf 'all: main.o many.o\n\n%%.o: %%.c\n\t%s -Wall -c $<\n' $cc | file Makefile
	shoot $cc-$v-make "make -k many.o main.o"
done

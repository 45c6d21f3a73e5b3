# ctest, with the builds that cmake makes.
command -v ctest >/dev/null || { echo "ctest: not installed"; return; }
v=$(ctest --version | sed -n '1s/ctest version //p')

fresh
file CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(shop C)
enable_testing()
add_executable(check check.c)
foreach(name total first)
  add_test(NAME ${name} COMMAND check ok)
endforeach()
END
file check.c <<'END'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc < 2 || !strcmp(argv[1], "ok")) return 0;
	if (!strcmp(argv[1], "skip")) return 77;
	printf("looking at %s\n", argv[1]);
	fflush(stdout);
	if (!strcmp(argv[1], "sleep")) sleep(30);
	if (!strcmp(argv[1], "abort")) assert(1 == 2);
	if (!strcmp(argv[1], "crash")) raise(11);
	return 1;
}
END
sed -i 's/#include <unistd.h>/#include <signal.h>\n#include <unistd.h>/' check.c
cmake -S . -B build >/dev/null && cmake --build build >/dev/null
shoot ctest-$v-passing 'cd build && ctest'
shoot ctest-$v-no-match 'cd build && ctest -R nosuchtest'
cat >>CMakeLists.txt <<'END'
add_test(NAME wrong COMMAND check wrong)
add_test(NAME aborts COMMAND check abort)
add_test(NAME "größe mit raum" COMMAND check crash)
add_test(NAME slow COMMAND check sleep)
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(NAME database COMMAND check skip)
set_tests_properties(database PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME lost COMMAND /tmp/project/build/lost)
add_test(NAME off COMMAND check ok)
set_tests_properties(off PROPERTIES DISABLED TRUE)
END
cmake -S . -B build >/dev/null && cmake --build build >/dev/null
shoot ctest-$v-several-failures 'cd build && ctest'
shoot ctest-$v-several-failures-output 'ctest --test-dir build --output-on-failure -j2'
shoot ctest-$v-several-failures-verbose 'ctest --test-dir build -V -E slow'
shoot ctest-$v-skipped-only 'ctest --test-dir build -R database'
sed -i 's/raise(11)/raise(11, 1)/' check.c
shoot gcc-$(gcc -dumpfullversion)-cmake 'cmake --build build && ctest --test-dir build'
fresh
printf 'cmake_minimum_required(VERSION 3.16)\nproject(shop C)\nenable_testing()\n' | file CMakeLists.txt
cmake -S . -B build >/dev/null
shoot ctest-$v-no-tests 'ctest --test-dir build'

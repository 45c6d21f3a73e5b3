# Gradle with JUnit 4, offline with what Debian packages.
command -v gradle >/dev/null || { echo "gradle: not installed"; return; }
v=$(gradle --version 2>/dev/null | sed -n 's/^Gradle //p')
. "$here/java.bash"
gradle="gradle --offline --no-daemon --console=plain"

fresh
file build.gradle <<'END'
apply plugin: 'java'
repositories { flatDir { dirs '/usr/share/java' } }
dependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }
compileJava.options.encoding = 'UTF-8'
compileTestJava.options.encoding = 'UTF-8'
END
printf "rootProject.name = 'shop'\n" | file settings.gradle
java_sources
shoot gradle-$v-passing "$gradle test"
shoot gradle-$v-no-match "$gradle test --tests NoSuchTest"
java_failures
shoot gradle-$v-several-failures "$gradle test"
printf "test { testLogging { events 'passed', 'skipped', 'failed'; exceptionFormat 'full' } }\n" >>build.gradle
shoot gradle-$v-several-failures-full "$gradle test"
rm src/test/java/shop/MoreTest.java
printf 'package shop;\n\npublic class BrokenTest {\n    int n = "three";\n    void x() { Shop.lost(); }\n}\n' | file src/test/java/shop/BrokenTest.java
shoot gradle-$v-test-compile-error "$gradle test"
rm src/test/java/shop/BrokenTest.java
printf 'package shop;\n\npublic class Größe {\n    int half(int n) { return n / 2 }\n' | file src/main/java/shop/Größe.java
shoot gradle-$v-compile-error "$gradle test"
rm src/main/java/shop/Größe.java
rm src/test/java/shop/TotalTest.java
shoot gradle-$v-no-tests "$gradle test"

# Maven with Surefire and JUnit 4, offline with what Debian packages.
command -v mvn >/dev/null || { echo "maven: not installed"; return; }
v=$(mvn --version | sed -n '1s/.*Maven \([0-9.]*\).*/\1/p')
mvn="mvn -B -o -Dmaven.repo.local=/usr/share/maven-repo"
surefire=$(ls /usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin | grep -m1 '^[0-9]')
compiler=$(ls /usr/share/maven-repo/org/apache/maven/plugins/maven-compiler-plugin | grep -m1 '^[0-9]')
resources=$(ls /usr/share/maven-repo/org/apache/maven/plugins/maven-resources-plugin | grep -m1 '^[0-9]')
. "$here/java.bash"

fresh
file pom.xml <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>shop</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-surefire-plugin</artifactId><version>$surefire</version></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-compiler-plugin</artifactId><version>$compiler</version></plugin>
    <plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-resources-plugin</artifactId><version>$resources</version></plugin>
  </plugins></build>
</project>
END
java_sources
shoot maven-$v-passing "$mvn test"
shoot maven-$v-no-match "$mvn test -Dtest=NoSuchTest"
java_failures
shoot maven-$v-several-failures "$mvn test"
shoot maven-$v-several-failures-colour "$mvn -Dstyle.color=always test"
shoot maven-$v-several-failures-quiet "$mvn -q test"
rm src/test/java/shop/MoreTest.java
printf 'package shop;\n\npublic class BrokenTest {\n    int n = "three";\n    void x() { Shop.lost(); }\n}\n' | file src/test/java/shop/BrokenTest.java
shoot maven-$v-test-compile-error "$mvn test"
rm src/test/java/shop/BrokenTest.java
printf 'package shop;\n\npublic class Größe {\n    int half(int n) { return n / 2 }\n' | file src/main/java/shop/Größe.java
shoot maven-$v-compile-error "$mvn test"
rm src/main/java/shop/Größe.java
rm src/test/java/shop/TotalTest.java
shoot maven-$v-no-tests "$mvn test"

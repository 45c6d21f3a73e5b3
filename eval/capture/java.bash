# The sources that maven.sh and gradle.sh run.

java_sources() {
	file src/main/java/shop/Shop.java <<'END'
package shop;

public class Shop {
    public static int total(int... prices) {
        int sum = 0;
        for (int p : prices) sum += p;
        return sum;
    }

    public static int first(int... prices) {
        return prices[0];
    }
}
END
	file src/test/java/shop/TotalTest.java <<'END'
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Ignore;
import org.junit.Test;

public class TotalTest {
    @Test
    public void addsTwo() {
        assertEquals(3, Shop.total(1, 2));
    }

    @Test
    @Ignore("needs a database")
    public void database() {}
}
END
}

java_failures() {
	file src/test/java/shop/MoreTest.java <<'END'
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class MoreTest {
    @Test
    public void ofTwo() {
        System.out.println("looking at two");
        assertEquals("two prices", 4, Shop.total(1, 2));
    }

    @Test
    public void ofNone() {
        assertEquals(0, Shop.first());
    }

    @Test
    public void größe() {
        throw new IllegalStateException("zu groß");
    }

    @Test(timeout = 50)
    public void slow() throws Exception {
        Thread.sleep(60000);
    }

    @Test
    public void one() {
        assertEquals(1, Shop.first(1));
    }
}
END
}

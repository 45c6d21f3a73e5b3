# cargo build, cargo test and cargo clippy's form of diagnostics.
cargo=$(PATH=$PATH:$rust command -v cargo) || { echo "cargo: not installed"; return; }
export CARGO_HOME=/tmp/home/cargo PATH=$PATH:$(dirname "$cargo")
v=$(cargo --version | cut -d' ' -f2)

cargo_base() {
	fresh
	printf '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n' | file Cargo.toml
	file src/lib.rs <<'END'
/// Adds prices.
pub fn total(prices: &[i32]) -> i32 {
    prices.iter().sum()
}

/// Returns the first price.
pub fn first(prices: &[i32]) -> i32 {
    prices[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_prices() {
        assert_eq!(total(&[1, 2]), 3);
    }

    #[test]
    #[ignore = "needs a database"]
    fn database() {}
}
END
}

cargo_base
shoot cargo-test-$v-passing 'cargo test'
shoot cargo-test-$v-passing-quiet 'cargo test -q'
shoot cargo-test-$v-no-match 'cargo test no_such_test'
file tests/more.rs <<'END'
use shop::{first, total};

#[test]
fn of_two() {
    println!("looking at two");
    assert_eq!(total(&[1, 2]), 4, "two prices");
}

#[test]
fn of_none() {
    assert_eq!(first(&[]), 0);
}

#[test]
fn größe() {
    let r: Result<i32, String> = Err("zu groß".into());
    r.unwrap();
}

#[test]
#[should_panic]
fn must_panic() {}

#[test]
fn returns_error() -> Result<(), String> {
    Err("no stock".into())
}
END
shoot cargo-test-$v-several-failures 'cargo test'
shoot cargo-test-$v-several-failures-all 'cargo test --no-fail-fast'
shoot cargo-test-$v-several-failures-quiet 'cargo test -q --test more'
shoot cargo-test-$v-several-failures-colour 'cargo test --color always --test more -- --color always'
printf '#[test]\nfn broken() {\n    let n: i32 = "three";\n}\n' | file tests/more.rs
shoot cargo-test-$v-compile-error 'cargo test'
cargo_base
printf '/// ```\n/// assert_eq!(shop::half(4), 3);\n/// ```\npub fn half(n: i32) -> i32 {\n    n / 2\n}\n' | file src/lib.rs
shoot cargo-test-$v-doc-test 'cargo test'

cargo_base
file src/main.rs <<'END'
use std::collections::HashMap;

fn half(n: i32) -> String {
    n / 2
}

fn main() {
    let unused = 3;
    undefined_thing();
    let s = String::from("x");
    let t = s;
    println!("{}", s);
}
END
shoot cargo-build-$v-type-errors 'cargo build'
shoot cargo-build-$v-type-errors-colour 'cargo build --color always'
shoot cargo-build-$v-type-errors-short 'cargo build --message-format short'
printf 'fn main() {\n    let unused = 3;\n    let mut n = 1;\n    println!("{}", n);\n}\n\nfn never() {}\n' | file src/main.rs
shoot cargo-build-$v-warnings 'cargo build'
printf 'fn main( {\n' | file src/main.rs
shoot cargo-build-$v-syntax-error 'cargo build'
printf 'fn main() {}\n' | file src/main.rs
shoot cargo-build-$v-passing 'cargo build'
printf '[dependencies]\nlost = { path = "lost" }\n' >>Cargo.toml
shoot cargo-build-$v-missing-dependency 'cargo build --offline'
cargo_base
printf '[[bin]]\nname = "shop"\npath = "my shop/größe.rs"\n' >>Cargo.toml
printf 'fn main() {\n    let größe: i32 = "groß";\n}\n' | file "my shop/größe.rs"
shoot cargo-build-$v-path-with-space 'cargo build'

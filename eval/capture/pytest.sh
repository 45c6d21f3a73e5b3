# pytest.
python=/usr/bin/python3
$python -m pytest --version >/dev/null 2>&1 || { echo "pytest: not installed"; return; }
v=$($python -m pytest --version 2>&1 | sed 's/pytest //')
export PYTHONDONTWRITEBYTECODE=1
pytest="$python -m pytest -p no:cacheprovider"

fresh
file shop.py <<'END'
def total(prices):
    return sum(prices)


def first(prices):
    return prices[0]
END
file tests/test_total.py <<'END'
import pytest
from shop import total


def test_two():
    assert total([1, 2]) == 3


@pytest.mark.skip(reason="needs a database")
def test_database():
    assert False


@pytest.mark.xfail
def test_known():
    assert total([1]) == 2
END
export PYTHONPATH=.
shoot pytest-$v-passing "$pytest"
shoot pytest-$v-passing-quiet "$pytest -q"
shoot pytest-$v-no-match "$pytest -k no_such_test"
file tests/test_more.py <<'END'
import warnings

import pytest
from shop import first, total


@pytest.mark.parametrize("prices,want", [([1], 1), ([1, 2], 4), ([5], 6)])
def test_totals(prices, want):
    assert total(prices) == want


class TestFirst:
    def test_empty(self):
        print("looking at nothing")
        assert first([]) == 0

    def test_one(self):
        warnings.warn("deprecated price")
        assert first([1]) == 1


@pytest.fixture
def database():
    raise RuntimeError("no database")


def test_with_database(database):
    pass
END
shoot pytest-$v-several-failures "$pytest"
shoot pytest-$v-several-failures-verbose "$pytest -v"
shoot pytest-$v-several-failures-short "$pytest --tb=short"
shoot pytest-$v-several-failures-line "$pytest -q --tb=line"
shoot pytest-$v-several-failures-colour "$pytest --color=yes"
shoot pytest-$v-stops-at-first "$pytest -x"
rm tests/test_more.py
printf 'from shop import total, missing\n\n\ndef test_x():\n    pass\n' | file tests/test_import.py
printf 'def test_y(:\n    pass\n' | file tests/test_syntax.py
shoot pytest-$v-collection-errors "$pytest"
rm tests/test_import.py tests/test_syntax.py
mkdir -p "my tests"
printf 'def test_größe():\n    assert "groß" == "klein"\n' | file "my tests/test_größe.py"
shoot pytest-$v-path-with-space "$pytest"
fresh
shoot pytest-$v-no-tests "$pytest"

"""Known constraints: text that is parsed and never evaluated, callables, matrices."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint

from boring.exceptions import InvalidInputError, UnknownNameError
from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real
from boring.parameters.expressions import parse
from boring.parameters.margins import INACTIVE
from boring.study import Study

PARAMETERS = [
    Real("a", -2, 2),
    Real("b", 0.1, 10, log=True),
    Integer("n", 1, 8),
    Ordinal("o", [16, 32, 64]),
    Categorical("kind", ["x", "y's", None]),
    Categorical("flag", [False, True]),
    Fixed("c", 3),
    Real("phase shift", 0, 1),
]


def allowed(constraint, U, parameters=PARAMETERS):
    return ParameterSpace(parameters, [constraint]).domain.allowed(U)


def points(n=200, seed=0):
    space = ParameterSpace(PARAMETERS)
    return np.random.default_rng(seed).uniform(-1, 1, (n, space.dim))


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("2*a + b <= 3", lambda p: 2 * p["a"] + p["b"] <= 3),
        ("a ** 2 + b ** 2 < 4 or n == 3", lambda p: p["a"] ** 2 + p["b"] ** 2 < 4 or p["n"] == 3),
        ("-1 <= a < 1", lambda p: -1 <= p["a"] < 1),
        ("`phase shift` * c > a", lambda p: p["phase shift"] * p["c"] > p["a"]),
        ("kind == \"y's\" and not flag", lambda p: p["kind"] == "y's" and not p["flag"]),
        ("kind in ['x', None]", lambda p: p["kind"] in ["x", None]),
        ("kind not in ('x', None)", lambda p: p["kind"] not in ["x", None]),
        ("None != kind", lambda p: p["kind"] is not None),
        ("o >= 32 and n != 2", lambda p: p["o"] >= 32 and p["n"] != 2),
        ("n in [1, 2, 3]", lambda p: p["n"] in [1, 2, 3]),
        ("not (a < 0 and b < 1)", lambda p: not (p["a"] < 0 and p["b"] < 1)),
        ("abs(a) + log(b) <= sqrt(n) - exp(a)",
         lambda p: abs(p["a"]) + math.log(p["b"]) <= math.sqrt(p["n"]) - math.exp(p["a"])),
        ("flag == True", lambda p: p["flag"]),
        ("n / (n - 4) <= 2", lambda p: p["n"] != 4 and p["n"] / (p["n"] - 4) <= 2),
    ],
)  # fmt: skip
def test_text_means_what_python_means(text, python):
    U = points()
    expected = [python(configuration) for configuration in ParameterSpace(PARAMETERS).decode(U)]
    assert 0 < sum(expected) < len(expected)
    np.testing.assert_array_equal(allowed(text, U), expected)


def test_the_margin_of_an_inequality_is_its_violation():
    space = ParameterSpace(PARAMETERS, ["2*a + b <= 3"])
    configuration = {**space.decode(points(1))[0], "a": 2.0, "b": 1.5}
    assert space.violations(configuration) == {"'2*a + b <= 3'": 2.5}
    with pytest.raises(InvalidInputError, match=r"breaks '2\*a \+ b <= 3' \(by 2.5\)"):
        space.check(configuration, constraints=True)
    assert space.violations({**configuration, "a": 0.0}) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gain <= 3", "names 'gain', which is not a parameter"),
        ("fleg", "Did you mean 'flag'"),
        ("a", "needs something true or false"),
        ("a + 1", "needs something true or false"),
        ("a <=", "cannot be parsed"),
        ("a <= 3; b", "cannot be parsed"),
        ("kind <= 3", "does arithmetic with 'kind'"),
        ("kind == 'z'", "In the condition \"kind == 'z'\": Parameter 'kind': .* must be one of"),
        ("n == '3'", "compares 'n', which takes numbers, with '3'"),
        ("n in [1, None]", "compares 'n', which takes numbers, with None"),
        ("a != True", "compares 'a', which takes numbers, with True"),
        ("a == 1", "for equality, which almost no point"),
        ("a + n == b", "for equality"),
        ("n in o", "needs a list after 'in'"),
        ("a is 3", "other than"),
        ("1 <= 3", "names no parameter"),
        ("__import__('os').system('true') <= a", "needs a number"),
        ("open('x') <= a", "needs a number"),
        ("a.real <= 3", "needs a number"),
        ("(lambda: a)() <= 3", "needs a number"),
        ("[a for a in (1,)] <= 3", "needs a number"),
        ("a <= 'b'", "needs a number"),
        ("a <= 3j", "needs a number"),
        ("(" * 5000 + "a" + ")" * 5000 + " <= 3", "condition"),
        ("a <= " + "1+" * 6000 + "1", "at most 10000"),
        ("a <= " + "-" * 3000 + "1", "condition"),
        ("a <= " + "1+" * 500 + "1", "more than 400 levels"),
    ],
)
def test_what_is_no_condition_is_refused(text, message):
    with pytest.raises(InvalidInputError, match="(?s)" + message.replace("(", r"\(")):
        ParameterSpace(PARAMETERS, [text])


@pytest.mark.parametrize("when", ["1 < 2", "2 ** 0.5 < 1 or not 3 in [3]"])
def test_a_condition_of_constants_alone_is_refused(when):
    with pytest.raises(InvalidInputError, match=r"names no parameter\. Name at least one, or drop"):
        ParameterSpace([Real("x", 0, 1), Real("y", 0, 1, when=when)])


@pytest.mark.parametrize("text", ["exp == 0.5", "n == exp", "exp(exp) == 1", "`exp` == 0.5"])
def test_a_parameter_called_like_a_function_is_one(text):
    parameters = [Real("exp", 0, 1), Integer("n", 0, 1)]
    with pytest.raises(InvalidInputError, match="asks the real parameter 'exp' for equality"):
        ParameterSpace(parameters, [text])
    space = ParameterSpace(parameters, ["exp(exp) <= 2", "exp(n) == 1"])
    assert not space.violations({"exp": 0.69, "n": 0})
    assert len(space.violations({"exp": 0.7, "n": 1})) == 2


# Two letters each of which Python takes for one name, and what it takes them for.
ALIKE = [
    ("ℓ", "l"),
    ("\u00b5", "\u03bc"),
    ("ﬁt", "fit"),
    ("é", "e\u0301"),
    ("ｎ", "n"),
]


@pytest.mark.parametrize(("one", "other"), [pair for a, b in ALIKE for pair in ((a, b), (b, a))])
def test_names_outside_ascii_are_taken_as_they_stand(one, other):
    parameters = [Real(one, 0, 1), Real(other, 0, 1)]
    for text in (f"{one} <= 0.1", f"1+2*{one}<1.2", f"not {one} > 0.1 and '{one}' in ['{one}']"):
        if "in [" in text:
            parameters = [*parameters, Categorical("k", [one, other])]
            text = text.replace(f"'{one}' in", "k in")
        space = ParameterSpace(parameters, [text])
        rest = {"k": one} if len(parameters) == 3 else {}
        assert not space.violations({one: 0.05, other: 0.9, **rest})
        assert space.violations({one: 0.9, other: 0.05, **rest})
    if other.isascii():
        return
    # Where there is one such name, the other spelling of it is taken, too.
    alone = ParameterSpace(
        [Real(one, 0, 1), Real("y", 0, 1, when=f"{other} < 0.5")], [f"{one} < 0.9"]
    )
    assert alone.decode([[-1.0, 0.0], [0.5, 0.0]]) == [{one: 0.0, "y": 0.5}, {one: 0.75}]


def test_what_is_no_letter_is_no_name():
    for text in ("a ≤ 3", "a − 1 <= 3", "a <= 3 × b", "½ <= a"):
        with pytest.raises(InvalidInputError, match=r"cannot be parsed \(invalid character"):
            ParameterSpace(PARAMETERS, [text])


def test_a_sum_of_many_parameters_and_odd_spellings_are_taken():
    names = [f"x {i}" for i in range(300)]
    parameters = [Real(name, 0, 1) for name in names]
    U = np.zeros((2, 300))
    for bound, expected in ((149, False), (151, True)):
        text = " + ".join(f"`{name}`" for name in names) + f" <= {bound}"
        assert allowed(text, U, parameters).tolist() == [expected, expected]
    assert allowed("a>=1or a<2", np.zeros((1, 1)), [Real("a", 0, 1)]).all()


def test_constants_beyond_float64_are_infinite():
    assert not allowed("a >= 9 ** 9 ** 9 ** 9", points(5)).any()
    assert allowed(f"a <= {10**200}", points(5)).all()
    assert allowed(f"a <= {10**350}", points(5)).all()


@given(st.text(max_size=30))
def test_any_text_is_parsed_or_refused(text):
    try:
        space = ParameterSpace(PARAMETERS, [text])
    except InvalidInputError:
        return
    assert space.domain.allowed(points(3)).shape == (3,)


def test_callables_say_true_or_a_number_at_most_zero():
    U = points()
    configurations = ParameterSpace(PARAMETERS).decode(U)
    expected = [c["n"] <= 4 for c in configurations]
    np.testing.assert_array_equal(allowed(lambda c: c["n"] <= 4, U), expected)
    np.testing.assert_array_equal(allowed(lambda c: np.int64(c["n"] - 4), U), expected)
    assert not allowed(lambda c: math.nan, U).any()
    with pytest.raises(InvalidInputError, match="it returned 'yes'"):
        allowed(lambda c: "yes", U)


def test_a_callable_that_raises_is_named_with_what_it_takes():
    parameters = [Categorical("k", ["a", "b"]), Real("m", 0, 1, when="k == 'a'")]

    def low(configuration):
        return configuration["m"] < 0.5

    space = ParameterSpace(parameters, [low])
    assert not space.violations({"k": "a", "m": 0.2})
    message = (
        r"constraint .*low raised KeyError: 'm', for \{'k': 'b'\}\. .* inactive parameters are"
    )
    for call in (
        lambda: space.violations({"k": "b"}),
        lambda: space.domain.allowed([[1.0, 0.0]]),
        lambda: Study(space, direction="minimize", seed=0).ask(),
    ):
        with pytest.raises(InvalidInputError, match=message) as caught:
            call()
        assert "shape" not in str(caught.value)


def test_linear_constraints_of_scipy():
    U = points()
    # The real and integer parameters in order: a, b, n, phase shift.
    A = np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1.0, -3.0]])
    given = LinearConstraint(A, [-np.inf, 1.0], [6.0, 5.0])
    space = ParameterSpace(PARAMETERS, [given])
    X = np.array([[c[k] for k in ("a", "b", "n", "phase shift")] for c in space.decode(U)]) @ A.T
    expected = (X[:, 0] <= 6) & (X[:, 1] >= 1) & (X[:, 1] <= 5)
    assert 0 < expected.sum() < len(U)
    np.testing.assert_array_equal(space.domain.allowed(U), expected)
    twin = ParameterSpace.from_dict(space.to_dict())
    assert twin == space
    np.testing.assert_array_equal(twin.domain.allowed(U), expected)
    with pytest.raises(InvalidInputError, match=r"\['a', 'b', 'n', 'phase shift'\]"):
        ParameterSpace(PARAMETERS, [LinearConstraint([[1, 2]], 0, 1)])
    with pytest.raises(InvalidInputError, match="equality"):
        ParameterSpace(PARAMETERS, [LinearConstraint([[1, 0, 0, 0]], 1, 1)])


def test_a_constraint_holds_where_its_parameter_is_inactive():
    parameters = [
        Categorical("k", ["x", "y"]),
        Integer("n", 1, 9, when="k == 'y'"),
        Integer("m", 1, 9),
    ]
    space = ParameterSpace(
        parameters, ["n <= 3", LinearConstraint([[1, 0], [0, 1]], -np.inf, [4, 8])]
    )

    def check(**configuration):
        return bool(space.domain.allowed(space.encode(configuration))[0])

    assert check(k="x", m=2)
    assert not check(k="x", m=9)
    assert check(k="y", n=3, m=8)
    assert not check(k="y", n=4, m=8)


def test_conditions_see_inactive_parents_as_unknown():
    space = ParameterSpace(
        [
            Categorical("k", ["x", "y"]),
            Integer("n", 1, 4, when="k == 'y'"),
            Real("u", 0, 1, when="n != 1"),
            Real("v", 0, 1, when="not n == 1"),
            Real("w", 0, 1, when="n > 3 or k == 'x'"),
            Real("t", 0, 1, when="not (n == 1 or k == 'y')"),
        ]
    )
    names = [
        set(space.decode(space.encode(c))[0]) for c in ({"k": "x", "w": 0.1}, {"k": "y", "n": 1})
    ]
    assert names == [{"k", "w"}, {"k", "n"}]


# Text, names and rule of each comparison.
COMPARISONS = [
    ("n == 1", "n", lambda n, m, k: n == 1),
    ("n < 3", "n", lambda n, m, k: n < 3),
    ("m > 0.5", "m", lambda n, m, k: m > 0.5),
    ("m * n <= 1", "mn", lambda n, m, k: m * n <= 1),
    ("k != 'x'", "k", lambda n, m, k: k != "x"),
    ("k in ['y', 'z']", "k", lambda n, m, k: k in ("y", "z")),
]
TREES = st.recursive(
    st.sampled_from(COMPARISONS),
    lambda part: (
        st.tuples(st.just("not"), part) | st.tuples(st.sampled_from(["and", "or"]), part, part)
    ),
    max_leaves=8,
)
ROWS = [
    dict(zip("nmk", row, strict=True))
    for row in product([1, 2, 3, None], [0.2, 0.7, None], ["x", "y", None])
]


def text_of(tree):
    if tree[0] == "not":
        return f"not ({text_of(tree[1])})"
    if tree[0] in ("and", "or"):
        return f"({text_of(tree[1])}) {tree[0]} ({text_of(tree[2])})"
    return tree[0]


def truth_of(tree, row):
    """True, False, or None for unknown, by Kleene's tables."""
    if tree[0] == "not":
        part = truth_of(tree[1], row)
        return None if part is None else not part
    if tree[0] in ("and", "or"):
        parts = {truth_of(tree[1], row), truth_of(tree[2], row)}
        decides = tree[0] == "or"
        return decides if decides in parts else None if None in parts else not decides
    _, names, rule = tree
    return None if any(row[name] is None for name in names) else rule(**row)


def holds(text):
    """Whether a condition holds in each of the rows, some of whose parameters are inactive."""
    parameters = [Integer("n", 1, 3), Real("m", 0, 1, step=0.1), Categorical("k", ["x", "y", "z"])]
    columns = {name: np.array([row[name] for row in ROWS], dtype=float) for name in "nm"}
    columns["k"] = np.array([INACTIVE if r["k"] is None else r["k"] for r in ROWS], dtype=object)
    margin = parse(text, {p.name: p for p in parameters}).margin(columns)
    return (margin <= 0.0).tolist()


@settings(max_examples=40, deadline=None)
@given(TREES, TREES)
def test_conditions_follow_kleene_and_de_morgan(a, b):
    for tree in (a, ("not", a)):
        assert holds(text_of(tree)) == [truth_of(tree, row) is True for row in ROWS]
    for one, other in (("and", "or"), ("or", "and")):
        within = (other, ("not", a), ("not", b))
        assert holds(text_of(("not", (one, a, b)))) == holds(text_of(within))


@pytest.mark.parametrize(
    ("chain", "parts"),
    [
        ("1 < n < 5 * m", "1 < n and n < 5 * m"),
        ("n in [1, 10 * m]", "n == 1 or n == 10 * m"),
        ("n not in [1, 10 * m]", "n != 1 and n != 10 * m"),
    ],
)
def test_chains_and_lists_are_joined_as_their_parts_are(chain, parts):
    assert holds(chain) == holds(parts)
    assert holds(f"not {chain}") == holds(f"not ({parts})")


def test_conditions_in_a_circle_are_refused():
    with pytest.raises(InvalidInputError, match="circle"):
        ParameterSpace([Integer("n", 1, 4, when="m > 1"), Integer("m", 1, 4, when="n > 1")])
    with pytest.raises(UnknownNameError, match="Did you mean 'number'"):
        ParameterSpace([Integer("number", 1, 4), Integer("m", 1, 4, when="numbr > 1")])


def test_callables_are_given_again_or_refused():
    def cheap(configuration):
        return configuration["n"] < 5

    space = ParameterSpace(PARAMETERS, ["a <= b", cheap])
    with pytest.raises(InvalidInputError, match=r"cheap.*Give them again"):
        ParameterSpace.from_dict(space.to_dict())
    assert ParameterSpace.from_dict(space.to_dict(), [cheap]) == space


@pytest.mark.parametrize("wrong", [3, None, {"a": 1}, ["a <= 3"]])
def test_other_constraints_are_refused(wrong):
    with pytest.raises(InvalidInputError, match="A constraint must be a text"):
        ParameterSpace(PARAMETERS, [wrong])


HUGE = [
    Integer("k", 2**60, 2**60 + 10),
    Ordinal("k", [2**60, 2**60 + 1]),
    Categorical("k", [2**53 + 1, 2]),
]


@pytest.mark.parametrize("parameter", HUGE)
def test_integers_that_float64_rounds_are_in_no_condition_but_a_function(parameter):
    parameters = [parameter, Real("x", 0, 1)]
    with pytest.raises(InvalidInputError, match=r"beyond 2\*\*53 as 'k' may take"):
        ParameterSpace(parameters, ["k + x <= 1152921504606846979"])
    with pytest.raises(InvalidInputError, match=r"beyond 2\*\*53"):
        ParameterSpace([parameter, Real("x", 0, 1, when="k == 1152921504606846977")])
    space = ParameterSpace(parameters, ["x <= 0.5", lambda p: p["k"] <= 2**60])
    found = space.decode(np.random.default_rng(0).uniform(-1, 1, (50, space.dim)))
    kept = [p for p in found if not space.violations(p)]
    assert kept
    assert all(p["k"] <= 2**60 for p in kept)


def test_a_matrix_takes_no_integers_that_float64_rounds():
    parameters = [HUGE[0], Real("x", 0, 1)]
    with pytest.raises(InvalidInputError, match=r"2\*\*53; 'k' may"):
        ParameterSpace(parameters, [LinearConstraint([[1, 1]], ub=2**60)])
    ParameterSpace(parameters, [LinearConstraint([[0, 1]], ub=0.5)])


def test_large_integers_in_steps_that_float64_holds_are_taken():
    space = ParameterSpace([Integer("k", 0, 2**55, step=2**15)], [f"k <= {2**54 + 2**15}"])
    assert not space.violations({"k": 2**54 + 2**15})
    assert space.violations({"k": 2**54 + 2**16})


LARGE = [Integer("a", 2**52, 2**52 + 9), Integer("b", 2**52, 2**52 + 9), Real("x", 0, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "a + b <= 9007199254740992",
        "2 * a - b >= 0",
        "3 <= -(a - 1) + 2 * b",
        "a + f == b + k",
        "-(a + b) >= -1e17",
        "abs(a + b) in [1]",
    ],
)
def test_sums_that_float64_rounds_are_in_no_condition_but_a_function(text):
    """Of a + b <= 2**53, for one, a + b = 2**53 + 1 was allowed."""
    parameters = [*LARGE, Fixed("f", 2**52 + 1), Ordinal("k", [1, 2])]
    with pytest.raises(InvalidInputError, match=r"2\*\*53; a sum in it may reach"):
        ParameterSpace(parameters, [text])


@pytest.mark.parametrize(
    "text",
    [
        *("a <= b", "a + 1 <= b + 1", "a + x <= 2e16", "a * b <= 3e31", "a / 2 + b / 2 <= 1e16"),
        *("6.02e23 * a <= 1e40", "x <= 3 * 10000000000000001"),
    ],
)
def test_sums_that_float64_holds_or_that_are_not_whole_are_taken(text):
    assert not ParameterSpace(LARGE, [text]).violations({"a": 2**52, "b": 2**52 + 1, "x": 0.5})


def test_a_matrix_sums_no_integers_beyond_what_float64_holds():
    for row in ([1, 1, 0], [0, -3, 0]):
        with pytest.raises(InvalidInputError, match=r"2\*\*53; the sum of row 1 may reach"):
            ParameterSpace(LARGE, [LinearConstraint([[1, 0, 0], row], ub=2**53)])
    for row in ([1, 1, 1], [0.5, 0.5, 0], [0, 0, 0], [0, 2**9, 0]):
        ParameterSpace(LARGE, [LinearConstraint([row], ub=2**62)])
    steps = [Integer(name, 0, 2**60, step=2**20) for name in "ab"]
    ParameterSpace(steps, ["a + 3 * b <= 0", LinearConstraint([[1, 3]], ub=0)])


TENTHS = [Real(name, 0, 1, step=0.1) for name in "abc"]
DECIMALS = [Ordinal(name, [k / 10 for k in range(11)]) for name in "abc"]
WHOLES = [Integer(name, 0, 10) for name in "abc"]
ROWS_OF_TENTHS = list(product(range(11), repeat=3))


def held(constraint, parameters, scale):
    """Whether a constraint holds at all points; of single ones `check` must say the same."""
    space = ParameterSpace(parameters, [constraint])
    rows = [{n: k / scale for n, k in zip("abc", row, strict=True)} for row in ROWS_OF_TENTHS]
    found = space.domain.allowed(space.encode_checked(rows)).tolist()
    for row, holds in list(zip(rows, found, strict=True))[::29]:
        assert (not space.violations(row)) == holds
    return found


# Text of tenths, and what it means of a tenth of whole numbers.
OF_TENTHS = [
    ("a + b <= 0.3", lambda a, b, c: a + b <= 3),
    ("a + b < 0.3", lambda a, b, c: a + b < 3),
    ("0.3 >= a + b", lambda a, b, c: a + b <= 3),
    ("0.3 > a + b", lambda a, b, c: a + b < 3),
    ("not a + b > 0.3", lambda a, b, c: a + b <= 3),
    ("a + b == 0.3", lambda a, b, c: a + b == 3),
    ("a + b != 0.3", lambda a, b, c: a + b != 3),
    ("a + b in [0.3, 0.7]", lambda a, b, c: a + b in (3, 7)),
    ("a + b not in [0.3, 0.7]", lambda a, b, c: a + b not in (3, 7)),
    ("a + b + c == 1", lambda a, b, c: a + b + c == 10),
    ("a - b == c", lambda a, b, c: a - b == c),
    ("0.1 <= a + b - c < 0.7", lambda a, b, c: 1 <= a + b - c < 7),
    ("0.1*a + 0.2*b <= 0.07", lambda a, b, c: a + 2 * b <= 7),
    ("a * b <= c", lambda a, b, c: a * b <= 10 * c),
    ("a / 3 == b", lambda a, b, c: a == 3 * b),
    ("a ** 2 + b ** 2 == c ** 2", lambda a, b, c: a * a + b * b == c * c),
    ("sqrt(a ** 2 + b ** 2) <= c", lambda a, b, c: a * a + b * b <= c * c),
    ("sqrt(a + b - 0.3) >= 0", lambda a, b, c: a + b >= 3),
    ("sqrt(a + b - 0.3) + c <= 0.3", lambda a, b, c:
     c <= 3 <= a + b and 10 * (a + b - 3) <= (3 - c) ** 2),
    ("1 / (a + b - 0.3) <= 5", lambda a, b, c: a + b < 3 or a + b >= 5),
    ("abs(a + b - 0.3) <= 0.2", lambda a, b, c: abs(a + b - 3) <= 2),
    ("exp(log(0.1 + a)) <= 0.4", lambda a, b, c: a <= 3),
    ("a < 0.3", lambda a, b, c: a < 3),
    ("a < b", lambda a, b, c: a < b),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule"), OF_TENTHS)
def test_rounding_neither_bars_nor_admits_what_lies_on_the_edge(text, rule):
    """Of a + b <= 0.3, for one, 0.1 and 0.2 broke it by 5.55e-17."""
    expected = [rule(*row) for row in ROWS_OF_TENTHS]
    for parameters in (TENTHS, DECIMALS):
        assert held(text, parameters, 10) == expected


def test_rounding_of_constants_is_no_difference_either():
    expected = [a + 2 * b <= 7 for a, b, c in ROWS_OF_TENTHS]
    assert held("0.1*a + 0.2*b <= 0.7", WHOLES, 1) == expected
    assert held(LinearConstraint([[0.1, 0.2, 0]], ub=0.7), WHOLES, 1) == expected


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (LinearConstraint([[1, 1, 0]], ub=0.3), lambda a, b, c: a + b <= 3),
        (LinearConstraint([[-1, -1, 0]], lb=-0.3), lambda a, b, c: a + b <= 3),
        (LinearConstraint([[1, 1, 1]], 1, 1), lambda a, b, c: a + b + c == 10),
        (LinearConstraint([[0.1, 0.7, 0]], 0.07, 0.21), lambda a, b, c: 7 <= a + 7 * b <= 21),
    ],
)
def test_rounding_of_a_matrix_is_no_difference(given, rule):
    assert held(given, TENTHS, 10) == [rule(*row) for row in ROWS_OF_TENTHS]


def test_conditions_on_sums_hold_where_the_sums_are_equal():
    space = ParameterSpace([*TENTHS[:2], Real("u", 0, 1, when="a + b == 0.3")])
    found = space.decode(space.snap(np.random.default_rng(0).uniform(-1, 1, (500, 3))))
    assert sum("u" in c for c in found) > 5
    assert all(("u" in c) == (round(10 * (c["a"] + c["b"])) == 3) for c in found)
    assert space.check({"a": 0.1, "b": 0.2, "u": 0.5})["u"] == 0.5


def test_every_mixture_of_steps_can_be_asked():
    space = ParameterSpace(TENTHS, ["a + b + c == 1"])
    U = space.encode([{n: k / 10 for n, k in zip("abc", r, strict=True)} for r in ROWS_OF_TENTHS])
    assert space.domain.allowed(U).sum() == 66


def test_whole_numbers_are_compared_exactly():
    for low in (0, 2**52 - 9):
        parameters = [Integer(name, low, low + 9) for name in "ab"]
        for text, rule in (
            ("a < b", lambda a, b: a < b),
            ("a <= b", lambda a, b: a <= b),
            ("a == b", lambda a, b: a == b),
            ("a != b", lambda a, b: a != b),
            ("a - b > 1", lambda a, b: a - b > 1),
        ):
            space = ParameterSpace(parameters, [text])
            rows = [{"a": low + i, "b": low + j} for i in range(10) for j in range(10)]
            found = space.domain.allowed(space.encode(rows)).tolist()
            assert found == [rule(**row) for row in rows]
    # Products are compared exactly as far as float64 holds them.
    factors = [Integer(name, 2**26 - 9, 2**26) for name in "ab"]
    space = ParameterSpace(factors, [f"a * b <= {2**52 - 2**27}"])
    rows = [{"a": 2**26 - i, "b": 2**26 - j} for i in range(10) for j in range(10)]
    found = space.domain.allowed(space.encode(rows)).tolist()
    assert found == [row["a"] * row["b"] <= 2**52 - 2**27 for row in rows]
    steps = [Integer(name, 0, 2**60, step=2**20) for name in "ab"]
    space = ParameterSpace(steps, [f"a + 3 * b <= {2**62 - 2**20}"])
    assert space.violations({"a": 2**60, "b": 2**60})
    assert not space.violations({"a": 2**60 - 2**20, "b": 2**60})


def test_a_number_beyond_float64_beside_whole_ones_is_refused():
    with pytest.raises(InvalidInputError, match="which rounds 9007199254740993: compare"):
        ParameterSpace([Integer("n", 2**53 - 5, 2**53)], ["n < 9007199254740993"])
    ParameterSpace([Integer("n", 2**53 - 5, 2**53)], [f"n < {10**200}"])


def test_sums_of_many_steps_are_as_exact():
    n = 300
    parameters = [Real(f"x{i}", 0, 1, step=0.1) for i in range(n)]
    text = " + ".join(p.name for p in parameters) + f" == {n / 10}"
    U = np.tile(parameters[0].encode([0.1]), (3, n))
    U[1:, 0] = parameters[0].encode([0.2])[0, 0]
    U[2, 1] = -1.0
    for constraint in (text, LinearConstraint(np.ones((1, n)), n / 10, n / 10)):
        assert allowed(constraint, U, parameters).tolist() == [True, False, True]
    sizes = [Real(f"x{i}", 0, 10.0**i, step=10.0**i / 10) for i in range(6)]
    space = ParameterSpace(sizes, ["x0 + x1 + x2 + x3 + x4 + x5 <= 11111.1"])
    configuration = {f"x{i}": 10.0**i / 10 for i in range(6)}
    assert not space.violations(configuration)
    assert space.violations({**configuration, "x0": 0.2})


def test_neighbouring_values_far_from_zero_are_told_apart():
    for parameter in (Real("x", 1e9, 1e9 + 1), Real("x", 1e9, 1e9 + 1, step=1e-6)):
        below, at = parameter.check(1e9 + 0.49999), parameter.check(1e9 + 0.5)
        for text, expected in (("x < 1000000000.5", [1, 0]), ("x >= 1000000000.5", [0, 1])):
            U = parameter.encode([below, at])
            assert allowed(text, U, [parameter]).tolist() == expected


def test_differences_beside_large_numbers_that_do_not_enter_them_count():
    for text in (
        "log(1e300 * a) <= 690.0824",
        "a / 1e10 <= 5e-11",
        "1e10 * a <= 5e9",
        "exp(700 * a) <= 1e152",
    ):
        space = ParameterSpace([Real("a", 0, 1)], [text])
        assert space.violations({"a": 0.51})
        assert not space.violations({"a": 0.48})
    assert ParameterSpace([Integer("n", 0, 1), Real("x", 0, 1)], ["1 / n <= x"]).violations(
        {"n": 0, "x": 1}
    )

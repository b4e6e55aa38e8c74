"""Hypothesis strategies of parameters and spaces."""

import math

from hypothesis import strategies as st

from boring.parameters import Categorical, Fixed, Integer, Ordinal, ParameterSpace, Real

json_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(-2, 2).map(lambda x: x + 0.0),
    st.text(max_size=3),
)
json_values = st.one_of(
    json_scalars,
    st.lists(json_scalars, max_size=2),
    st.dictionaries(st.text(max_size=2), json_scalars, max_size=2),
)


def key(value):
    """What counts as the same choice: numbers by value, all else by type and value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(float(value))
    return repr(value)


choices = st.lists(json_values, min_size=2, max_size=6, unique_by=key)


@st.composite
def reals(draw, name="real"):
    if draw(st.booleans()):
        low = 10.0 ** draw(st.floats(-307, 300))
        high = 10.0 ** min(math.log10(low) + draw(st.floats(0.001, 600)), 308)
        if not high > low * 1.001:
            low = high / 10
        return Real(name, low, high, log=True)
    middle = draw(st.floats(-1e12, 1e12))
    width = max(10.0 ** draw(st.floats(-300, 300)), abs(middle) * 1e-6)
    low, high = middle - width, middle + width
    if draw(st.booleans()):
        return Real(name, low, high, step=(high - low) / draw(st.integers(1, 1000)))
    return Real(name, low, high)


@st.composite
def integers(draw, name="integer"):
    if draw(st.booleans()):
        low = draw(st.integers(1, 10**6))
        return Integer(name, low, low + draw(st.integers(1, 10**9)), log=True)
    low = draw(st.integers(-(10**18), 10**18))
    high = low + draw(st.integers(1, 10**6) | st.integers(1, 2**44))
    return Integer(name, low, high, step=draw(st.integers(1, min(7, high - low))))


def parameters(name):
    return st.one_of(
        reals(name),
        integers(name),
        choices.map(lambda values: Ordinal(name, values)),
        choices.map(lambda values: Categorical(name, values)),
    )


@st.composite
def spaces(draw):
    count = draw(st.integers(1, 5))
    found = [draw(parameters(f"p {i}")) for i in range(count)]
    found.append(Fixed("fixed", draw(json_values)))
    if draw(st.booleans()):
        found.append(Categorical("kind", ["a", "b", None]))
        found.append(Real("child", 0, 1, when="kind == 'a'"))
        found.append(Integer("grandchild", 0, 9, when="kind in ['a', None] and child < 0.5"))
    return ParameterSpace(draw(st.permutations(found)))


def is_same(a, b):
    """Equal with equal types, signed zeros apart."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b and not math.isnan(a)
    return type(a) is type(b) and a == b

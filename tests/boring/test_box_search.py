"""What a search of the box takes for a point that is known."""

from types import SimpleNamespace

import numpy as np

from boring.box_search import is_taken
from boring.space import Box


def test_a_point_is_taken_if_another_comes_back_from_raw_units_as_it_does():
    near, far = Box([0.0], [1.0]), Box([1e9], [1e9 + 1.0])
    for box, taken in ((near, False), (far, True)):
        told = SimpleNamespace(X=box.returned([[0.5]]))
        context = SimpleNamespace(data=told, pending=np.empty((0, 1)), space=box)
        assert is_taken(np.array([0.5]), context)
        assert is_taken(np.array([0.5 + 5e-9]), context) is taken

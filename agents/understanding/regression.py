"""Multinomial logistic regression in numpy, fitted by limited-memory BFGS.

A few hundred short vectors and some dozen classes need no library for machine learning. The fit
starts from zero and uses no random numbers, so the same examples give the same weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Objective = Callable[[Array], tuple[float, Array]]

_MEMORY = 10
_ARMIJO = 1e-4
_ROWS = 16


def times(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return `left @ right`, worked out in blocks of rows.

    Blocks this small stay on one thread of the linear algebra library. Its threads would wait
    for one another, on a busy machine far longer than the product takes.
    """
    return np.concatenate([left[i : i + _ROWS] @ right for i in range(0, len(left), _ROWS)])


def _times_turned(left: Array, right: Array) -> Array:
    """Return `left.T @ right` in the same way."""
    total = np.zeros((left.shape[1], right.shape[1]))
    for i in range(0, len(left), _ROWS):
        total += left[i : i + _ROWS].T @ right[i : i + _ROWS]
    return total


def _dot(left: Array, right: Array) -> float:
    return float((left * right).sum())


def softmax(scores: NDArray[Any]) -> Array:
    """Return the rows as probabilities."""
    shifted = np.asarray(scores, np.float64)
    shifted = shifted - shifted.max(axis=-1, keepdims=True)
    weights = np.exp(shifted)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def fit(
    vectors: NDArray[Any], labels: NDArray[np.int64], classes: int, *, strength: float
) -> tuple[Array, Array]:
    """Return weights (classes × dims) and biases of the regularised maximum likelihood.

    `strength` is the inverse of the penalty on the weights, the biases go unpunished.
    """
    data = np.asarray(vectors, np.float64)
    rows, dims = data.shape
    target = np.zeros((rows, classes))
    target[np.arange(rows), labels] = 1.0

    def objective(flat: Array) -> tuple[float, Array]:
        weights, bias = _unpack(flat, classes, dims)
        chance = softmax(times(data, weights.T) + bias)
        picked = np.clip(chance[np.arange(rows), labels], 1e-300, None)
        loss = -float(np.log(picked).sum()) * strength + 0.5 * float((weights**2).sum())
        error = (chance - target) * strength
        gradient = np.concatenate(
            [(_times_turned(error, data) + weights).ravel(), error.sum(axis=0)]
        )
        return loss, gradient

    return _unpack(minimise(objective, np.zeros(classes * dims + classes)), classes, dims)


def _unpack(flat: Array, classes: int, dims: int) -> tuple[Array, Array]:
    return flat[: classes * dims].reshape(classes, dims), flat[classes * dims :]


def minimise(
    objective: Objective, start: Array, *, iterations: int = 300, tolerance: float = 1e-4
) -> Array:
    """Return where a smooth convex function is least, by limited-memory BFGS with backtracking."""
    point = start
    value, gradient = objective(point)
    steps: list[Array] = []
    turns: list[Array] = []
    for _ in range(iterations):
        if float(np.abs(gradient).max()) < tolerance:
            break
        direction = -_two_loops(gradient, steps, turns)
        moved, new_value, new_gradient = _line_search(objective, point, value, gradient, direction)
        step, turn = moved - point, new_gradient - gradient
        point, value, gradient = moved, new_value, new_gradient
        if _dot(step, turn) <= 1e-12:
            break
        steps.append(step)
        turns.append(turn)
        del steps[:-_MEMORY], turns[:-_MEMORY]
    return point


def _two_loops(gradient: Array, steps: list[Array], turns: list[Array]) -> Array:
    """Multiply the gradient by the inverse curvature that the last steps suggest."""
    result = gradient.copy()
    shares: list[float] = []
    for step, turn in zip(reversed(steps), reversed(turns), strict=True):
        share = _dot(step, result) / _dot(step, turn)
        shares.append(share)
        result -= share * turn
    if steps:
        result *= _dot(steps[-1], turns[-1]) / _dot(turns[-1], turns[-1])
    else:
        result /= max(1.0, _dot(gradient, gradient) ** 0.5)
    for step, turn, share in zip(steps, turns, reversed(shares), strict=True):
        result += step * (share - _dot(turn, result) / _dot(step, turn))
    return result


def _line_search(
    objective: Objective, point: Array, value: float, gradient: Array, direction: Array
) -> tuple[Array, float, Array]:
    slope = _dot(gradient, direction)
    length = 1.0
    for _ in range(40):
        moved = point + length * direction
        new_value, new_gradient = objective(moved)
        if new_value <= value + _ARMIJO * length * slope:
            return moved, new_value, new_gradient
        length *= 0.5
    return point, value, gradient

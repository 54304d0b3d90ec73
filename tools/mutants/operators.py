"""The mistakes that are tried: a choice of Cosmic Ray's, and four kinds of our own that it lacks.

An operator finds places in a parso tree and changes one of them. What no number depends on is left alone: annotations
and the wording of errors.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

# Of the comparisons the neighbour (a boundary moves) and the opposite, of the arithmetic what looks most alike.
CHOSEN = [
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, b in [("Lt", "LtE"), ("LtE", "Lt"), ("Gt", "GtE"), ("GtE", "Gt")]),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, b in [("Lt", "GtE"), ("GtE", "Lt"), ("Gt", "LtE"), ("LtE", "Gt")]),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, b in [("Eq", "NotEq"), ("NotEq", "Eq"), ("Is", "IsNot"), ("IsNot", "Is")]),
    *(f"ReplaceBinaryOperator_{a}_{b}" for a, b in [("Add", "Sub"), ("Sub", "Add"), ("Mul", "Div"), ("Div", "Mul")]),
    *(f"ReplaceBinaryOperator_{a}_{b}" for a, b in [("FloorDiv", "Div"), ("Mod", "FloorDiv"), ("Pow", "Mul"), ("BitAnd", "BitOr")]),
    "ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not", "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue",
    "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer",
    "ZeroIterationForLoop",
]  # fmt: skip

PAIRS = [
    ("min", "max"), ("any", "all"), ("median", "fmean"), ("argmax", "argmin"), ("amax", "amin"),
    ("p", "q"), ("p_x", "q_x"), ("low", "high"), ("draft", "verify"), ("first", "last"), ("before", "after"),
    ("accepted", "tested"), ("accepted", "drafted"), ("gamma", "depth"), ("ids", "timed"), ("texts", "clocked"),
    ("plain", "run"), ("rounds", "tokens"), ("reading", "computing"), ("at", "begun"), ("begun", "done"), ("running", "last"),
]  # fmt: skip
EVERYWHERE = {
    "min",
    "max",
    "any",
    "all",
    "median",
    "fmean",
    "argmax",
    "argmin",
    "amax",
    "amin",
}  # the others: where both are in use

FREE = (
    "isinstance",
    "getattr",
    "min",
    "max",
    "zip",
    "suppress",
    "common_start",
    "matching",
    "same",
    "acceptance",
    "overlap",
)  # whose arguments' order says nothing, or cannot be another


class OtherName(Operator):
    """One name of a pair in the other's place."""

    def mutation_positions(self, node):
        for _ in self._others(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = self._others(node)[index]
        return node

    def _others(self, node) -> list[str]:
        if node.type != "name" or node.is_definition(include_setitem=True) or _is_keyword(node):
            return []
        if node.parent.type == "trailer" and node.get_previous_leaf().get_previous_leaf().value == "len":
            return []  # of p and q, which have one length
        if node.get_next_leaf().value == "." and node.get_next_leaf().get_next_leaf().value in (
            "device",
            "dtype",
            "shape",
        ):
            return []
        others = [b if node.value == a else a for a, b in PAIRS if node.value in (a, b)]
        within = parso.tree.search_ancestor(node, "funcdef", "lambdef")
        near = {n.value for n in ast_nodes(within) if n.type == "name"} if within and others else set()
        return [o for o in others if o in EVERYWHERE or o in near]

    @classmethod
    def examples(cls):
        return ()


class SwappedArguments(Operator):
    """The first two arguments of a call, in the other order."""

    def mutation_positions(self, node):
        if node.type == "arglist" and node.parent.type == "trailer" and len(node.children) > 2:
            first, second = node.children[0], node.children[2]
            plain = (
                all(n.type != "argument" for n in (first, second))
                and first.get_code().strip() != second.get_code().strip()
            )
            if plain and node.get_first_leaf().get_previous_leaf().get_previous_leaf().value not in FREE:
                yield first.start_pos, second.end_pos

    def mutate(self, node, index):
        node.children[0], node.children[2] = node.children[2], node.children[0]
        return node

    @classmethod
    def examples(cls):
        return ()


class NoStatement(Operator):
    """A call for its effect, or a `+=`, that is not there."""

    def mutation_positions(self, node):
        if node.type == "simple_stmt":
            what = node.children[0]
            is_call = what.type == "atom_expr" and what.children[-1].get_first_leaf().value == "("
            if what.get_first_leaf().value == "say":  # wording
                return
            if is_call or (what.type == "expr_stmt" and re.fullmatch(r"\s*\S+=", what.children[1].get_code())):
                yield what.start_pos, what.end_pos

    def mutate(self, node, index):
        leaf = node.children[0].get_first_leaf()
        node.children[0] = parso.python.tree.Keyword("pass", leaf.start_pos, leaf.prefix)
        return node

    @classmethod
    def examples(cls):
        return ()


class Membership(Operator):
    """`in` where `not in` stood, and the other way round."""

    def mutation_positions(self, node):
        if node.type == "comparison" and node.children[1].get_code().split() in (["in"], ["not", "in"]):
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.children[1] = parso.parse(" not in" if node.children[1].get_code().strip() == "in" else " in")
        return node

    @classmethod
    def examples(cls):
        return ()


def _is_keyword(name) -> bool:
    """The name of an argument: f(name=…)."""
    return name.parent.type == "argument" and name.parent.children[0] is name


# What exercises and quizzes ask about. Another number is another case, as good as this one; that the cases tell right
# from wrong, and one mistake from another, is asked by the tests of each.
CASES = {
    "cases", "CASES", "PAIRS", "ROUNDS", "TREES", "CLAIMS", "SHEETS", "MEASURED", "ENGINES",
    "PLACES", "THREE_PLACES", "LAPTOP", "CARD", "SHAPES", "PROMPT", "kinds", "EDGES", "FREE", "ACCEPTED",
}  # fmt: skip


def _is_of_a_case(child, parent) -> bool:
    """Whether this is what such a name stands for: NAME = child, or f(name=child)."""
    if parent.type not in ("expr_stmt", "argument") or child is not parent.children[-1]:
        return False
    return parent.children[0].type == "name" and parent.children[0].value in CASES


def _counts(node, position) -> bool:
    """Whether a number can depend on what stands there."""
    leaf = node.get_first_leaf()
    while leaf.start_pos < position:
        leaf = leaf.get_next_leaf()
    child, parent = leaf, leaf.parent
    is_number = leaf.type == "number" or (leaf.value == "-" and leaf.get_next_leaf().type == "number")
    if leaf.value == "TYPE_CHECKING" or (leaf.value == "*" and leaf.get_next_leaf().value == ","):
        return False
    while parent is not None:
        if parent.type in ("raise_stmt", "decorator", "tfpdef", "import_from"):
            return False
        if parent.type == "annassign" and child in parent.children[:2]:
            return False
        if parent.type == "funcdef" and child is parent.annotation:
            return False
        if is_number and _is_of_a_case(child, parent):
            return False
        is_number = is_number and parent.type != "lambdef"
        child, parent = parent, parent.parent
    return True


class Mutant(NamedTuple):
    """line: its number. before, after: that line; source: the whole file with the change."""

    line: int
    before: str
    after: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of one place in a file, by line."""
    source = path.read_text(encoding="utf-8")
    operators = [get_operator(f"core/{name}")() for name in CHOSEN]
    operators += [OtherName(), SwappedArguments(), NoStatement(), Membership()]
    found, tree, lines = [], get_ast(source), source.splitlines()
    for operator in operators:
        places = ((n, start) for n in ast_nodes(tree) for start, _ in operator.mutation_positions(n))
        for number, (node, start) in enumerate(places):
            if not _counts(node, start):
                continue
            changed = mutate_code(source, operator, number)
            new = changed.splitlines()
            at = next((i for i, (a, b) in enumerate(zip(lines, new)) if a != b), None)
            if at is not None:
                found.append(Mutant(at + 1, lines[at].strip(), new[at].strip(), changed))
    return iter(sorted(dict.fromkeys(found), key=lambda m: (m.line, m.after)))

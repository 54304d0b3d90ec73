"""What a reader's own numbers say, as one or two sentences below a result.

A lesson cannot know what a machine will measure: times may rise, stay, fall or jump. So each sentence is chosen from
the numbers themselves.
"""

# ruff: noqa: F401  these are the names of sd.in_words
from specdec_lab.formats import joined
from specdec_lab.measure.prompts import TIED
from specdec_lab.show.in_words.acceptance import (
    formula,
    kinds,
    prices,
    same_texts,
    stretches,
    sureness,
    templates,
    two_ways,
    under_grammar,
)
from specdec_lab.show.in_words.costs import draft_rows, equal_bits, fewer_bits, formats, of_a_card, passes
from specdec_lab.show.in_words.gains import (
    best_gammas,
    drafters_on_a_card,
    fastest,
    gained,
    other_program,
    race,
    ranked,
    recorded,
    sampling,
)
from specdec_lab.show.in_words.load import crossovers, policies, predictions, served
from specdec_lab.show.in_words.training import blocks, climbed, designs, own_draft
from specdec_lab.show.in_words.trees import best_ways, chain_and_tree, suite_of_trees

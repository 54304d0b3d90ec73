"""Names that people type. Without imports, so that the help texts come without loading torch."""

EMBEDDED = "embedded"  # the target that comes with the course; as a draft, the course's own draft model
DTYPES = ("auto", "float32", "bfloat16", "float16", "int4")  # int4: the weights; all else is bfloat16 then
TRAINED = ("model", "medusa", "eagle", "early-exit")  # the drafters that `specdec-lab train` makes
TREES = ("lookup-tree", "medusa-tree", "eagle-tree", "hybrid-tree")  # the same, with several drafts for one place
# suffix: lookup by counts; hybrid: lookup, and EAGLE where it finds nothing
DRAFTERS = ("lookup", "suffix", "dial", *TRAINED, "hybrid", *TREES, "untrained")
# All that `specdec-lab bench` compares; a dial asks the target itself.
BENCHED = (*TRAINED, "lookup", "hybrid", *TREES, "untrained")
PEERS = "hf-", "llama-"  # what the names of arms begin with in which other programs decode

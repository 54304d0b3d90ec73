"""Names that people type. Without imports, so that the help texts come without loading torch."""

EMBEDDED = "embedded"  # the target that comes with the course; as a draft, the course's own draft model
DTYPES = ("auto", "float32", "bfloat16", "float16", "int4")  # int4: the weights; all else is bfloat16 then
TRAINED = ("model", "medusa", "eagle", "early-exit")  # the drafters that `specdec-lab train` makes
# Drafters without weights of their own, made in `drafters.FACTORIES`. Those called a tree draft several tokens for a place.
WITHOUT_WEIGHTS = ("lookup", "suffix", "hybrid", "lookup-tree", "medusa-tree", "eagle-tree", "hybrid-tree")
DRAFTERS = (*WITHOUT_WEIGHTS, "dial", *TRAINED, "untrained")
# What `specdec-lab bench` compares: a dial would ask the target itself, and suffix would learn from text to text.
BENCHED = (*TRAINED, *(name for name in WITHOUT_WEIGHTS if name != "suffix"), "untrained")
PEERS = "hf-", "llama-"  # what the names of arms begin with in which other programs decode

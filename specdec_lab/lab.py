"""One object for notebooks and commands: a loaded target, its tokenizer, and drafters by name."""

import copy
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from specdec_lab.choices import DRAFTERS, EMBEDDED, WITHOUT_WEIGHTS
from specdec_lab.drafters import FACTORIES, DialDrafter, Drafter, ModelDrafter, trained
from specdec_lab.engine import decode
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.processors import LogitBias, Mask, Processor
from specdec_lab.engine.rules import USUAL, Rule
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Round, Trace
from specdec_lab.engine.verify import Verdict
from specdec_lab.errors import LabError, Say
from specdec_lab.formats import first_line
from specdec_lab.models.hardware import describe
from specdec_lab.models.load import check_same_vocabulary, eos_of, load_model, pick_device
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.show.progress_line import OneLine

LETTERS_A_TOKEN = 30  # more characters for each token that the target can see are refused unread


@dataclass
class Lab:
    """A target ready to decode. Made by `load()`.

    Raises:
        LabError: from each method, in one sentence, for a prompt, a name or a setting that it cannot take.
    """

    target: ReferenceModel
    tokenizer: PreTrainedTokenizerBase
    eos: frozenset[int]  # ids that end a text
    draft: ReferenceModel | None = None
    weights: Path = trained.WEIGHTS  # folder of the trained drafters
    _trained: dict[str, Drafter] = field(default_factory=dict, repr=False)  # trained drafters, once loaded

    @property
    def hardware(self) -> str:
        """The device in words, to be shown beside every timing."""
        return describe(self.target.device)

    def encode(self, prompt: str | Sequence[dict], raw: bool = False) -> list[int]:
        """Text (one user message) or chat messages to token ids, through the chat template.

        Args:
            raw: the text as it is, without the template. A tokenizer without one is always raw.
        """
        text = isinstance(prompt, str)
        self.check_length(prompt if text else "".join(str(m.get("content")) for m in prompt))
        if text and not prompt.strip():
            raise LabError("The prompt is empty: write a few words for the model to continue.")
        template = self.tokenizer.chat_template
        if not text and template is None:
            raise LabError(f"{self.target.name} has no chat template, so it cannot take messages: give a text.")
        try:  # a template is a program of the model's makers, which may refuse or fail in any way
            if text and (raw or template is None):
                return self.tokenizer(prompt).input_ids
            messages = [{"role": "user", "content": prompt}] if text else list(prompt)
            ids = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        except Exception as e:
            raise LabError(f"The tokenizer of {self.target.name} does not take this prompt ({first_line(e)}).") from e
        if not ids:
            raise LabError(f"The chat template of {self.target.name} makes nothing of this prompt.")
        return list(ids)  # pyright: ignore[reportReturnType] - no text was asked for

    def check_length(self, text: str) -> None:
        """Refuse a text that is far too long without cutting it into tokens, which takes minutes for tens of megabytes."""
        if len(text) > LETTERS_A_TOKEN * self.target.context:
            raise LabError(
                f"The prompt has {len(text)} characters, and {self.target.name} can see {self.target.context} tokens: "
                "give a shorter one."
            )

    def text(self, ids: Sequence[int]) -> str:
        """Token ids to text, special tokens written out. A single token is written as it stands inside a text."""
        if any(i < 0 for i in ids):
            raise LabError(f"A token is a number from 0 on, and one of these is {min(ids)}.")
        if len(ids) == 1:
            return self._texts(ids)[0]
        return str(self.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))

    def _texts(self, ids: Iterable[int]) -> list[str]:
        """The text of each token, decoded behind another: sentencepiece takes the blank off that a text begins with."""
        first = self.tokenizer("a", add_special_tokens=False).input_ids[-1:]
        both = [first, *([*first, int(i)] for i in ids)]
        before, *texts = self.tokenizer.batch_decode(both, clean_up_tokenization_spaces=False)
        return [text[len(before) :] for text in texts]

    def only(self, pattern: str) -> Mask:
        """A mask that allows only tokens whose whole text matches a regular expression, and those that end a text."""
        try:
            wanted = re.compile(pattern, re.DOTALL)
        except re.error as e:
            raise LabError(f"“{pattern}” is no regular expression ({e}).") from e
        texts, special = self._texts(range(self.target.vocab_size)), set(self.tokenizer.all_special_ids)
        allowed = [i for i, text in enumerate(texts) if i not in special and text and wanted.fullmatch(text)]
        if not allowed:
            raise LabError(f"No token of {self.target.name} matches “{pattern}”: nothing could be written.")
        allowed = sorted({*allowed, *self.eos})
        return Mask(lambda text: allowed)

    def bias(self, word: str, number: float) -> LogitBias:
        """A bias for a word, at the beginning of a text and behind a space. number: what is added to its logit."""
        if not word:
            raise LabError("A bias needs a word, and this one is empty.")
        if not math.isfinite(number):
            raise LabError(f"The bias of “{word}” is {number}: it must be a finite number, such as -5.")
        ids = [self.tokenizer(text, add_special_tokens=False).input_ids for text in (word, " " + word)]
        single = {i[0]: number for i in ids if len(i) == 1}
        if not single:
            raise LabError(f"“{word}” is more than one token of {self.target.name}: a bias needs a word that is one.")
        return LogitBias(single)

    def drafter(self, name: str, alpha: float = 0.75) -> Drafter:
        """A drafter for one text, by its name in `choices.DRAFTERS`. `alpha` is what a dial is set to, 0 … 1."""
        if name == "model" and self.draft is not None:
            return ModelDrafter(self.draft)
        if name not in DRAFTERS:
            raise LabError(f"There is no drafter “{name}”: choose one of {', '.join(DRAFTERS)}.")
        if name == "dial":
            return DialDrafter(alpha)
        if name in WITHOUT_WEIGHTS:
            return FACTORIES[name](self.drafter)
        if name not in self._trained:
            self._trained[name] = trained.load_drafter(name, self.target, self.weights)
        return copy.copy(self._trained[name])  # shares the weights; its text is its own

    def stops(self, max_new_tokens: int, strings: Sequence[str] = ()) -> Stops:
        """The usual stops: end-of-text, a length, and any of some strings in the new text."""
        if isinstance(strings, str) or not all(strings):
            raise LabError(f"Stop strings are a list of texts, none of them empty, and these are {strings!r:.60}.")
        found = (lambda new: any(s in self.text(new) for s in strings)) if strings else None
        return Stops(max_new_tokens, self.eos, found)

    def settings(
        self,
        *,
        temperature: float = 0.0,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        processors: Sequence[Processor] = (),
        max_new_tokens: int = 64,
        stop_strings: Sequence[str] = (),
        seed: int = 0,
        request: int = 0,
    ) -> dict:
        """What both ways of decoding take, from plain values: a sampler, processors, stops and random numbers.

        Args:
            temperature, top_k, top_p, min_p: see `Sampler`. seed, request: see `Uniforms`.
            stop_strings: any of these ends the text.
        """
        sampler, stops = Sampler(temperature, top_k, top_p, min_p), self.stops(max_new_tokens, stop_strings)
        uniforms = Uniforms(seed, request)
        return {"sampler": sampler, "processors": tuple(processors), "stops": stops, "uniforms": uniforms}

    def ids_of(self, prompt: str | Sequence[int]) -> list[int]:
        """The token ids of a prompt: a text, or ids already."""
        if isinstance(prompt, str):
            return self.encode(prompt)
        try:
            return [index(token) for token in prompt]
        except TypeError as e:
            raise LabError(f"A prompt is a text or a list of token ids, and this one is {prompt!r:.60}.") from e

    def plain(self, prompt: str | Sequence[int], *, keep: Keep = Keep(), **settings) -> Trace:
        """Decode without speculation. `settings` are those of `Lab.settings`."""
        ids = self.ids_of(prompt)
        return collect(ids, decode.plain(self.target, ids, keep=keep, **self.settings(**settings)))

    def speculative(
        self,
        prompt: str | Sequence[int],
        drafter: str | Drafter = "lookup",
        *,
        gamma: int = 4,
        verify: Rule | Callable[..., Verdict] = USUAL,
        keep: Keep = Keep(top=5),
        draft_sampler: Sampler | None = None,
        **settings,
    ) -> Trace:
        """Decode with speculation. `settings` are those of `Lab.settings`; the rest as in `decode.speculative`."""
        ids = self.ids_of(prompt)
        drafter = self.drafter(drafter) if isinstance(drafter, str) else drafter
        if not isinstance(drafter, Drafter):
            raise LabError(f"A drafter is a name or a Drafter, and this one is {drafter!r:.60}.")
        how = {"gamma": gamma, "verify": verify, "keep": keep, "draft_sampler": draft_sampler}
        return collect(ids, decode.speculative(self.target, drafter, ids, **how, **self.settings(**settings)))

    def perplexity(self, trace: Trace) -> float:
        """The perplexity of a trace's new tokens: as if the target chose each among so many equally likely ones.

        exp of the mean −log p, with p at temperature 1 and without processors, whatever the trace was drawn with.
        """
        if not trace.tokens:
            raise LabError("This trace has no new token, so nothing has a perplexity: let it run for a round at least.")
        cached = self.target.cached()
        cached.prefill(trace.prompt[:-1])
        rows = cached.extend([[trace.prompt[-1], *trace.tokens[:-1]]]).logits[0]
        tokens = torch.tensor(trace.tokens, device=rows.device)[:, None]
        return math.exp(-float(rows.float().log_softmax(-1).gather(1, tokens).mean()))


def collect(prompt: list[int], rounds: Iterator[Round]) -> Trace:
    """A trace of the rounds. An interrupt ends it early instead of losing it (`trace.interrupted`)."""
    trace = Trace(prompt)
    try:
        trace.collect(rounds)
    except KeyboardInterrupt:
        trace.interrupted = True
    return trace


def load(
    target: str | Path = EMBEDDED,
    draft: str | Path | None = None,
    device: str | torch.device = "auto",
    say: Say = print,
    dtype: str | torch.dtype = "auto",
    weights: str | Path | None = None,
    backend: str = "auto",
) -> Lab:
    """Load a target, and a draft model if one is named.

    Args:
        target, draft: hub name or path. The default target is the embedded one, which is
            fetched on first use. As a draft, "embedded" is the course's own draft model: it speaks
            the vocabulary of all SmolLM2 models.
        device: auto, cpu, cuda or mps.
        dtype: auto, float32, bfloat16, float16 or int4; auto is float32 on a CPU and half precision on a GPU. With int4
            the target runs from the 4-bit numbers that its file stores, where it does, and all else is bfloat16.
        backend: auto, fast or reference (see `load_model`).
        weights: folder of trained drafters (`specdec-lab train` makes one); default: those of the course.
        say: told in a sentence about anything that takes long.

    Raises:
        LabError: for a model that is not there, is damaged, does not fit, or has another vocabulary; and for an unknown choice.
    """
    if isinstance(device, str) or device.index is None:
        device = pick_device(str(device))
    dtype = dtype if isinstance(dtype, str) else str(dtype).removeprefix("torch.")
    target, draft = str(target), None if draft is None else str(draft)
    with OneLine("Loading the target: some seconds …"):
        model, tokenizer = load_model(target, device, say, dtype, backend)
    folder = trained.WEIGHTS if weights is None else Path(weights)
    draft_model = None
    if draft is not None:
        course = draft == EMBEDDED  # the draft of the embedded pair, which borrows that target's embeddings
        other = "bfloat16" if dtype == "int4" else dtype
        draft_model, draft_tokenizer = load_model(draft, device, say, other, "reference" if course else backend)
        if course:
            draft_model = trained.draft_model(trained.load_net("model", draft_model, folder))
        check_same_vocabulary(tokenizer, draft_tokenizer)
    return Lab(model, tokenizer, eos_of(model, tokenizer), draft_model, folder)

"""How a sentence is put together: what some wrong answers are told, word for word, with numbers worked out by hand.

About one a part. Below, what answers earn that do a part of what is asked. The names are those of tests/answers.
"""

TOLD = {  # name of an answer → (its points, what is said)
    "1.bytes: something else": (0, "bytes_read(8e+09, 16, 1) is 1e+10 with your code, and it should be 1.6e+10."),
    "1.v: asks for too much": (2, "pass_seconds is right. In v: Your code asks for T(1000), which is no pass of a round with these drafts."),
    "2.round: marks shuffled": (2, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 7, 9, 2] your tokens are right, and your marks are ['rejected', 'accepted', 'rejected', 'discarded', 'corrected']. They should be ['accepted', 'accepted', 'rejected', 'discarded', 'corrected']."),
    "2.cache: something else": (1, "With the drafts [4, 8, 1, 9] and the choices [4, 8, 7, 9, 2] your “stay” is 2. It should be 3. Of what went through the pass, the text has its last token from before, and 2 of the drafts."),
    "2.rewind: something else": (2, "With the text [17, 23, 5, 4, 8, 7] and the caches [17, 23, 5, 4, 8, 1, 9] and [17, 23, 5, 4, 8, 1] your first result is [17]. It should be [17, 23, 5, 4, 8]."),
    "2.loop: the wrong choice": (0, "With the drafts [38, 63, 76, 96] (the first miss is at place 3) your loop writes [38, 63, 47]. It should be [38, 63, 75]."),
    "2.loop: rewinds one too far": (0, "Your rewind goes too far: the cache has 5 entries and the text 7 tokens. All of the text but its last token must be in the cache."),
    "3.rule: keeps one half": (0, "With p = [0.5, 0.3, 0.2] and q = [0.7, 0.1, 0.2] what comes out is [0.35, 0.55, 0.1], and not p. Check both steps: accept if u · q < p, and look w up in the residual after a rejection."),
    "4.claim: compares exactly": (1, "For α = 0.7 and the claimed number 2.8 your second result is None. (The first one, 2.53 for γ = 3, is right.) Compute E for γ = 0, 1, 2, … and see which one comes nearest to it."),
    "4.rate: the first text only": (0, "For texts whose rounds accept 4 4 3, 0 1 0 0 2 0 0 1 0 1 drafts your function gives 0.917. Count the accepted drafts, count those that were tested (accepted or rejected), and divide."),
    "4.overlap: a missing token raises": (1, "With p = {'a': 0.6, 'b': 0.4} and q = {'b': 0.3, 'c': 0.7} your function raised KeyError. A token that is missing in a dict has chance 0 there: q.get(token, 0)."),
    "5.best: always 1": (0, "For α = 0.8, d = [0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4], v = [1, 1, 1, 1, 1, 1, 1, 1, 1] and o = 0 your function gives γ = 1; S is 1.38, and the best S is 1.55. Compute S for every γ in the lists, with S = 1 for γ = 0, and compare."),
    "5.least: a coarse grid": (1.5, "For γ = 4 and a round that costs 2.2 your function gives 0.58. Near, but not near enough: it should be right to 0.0005. Halve the interval more often."),
    "5.pick: a difference": (0, "On a table where 'model' with γ = 3 reaches 1.76, your function takes ('model', 2), which reaches 1.7. Its texts are [(245, 100), (121, 50)], with d = 0.27, v = 1.1, o = 0.02. What is its speed-up by your code?"),
    "6.propose: the whole rest": (0, "For the text [1, 2, 3, 9, 8, 1, 2, 3] and γ = 2 the proposal should be [9, 8]; yours is [9, 8, 1, 2, 3]. Which run matches the end of the text, where does it stand, and what follows it?"),
    "7.policy: a limit far too high": (1, "Noon, full load: 47.6 ms a token, 95 % within 63.7 (never: 33.5 and 44.2; always: 137.7 and 279.0). Your policy still drafts where it loses: with 48 texts and γ = 4 a step writes 3.3 times as many tokens as one without drafts, and takes 4.8 times as long."),
    "7.gain: something else": (0, "For T(n) = max(1, n/40), 1 texts, γ = 3 and α = 0.8 the gain is 2.95; yours is 2. How many tokens does a step write, and what does it cost, with and without?"),
    "7.crossover: always 27": (0, "For T(n) = max(1, n/40), D(n) = 0.1, γ = 3, α = 0.8 and at most 26 texts the answer is None; yours is 27. For how many texts do the drafter's passes and the target's wide one cost more than E plain passes for the first time?"),
    "7.check: the same for all": (0, "For the chances ((0.9, 0.8, 0.7), (0.5, 0.2), (0.3,)) and T(n) = max(1, n/6) the answer is [3, 0, 0]; yours is [1, 1, 1]. Which draft is the likeliest that is left? With it, is tokens / T(rows) as large as before, or larger?"),
    "8.whole: something else": (0, "With 0.5 s to the first token, 0.02 s for each further one, 201 tokens and ratio 2 the answer is 1.8 times as fast; yours is 1. What is the whole time without drafts, and with?"),
    "8.survival: other tokens": (1, "The α's are right. For the cards [(200, [0.8, 0.6, 0.45])] tokens per pass are 2.85; yours are 2. How many drafts does a round keep on average, and what does the target add?"),
    "8.decide: always unclear": (1, "In a report like “editing” (eagle 1.40 from 1.25 to 1.55; lookup 1.61 from 1.22 to 1.90; lookup / eagle from 1.05 to 1.26; 30 prompts) the decision should be 'deploy'; yours is 'unclear'. Are there enough prompts, and where does the interval lie?"),
    "9.c2: ratios above 1": (0.5, "About the chances: A chance is at most 1, and one of yours is 3.67. What if p/q is larger than 1?"),
    "10.decide: the first": (0, "With 1 texts, T = {1: 20.0, 2: 20.2, 3: 20.6, 5: 21.8, 9: 24.0, 12: 27.0, 17: … and the shapes ['chain 2', 'chain 4', 'tree 8', 'tree 16'] your function takes 'chain 2'; 'tree 8' is faster. Times plain is E / (d + v), and v is T(texts · (drafts + 1)) / T(texts). Plain decoding is 1."),
    "10.offer: always the first": (0, "With p = [0.5, 0.3, 0.2], q = [0.2, 0.2, 0.6] and two drafts, what comes out is [0.2, 0.2, 0.6], and not p. Test the first with p. Test the second with what the first one left. If both are refused, draw from what the second one left of that."),
    "11.which: always exact": (0, "With p = [0.6, 0.2, 0.1, 0.1], q = [0.15, 0.5, 0.3, 0.05] and the counts [9336, 9913, 0, 751] your function says 'exact'; it was 'one of the best two'. You name the same rule each time."),
    "12.paid: something else": (0, "A step of 20 ms, 1.7 times plain before and 2.1 after, 10 minutes of training: your function gives 12; it should be 267750. A token takes step / S milliseconds. What a token saves, and how often that is the time of the training?"),
}  # fmt: skip


EARNED = {  # part → points, of an answer that does most of what is asked, or all but for one case
    "2.loop": {3: ["end left out", "with the prompt", "changes the prompt"], 0: ["ends one too early", "two passes"], 1: ["one draft"],
               2: ["all of it again", "more than n", "text behind the end", "goes on", "end among drafts", "end in the prompt", "end as the last token"]},
    "3.rule": {2: ["accepts p = 0", "keeps only matches"], 0: ["p and q swapped"]},
    "3.test": {1: ["one token in the residual"], 0: ["p equal to q", "no room for chance", "much room", "asserts"]},
    "4.overlap": {1: ["in the order of the dicts", "a missing token raises", "a missing token counts"]},
    "4.tokens": {1.5: ["α = 1 divides by 0", "α = 1 gives 1", "α = 0 gives 0", "α = 0 gives 0 for drafts", "something for no γ"], 1: ["sorted"]},
    "4.interval": {1: ["its own dice", "its own seed"], 0: ["too few texts"], 1.5: ["swapped"]},
    "5.best": {1.5: ["no room"], 1: ["the speed-up"]},
    "5.least": {1.5: ["nothing at the lower edge", "no number where none is enough", "rounded"]},
    "5.pick": {2: ["nothing where nothing pays"], 0: ["only the draft", "swapped"]},
    "6.improve": {2: ["always three"], 0: ["the plain version", "only when sure"]},
    "7.policy": {0: ["always four"], 1: ["a limit too low", "on and off"], 2: ["a low limit", "no gap"], 3: ["two drafts alone"]},
    "10.offer": {2: ["only the first", "not the third"]},
}  # fmt: skip

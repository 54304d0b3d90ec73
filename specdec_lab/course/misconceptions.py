"""The beliefs that the course looks for in wrong answers, by number; the numbers are kept in ledgers."""

MISCONCEPTIONS = {
    1: "a draft that agrees after a miss still counts",
    2: "after a rejection, the token is drawn from p",
    3: "α is the chance that two samples match",
    4: "the same favourite token means a high α",
    5: "α is accepted drafts divided by proposed drafts",
    6: "tokens per pass leaves out the corrected or bonus token",
    7: "tokens per pass is the speed-up",
    8: "a larger γ always helps",
    9: "the target skips the accepted tokens",
    10: "the bonus comes from the drafter",
    11: "a worse draft writes a worse text",
    12: "exact means the same sampled text",
    13: "batching lowers α",
    14: "fewer weights mean a faster draft",
    15: "speculation speeds up the first token",
}

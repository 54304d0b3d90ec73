// The site's search, on what build.py writes into specdecLab.places: of each page and section its name, the
// page that it is in, its address, the words that are often in it, and the others. minisearch.js stands in
// front of it.

specdecLab.search = (() => {
  const FIELDS = { name: 8, called: 8, inside: 2, often: 3, rest: 1 }; // and how much a word in them weighs
  const IDLE = new Set(
    [
      "a an and are be can do does for how i in is it me my of on or the to was",
      "what when where which why with you your",
    ].flatMap((words) => words.split(" ")),
  );
  const SAME = { bf16: "bfloat16", fp32: "float32", fp16: "float16", speedups: "speedup" };
  const ASKS = /Check yourself|Where to go|^Exercise/; // they ask, and explain nothing
  const MOST = { hits: 10, ofPage: 2 };

  /**
   * The terms of a text: each word, and what stands together with a sign between, as one word and as its
   * parts.
   */
  function terms(text) {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-/.'’][\p{L}\p{N}]+)*/gu) ?? [];
    return words
      .flatMap((word) => {
        const parts = word.split(/[-/.'’]/);
        return parts.length > 1 ? [...parts, parts.join("")] : parts;
      })
      .map((word) => SAME[word] ?? word.replace(/^0+(?=\d)/, ""));
  }

  /** The terms of a query that tell something. */
  function asked(query) {
    const all = terms(query),
      telling = all.filter((word) => !IDLE.has(word));
    return telling.length ? telling : all;
  }

  const index = new MiniSearchLib.default({
    fields: Object.keys(FIELDS),
    tokenize: terms,
    processTerm: (term) => term,
    storeFields: ["name", "inside", "to"],
  });
  const known = ([name, inside, to, often, rest, called], id) => ({ id, name, inside, to, often, rest, called });
  index.addAll(specdecLab.places.map(known));

  /** Names, pages and addresses of what fits best, each with the words that were found in its text alone. */
  return (query) => {
    const words = asked(query),
      joined = words.slice(1).map((word, i) => words[i] + word); // “break even” may be written “break-even”
    if (!words.length) return [];
    const how = {
      tokenize: (text) => text.split(" "),
      prefix: (term) => term.length > 2,
      boost: FIELDS,
      boostDocument: (_, __, { name, inside }) =>
        (ASKS.test(name) || /^Exercise|checkpoint/.test(inside)) && !words.includes("exercise")
          ? 0.2
          : name.toLowerCase() === query.trim().toLowerCase()
            ? 4
            : 1,
    };
    const all = (some, more = {}) => index.search(some.join(" "), { ...how, combineWith: "AND", ...more });
    const stems = words.map((word) => word.slice(0, Math.max(4, Math.ceil(word.length / 2))));
    const tries = [
      () =>
        [...joined.flatMap((word) => all([word], { prefix: false })), ...all(words)].sort((a, b) => b.score - a.score),
      () => all(words, { fuzzy: (term) => (term.length > 3 && !/\d/.test(term) ? 0.25 : false) }),
      () => all(stems),
      () => all(words, { combineWith: "OR" }),
    ];
    const found = tries.reduce((hits, next) => (hits.length ? hits : next()), []);
    const times = {};
    const once = found.filter(({ id }, i) => found.findIndex((hit) => hit.id === id) === i);
    const few = once.filter(({ to }) => {
      const page = to.split("#")[0];
      times[page] = (times[page] ?? 0) + 1;
      return times[page] <= MOST.ofPage;
    });
    return few.slice(0, MOST.hits).map(({ name, inside, to, match }) => {
      const inText = Object.entries(match)
        .filter(([, fields]) => !fields.includes("name") && !fields.includes("inside"))
        .map(([term]) => term);
      return [name, inside, to, inText.slice(0, 3)];
    });
  };
})();

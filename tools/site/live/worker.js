// The model in the page, in a worker: it fetches and spreads out the weights, and decodes. It is told {load}, {write}
// or {stop}, and tells {progress}, {ready}, {round}, {done} or {failed}.

import * as ort from "./ort.wasm.min.mjs";
import { Tokenizer } from "./tokenizers.min.mjs";
import { largest, lookup, chances, drawn, probabilities, roundOf } from "./rounds.js";

ort.env.wasm.wasmPaths = new URL("./", import.meta.url).href;
ort.env.wasm.numThreads = 1; // more need headers that static hosts do not send
const FORM = 2; // of plan.json: model.py writes the same number
const PIECE = 12; // tokens that one way of decoding writes before it is the other's turn
const tell = (message) => self.postMessage(message);
let plan,
  files, // the bytes of each, by name
  tokenizer,
  asText, // the same, for which marks of the chat template are letters like others
  target,
  drafters = {},
  stopped = false;

/** A failure in words for the reader. */
class Told extends Error {}

/** Why these bytes are not the file of the plan, and what to do; "" where they are. */
async function wrongWith({ name, bytes, sha256 }, data) {
  if (data.byteLength === bytes) {
    const digest = await crypto.subtle?.digest("SHA-256", data); // browsers have it for https and localhost
    if (!digest || btoa(String.fromCharCode(...new Uint8Array(digest))) === sha256) return "";
  }
  const [of, all] = [data.byteLength, bytes].map((n) => n.toLocaleString("en"));
  return /^\s*</.test(new TextDecoder().decode(data.slice(0, 64)))
    ? `A web page came in place of ${name}: does this network ask for a login? It was not kept. Try again behind it.`
    : data.byteLength < bytes
      ? `Of ${name} only ${of} of ${all} bytes came, and they were not kept. Try again.`
      : `Another file came in place of ${name}, and it was not kept. Reload this page, and try again.`;
}

/** What this address answers; a cache on the way must ask whether it is still the same. */
async function answered(name) {
  const answer = await fetch(new URL(name, import.meta.url), { cache: "no-cache" });
  if (!answer.ok) throw new Told(`${name} is not on this site (${answer.status}). Try again: what has come is kept.`);
  return answer;
}

/** A file of the plan, from the browser's cache or over the line, and only if it is whole; said(bytes) as it comes. */
async function fetched(file, said) {
  const address = new URL(file.name, import.meta.url).href,
    kept = await opened(),
    known = await (await kept?.match(address))?.arrayBuffer();
  if (known && !(await wrongWith(file, known))) {
    said(known.byteLength);
    return known;
  }
  const parts = [],
    reader = (await answered(file.name)).body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    said(part.value.length);
  }
  const data = await new Blob(parts).arrayBuffer(),
    wrong = await wrongWith(file, data);
  if (wrong) throw new Told(wrong);
  // a full disk: it is fetched again next time
  await kept?.put(address, new Response(data.slice(0))).catch(() => {});
  return data;
}

/**
 * The cache of these weights; those of earlier ones are thrown away. None where the browser keeps nothing.
 */
async function opened() {
  if (!self.caches) return null;
  const name = `specdec-lab ${plan.name}`;
  try {
    for (const other of await caches.keys())
      if (other.startsWith("specdec-lab ") && other !== name) await caches.delete(other);
    return await caches.open(name);
  } catch {
    return null;
  }
}

/**
 * Row by row of a stored matrix [out, in]: take(row number, its numbers). The array that is given is used
 * again.
 */
function rowsOf(bytes, { kind, shape: [rows, width], at, block }, take) {
  const row = new Float32Array(width);
  if (kind === "f32") {
    const all = new Float32Array(bytes.buffer, bytes.byteOffset + at, rows * width);
    for (let i = 0; i < rows; i++) take(i, all.subarray(i * width, (i + 1) * width));
    return;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset),
    half = (place) => view.getFloat16(place, true);
  for (let i = 0; i < rows; i++) {
    for (let b = 0; b < width / block; b++) {
      const to = b * block;
      if (kind === "q4_1") {
        // a scale, a least value, and 16 bytes: the lower halves come first
        const from = at + (i * (width / block) + b) * 20,
          scale = half(from),
          least = half(from + 2);
        for (let j = 0; j < 16; j++) {
          const code = bytes[from + 4 + j];
          row[to + j] = (code & 15) * scale + least;
          row[to + 16 + j] = (code >> 4) * scale + least;
        }
      } else if (kind === "q8_0") {
        const from = at + (i * (width / block) + b) * 34,
          scale = half(from);
        for (let j = 0; j < 32; j++) row[to + j] = view.getInt8(from + 2 + j) * scale;
      } else {
        // int8: all codes, then all scales
        const from = at + i * width + to,
          scale = half(at + rows * width + 2 * (i * (width / block) + b));
        for (let j = 0; j < block; j++) row[to + j] = view.getInt8(from + j) * scale;
      }
    }
    take(i, row);
  }
}

/** The matrices of a graph as float32, each turned round to [in, out], one behind the other. */
function spreadOut(bytes, graph, heads) {
  const all = new Float32Array(graph.bytes / 4);
  let at = 0;
  for (const name of graph.spread) {
    const head = heads[name],
      stored = plan.tensors[head ? "embedding" : name],
      columns = head ? head.length : stored.shape[0];
    const place = head && new Map(head.map((id, i) => [id, i]));
    rowsOf(bytes, stored, (i, row) => {
      const column = place ? place.get(i) : i;
      if (column !== undefined) for (let j = 0; j < row.length; j++) all[at + j * columns + column] = row[j];
    });
    at += columns * stored.shape[1];
  }
  return new Uint8Array(all.buffer);
}

/** A graph that keeps keys and values of a text, and takes them back. */
class Cached {
  constructor(session, graph) {
    Object.assign(this, { session, graph, length: 0, past: this.empty(graph.layers) });
  }

  empty(layers) {
    return Array.from(
      { length: 2 * layers },
      () => new ort.Tensor("float32", new Float32Array(0), [1, plan.shared, 0, plan.head]),
    );
  }

  /** A pass over k rows behind what is held. Returns its other outputs. */
  async extend(k, inputs) {
    const n = this.length + k,
      mask = new Float32Array(k * n);
    for (let i = 0; i < k; i++) for (let j = this.length + i + 1; j < n; j++) mask[i * n + j] = -1e9;
    const positions = BigInt64Array.from({ length: k }, (_, i) => BigInt(this.length + i));
    const feeds = {
      ...inputs,
      mask: new ort.Tensor("float32", mask, [k, n]),
      positions: new ort.Tensor("int64", positions, [1, k]),
    };
    this.past.forEach((tensor, i) => {
      feeds[`past_${i}`] = tensor;
    });
    const found = await this.session.run(feeds),
      [logits, rows, ...past] = this.graph.outputs.map((name) => found[name]);
    [this.past, this.length] = [past, n];
    return { logits, rows };
  }

  /** Forget all but the first n places. */
  rewind(n) {
    if (n === this.length) return;
    this.past = this.past.map((tensor) => {
      const [, heads, held, size] = tensor.dims,
        kept = new Float32Array(heads * n * size);
      for (let i = 0; i < heads; i++)
        kept.set(tensor.data.subarray(i * held * size, (i * held + n) * size), i * n * size);
      return new ort.Tensor("float32", kept, [1, heads, n, size]);
    });
    this.length = n;
  }
}

let bytes; // of the weights as they are stored: single rows of the embeddings are read from here
/** The embeddings of some tokens [1, k, size]. */
function embedded(tokens) {
  const { size } = plan,
    stored = plan.tensors.embedding,
    rows = new Float32Array(tokens.length * size);
  const width = { f32: 4 * size, q8_0: (size / 32) * 34, q4_1: (size / 32) * 20 }[stored.kind];
  tokens.forEach((id, i) =>
    rowsOf(bytes, { ...stored, shape: [1, size], at: stored.at + id * width }, (_, row) => rows.set(row, i * size)),
  );
  return new ort.Tensor("float32", rows, [1, tokens.length, size]);
}

const tensorOf = (rows, size) => new ort.Tensor("float32", rows, [1, rows.length / size, size]);
const joinedRows = (a, b) => {
  const all = new Float32Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
};

/** A draft out of a row of scores, one for each of ids: the favourite, or drawn where there are dice. */
function draftFrom(logits, ids, dice) {
  const all = dice && probabilities(logits),
    best = dice ? drawn(all, dice()) : largest(logits),
    q = chances(logits, best),
    draft = { id: ids[best], q: { of: q.of, top: q.top.map(([i, p]) => [ids[i], p]) } };
  if (!dice) return draft;
  draft.row = new Float32Array(plan.tensors.embedding.shape[0]); // over the target's whole vocabulary
  ids.forEach((id, i) => {
    draft.row[id] = all[i];
  });
  return draft;
}

/** EAGLE: a layer goes on from the target's rows, and then from its own (specdec_lab/drafters/eagle.py). */
class Eagle {
  constructor({ session, join }) {
    Object.assign(this, { join, cached: new Cached(session, plan.eagle), rows: new Float32Array(0), tokens: [] });
  }

  /** Rows that the target has passed, and the token that follows each. */
  async learn(wide, tokens) {
    const { outputs } = plan.join,
      found = await this.join.run({ rows: wide });
    this.rows = joinedRows(this.rows, found[outputs[0]].data);
    this.tokens.push(...tokens);
  }

  async draft(text, gamma, dice) {
    const drafts = [];
    let { logits, rows } = await this.step(this.rows, this.tokens);
    const held = this.cached.length;
    [this.rows, this.tokens] = [new Float32Array(0), []];
    for (;;) {
      drafts.push(draftFrom(logits.data, plan.eagle.ids, dice));
      if (drafts.length === gamma) break;
      ({ logits, rows } = await this.step(rows.data.slice(-plan.size), [drafts.at(-1).id]));
    }
    this.cached.rewind(held);
    return drafts;
  }

  step(before, tokens) {
    return this.cached.extend(tokens.length, { x: embedded(tokens), before: tensorOf(before, plan.size) });
  }
}

/** A small model of its own, with the target's vocabulary. */
class Model {
  constructor({ session }) {
    this.cached = new Cached(session, plan.model);
  }

  async learn() {}

  async draft(text, gamma, dice) {
    const drafts = [];
    let news = text.slice(this.cached.length);
    while (drafts.length < gamma) {
      const { logits } = await this.cached.extend(news.length, { x: embedded(news) });
      drafts.push(draftFrom(logits.data, plan.model.ids, dice));
      news = [drafts.at(-1).id];
    }
    return drafts;
  }

  /** Of the text that came out only what was passed here and stayed is held. */
  settle(length) {
    if (this.cached.length > length - 1) this.cached.rewind(length - 1);
  }
}

class Lookup {
  async learn() {}

  async draft(text, gamma) {
    return lookup(text, gamma).map((id) => ({ id, q: null }));
  }
}

async function session(name, graph, heads) {
  const data = spreadOut(bytes, graph, heads);
  return ort.InferenceSession.create(new Uint8Array(files[graph.file]), {
    externalData: [{ path: `${name}.bin`, data }],
    executionProviders: ["wasm"],
    graphOptimizationLevel: "all",
  });
}

async function load() {
  const begun = performance.now(),
    answer = await (await answered("plan.json")).text();
  try {
    plan = JSON.parse(answer);
  } catch {
    throw new Told(await wrongWith({ name: "plan.json", bytes: NaN }, new TextEncoder().encode(answer).buffer));
  }
  if (plan?.form !== FORM)
    throw new Told("The model on this site is of another version than this page: reload it, and try again.");
  const all = plan.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let come = 0;
  const said = (more) => {
    come += more;
    tell({ progress: come / all, megabytes: [come / 1e6, all / 1e6], making: come < all ? undefined : "its files" });
  };
  const parts = await Promise.all(plan.files.map((file) => fetched(file, said)));
  tell({ progress: 1, megabytes: [], making: "the words" });
  files = Object.fromEntries(plan.files.map(({ name }, i) => [name, parts[i]]));
  const weights = plan.files.filter(({ name }) => name.startsWith("weights-")).map(({ name }) => name);
  bytes = new Uint8Array(await new Blob(weights.map((name) => files[name])).arrayBuffer());
  for (const name of weights) delete files[name];
  ort.env.wasm.wasmBinary = files["ort-wasm-simd-threaded.wasm"];
  const read = (name) => JSON.parse(new TextDecoder().decode(files[name]));
  const [words, config] = ["tokenizer.json", "tokenizer_config.json"].map(read);
  tokenizer = new Tokenizer(words, config);
  asText = (text) =>
    new Tokenizer({ ...words, added_tokens: [] }, config).encode(text, { add_special_tokens: false }).ids;
  tell({ progress: 1, megabytes: [], making: "the drafters" });
  const join = await session("join", plan.join, {});
  drafters.eagle = { session: await session("eagle", plan.eagle, { "eagle.head": plan.eagle.ids }), join };
  drafters.model = { session: await session("model", plan.model, { "model.head": plan.model.ids }) };
  tell({ progress: 1, megabytes: [], making: "the target" });
  target = await session("target", plan.target, {});
  tell({ ready: (performance.now() - begun) / 1000 });
}

/** The drafter of a text. */
const made = (name) =>
  name === "eagle" ? new Eagle(drafters.eagle) : name === "model" ? new Model(drafters.model) : new Lookup();

/** A prompt as a chat has it. What looks like a mark of the template is text, since a visitor typed it. */
function chat(prompt) {
  const ids = (text) => tokenizer.encode(text, { add_special_tokens: false }).ids;
  return prompt.includes("<|")
    ? [...ids(plan.before), ...asText(prompt), ...ids(plan.after)]
    : ids(plan.before + prompt + plan.after);
}

const whole = (ids) => tokenizer.decode(ids, { skip_special_tokens: false }),
  complete = (ids) => whole(ids).replace(/\uFFFD+$/, ""); // without the first bytes of a character

/** What a token adds to a text: nothing where it is part of a character that is not complete. */
const added = (text, id) => complete([...text, id]).slice(complete(text).length);

/** Decode a prompt, a round at a time. name: of a drafter, or "plain". temperature: 0, or 1. */
async function* rounds({ prompt, name, gamma, tokens, temperature }) {
  const dice = temperature ? Math.random : null;
  const { size } = plan,
    ids = chat(prompt);
  const cached = new Cached(target, plan.target),
    drafter = name === "plain" ? null : made(name),
    wide = size * (1 + plan.depths),
    vocabulary = plan.tensors.embedding.shape[0];
  const pass = (news, first) =>
    cached.extend(news.length, {
      x: embedded(news),
      first: new ort.Tensor("int64", BigInt64Array.of(BigInt(first)), [1]),
    });
  if (ids.length > 1) {
    // the prompt is read, but for its last token
    const { rows } = await pass(ids.slice(0, -1), ids.length - 2);
    await drafter?.learn(rows, ids.slice(1));
  }
  const text = [...ids];
  for (let written = 0, stop = null; !stop; ) {
    const begin = performance.now(),
      drafts = drafter ? await drafter.draft(text, gamma, dice) : [],
      drafted = performance.now();
    const { logits, rows } = await pass([text.at(-1), ...drafts.map(({ id }) => id)], 0),
      passed = performance.now();
    const each = Array.from({ length: drafts.length + 1 }, (_, i) =>
      logits.data.subarray(i * vocabulary, (i + 1) * vocabulary),
    );
    let shown = 0; // ms for what is only shown
    const word = (id, place) => {
      const from = performance.now(),
        piece = added([...text.slice(-8), ...drafts.slice(0, place).map(({ id }) => id)], id);
      shown += performance.now() - from;
      return piece;
    };
    const round = roundOf(drafts, each, plan.ends, tokens - written, word, dice);
    const news = [
      ...round.drafted.filter(({ status }) => status === "accepted").map(({ id }) => id),
      ...(round.emitted ? [round.emitted.id] : []),
    ];
    const held = cached.length - drafts.length - 1,
      kept = news.length - Boolean(round.emitted);
    text.push(...news);
    written += news.length;
    stop = round.stop;
    cached.rewind(held + 1 + kept);
    if (drafter) {
      await drafter.learn(tensorOf(rows.data.slice(0, (1 + kept) * wide), wide), text.slice(held + 1, held + 2 + kept));
      drafter.settle?.(text.length);
    }
    const end = performance.now() - shown,
      before = complete(text.slice(0, text.length - news.length));
    yield {
      round: { ...round, before: before.length > 160 ? `…${before.slice(-160)}` : before },
      tokens: news,
      seconds: { draft: (drafted - begin) / 1e3, verify: (passed - drafted) / 1e3, loop: (end - passed) / 1e3 },
    };
  }
}

/** Decode a prompt in several ways by turns, so that all of them meet the same load of the computer. */
async function write({ names, ...asked }) {
  stopped = false;
  const ways = names.map((name) => ({ name, rounds: rounds({ ...asked, name }), written: 0, ended: false }));
  for (let turn = 1; ways.some(({ ended }) => !ended) && !stopped; turn++, ways.reverse())
    for (const way of ways)
      while (!way.ended && way.written < turn * PIECE && !stopped) {
        const { value, done } = await way.rounds.next();
        way.ended = done;
        if (done) break;
        way.written += value.tokens.length;
        tell({ ...value, name: way.name, turn });
        await new Promise((rest) => setTimeout(rest)); // a “stop” may come in
      }
  tell({ done: true });
}

self.onmessage = async ({ data }) => {
  try {
    if (data.load) await load();
    else if (data.write) await write(data.write);
    else stopped = true;
  } catch (wrong) {
    tell({ failed: String(wrong?.message ?? wrong), told: wrong instanceof Told });
  }
};

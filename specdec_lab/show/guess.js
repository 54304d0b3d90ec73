// A guess before the experiment: kept once, and then fixed.

function render(context) {
  const { model } = context, { question, unit } = model.get("data");
  const claim = claimOf(model);
  const form = entry("your guess", unit, (guess) => claim.change({ guess: { ...guess, after_outcome: Boolean(claim.read().measured) } }));
  frame(context, "Your guess", h("div", { class: "sdl-title" }, question), form.box);
  return follow(model, () => form.show(claim.read().guess, model.get("news")));
}

export default { render };

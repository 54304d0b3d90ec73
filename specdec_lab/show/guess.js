// A guess before the experiment: kept once, and then fixed.

function render(context) {
  const { model } = context,
    { question, unit, most } = model.get("data");
  const form = entry("your guess", unit, (guess) => claim.change("guess", guess), { most });
  frame(context, "Your guess", div("sdl-title", question), form.box);
  const refresh = () => form.show(claim.read().guess, model.get("news"), claim.said("guess"), claim.newest("guess"));
  const claim = claimOf(model, ["guess"], refresh);
  return follow(model, refresh, claim.end);
}

export default { render };

// The page: reads forms, puts questions to the worker, shows the answers. It computes nothing about privacy; sliders and digits come from text.
"use strict";

const element = (id) => document.getElementById(id);
const forms = [...document.querySelectorAll("form[data-tab]")];
const common = element("common");
let tab = "dp-sgd";

// --- The worker: one question at a time. One that takes long is dropped with its worker when a new one waits. ---

const alone = "self.fetch = undefined;"; // the engine then decodes its module itself, and asks for no address
const source = [alone, element("engine").textContent, element("worker").textContent].join("\n");
const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
let worker = null;
let open = null; // {resolve, since}
function start() {
  worker = new Worker(address);
  worker.onmessage = (event) => {
    const { resolve } = open;
    open = null;
    resolve(JSON.parse(event.data));
  };
  worker.onerror = (event) => settle({ error: { kind: "other", words: "the accountant cannot run in this browser: " + event.message } });
}
function settle(answer) {
  if (open === null) return;
  const { resolve } = open;
  open = null;
  resolve(answer);
}
function ask(question) {
  return new Promise((resolve) => {
    open = { resolve, since: performance.now() };
    worker.postMessage(JSON.stringify({ digits: "1", ...question }));
  });
}
function hurry() {
  if (open === null || !document.body.dataset.answers || performance.now() - open.since < 700) return;
  worker.terminate();
  start();
  settle({ error: { kind: "dropped" } });
}

// --- Elements from data. ---

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const facts = (...lines) => make("div", { class: "facts" }, ...lines.filter((line) => line).map((line) => make("p", {}, line)));
const notes = (answer) => (answer.notes || []).map((note) => make("p", { class: "soft" }, note));
const fill = (id, ...children) => element(id).querySelector(":scope > div").replaceChildren(...children);
const bracket = (name, bound) => {
  const lines = [make("p", { class: "value" }, `${name} ≤ ${bound.shown.upper}`)];
  if (bound.lower !== null) lines.push(make("p", { class: "value" }, `${name} ≥ ${bound.shown.lower}`));
  return lines;
};
const ratio = (x) => (typeof x === "number" ? `${Number(x.toPrecision(4))}×` : "");
const by = (answer) => `by ${answer.by}` + (answer.order === undefined ? "" : `, order ${ratio(answer.order).slice(0, -1) || answer.order}`);
const refusal = (answer) => make("p", { class: "soft" }, answer.error.words);

function showError(answer, plan) {
  const box = element("error");
  box.hidden = !answer;
  element("plan").setAttribute("aria-invalid", answer ? "true" : "false");
  if (!answer) return box.replaceChildren();
  const column = answer.error.column;
  box.replaceChildren(make("p", {}, column ? `Column ${column}: ${answer.error.words}` : answer.error.words));
  if (column) box.append(make("pre", {}, plan.replace(/\s/g, " ") + "\n" + " ".repeat(column - 1) + "^"));
}

// --- What is shown of each answer. ---

function showHeadline(cost, delta, at) {
  element("headline").replaceChildren(
    ...bracket("ε", cost.epsilon),
    facts(`at δ = ${at.delta}, ${by(cost)}, ${cost.relation === "as stated" ? "whichever relation the sensitivities were stated in" : cost.relation}`),
    ...notes(cost),
    ...(cost.limited ? [make("p", { class: "soft" }, "This is what the work that the page allows proves.")] : []),
    ...(delta && delta.delta ? [facts(`At ε = ${at.epsilon}: δ ≤ ${delta.delta.shown.upper}` + (delta.delta.lower === null ? "" : `, δ ≥ ${delta.delta.shown.lower}`))] : []),
  );
  element("headline").setAttribute("aria-busy", "false");
}
function showCalibration(found, at) {
  element("calibration").hidden = !found;
  if (!found) return;
  const use = make("button", { type: "button", class: "use" }, "Take this plan");
  use.onclick = () => {
    element("find").checked = false;
    element("plan").value = found.plan;
    choose("plan");
    refresh();
  };
  fill("calibration",
    make("p", { class: "value" }, String(found.value)),
    facts(`${found.hole}, for ε = ${at.epsilon} at δ = ${at.delta}`, make("code", {}, found.plan),
      found.insufficient === null ? "" : `${found.insufficient} does not suffice`),
    use);
}
function showPicture(id, answer, ...more) {
  if (answer.error) return fill(id, refusal(answer));
  const picture = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  fill(id, document.importNode(picture, true), ...more);
}
function showTradeoff(answer) {
  if (answer.error) return fill("tradeoff", refusal(answer));
  const point = answer.points.find((one) => one.fpr === 0.01);
  showPicture("tradeoff", answer, facts(
    `An attacker who accuses 1 % of those who are not in the data finds a share of at most ${point.tpr.shown.upper} of those who are,`,
    `and guesses right with probability at most ${answer.success.shown.upper}.`), ...notes(answer));
}
function showCompare(answer) {
  if (answer.error) return fill("compare", refusal(answer));
  const head = make("tr", {}, ...["method", "ε ≤", "ε wasted", "noise wasted", "order"].map((text) => make("th", { scope: "col" }, text)));
  const rows = answer.rows.map((row) => {
    const first = make("th", { scope: "row" }, row.by);
    if (row.refused) return make("tr", {}, first, make("td", { class: "refused", colspan: 4 }, "does not apply: " + row.refused));
    const waste = row.waste || {};
    return make("tr", {}, first, ...[row.epsilon.shown.upper, ratio(waste.epsilon), ratio(waste.noise), row.order === undefined ? "" : ratio(row.order).slice(0, -1) || row.order]
      .map((text) => make("td", { class: "number" }, String(text))));
  });
  fill("compare", make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}
function derivation(step) {
  const item = make("li", {}, make("strong", {}, step.guarantee));
  if (step.plan) item.append(make("div", {}, "for ", make("code", {}, step.plan)));
  item.append(make("div", { class: "by" }, `by ${step.theorem} [${step.reference}]`));
  for (const condition of step.conditions) item.append(make("div", { class: "by" }, "with " + condition));
  if (step.premises.length > 0) item.append(make("ul", {}, ...step.premises.map(derivation)));
  return item;
}

// --- Questions. What is asked anew makes an older round stop at its next answer. ---

let wanted = false;
let running = false;
let dragging = false;
function refresh() {
  wanted = true;
  element("headline").setAttribute("aria-busy", "true");
  hurry();
  if (!running) answerAll();
}
async function answerAll() {
  running = true;
  while (wanted) {
    wanted = false;
    await answerOnce(() => wanted);
  }
  running = false;
}

function formValues(form) {
  return Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim()]));
}

async function answerOnce(stale) {
  const at = formValues(common);
  const find = element("find").checked;
  const limits = dragging ? { seconds: "0.15" } : {};
  const question = { delta: at.delta, epsilon: at.epsilon, relation: at.relation };
  let plan = element("plan").value;
  const known = tab === "plan" ? await ask({ ask: "plan", plan }) : await ask({ ...tabValues(find), ask: tab });
  if (stale()) return;
  if (known.error) return failed(known, plan);
  if (tab !== "plan") element("plan").value = plan = known.plan;
  keepLink(at);
  element("epsilon-words").textContent = known.holes > 0 ? "Target ε" : "ε at which δ is asked";
  if (known.holes > 0) {
    const found = await ask({ ...question, ask: "calibrate", plan });
    if (stale() || (found.error && found.error.kind === "dropped")) return;
    if (found.error) return failed(found, plan);
    showCalibration(found, at);
    plan = found.plan;
  } else {
    showCalibration(null);
  }
  const asked = { ...question, plan };
  const cost = await ask({ ...asked, ask: "epsilon", ...limits });
  if (cost.error) return stale() || cost.error.kind === "dropped" ? undefined : failed(cost, plan);
  showError(null);
  document.body.classList.remove("failed");
  showHeadline(cost, null, at);
  told("epsilon", cost);
  if (stale()) return;
  const rest = [
    ["delta", {}, (answer) => showHeadline(cost, answer, at)],
    ["over-steps", { points: dragging ? "13" : "25", spacing: "even", picture: "1", ...limits }, (answer) => showPicture("over-steps", answer)],
    ["tradeoff", { picture: "1", ...limits }, showTradeoff],
    ["compare", {}, showCompare],
    ["explain", {}, (answer) => fill("explain", answer.error ? refusal(answer) : make("ul", { class: "derivation" }, derivation(answer.derivation)))],
  ];
  for (const [name, more, show] of rest) {
    if (dragging && (name === "compare" || name === "explain")) continue;
    const answer = await ask({ ...asked, ask: name, ...more });
    if (stale() || (answer.error && answer.error.kind === "dropped")) return;
    show(answer);
    told(name, answer);
  }
  document.body.dataset.round = String(Number(document.body.dataset.round || 0) + 1);
}
function failed(answer, plan) {
  showError(answer, plan);
  document.body.classList.add("failed");
  element("headline").replaceChildren(make("p", { class: "value" }, "–"));
  element("headline").setAttribute("aria-busy", "false");
  for (const id of ["tradeoff", "over-steps", "compare", "explain"]) fill(id);
  showCalibration(null);
  told("error", answer);
}
// What was answered when, for tests.
function told(name, answer) {
  document.body.dataset.answers = `${document.body.dataset.answers || ""} ${name}@${Math.round(performance.now())}`.trim();
  (window.answers ||= {})[name] = answer;
}

// --- Forms, sliders, tabs, the link. ---

// What the open form says; a noise that is to be found is a hole.
function tabValues(find) {
  const values = formValues(forms.find((form) => form.dataset.tab === tab));
  if (find) for (const name of ["sigma", "scale"]) if (name in values) values[name] = "?";
  return values;
}

// A slider beside a number, from 10^from to 10^to: three digits as text.
for (const input of document.querySelectorAll("input[data-from]")) {
  const pair = make("div", { class: "pair" });
  const label = document.querySelector(`label[for="${input.id}"]`).textContent;
  const slider = make("input", { type: "range", min: input.dataset.from, max: input.dataset.to, step: "0.01", "aria-label": label + ", slider" });
  input.replaceWith(pair);
  pair.append(input, slider);
  const follow = () => {
    const value = Number(input.value);
    if (value > 0) slider.value = String(Math.log10(value));
  };
  slider.oninput = () => {
    const value = 10 ** Number(slider.value);
    input.value = "whole" in input.dataset ? String(Number(value.toPrecision(3)) | 0 || 1) : String(Number(value.toPrecision(3)));
    refresh();
  };
  slider.onpointerdown = () => { dragging = true; };
  slider.onchange = slider.onpointercancel = () => {
    dragging = false;
    refresh();
  };
  input.addEventListener("input", follow);
  input.follow = follow;
  follow();
}
document.addEventListener("pointerup", () => {
  if (!dragging) return;
  dragging = false;
  refresh();
});

function choose(name) {
  tab = name;
  for (const button of document.querySelectorAll("[role=tab]")) {
    const chosen = button.dataset.tab === name;
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
  }
  for (const form of forms) form.hidden = form.dataset.tab !== name;
  document.querySelector(".find").hidden = name === "plan";
  element("plan").readOnly = name !== "plan";
}
const tabs = [...document.querySelectorAll("[role=tab]")];
for (const [i, button] of tabs.entries()) {
  button.onclick = () => {
    choose(button.dataset.tab);
    refresh();
  };
  button.onkeydown = (event) => {
    const next = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const other = tabs[(next + tabs.length) % tabs.length];
    other.focus();
    other.click();
  };
}
for (const form of [...forms, common]) {
  form.onsubmit = (event) => event.preventDefault();
  form.addEventListener("input", (event) => {
    if (event.target.type !== "range") refresh();
  });
}
element("example").onchange = () => {
  if (element("example").value) element("plan").value = element("example").value;
  refresh();
};

function keepLink(at) {
  const values = tab === "plan" ? {} : formValues(forms.find((form) => form.dataset.tab === tab));
  const link = new URLSearchParams({ tab, ...values, ...at });
  if (tab !== "plan") link.delete("plan");
  history.replaceState(null, "", "#" + link);
}
function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  choose(forms.some((form) => form.dataset.tab === link.get("tab")) ? link.get("tab") : link.has("plan") ? "plan" : "dp-sgd");
  const open = forms.find((form) => form.dataset.tab === tab);
  for (const input of [...open.elements, ...common.elements]) {
    if (!input.name || !link.has(input.name)) continue;
    if (input.type === "checkbox") input.checked = link.get(input.name) !== "";
    else input.value = link.get(input.name);
    if (input.follow) input.follow();
  }
}
window.addEventListener("hashchange", () => {
  readLink();
  refresh();
});

start();
readLink();
refresh();

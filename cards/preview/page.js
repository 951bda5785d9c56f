"use strict";
/* Colours after Okabe and Ito: told apart by colour-blind readers too; each kind also has a name in the legend. */
const KINDS = {
  pause: "#999999", shift: "#0072b2", hold: "#56b4e9", backchannel: "#009e73", trp: "#66c2a5",
  barge_in: "#d55e00", cut_off: "#a03c00", side_talk: "#cc79a7", background_speech: "#e69f00",
};
const ROLE_OF_TRACK = { input: "user", clean_input: "user", untreated_input: "user", system: "system" };
const byId = (id) => document.getElementById(id);
const audio = byId("audio");
mendSeeks(audio);
const state = { shown: [], at: 0, sample: null, track: 0 };
const seconds = (value) => value.toFixed(2) + " s";

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/* --- list and filters --- */
function fillFilters() {
  const values = {
    scenario: new Set(ENTRIES.map((e) => e.scenario)),
    language: new Set(ENTRIES.map((e) => e.language)),
    event: new Set(ENTRIES.flatMap((e) => e.events)),
  };
  for (const [id, known] of Object.entries(values)) {
    byId(id).append(element("option", "all", { value: "" }));
    for (const value of [...known].sort()) byId(id).append(element("option", value, { value }));
    byId(id).addEventListener("change", applyFilters);
  }
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

function applyFilters() {
  const [scenario, language, event] = ["scenario", "language", "event"].map((id) => byId(id).value);
  state.shown = ENTRIES.filter((e) =>
    (!scenario || e.scenario === scenario) && (!language || e.language === language) &&
    (!event || e.events.includes(event)));
  byId("count").value = `${state.shown.length} of ${ENTRIES.length} samples`;
  const list = byId("list");
  list.replaceChildren(...state.shown.map((entry, i) => {
    const button = element("button", entry.id, { type: "button" });
    button.append(element("small", `${seconds(entry.duration_s)} · ${entry.events.join(", ")}`));
    button.addEventListener("click", () => select(i));
    return button;
  }));
  if (state.shown.length) select(0); else showNothing();
}

function showNothing() {
  audio.pause();
  state.sample = null;
  byId("id").textContent = "no sample has all of this: choose other filters";
  for (const id of ["lanes", "tracks", "legend", "words", "events", "parameters"]) byId(id).replaceChildren();
}

/* --- one sample: its data is a script of its own, its audio loads when it is played --- */
function select(i) {
  state.at = i;
  audio.pause();
  const buttons = byId("list").children;
  for (let k = 0; k < buttons.length; k++) buttons[k].setAttribute("aria-current", String(k === i));
  buttons[i].scrollIntoView({ block: "nearest" });
  const script = element("script", "", { src: `data/${state.shown[i].name}.js` });
  script.addEventListener("load", () => script.remove());
  document.body.append(script);
}

function receive(sample) {
  if (!state.shown[state.at] || sample.name !== state.shown[state.at].name) return;
  state.sample = sample;
  byId("id").textContent = sample.id;
  byId("tracks").replaceChildren(...sample.tracks.map((track, i) => {
    const button = element("button", track.name, { type: "button", role: "radio" });
    button.addEventListener("click", () => choose(i));
    return button;
  }));
  byId("lanes").replaceChildren(...sample.tracks.map((track) => {
    const lane = element("div", "", { class: "lane" });
    lane.append(document.createElement("canvas"), element("span", track.name));
    return lane;
  }));
  const kinds = [...new Set(sample.events.map((e) => e.kind))];
  byId("legend").replaceChildren(...kinds.map((kind) => {
    const item = element("span", kind);
    item.prepend(element("i", "", { style: `background:${KINDS[kind] || "#888"}` }));
    return item;
  }));
  showWords(sample);
  showEvents(sample);
  byId("parameters").textContent = JSON.stringify(sample.parameters, null, 1);
  choose(0);
  draw();
}

function choose(i) {
  const playing = !audio.paused, at = state.track === i ? 0 : audio.currentTime;
  state.track = i;
  [...byId("tracks").children].forEach((b, k) => b.setAttribute("aria-checked", String(k === i)));
  audio.src = state.sample.tracks[i].file;
  audio.currentTime = at;
  if (playing) audio.play();
  move();
}

function showWords(sample) {
  byId("words").replaceChildren(...sample.turns.map((turn) => {
    const line = element("p", "", { class: turn.role });
    line.append(element("b", `${turn.role} · ${turn.speaker}`));
    const words = turn.words.length ? turn.words : [turn];
    words.forEach((word) => {
      const span = element("span", word.text, { "data-from": word.onset_s, "data-to": word.offset_s });
      span.addEventListener("click", () => seek(word.onset_s));
      line.append(span, sample.id.includes("/ja/") ? "" : " ");
    });
    return line;
  }));
}

function showEvents(sample) {
  const columns = ["kind", "role", "onset_s", "offset_s", "expected_if_speaking", "expected_if_silent", "fto_s", "intent"];
  const used = columns.filter((c) => sample.events.some((e) => e[c] !== undefined));
  const head = element("tr", "");
  head.append(...used.map((c) => element("th", c)));
  byId("events").replaceChildren(head, ...sample.events.map((event) => {
    const row = element("tr", "", { "data-at": event.onset_s, "data-to": event.offset_s });
    row.append(...used.map((c) => {
      const value = event[c];
      return element("td", value === undefined ? "" : typeof value === "number" ? value.toFixed(3) : value);
    }));
    row.addEventListener("click", () => seek(event.onset_s));
    return row;
  }));
}

/* --- drawing --- */
function draw() {
  const sample = state.sample;
  if (!sample) return;
  const style = getComputedStyle(document.documentElement);
  [...byId("lanes").children].forEach((lane, i) => {
    const canvas = lane.querySelector("canvas"), track = sample.tracks[i];
    const scale = window.devicePixelRatio || 1;
    const width = canvas.width = Math.round(canvas.clientWidth * scale);
    const height = canvas.height = Math.round(canvas.clientHeight * scale);
    const pen = canvas.getContext("2d");
    for (const event of sample.events) {
      if (event.role === "system" !== (track.name === "system") && sample.tracks.some((t) => t.name === "system")) continue;
      if (track.name === "clean_input" && event.kind !== "shift" && event.kind !== "pause") continue;
      const from = event.onset_s / sample.duration_s * width;
      const to = Math.max(event.offset_s / sample.duration_s * width, from + 2 * scale);
      pen.fillStyle = (KINDS[event.kind] || "#888888");
      pen.globalAlpha = 0.28;
      pen.fillRect(from, 0, to - from, height);
      pen.globalAlpha = 1;
      pen.fillRect(from, 0, to - from, 5 * scale);
    }
    pen.fillStyle = style.getPropertyValue(`--${ROLE_OF_TRACK[track.name]}`);
    const loudest = Math.max(8, ...track.peaks), n = track.peaks.length;
    for (let x = 0; x < width; x++) {
      let peak = 0;
      const last = Math.max(Math.floor((x + 1) / width * n), Math.floor(x / width * n) + 1);
      for (let k = Math.floor(x / width * n); k < last && k < n; k++) peak = Math.max(peak, track.peaks[k]);
      const size = Math.max(scale, peak / loudest * height * 0.8);
      pen.fillRect(x, (height - size) / 2 + 3 * scale, 1, size);
    }
  });
  move();
}

function move() {
  const sample = state.sample;
  if (!sample) return;
  const at = audio.currentTime;
  byId("cursor").style.left = `${Math.min(1, at / sample.duration_s) * byId("lanes").clientWidth}px`;
  byId("time").textContent = `${seconds(at)} of ${seconds(sample.duration_s)}`;
  for (const word of byId("words").querySelectorAll("span"))
    word.classList.toggle("now", at >= word.dataset.from && at < word.dataset.to && at > 0);
  for (const row of byId("events").querySelectorAll("tr[data-at]"))
    row.classList.toggle("now", at > 0 && at >= row.dataset.at && at <= row.dataset.to);
}

function follow() {
  move();
  if (!audio.paused) requestAnimationFrame(follow);
}

/* --- control --- */
function seek(at) {
  audio.currentTime = Math.max(0, Math.min(at, state.sample.duration_s));
  move();
}

function toggle() {
  if (!state.sample) return;
  if (audio.paused) audio.play(); else audio.pause();
}

audio.addEventListener("play", () => { byId("play").textContent = "pause"; byId("play").setAttribute("aria-label", "pause"); follow(); });
audio.addEventListener("pause", () => { byId("play").textContent = "play"; byId("play").setAttribute("aria-label", "play"); });
audio.addEventListener("seeked", move);
byId("play").addEventListener("click", toggle);
byId("stage").addEventListener("click", (event) => {
  const box = byId("lanes").getBoundingClientRect();
  seek((event.clientX - box.left) / box.width * state.sample.duration_s);
});
window.addEventListener("resize", draw);
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey || !state.sample) return;
  const events = state.sample.events.map((e) => e.onset_s).sort((a, b) => a - b);
  const actions = {
    " ": toggle,
    ArrowLeft: () => seek(audio.currentTime - 1),
    ArrowRight: () => seek(audio.currentTime + 1),
    ArrowUp: () => state.at > 0 && select(state.at - 1),
    ArrowDown: () => state.at + 1 < state.shown.length && select(state.at + 1),
    e: () => { const next = events.find((at) => at > audio.currentTime + 0.05); if (next !== undefined) seek(next); },
    t: () => choose((state.track + 1) % state.sample.tracks.length),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

fillFilters();
applyFilters();

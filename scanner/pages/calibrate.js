// Asks for the newest figures and the newest picture, each again when the answer is there: a slow
// machine is asked less often, and nothing piles up.

const STATE_EVERY_MS = 400;
const PICTURE_EVERY_MS = 120;
const ANSWER_LIMIT_MS = 4000;

const { language, gone, good, poor } = document.body.dataset;
const verdict = document.getElementById("verdict");
const verdictText = document.getElementById("verdict-text");
const picture = document.getElementById("picture");
const noPicture = document.getElementById("no-picture");
const words = { true: good, false: poor, null: "" };
let frame = 0;
let shown = false;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function setText(element, text) {
  // The same words again would be read out again.
  if (element.textContent !== text) element.textContent = text;
}

function say(state, text) {
  verdict.dataset.state = state;
  setText(verdictText, text);
}

function showLine({ code, value, need, good: isGood }) {
  const line = document.getElementById(`line-${code}`);
  line.dataset.good = String(isGood);
  setText(line.querySelector(".value"), value);
  setText(line.querySelector(".need"), need);
  setText(line.querySelector(".judged"), words[String(isGood)]);
}

async function askState() {
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const answer = await fetch(`/state?lang=${language}`, { cache: "no-store", signal: limit });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const state = await answer.json();
  const kind = state.ready ? "ready" : state.verdict === "waiting" ? "wait" : "fault";
  verdict.dataset.code = state.verdict;
  say(kind, state.text);
  state.figures.forEach(showLine);
  frame = state.frame;
  const lost = state.camera !== "open";
  picture.hidden = lost || !shown;
  noPicture.hidden = !picture.hidden;
}

async function watchState() {
  for (;;) {
    try {
      await askState();
    } catch {
      verdict.dataset.code = "gone";
      say("gone", gone);
    }
    await pause(STATE_EVERY_MS);
  }
}

async function showPicture() {
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const answer = await fetch("/picture.jpg", { cache: "no-store", signal: limit });
  if (!answer.ok) return;
  const before = picture.src;
  picture.src = URL.createObjectURL(await answer.blob());
  await picture.decode();
  if (before) URL.revokeObjectURL(before);
  shown = true;
}

async function watchPicture() {
  for (;;) {
    try {
      if (frame && !document.hidden) await showPicture();
    } catch {
      // The figures' own question says what is wrong.
    }
    await pause(PICTURE_EVERY_MS);
  }
}

watchState();
watchPicture();

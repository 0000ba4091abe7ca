// Short sounds that differ in pitch, number and length. Only after somebody touched the page.

const PEAK = 0.12;

let context = null;
let level = 1;
const waiting = [];

function wake() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  waiting.splice(0).forEach((work) => work(context));
}

// A finger that comes down may be about to scroll; only what browsers count as a deed may sound.
for (const kind of ["mousedown", "touchend", "keydown"]) {
  addEventListener(kind, wake, { capture: true });
}

/** Do something with the audio context, as soon as somebody has touched the page. */
export function whenAwake(work) {
  if (context) work(context);
  else waiting.push(work);
}

/** How loud the sounds are, 0 to 100. */
export function setEffectsVolume(percent) {
  level = percent / 100;
}

function tone(frequency, startS, lengthS, shape = "sine") {
  if (!context || level === 0) return;
  const at = context.currentTime + startS;
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = shape;
  oscillator.frequency.value = frequency;
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(PEAK * level, at + 0.01);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + lengthS);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(at);
  oscillator.stop(at + lengthS);
}

/** A card was read. */
export const soundRead = () => tone(1320, 0, 0.09);

/** Something failed: two low notes. */
export function soundFailed() {
  tone(220, 0, 0.22, "square");
  tone(165, 0.26, 0.34, "square");
}

/** A chip lies on the table. */
export function soundChip() {
  tone(2200, 0, 0.05, "triangle");
  tone(1650, 0.05, 0.07, "triangle");
}

/** A round brought something: three notes upwards. */
export function soundWon() {
  [523, 659, 784].forEach((frequency, index) => tone(frequency, index * 0.12, 0.3));
}

/** A medal: four notes, the last one long. */
export function soundMedal() {
  [659, 784, 988, 1319].forEach((frequency, index) => tone(frequency, index * 0.14, index === 3 ? 0.8 : 0.25, "triangle"));
}

// Two sounds that differ in pitch, number and length. Only after somebody touched the page.

let context = null;

function wake() {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
}

for (const kind of ["pointerdown", "keydown"]) {
  addEventListener(kind, wake, { once: true, capture: true });
}

function tone(frequency, startS, lengthS, shape = "sine") {
  if (!context) return;
  const at = context.currentTime + startS;
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = shape;
  oscillator.frequency.value = frequency;
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(0.12, at + 0.01);
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

// Short pieces of music, made here from notes: no file, no other host. Quiet, and never before
// somebody touched the page; silent while the page is out of sight.

import { whenAwake } from "./sound.js";

/** At full volume; effects stay well above it. */
const PEAK = 0.16;
const FADE_S = 0.4;
const TURN_MS = 200;
/** Notes are handed over so far ahead, so that a busy page does not stumble. */
const AHEAD_S = 0.7;

const INSTRUMENTS = {
  pad: { shape: "triangle", attackS: 0.25, loud: 0.16, rings: false },
  bass: { shape: "sine", attackS: 0.02, loud: 0.5, rings: false },
  bell: { shape: "sine", attackS: 0.01, loud: 0.32, rings: true },
  string: { shape: "triangle", attackS: 0.004, loud: 0.5, rings: true },
  nylon: { shape: "triangle", attackS: 0.008, loud: 0.2, rings: true },
};

/** Chords, one a bar of `beats`, struck at the given beats of the bar and held for so long. */
const chords = (beats, bars, strokes, holds) =>
  bars.flatMap((chord, bar) => strokes.flatMap((stroke) => chord.split(" ").map((note) => [bar * beats + stroke, note, holds])));

/** A line of notes "beat note length", separated by commas. */
const line = (text) =>
  text.split(",").map((part) => {
    const [beat, note, length] = part.trim().split(" ");
    return [Number(beat), note, Number(length)];
  });

/** By the item's code: beats a minute, length of the loop in beats, and what plays which notes. */
export const PIECES = {
  music_lounge: {
    tempo: 76,
    beats: 32,
    voices: [
      ["pad", chords(4, ["F3 A3 C4 E4", "F3 G3 B3 E4", "E3 G3 B3 D4", "G3 C#4 E4 A#4", "F3 A3 C4 E4", "F3 A3 B3 E4", "E3 G3 C4 D4", "E3 G3 B3 D4"], [0], 3.8)],
      ["bass", line("0 D2 1.8, 2 A2 1.8, 4 G2 1.8, 6 D2 1.8, 8 C2 1.8, 10 G2 1.8, 12 A2 1.8, 14 E2 1.8, 16 D2 1.8, 18 A2 1.8, 20 G2 1.8, 22 D2 1.8, 24 C2 1.8, 26 G2 1.8, 28 C2 2.8, 31 C#2 .8")],
      ["bell", line("1 A4 1, 2.5 G4 .5, 3 E4 2, 6 D4 1, 7 E4 1, 8.5 G4 2, 13 C#5 1, 14 A#4 1.5, 17 A4 1, 18.5 C5 .5, 19 B4 2, 22 A4 1, 23 G4 1, 24.5 E4 3")],
    ],
  },
  music_koto: {
    tempo: 66,
    beats: 32,
    voices: [
      ["string", line("0 D4 2, 2 D#4 1, 3 G4 2, 5 A4 1, 6 A#4 2, 8 A4 1, 9 G4 1, 10 D#4 2, 12 D4 4, 16 A4 1, 17 A#4 1, 18 D5 2, 20 A#4 1, 21 A4 1, 22 G4 2, 24 D#4 1, 25 G4 .5, 25.5 D#4 .5, 26 D4 2, 28 A3 1, 29 D4 3")],
      ["string", line("0 D3 4, 4 A3 2, 6 G3 2, 8 D3 4, 12 A2 2, 14 D3 2, 16 D3 4, 20 G3 2, 22 D#3 2, 24 A#2 2, 26 A2 2, 28 D3 4")],
      ["bell", line("7 D5 1, 15 A5 1, 19 D#5 1, 30 D5 2")],
    ],
  },
  music_bossa: {
    tempo: 124,
    beats: 32,
    voices: [
      ["nylon", chords(4, ["E3 G3 B3 D4", "E3 G3 B3 D4", "D#3 F#3 A3 C#4", "D#3 F#3 A3 C4", "E3 G3 B3 D4", "D#3 G3 A3 C#4", "D3 F#3 A3 C#4", "D3 F#3 B3 C#4"], [0, 1.5, 3], 1)],
      ["bass", line("0 E2 1.4, 1.5 B2 .5, 2 B2 1.4, 3.5 E2 .5, 4 E2 1.4, 5.5 B2 .5, 6 B2 1.4, 7.5 A2 .5, 8 A2 1.4, 9.5 E2 .5, 10 E2 1.4, 11.5 A2 .5, 12 B2 1.4, 13.5 F#2 .5, 14 F#2 1.4, 15.5 B2 .5, 16 E2 1.4, 17.5 B2 .5, 18 B2 1.4, 19.5 A2 .5, 20 A2 1.4, 21.5 E2 .5, 22 E2 1.4, 23.5 A2 .5, 24 D2 1.4, 25.5 A2 .5, 26 A2 1.4, 27.5 D2 .5, 28 G2 1.4, 29.5 D2 .5, 30 B2 1.4, 31.5 B2 .5")],
      ["bell", line("2 B4 1, 3 D5 .5, 3.5 E5 2.5, 8 C#5 1, 9 B4 .5, 9.5 A4 2.5, 15 F#4 .5, 15.5 G4 .5, 16 B4 1.5, 17.5 D5 2.5, 21 C#5 .5, 21.5 B4 .5, 22 A4 1, 23.5 F#4 3.5")],
    ],
  },
};

const STEPS = { C: 0, "C#": 1, D: 2, "D#": 3, E: 4, F: 5, "F#": 6, G: 7, "G#": 8, A: 9, "A#": 10, B: 11 };

/** The pitch of a note, e.g. "A4" is 440 Hz. */
export function frequencyOf(note) {
  const [, name, octave] = /^([A-G]#?)(\d)$/.exec(note);
  return 440 * 2 ** ((STEPS[name] - 9) / 12 + Number(octave) - 4);
}

/** Notes of a looped piece that begin from one beat to before another, counted on over all turns. */
export function notesBetween(piece, from, to) {
  const found = [];
  for (let turn = Math.floor(from / piece.beats); turn * piece.beats < to; turn += 1) {
    for (const [instrument, notes] of piece.voices) {
      for (const [beat, note, beats] of notes) {
        const at = turn * piece.beats + beat;
        if (at >= from && at < to) found.push({ instrument, beat: at, note, beats });
      }
    }
  }
  return found;
}

function strike(context, target, { instrument, note, atS, lengthS }) {
  const { shape, attackS, loud, rings } = INSTRUMENTS[instrument];
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  const endsS = atS + lengthS;
  oscillator.type = shape;
  oscillator.frequency.value = frequencyOf(note);
  gain.gain.setValueAtTime(0.0001, atS);
  gain.gain.linearRampToValueAtTime(loud, atS + attackS);
  if (!rings) gain.gain.setValueAtTime(loud, Math.max(atS + attackS, endsS - 0.2));
  gain.gain.exponentialRampToValueAtTime(0.0001, endsS + 0.15);
  oscillator.connect(gain).connect(target);
  oscillator.start(atS);
  oscillator.stop(endsS + 0.2);
}

/** Plays one piece at a time, over and over. */
export class Music {
  #context = null;
  #out = null;
  #piece = null;
  #playing = null;
  #timer = null;
  #startS = 0;
  #beat = 0;
  #volume = 0;

  constructor({ awake = whenAwake } = {}) {
    awake((context) => {
      this.#context = context;
      this.#turn();
    });
    document.addEventListener("visibilitychange", () => this.#turn());
  }

  /** The code of what sounds now; null in silence. */
  get sounding() {
    return this.#playing;
  }

  /** Choose a piece by its item's code; a code without notes is silence. */
  play(code) {
    this.#piece = code in PIECES ? code : null;
    this.#turn();
  }

  stop() {
    this.play(null);
  }

  /** How loud, 0 to 100; 0 is silence. */
  setVolume(percent) {
    this.#volume = percent / 100;
    if (this.#out) this.#out.gain.setTargetAtTime(this.#volume * PEAK, this.#context.currentTime, FADE_S / 4);
    this.#turn();
  }

  /** Bring what sounds in line with what is wanted. */
  #turn() {
    const wanted = this.#context && this.#volume > 0 && document.visibilityState === "visible" ? this.#piece : null;
    if (wanted === this.#playing) return;
    this.#silence();
    this.#playing = wanted;
    if (wanted) this.#begin();
  }

  #begin() {
    const context = this.#context;
    this.#out = context.createGain();
    this.#out.gain.setValueAtTime(0.0001, context.currentTime);
    this.#out.gain.linearRampToValueAtTime(this.#volume * PEAK, context.currentTime + FADE_S);
    this.#out.connect(context.destination);
    this.#startS = context.currentTime + 0.1;
    this.#beat = 0;
    this.#timer = setInterval(() => this.#handOver(), TURN_MS);
    this.#handOver();
  }

  #handOver() {
    const piece = PIECES[this.#playing];
    const beatS = 60 / piece.tempo;
    const until = (this.#context.currentTime + AHEAD_S - this.#startS) / beatS;
    if (until <= this.#beat) return;
    for (const { instrument, beat, note, beats } of notesBetween(piece, this.#beat, until)) {
      strike(this.#context, this.#out, { instrument, note, atS: this.#startS + beat * beatS, lengthS: beats * beatS });
    }
    this.#beat = until;
  }

  #silence() {
    clearInterval(this.#timer);
    if (!this.#out) return;
    const out = this.#out;
    const now = this.#context.currentTime;
    out.gain.cancelScheduledValues(now);
    out.gain.setTargetAtTime(0, now, FADE_S / 4);
    setTimeout(() => out.disconnect(), FADE_S * 1000);
    this.#out = null;
  }
}

// SHA-256 for pages served over plain http on a LAN, where the browser keeps crypto.subtle away.
// Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.3.3 and 6.2.

const PRIMES = [];
for (let candidate = 2; PRIMES.length < 64; candidate += 1) {
  if (PRIMES.every((prime) => candidate % prime !== 0)) PRIMES.push(candidate);
}
const fractionBits = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32) >>> 0;
const START = PRIMES.slice(0, 8).map((prime) => fractionBits(Math.sqrt(prime)));
const K = PRIMES.map((prime) => fractionBits(Math.cbrt(prime)));
const turn = (word, by) => (word >>> by) | (word << (32 - by));

function padded(bytes) {
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const block = new Uint8Array(length);
  block.set(bytes);
  block[bytes.length] = 0x80;
  const view = new DataView(block.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  return view;
}

function schedule(view, offset) {
  const w = Array.from({ length: 16 }, (_, index) => view.getUint32(offset + index * 4));
  for (let i = 16; i < 64; i += 1) {
    const a = w[i - 15];
    const b = w[i - 2];
    const s0 = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const s1 = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    w.push((w[i - 16] + s0 + w[i - 7] + s1) >>> 0);
  }
  return w;
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) >>> 0;
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + second) >>> 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => (word + state[index]) >>> 0);
}

/** Return the digest of bytes as hexadecimal text, in this file's own arithmetic. */
export function sha256Bytes(bytes) {
  const view = padded(bytes);
  let state = START;
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    state = compress(state, schedule(view, offset));
  }
  return state.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Return the digest of a text (UTF-8), by the browser where it lets us. */
export async function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  if (!globalThis.crypto?.subtle) return sha256Bytes(bytes);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

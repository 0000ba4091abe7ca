// This visit's clock and result: since when, and what the rounds brought.

const KEY = "studio.session";

function readStart() {
  try {
    return Number(sessionStorage.getItem(KEY)) || null;
  } catch {
    return null;
  }
}

/** Net result of one round of the history: what came back minus what was put in. */
export function roundNet(round) {
  const ended = (round.wagers ?? []).filter((wager) => wager.ending && wager.ending.kind !== "undone");
  if (!round.wagers) return (round.payout_minor ?? 0) - (round.stake_minor ?? 0);
  return ended.reduce((net, wager) => net + wager.ending.payout_minor - wager.hold_minor, 0);
}

/** Since when this browser tab has been playing, and the net of the rounds bet on since. */
export class Session {
  #nets = new Map();

  constructor(clock) {
    this.clock = clock;
    this.kept = readStart();
  }

  /** Server time of the first look at a table; kept over reloads of the tab. */
  get startMs() {
    if (this.kept === null && this.clock.known) {
      this.kept = this.clock.now();
      try {
        sessionStorage.setItem(KEY, String(this.kept));
      } catch {
        // Without storage the session simply begins anew with each page.
      }
    }
    return this.kept ?? this.clock.now();
  }

  /** Take rounds of the history; returns those of this session. */
  take(rounds) {
    const own = rounds.filter((round) => (round.wagers ?? []).some((wager) => wager.accepted_ms >= this.startMs));
    for (const round of own) this.#nets.set(round.round_id, roundNet(round));
    return own;
  }

  get netMinor() {
    return [...this.#nets.values()].reduce((sum, net) => sum + net, 0);
  }
}

// What the station says while its own link or its scanner's is lost. Pure: no page, no network.

/** Reports that wait for less than this are on their way, not offline work. */
export const QUEUE_PATIENCE_MS = 3000;

/**
 * How long which link has been away, or null: {who: "station" | "scanner" | "video", ms}. `lostMs`:
 * how long the station's own link has been lost, null while it is up; `work`: what the studio said
 * last of the scanner, `sinceMs` ago; `videoMs`: how long the video has been lost, or null.
 */
export function away({ lostMs, work, sinceMs = 0, videoMs = null }) {
  const video = videoMs === null ? null : { who: "video", ms: videoMs };
  if (lostMs !== null) return { who: "station", ms: lostMs };
  if (!work || work.offline_ms === null || work.offline_ms === undefined) return video;
  const ms = work.offline_ms + sinceMs;
  const waits = (work.queued ?? 0) > 0 && ms >= QUEUE_PATIENCE_MS;
  return work.scanner === "lost" || waits ? { who: "scanner", ms } : video;
}

/**
 * What follows for the round while `who` is away: it `runs`, or `waits` for its first card to be
 * cancelled; `idle`: there is none. A scanner whose reports wait is not a lost link.
 */
export function roundState({ round, links }, who) {
  if (!round || ["settled", "void"].includes(round.phase)) return "idle";
  return !round.started && (who === "station" || links[who] === "lost") ? "waits" : "runs";
}

/** The dealer's next step while the station itself is cut off: no first card, no new round. */
export function cutOff(view) {
  const code = { idle: "link_lost", waits: "link_waits" }[roundState(view, "station")];
  const cut = code && ["burn_one", "deal", "wait_close", "start_round"].includes(view.instruction.code);
  return cut ? { code, link: "station" } : view.instruction;
}

/** Headline and what to do, the number of waiting reports included. `round`: see roundState. */
export function awayWords({ t, tn }, { who }, { round, unsent }) {
  const waiting = unsent > 0 ? tn("station.unsent", unsent) : who === "video" ? "" : t("station.away_keeps");
  return { what: t(`station.away_${who}`), action: `${t(`station.away_${round}`)} ${waiting}`.trim() };
}

/**
 * What is said when everything is back: how many reports came in meanwhile, and the step to go on
 * with. `work.back_ms`: how long ago the scanner's offline work ended; only what ended within the
 * `awayMs` that this station was told of counts.
 */
export function backWords({ t, tn }, { work, awayMs, step }) {
  const counts = work && typeof work.back_ms === "number" && work.back_ms <= awayMs;
  const sent = counts ? work.sent : 0;
  const back = sent > 0 ? tn("station.back_sent", sent) : t("station.back");
  return step ? `${back} ${t("station.back_step", { step })}` : back;
}

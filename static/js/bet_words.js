// What bets and hands are called: the same words wherever people read them.

import { either, has, t } from "./i18n.js";

/** A bet by its code: "p1_pair" → "P1 Pair", "tie" → "Tie"; a code that has no words shows itself. */
export const betWords = (code) => either(`bet.${code}`, "bet.other", { code });

/** What a spot beside its hand says of its bet: "Main", "Pair", "Banker". `bet` is of the snapshot. */
export const kindWords = (bet) => (has(`spot.${bet.settles_on}`) ? t(`spot.${bet.settles_on}`) : betWords(bet.code));

/** A position as it is read aloud: "P1" → "Player 1", "P" → "Player", "B" → "Banker". */
export function positionName(position) {
  const seat = /^P(\d+)$/.exec(position);
  if (seat) return t("position.player", { number: seat[1] });
  return either(`position.${position}`, "position.other", { position });
}

/** A position where there is little room: "P1", "Player", "Banker". */
export const positionShort = (position) => (has(`position.${position}`) ? t(`position.${position}`) : position);

const DECIMALS = 3n;

/** Odds to one as people read them: "19/20" → "0.95"; what does not end is cut, never rounded up. */
export function oddsNumber(fraction) {
  const [top, bottom = "1"] = String(fraction).split("/");
  const unit = 10n ** DECIMALS;
  const whole = (BigInt(top) * unit) / BigInt(bottom);
  const rest = String(whole % unit).padStart(Number(DECIMALS), "0").replace(/0+$/, "");
  return rest ? `${whole / unit}.${rest}` : String(whole / unit);
}

/** What a spot says of its pay: "0.95:1", "up to 2:1". */
export const oddsWords = (bet) => either(`spot.odds_${bet.settles_on}`, "spot.odds", { odds: oddsNumber(bet.bank_exposure) });

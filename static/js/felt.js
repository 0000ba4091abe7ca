// The hands on the felt and the spots to bet on, built from what the table says it has.

import { cardPlace } from "./cards.js";
import { h, icon, setText } from "./dom.js";
import { either, has, t } from "./i18n.js";

const STATE_ICONS = {
  sending: ["loader-circle", "spin"],
  undoing: ["loader-circle", "spin"],
  unknown: ["circle-help", ""],
  accepted: ["check", ""],
  settled: ["check", ""],
  refunded: ["undo-2", ""],
};

/** "P1" → "Player 1", "B" → "Banker": for words that are read aloud. */
export function positionName(position) {
  const seat = /^P(\d+)$/.exec(position);
  return seat ? t("position.player", { number: seat[1] }) : t(position === "B" ? "position.banker" : "position.other", { position });
}

export const positionShort = (position) => (position === "B" && has("position.banker_short") ? t("position.banker_short") : position);

/** What a hand is worth, in words: "7.4 · special pair". */
export function handWords({ points, name }) {
  if (points === null || points === undefined) return "";
  const pattern = name && name !== "plain" && has(`hand.${name}`) ? t(`hand.${name}`) : "";
  return pattern ? t("hand.with_pattern", { points, pattern }) : t("hand.points", { points });
}

function makeSpot(bet, onPlace) {
  const label = h("span", { class: "spot-name", text: t(`spot.${bet.settles_on}`) });
  const amount = h("span", { class: "spot-amount number" });
  const state = h("span", { class: "spot-state" });
  const note = h("span", { class: "spot-note" });
  const button = h(
    "button",
    { type: "button", class: `spot spot-${bet.settles_on}`, "data-testid": `spot-${bet.code}`, onclick: () => onPlace(bet) },
    h("span", { class: "spot-line" }, label, state),
    amount,
    note,
  );
  let shownState = "";
  return {
    bet,
    button,
    update({ spot, open, money, blocked, result }) {
      if (spot.state !== shownState) {
        const [name, extra] = STATE_ICONS[spot.state] ?? [null, ""];
        state.replaceChildren(...(name ? [icon(name, extra)] : []));
        shownState = spot.state;
        button.dataset.state = spot.state;
      }
      const total = spot.stake + spot.waiting;
      setText(amount, total ? money.number(total) : "");
      setText(note, spotNote(spot, bet, money));
      button.toggleAttribute("disabled", !open);
      button.dataset.result = result ?? "";
      button.setAttribute("aria-label", spotWords({ spot, bet, money, open, blocked }));
    },
  };
}

function spotNote(spot, bet, money) {
  if (spot.state === "sending") return t("spot.sending");
  if (spot.state === "undoing") return t("spot.undoing");
  if (spot.state === "unknown") return t("spot.unknown");
  if (spot.state === "settled") return t("spot.returned", { amount: money.number(spot.payout) });
  if (spot.state === "refunded") return t("spot.refunded", { amount: money.number(spot.payout) });
  if (spot.stake && spot.hold > spot.stake) return t("spot.held", { amount: money.number(spot.hold) });
  if (spot.stake) return t("spot.accepted");
  return t(`spot.odds_${bet.settles_on}`);
}

function spotWords({ spot, bet, money, open, blocked }) {
  const where = t("spot.aria", { position: positionName(bet.position), bet: t(`spot.${bet.settles_on}`) });
  const what = spot.stake + spot.waiting ? `${money.full(spot.stake + spot.waiting)}, ${spotNote(spot, bet, money)}` : t("spot.aria_empty");
  return open ? `${where}: ${what}` : `${where}: ${what}. ${blocked}`;
}

function makeHand(position, bets, onPlace) {
  const cards = h("div", { class: "hand-cards" });
  const name = h("h2", { class: "hand-name" }, h("span", { text: positionShort(position), "aria-hidden": "true" }), h("span", { class: "sr", text: positionName(position) }));
  const worth = h("p", { class: "hand-worth", "data-testid": `worth-${position}` });
  const result = h("p", { class: "hand-result", "data-testid": `result-${position}`, hidden: true });
  const spots = bets.map((bet) => makeSpot(bet, onPlace));
  const element = h(
    "section",
    { class: `hand hand-${position === "B" ? "banker" : "player"}`, "data-position": position, "data-testid": `hand-${position}` },
    h("div", { class: "hand-head" }, name, worth),
    cards,
    h("div", { class: "hand-spots" }, ...spots.map((spot) => spot.button)),
    result,
  );
  const places = [];
  return {
    position,
    element,
    spots,
    update(hand, size) {
      while (places.length < Math.max(size, hand.count)) {
        places.push(cardPlace());
        cards.append(places.at(-1).element);
      }
      places.forEach((place, index) => place.update(index < hand.count ? hand.cards[index] ?? "back" : null));
      setText(worth, handWords(hand));
      element.dataset.open = String(hand.cards.length > 0 && hand.cards.every((card) => card !== null));
    },
    result(mark, text) {
      result.hidden = !mark;
      element.dataset.result = mark?.result ?? "";
      setText(result, mark ? text : "");
    },
  };
}

/** Build the felt; `order` lists players first, then the banker, as they are opened. */
export function makeFelt(root, bets, onPlace) {
  const players = [...new Set(bets.map((bet) => bet.position))];
  const hands = new Map();
  const make = (position) => {
    const hand = makeHand(position, bets.filter((bet) => bet.position === position), onPlace);
    hands.set(position, hand);
    return hand.element;
  };
  root.replaceChildren(make("B"), h("div", { class: "players" }, ...players.map(make)));
  return {
    players,
    hands,
    spots: [...hands.values()].flatMap((hand) => hand.spots),
    update(round) {
      const dealt = new Map((round?.hands ?? []).map((hand) => [hand.position, hand]));
      for (const hand of hands.values()) {
        hand.update(dealt.get(hand.position) ?? { count: 0, cards: [], points: null, name: null }, 2);
      }
    },
  };
}

/** "wins 2:1", "loses", "tie": a mark with what one unit brought. */
export function resultWords(mark, results, bet) {
  const result = (results ?? []).find((one) => one.bet === bet);
  return result ? either(`result.${result.reason}`, `result.${mark.result}`) : t(`result.${mark.result}`);
}

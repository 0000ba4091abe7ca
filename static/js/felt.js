// The hands on the felt and the spots to bet on, built from what the table says it has.

import { betWords, kindWords, oddsNumber, oddsWords, positionName, positionShort } from "./bet_words.js";
import { cardPlace } from "./cards.js";
import { h, icon, renderOnce, setText } from "./dom.js";
import { either, has, t } from "./i18n.js";

const STATE_ICONS = {
  sending: ["loader-circle", "spin"],
  undoing: ["loader-circle", "spin"],
  unknown: ["circle-help", ""],
  accepted: ["check", ""],
  settled: ["check", ""],
  refunded: ["undo-2", ""],
};

/** Places shown before any card lies there; a further one only once its card is due or lies there. */
const PLACES_ALWAYS = 2;
const EMPTY = { count: 0, cards: [], points: null, name: null };
const OPPOSITE = { win: "lose", lose: "win", tie: "tie" };
const SIDE_ICONS = { win: "circle-check", tie: "minus" };

/** What a hand is worth, in words: "7.4 · special pair". */
export function handWords({ points, name }) {
  if (points === null || points === undefined) return "";
  const pattern = name && name !== "plain" && has(`hand.${name}`) ? t(`hand.${name}`) : "";
  return pattern ? t("hand.with_pattern", { points, pattern }) : t("hand.points", { points });
}

function makeSpot(bet, onPlace) {
  const label = h("span", { class: "spot-name", text: kindWords(bet) });
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
        const [symbol, extra] = STATE_ICONS[spot.state] ?? [null, ""];
        state.replaceChildren(...(symbol ? [icon(symbol, extra)] : []));
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
  if (spot.forfeited) return t("result.forfeited");
  if (spot.state === "settled") return t("spot.returned", { amount: money.number(spot.payout) });
  if (spot.state === "refunded") return t("spot.refunded", { amount: money.number(spot.payout) });
  if (spot.stake && spot.hold > spot.stake) return t("spot.held", { amount: money.number(spot.hold) });
  if (spot.stake) return t("spot.accepted");
  return oddsWords(bet);
}

function spotWords({ spot, bet, money, open, blocked }) {
  const where = t("spot.aria", { bet: betWords(bet.code) });
  const note = spotNote(spot, bet, money);
  const what = spot.stake + spot.waiting ? `${money.full(spot.stake + spot.waiting)}, ${note}` : `${note}, ${t("spot.aria_empty")}`;
  return open ? `${where}: ${what}` : `${where}: ${what}. ${blocked}`;
}

const spotBox = (spots, attributes = {}) => h("div", { class: "hand-spots", ...attributes }, ...spots.map((spot) => spot.button));

/** A hand of one position; `kind` is its look: bank, player (its spots beside it) or side. */
function makeHand(position, { kind, spots }) {
  const cards = h("div", { class: "hand-cards" });
  const name = h("h2", { class: "hand-name" }, h("span", { text: positionShort(position), "aria-hidden": "true" }), h("span", { class: "sr", text: positionName(position) }));
  const worth = h("p", { class: "hand-worth", "data-testid": `worth-${position}` });
  const result = h("p", { class: "hand-result", "data-testid": `result-${position}`, hidden: true });
  const element = h(
    "section",
    { class: `hand hand-${kind}`, "data-position": position, "data-testid": `hand-${position}` },
    h("div", { class: "hand-head" }, name, worth),
    cards,
    kind === "player" ? spotBox(spots) : null,
    result,
  );
  const places = [];
  return {
    position,
    element,
    spots,
    update(hand, due) {
      const size = Math.max(PLACES_ALWAYS, hand.count, due);
      while (places.length < size) {
        places.push(cardPlace());
        cards.append(places.at(-1).element);
      }
      while (places.length > size) places.pop().element.remove();
      places.forEach((place, index) => place.update(index < hand.count ? hand.cards[index] ?? "back" : null));
      setText(worth, handWords(hand));
      element.dataset.open = String(hand.cards.length > 0 && hand.cards.every((card) => card !== null));
    },
    result(mark, text) {
      result.hidden = !mark;
      element.dataset.result = mark?.result ?? "";
      const symbol = kind === "side" && mark ? SIDE_ICONS[mark.result] : null;
      renderOnce(result, `${symbol}/${text}`, () => [symbol ? icon(symbol) : null, h("span", { text })].filter(Boolean));
    },
  };
}

/** Hands without bets of their own on top, the others in a row, each with its spots. */
function inRows({ bank, players, middle }) {
  const rows = [...bank.map((hand) => hand.element), h("div", { class: "players" }, ...players.map((hand) => hand.element))];
  return middle.length ? [...rows, spotBox(middle, { "data-testid": "spots-middle" })] : rows;
}

/** Two hands side by side; below them their spots, those of the round as a whole in the middle. */
function sideBySide({ players, middle }) {
  const box = ({ position, spots }) => spotBox(spots, { role: "group", "aria-label": positionName(position), "data-testid": `spots-${position}` });
  const [first, second] = players;
  const between = middle.length ? [spotBox(middle, { "data-testid": "spots-middle" })] : [];
  return [h("div", { class: "sides" }, first.element, second.element), h("div", { class: "side-spots" }, box(first), ...between, box(second))];
}

/** The card that is asked for next, as {position, card} with card from 1; none while nothing is. */
const dueCard = ({ instruction }) => (["deal", "rescan"].includes(instruction?.code) ? instruction : null);

/** Build the felt of a table's snapshot; `onPlace` is called with the bet whose spot is pressed. */
export function makeFelt(root, { places, bets }, onPlace) {
  const positions = [...new Set(places.map((place) => place.position))];
  const spotsOf = (position) => bets.filter((bet) => bet.position === position).map((bet) => makeSpot(bet, onPlace));
  const isBank = (position) => !bets.some((bet) => bet.position === position);
  const sided = positions.length === 2 && !positions.some(isBank);
  const make = (position) => makeHand(position, { kind: isBank(position) ? "bank" : sided ? "side" : "player", spots: spotsOf(position) });
  const hands = positions.map(make);
  const parts = { bank: hands.filter((hand) => isBank(hand.position)), players: hands.filter((hand) => !isBank(hand.position)), middle: spotsOf(null) };
  root.classList.toggle("two-sided", sided);
  root.replaceChildren(...(sided ? sideBySide(parts) : inRows(parts)));
  const markOf = (position, marks) => {
    const own = marks.find((mark) => mark.position === position);
    if (own || !sided || !marks.length) return own ?? null;
    return { ...marks[0], position, result: OPPOSITE[marks[0].result] };
  };
  return {
    players: parts.players.map((hand) => hand.position),
    spots: [...parts.players.flatMap((hand) => hand.spots), ...parts.middle],
    /** Show the hands as they lie. */
    update(view) {
      const dealt = new Map((view.round?.hands ?? []).map((hand) => [hand.position, hand]));
      const due = dueCard(view);
      for (const hand of hands) hand.update(dealt.get(hand.position) ?? EMPTY, due?.position === hand.position ? due.card : 0);
    },
    /** Show who won; a hand that can be bet on says what its first bet brought. */
    drawResults(round) {
      for (const hand of parts.players) {
        const mark = markOf(hand.position, round?.marks ?? []);
        const bet = sided ? null : hand.spots[0].bet.code;
        hand.result(mark, mark ? resultWords(mark, round.results, bet) : "");
      }
    },
  };
}

/** Why a bet brought what it brought: "wins 2:1", "pair, 11:1". */
export const reasonOf = ({ reason, net }, fallback = "result.done") => either(`result.${reason}`, fallback, { odds: oddsNumber(net) });

/** "wins 2:1", "loses", "tie": a mark with what one unit on a bet brought, if one is named. */
function resultWords(mark, results, bet) {
  const result = (results ?? []).find((one) => one.bet === bet);
  return result ? reasonOf(result, `result.${mark.result}`) : t(`result.${mark.result}`);
}

// What play money adds to the table: the room, medals and purse, sounds and music.

import { $, h, icon, setShown } from "./dom.js";
import { itemName } from "./club_words.js";
import { t } from "./i18n.js";
import { Music } from "./music.js";
import { MyRoom } from "./my_room.js";
import { tellNews } from "./play_news.js";
import { makeRoomPanel } from "./room_panel.js";
import { setEffectsVolume, soundChip, soundFailed, soundWon } from "./sound.js";

const MUSIC_OFF = "studio.music_off";

/** A chip that lies, a bet that is refused, a round that brought something. */
function makeSounds(bets) {
  let stood = false;
  bets.addEventListener("accepted", soundChip);
  bets.addEventListener("refused", soundFailed);
  bets.addEventListener("change", () => {
    const ended = bets.all.filter((wager) => wager.state === "settled");
    const net = ended.reduce((sum, wager) => sum + wager.payout_minor - wager.hold_minor, 0);
    if (stood && ended.length && net > 0) soundWon();
    stood = bets.all.some((wager) => wager.state === "accepted");
  });
}

/** The music that was chosen, and the button that turns it off on this device. */
function makeMusic({ music: chosen, music_volume: volume }) {
  const music = new Music();
  const button = $("#music-toggle");
  const off = () => localStorage.getItem(MUSIC_OFF) === "yes";
  const draw = () => {
    button.setAttribute("aria-pressed", String(!off()));
    button.replaceChildren(icon(off() ? "volume-x" : "volume-2"), h("span", { text: t("club.music_of", { item: itemName(chosen) }) }));
    music.play(off() ? null : chosen);
  };
  button.addEventListener("click", () => {
    localStorage.setItem(MUSIC_OFF, off() ? "no" : "yes");
    draw();
  });
  music.setVolume(volume);
  setShown(button, chosen !== "music_none" && volume > 0);
  draw();
}

/**
 * Start all of it. me: as `GET /api/me` answers; money: minor → words.
 * Returns `blocked()`: why the room keeps this table's spots shut, in words, or null.
 */
export function startPlayMoney({ live, bets, me, money, table, onChange }) {
  const mine = new MyRoom();
  const room = makeRoomPanel($("#room-body"), mine, { me, money, table, bar: $("#phase-bar"), onChange });
  let round = "";
  live.addEventListener("table", ({ detail: feed }) => {
    const now = `${feed.view?.round?.id}/${feed.view?.phase}`;
    if (now !== round) mine.ask();
    round = now;
  });
  live.addEventListener("wallet", ({ detail }) => tellNews(detail, money));
  setEffectsVolume(me.options.effects_volume);
  makeSounds(bets);
  makeMusic(me.options);
  mine.follow(live);
  return room;
}

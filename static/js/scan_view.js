// What a scanner says of itself, in plain words for the pit. Pure: no page, no network.

const dash = "–";
const counted = (count) => (typeof count === "number" ? count.toLocaleString("en") : dash);

/**
 * Rows of a table's scanner: {key, label, value, bad}. `bad` is what is not as it should be. An
 * empty list: the scanner says nothing of itself.
 */
export function scanRows({ t, has }, link) {
  const scan = link?.scan;
  if (!scan) return [];
  const waiting = link.queued ?? 0;
  const row = (key, value, bad = false) => ({ key, label: t(`scan.${key}`), value, bad });
  return [
    row("camera", scan.camera ? t(`scan.camera.${scan.camera}`) : dash, ["lost", "frozen"].includes(scan.camera)),
    row("age", typeof link.frame_age_ms === "number" ? t("scan.seconds", { seconds: (link.frame_age_ms / 1000).toFixed(1) }) : t("scan.never")),
    row("fps", typeof link.fps === "number" ? link.fps.toFixed(1) : dash),
    row("read", counted(scan.read)),
    row("by_copy", scan.read_by_copy ? scan.read_by_copy.map(counted).join(" · ") : dash),
    row("not_read", notRead({ t, has }, scan.failed ?? {})),
    row("restarts", `${counted(scan.restarts)} · ${counted(scan.faults)}`),
    row("dropped", counted(scan.dropped)),
    row("reopened", counted(scan.reopened)),
    row("waiting", link.queue_max ? t("scan.waiting_of", { queued: counted(waiting), most: counted(link.queue_max) }) : counted(waiting), waiting > 0),
    row("pictures_dropped", counted(scan.pictures_dropped)),
  ];
}

/** The misses by reason, the most frequent first. */
function notRead({ t, has }, failed) {
  const most = Object.entries(failed).filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  const what = (reason) => (has(`scan.reason.${reason}`) ? t(`scan.reason.${reason}`) : reason);
  return most.map(([reason, count]) => t("scan.one", { what: what(reason), count: counted(count) })).join(" · ") || t("scan.none");
}

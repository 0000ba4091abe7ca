// What an intervention changed, value by value. Pure.

/** A value as text. */
export const plain = (value) => (value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value, null, 1));

/** Names of the values that differ, with what they were and what they became. */
export function changes(was, is) {
  const old = was && typeof was === "object" ? was : {};
  const fresh = is && typeof is === "object" ? is : {};
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]))
    .map((name) => ({ name, was: plain(old[name]), is: plain(fresh[name]) }));
}

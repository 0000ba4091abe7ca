// Money on the screen: exact, from whole minor units. No floating point touches an amount.

const SIGNS = { JPY: ["¥", "円"], USD: ["$", null], EUR: ["€", null], GBP: ["£", null], THB: ["฿", null] };

/** Group an amount of minor units into major units: 123456 with 2 decimals is "1,234.56". */
export function formatNumber(minor, decimals = 0) {
  const amount = BigInt(minor);
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, "0");
  const major = digits.slice(0, digits.length - decimals);
  const grouped = major.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const fraction = decimals ? `.${digits.slice(digits.length - decimals)}` : "";
  return `${negative ? "−" : ""}${grouped}${fraction}`;
}

/** Write an amount with its currency: ¥1,234 in English, 1,234円 in Japanese. */
export function formatMoney(minor, currency, language = "en") {
  const number = formatNumber(minor, currency.decimals);
  const [before, after] = SIGNS[currency.code] ?? [null, null];
  if (after !== null && language === "ja") return `${number}${after}`;
  if (before !== null) return number.startsWith("−") ? `−${before}${number.slice(1)}` : `${before}${number}`;
  return `${number}\u00a0${currency.code}`; // one never stands without the other
}

/** A signed amount: +1,200, −300, 0. */
export function formatSigned(minor, currency, language) {
  const text = formatMoney(minor, currency, language);
  return BigInt(minor) > 0n ? `+${text}` : text;
}

/** A chip's short label: 100, 5k, 5千, 1万. Chips are whole multiples, so nothing is rounded. */
export function formatChip(minor, decimals, language) {
  const unit = 10 ** decimals;
  if (minor % unit !== 0) return formatNumber(minor, decimals);
  const major = minor / unit;
  if (language === "ja" && major >= 10000 && major % 10000 === 0) return `${major / 10000}万`;
  if (language === "ja" && major >= 1000 && major < 10000 && major % 1000 === 0) return `${major / 1000}千`;
  if (language !== "ja" && major >= 1000 && major % 1000 === 0) return `${major / 1000}k`;
  return formatNumber(major);
}

/** Read what a person typed as an amount; null when it is not one. Only ASCII digits count. */
export function parseMinor(text, decimals) {
  const match = /^(\d{1,15})(?:\.(\d+))?$/.exec(text.trim().replaceAll(",", ""));
  if (!match || (match[2] ?? "").length > decimals) return null;
  const minor = Number(match[1] + (match[2] ?? "").padEnd(decimals, "0"));
  return Number.isSafeInteger(minor) && minor > 0 ? minor : null;
}

/** The chips a table offers between its smallest and largest stake: 1, 2, 5 steps, at most six. */
export function chipValues(minMinor, maxMinor) {
  const values = [];
  for (let power = 1; power <= maxMinor; power *= 10) {
    for (const step of [1, 5]) {
      const value = step * power;
      if (value >= minMinor && value <= maxMinor) values.push(value);
    }
  }
  if (!values.includes(minMinor)) values.unshift(minMinor);
  return values.slice(0, 6);
}

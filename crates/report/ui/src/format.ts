// Formats numbers like `crates/report/src/numbers.rs`.

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** A count with separators between thousands. */
export function thousands(value: number): string {
  return GROUPED.format(value);
}

/** A time in ms with about three significant digits. */
export function ms(value: number): string {
  const size = Math.abs(value);
  if (size < 9.995) return value.toFixed(2);
  if (size < 99.95) return value.toFixed(1);
  return thousands(value);
}

/** A rate or a size with about three significant digits; a number other than zero is never shown as zero. */
export function rate(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return "<0.001";
  if (size > 0 && size < 0.00995) return value.toFixed(3);
  if (size > 0 && size < 0.0995) return value.toFixed(2);
  return size < 999.95 ? value.toFixed(1) : thousands(value);
}

/** About three significant digits, as in `crates/report/src/page/system/scale.rs`. Whole numbers have no decimals. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return thousands(value);
  if (size < 0.0005) return "<0.001";
  if (size < 0.0995) return value.toFixed(3);
  if (size < 9.995) return value.toFixed(2);
  return size < 99.95 ? value.toFixed(1) : thousands(value);
}

/** A time of the run: `12.5 s`, `3:05`, `1:02:05`. */
export function moment(seconds: number): string {
  if (seconds < 60 || (seconds < 120 && !Number.isInteger(seconds))) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** A percentile's name: `p99.9`, `max`. */
export function percentileName(percentile: number): string {
  return percentile >= 100 ? "max" : `p${Number(percentile.toFixed(5))}`;
}

/** A tick of an axis, as short as possible. */
export function tick(value: number): string {
  if (value >= 10_000 && value < 1e6 && value % 1000 === 0) return `${value / 1000}k`;
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  return value >= 1000 ? thousands(value) : String(Number(value.toPrecision(6)));
}

/** A tick of an axis in ms, with its unit: `20 µs`, `0.5 ms`, `20 ms`, `3 s`. */
export function timeTick(value: number): string {
  if (value > 0 && value < 0.0995) return `${tick(value * 1000)} µs`;
  return value >= 1000 ? `${tick(value / 1000)} s` : `${tick(value)} ms`;
}

/** The number in a cell to sort by; unknown values sort last. */
export function numberOf(text: string): number {
  const trimmed = text.trim().replaceAll(",", "");
  // `<0.01` is not zero.
  if (trimmed.startsWith("<")) return Number.parseFloat(trimmed.slice(1)) / 2;
  const value = Number.parseFloat(trimmed);
  return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
}

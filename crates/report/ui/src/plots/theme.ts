// Colours come from the style sheet, so that a plot follows it into dark mode.

export type Colour = "ink" | "soft" | "rule" | "page" | "blue" | "orange" | "red" | "green" | "purple" | "shade";

/** The colour as the page has it now. */
export function colour(name: Colour): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The same, more or less transparent. */
export function faded(name: Colour, percent: number): string {
  return `color-mix(in srgb, ${colour(name)} ${percent}%, transparent)`;
}

/** Steps of the heat map from few to many: cividis, which is readable with colour vision deficiencies. */
const CIVIDIS_LIGHT = ["#e9e4c9", "#d9cf8f", "#b5a971", "#8e8978", "#6c6e72", "#45556c", "#1c3a6e", "#00204c"];
const CIVIDIS_DARK = ["#132a52", "#2b446e", "#4b566d", "#6b6d72", "#8e8978", "#b5a971", "#dcc860", "#ffea46"];

/** The ramp that goes away from the page's ground: more is further from it. */
export function ramp(): readonly string[] {
  return isDark() ? CIVIDIS_DARK : CIVIDIS_LIGHT;
}

export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Calls `then` when the page goes from light to dark or back. */
export function onThemeChange(then: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", then);
}

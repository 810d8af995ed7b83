// Colours come from the style sheet, so that plots follow its light and dark themes.

export type Colour = "ink" | "soft" | "rule" | "page" | "blue" | "orange" | "red" | "green" | "purple" | "shade";

/** The current value of a colour in the page. */
export function colour(name: Colour): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A colour with the given opacity. */
export function faded(name: Colour, percent: number): string {
  return `color-mix(in srgb, ${colour(name)} ${percent}%, transparent)`;
}

/** Steps of the heat map from few to many: cividis, which is readable with colour vision deficiencies. */
const CIVIDIS_LIGHT = ["#e9e4c9", "#d9cf8f", "#b5a971", "#8e8978", "#6c6e72", "#45556c", "#1c3a6e", "#00204c"];
const CIVIDIS_DARK = ["#132a52", "#2b446e", "#4b566d", "#6b6d72", "#8e8978", "#b5a971", "#dcc860", "#ffea46"];

/** The ramp for the current theme. Larger counts contrast more with the background of the page. */
export function ramp(): readonly string[] {
  return isDark() ? CIVIDIS_DARK : CIVIDIS_LIGHT;
}

export function isDark(): boolean {
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Calls `then` when the page changes between light and dark. */
export function onThemeChange(then: () => void): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", then);
}

// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them, and colors for numbers.

export function count(number) {
  return Math.round(number).toLocaleString("en");
}

export function bytes(amount) {
  let power = 0;
  while (amount >= 1023.95 && power < 6) {
    amount /= 1024;
    power++;
  }
  const digits = power === 0 && Number.isInteger(amount) ? 0 : 1;
  return `${amount.toFixed(digits)} ${["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power]}B`;
}

export function seconds(time) {
  if (time === 0) return "0 s";
  const [factor, unit] = time >= 1 ? [1, "s"] : time >= 1e-3 ? [1e3, "ms"] : time >= 1e-6 ? [1e6, "us"] : [1e9, "ns"];
  return `${(time * factor).toPrecision(3)} ${unit}`;
}

export function percent(share) {
  const digits = share > 0 && share < 0.0995 ? 1 : 0;
  return `${(100 * share).toFixed(digits)} %`;
}

// Viridis for loads: much stands out against the page. Oranges for ranks. Both are safe
// for the color-blind and monotone in lightness.
const HEAT = ["#b5de2b", "#35b779", "#21918c", "#31688e", "#443983", "#440154"];
const HEAT_IN_THE_DARK = ["#5f4fa2", "#3a76a8", "#21918c", "#35b779", "#90d743", "#fde725"];
const RANK_RAMP = ["#fdb97d", "#f1812e", "#c44a02", "#7f2704"];
const RANK_RAMP_IN_THE_DARK = ["#a33a05", "#d9570a", "#f1812e", "#fdb97d", "#fee0c0"];
// Blue for faster, orange for slower than usual.
const DIVERGING = ["#123a6b", "#5b8fc9", "#e6e6e2", "#ee9d55", "#8f3b00"];
const DIVERGING_IN_THE_DARK = ["#a9d1ff", "#3f78b8", "#2d343d", "#c4661a", "#ffcf9e"];

export function isDark() {
  const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g);
  return 0.2 * red + 0.7 * green + 0.1 * blue < 128;
}

/** Colors from little to much, as [red, green, blue]. */
export function heat(dark, steps) {
  return ramp(dark ? HEAT_IN_THE_DARK : HEAT, steps);
}

export function rankRamp(dark, steps) {
  return ramp(dark ? RANK_RAMP_IN_THE_DARK : RANK_RAMP, steps);
}

/** Colors from faster to slower, usual in the middle. */
export function diverging(dark, steps) {
  return ramp(dark ? DIVERGING_IN_THE_DARK : DIVERGING, steps);
}

export function css([red, green, blue], alpha = 1) {
  return `rgb(${red} ${green} ${blue} / ${alpha})`;
}

export function gradient(colors) {
  return `linear-gradient(to right, ${colors.map((color) => css(color)).join(", ")})`;
}

function ramp(stops, steps) {
  const parsed = stops.map((stop) => [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
  return Array.from({ length: steps }, (_, step) => {
    const at = (step / Math.max(steps - 1, 1)) * (parsed.length - 1);
    const low = Math.min(Math.floor(at), parsed.length - 2);
    return parsed[low].map((value, i) => Math.round(value + (at - low) * (parsed[low + 1][i] - value)));
  });
}

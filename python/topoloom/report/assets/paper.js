// SPDX-License-Identifier: BSD-3-Clause
// When pictures are drawn: at first, in other colors, in another size, on paper, or never.

/** Pictures are drawn anew where the system or the button changes colors. */
export function followTheme(redraw) {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const set = (dark) => {
    button.setAttribute("aria-pressed", String(dark));
    redraw();
  };
  set(system.matches);
  button.addEventListener("click", () => {
    const dark = button.getAttribute("aria-pressed") !== "true";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    set(dark);
  });
  system.addEventListener("change", () => {
    delete document.documentElement.dataset.theme;
    set(system.matches);
  });
}

/** Paper is light, and waits for no frame. */
export function drawForPaper(draw, redraw) {
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? draw() : redraw()));
}

/** Pictures are drawn anew in another size; the page says that they have been drawn. */
export function followSize(redraw) {
  const resized = new ResizeObserver(redraw);
  for (const picture of document.querySelectorAll(".stack")) resized.observe(picture);
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("drawn");
    document.documentElement.dataset.drawn = "";
  }));
}

/** Say why there are no pictures. */
export function cannotDraw(problem) {
  for (const read of document.querySelectorAll(".readout")) {
    read.textContent = `The pictures cannot be drawn; they need a browser of 2024 or later (${problem.message}).`;
  }
  throw problem;
}

// SPDX-License-Identifier: BSD-3-Clause
// Two matrices of ranks that move together.
//
// A cell of the picture is 1, 2, 4, ... cells of the finest level wide, aligned, so that
// it does not flicker while the picture moves. What a cell is, `Traffic` and `Costs` say:
// `finest(pane)` is the width of the finest cells, `fill(pane, area)` the amount of each
// cell in sight, `shades(drawn)` how each pane colors them; `read`, `label` and `name` are
// texts, and `mark` draws on top. They call `showAll` once they can answer.

import { atNextFrame, listen, sharp } from "./canvas.js";
import { count } from "./format.js";

const LEFT = 52;
const TOP = 34;
const LEAST_PIXELS = 2; // of a cell

export const SHADES = 256;

export class Matrix {
  constructor(ranks) {
    this.ranks = ranks;
    this.panes = [0, 1].map((number) => ({
      number,
      canvas: document.getElementById(`matrix-${number}`),
      title: document.getElementById(`matrix-name-${number}`),
    }));
    this.cursor = null;
    this.redraw = atNextFrame(() => this.draw());
    for (const pane of this.panes) this.watch(pane);
    const middle = (factor) => () => this.zoom(factor, this.x + this.span / 2, this.y + this.span / 2);
    document.getElementById("matrix-in").addEventListener("click", middle(2));
    document.getElementById("matrix-out").addEventListener("click", middle(0.5));
    document.getElementById("matrix-all").addEventListener("click", () => this.showAll());
  }

  showAll() {
    [this.x, this.y, this.span] = [0, 0, this.ranks];
    this.redraw();
  }

  watch(pane) {
    const step = (right, down) => () => this.step(pane, right, down);
    const about = (factor) => () => {
      const width = this.width(pane);
      const [column, row] = this.cursor ?? [(this.x + this.span / 2) / width, (this.y + this.span / 2) / width];
      this.zoom(factor, (column + 0.5) * width, (row + 0.5) * width);
    };
    listen(pane.canvas, {
      point: (x, y) => this.point(pane, x, y),
      leave: () => {},
      drag: (dx, dy) => this.move(-dx / this.scale(pane), -dy / this.scale(pane)),
      rest: () => {},
      pick: (x, y) => this.point(pane, x, y),
      zoom: (factor, x, y) => this.zoom(factor, ...this.rankAt(pane, x, y)),
      keys: {
        ArrowLeft: step(-1, 0), ArrowRight: step(1, 0), ArrowUp: step(0, -1), ArrowDown: step(0, 1),
        "+": about(2), "=": about(2), "-": about(0.5), 0: () => this.showAll(),
      },
    });
  }

  scale({ canvas }) {
    return (canvas.clientWidth - LEFT) / this.span;
  }

  rankAt(pane, x, y) {
    return [this.x + (x - LEFT) / this.scale(pane), this.y + (y - TOP) / this.scale(pane)];
  }

  /** Ranks in a cell of the picture. */
  width(pane) {
    let width = this.finest(pane);
    while (width * this.scale(pane) < LEAST_PIXELS && width < this.ranks) width *= 2;
    return width;
  }

  move(right, down) {
    const most = this.ranks - this.span;
    this.x = clamp(this.x + right, 0, most);
    this.y = clamp(this.y + down, 0, most);
    this.redraw();
  }

  zoom(factor, x, y) {
    const span = clamp(this.span / factor, Math.min(8, this.ranks), this.ranks);
    const before = this.width(this.panes[0]);
    this.x = x - ((x - this.x) * span) / this.span;
    this.y = y - ((y - this.y) * span) / this.span;
    this.span = span;
    const ratio = before / this.width(this.panes[0]);
    if (this.cursor) this.cursor = this.cursor.map((cell) => Math.floor((cell + 0.5) * ratio));
    this.move(0, 0);
  }

  point(pane, x, y) {
    if (x < LEFT || y < TOP) return;
    const width = this.width(pane);
    const cursor = this.rankAt(pane, x, y).map((rank) => Math.floor(rank / width));
    if (this.cursor && cursor[0] === this.cursor[0] && cursor[1] === this.cursor[1]) return;
    this.cursor = cursor;
    this.read(pane);
    this.redraw();
  }

  step(pane, right, down) {
    const width = this.width(pane);
    const last = Math.ceil(this.ranks / width) - 1;
    const middle = [this.x, this.y].map((low) => Math.floor((low + this.span / 2) / width));
    this.cursor = this.cursor === null ? middle
      : [clamp(this.cursor[0] + right, 0, last), clamp(this.cursor[1] + down, 0, last)];
    const [x, y] = this.cursor.map((cell) => cell * width);
    const beyond = (low, at) => Math.min(at - low, 0) + Math.max(at + width - low - this.span, 0);
    this.move(beyond(this.x, x), beyond(this.y, y));
    this.read(pane);
  }

  write(id, text) {
    document.getElementById(id).textContent = text;
  }

  draw() {
    const drawn = this.panes.map((pane) => ({ pane, bins: this.bins(pane) }));
    const shades = this.shades(drawn);
    for (const { pane, bins } of drawn) this.paint(pane, bins, shades[pane.number]);
    const width = this.width(this.panes[0]);
    this.write("matrix-cell", width === 1 ? "a cell is a pair of ranks" : `a cell is ${width} × ${width} ranks`);
  }

  /** The cells in sight, with their amounts; NaN is nothing. */
  bins(pane) {
    const width = this.width(pane);
    const [left, up] = [this.x, this.y].map((low) => Math.floor(low / width));
    const across = Math.floor((this.x + this.span - 1e-9) / width) - left + 1;
    const down = Math.floor((this.y + this.span - 1e-9) / width) - up + 1;
    const area = { width, left, up, across, down };
    const amount = this.fill(pane, area);
    let [low, high] = [Infinity, 0];
    for (const value of amount) {
      if (value > high) high = value;
      if (value < low) low = value;
    }
    return { ...area, amount, low: Math.min(low, high), high };
  }

  paint(pane, bins, shade) {
    const { context, width } = sharp(pane.canvas);
    const side = width - LEFT;
    const scale = this.scale(pane);
    const image = new ImageData(bins.across, bins.down);
    bins.amount.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      image.data.set(shade(value), 4 * i);
      image.data[4 * i + 3] = 255;
    });
    const picture = new OffscreenCanvas(bins.across, bins.down);
    picture.getContext("2d").putImageData(image, 0, 0);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, side, side);
    context.clip();
    context.imageSmoothingEnabled = false;
    const x = LEFT + (bins.left * bins.width - this.x) * scale;
    const y = TOP + (bins.up * bins.width - this.y) * scale;
    const cell = bins.width * scale;
    context.drawImage(picture, x, y, bins.across * cell, bins.down * cell);
    context.strokeStyle = getComputedStyle(pane.canvas).color;
    if (this.cursor) {
      const [column, row] = this.cursor;
      context.lineWidth = 1.5;
      context.strokeRect(x + (column - bins.left) * cell - 1, y + (row - bins.up) * cell - 1, cell + 2, cell + 2);
    }
    context.restore();
    this.axes(context, side, scale);
    this.mark(context, { left: LEFT, top: TOP, side, scale });
    pane.title.textContent = this.name(pane);
    const where = `positions ${count(this.y)} to ${count(this.y + this.span - 1)}`;
    pane.canvas.setAttribute("aria-label", `${this.name(pane)}: ${where}, ${this.label(pane, bins)}`);
  }

  /** Nothing, where no cell stands out. */
  mark() {}

  axes(context, side, scale) {
    const ink = getComputedStyle(document.querySelector(".keys")).color;
    [context.strokeStyle, context.fillStyle, context.lineWidth] = [ink, ink, 1];
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.strokeRect(LEFT + 0.5, TOP + 0.5, side - 1, side - 1);
    context.fillText("to position →", LEFT, 12);
    context.fillText("from ↓", 6, TOP - 6);
    const step = niceStep(this.span / 4);
    for (let at = Math.ceil(this.x / step) * step; at < this.x + this.span; at += step) {
      const x = LEFT + (at + 0.5 - this.x) * scale;
      context.textAlign = "left";
      if (x < LEFT + side - 34) context.fillText(count(at), x + 2, TOP - 6);
      context.fillRect(x, TOP - 5, 1, 5);
    }
    for (let at = Math.ceil(this.y / step) * step; at < this.y + this.span; at += step) {
      const y = TOP + (at + 0.5 - this.y) * scale;
      context.textAlign = "right";
      if (y < TOP + side - 4) context.fillText(count(at), LEFT - 8, y + 4);
      context.fillRect(LEFT - 5, y, 5, 1);
    }
  }
}

function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), Math.max(low, high));
}

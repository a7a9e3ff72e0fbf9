// SPDX-License-Identifier: BSD-3-Clause
// What messages between ranks take, in seconds, and as a part of what their like takes.

import { count, diverging, gradient, heat, isDark, seconds } from "./format.js";
import { Matrix, SHADES } from "./matrix.js";

const LEAST_RANGE = 1.2; // of the scale: noise of a few per cent must not look like news
const MOST_RANGE = 2;
const ALIKE = 1.02; // more is named

export class Costs extends Matrix {
  constructor(facts, arrays) {
    super(facts.ranks);
    Object.assign(this, facts);
    this.rankOf = arrays.rank;
    this.hostOf = arrays.host;
    this.seconds = arrays.seconds;
    this.usual = arrays.usual;
    this.levelOf = arrays.level;
    this.across = Math.ceil(this.ranks / this.cell);
    this.showAll();
  }

  finest() {
    return this.cell;
  }

  name(pane) {
    return ["Seconds of a short message", "Against the median of their like"][pane.number];
  }

  label(pane, { low, high }) {
    return pane.number === 0 ? `from ${seconds(low)} to ${seconds(high)}` : `from ${times(low)} to ${times(high)}`;
  }

  fill(pane, area) {
    const amount = new Float64Array(area.across * area.down);
    for (let row = 0; row < area.down; row++) {
      for (let column = 0; column < area.across; column++) {
        const { took, usual } = this.mean(area.width, area.up + row, area.left + column);
        amount[row * area.across + column] = pane.number === 0 ? took : took / usual;
      }
    }
    return amount;
  }

  /** The means of what was measured in a cell of the picture. */
  mean(width, row, column) {
    const each = width / this.cell;
    let [took, usual, pairs] = [0, 0, 0];
    for (let r = row * each; r < Math.min((row + 1) * each, this.across); r++) {
      for (let c = column * each; c < Math.min((column + 1) * each, this.across); c++) {
        const at = r * this.across + c;
        if (this.seconds[at] === 0) continue;
        took += this.seconds[at];
        usual += this.usual[at];
        pairs++;
      }
    }
    return { took: pairs ? took / pairs : NaN, usual: usual / pairs };
  }

  shades([{ bins: plain }, { bins: ratio }]) {
    const dark = isDark();
    const { low, high } = plain;
    const colors = heat(dark, SHADES);
    const range = Math.log(high / low) || 1;
    this.write("matrix-low", high ? seconds(low) : "");
    this.write("matrix-high", high ? seconds(high) : "");
    const most = Math.min(Math.max(ratio.high, 1 / ratio.low || 1, LEAST_RANGE), MOST_RANGE);
    const beside = diverging(dark, SHADES);
    this.write("ratio-low", times(1 / most));
    this.write("ratio-high", `${times(most)}${ratio.high > most ? " and more" : ""}`);
    for (const bar of document.querySelectorAll(".heat")) bar.style.background = gradient(heat(dark, 7));
    for (const bar of document.querySelectorAll(".diverging")) bar.style.background = gradient(diverging(dark, 9));
    const pick = (of, share) => of[Math.round(Math.min(Math.max(share, 0), 1) * (SHADES - 1))];
    return [
      (value) => pick(colors, high === low ? 0.5 : Math.log(value / low) / range),
      (value) => pick(beside, 0.5 + Math.log(value) / Math.log(most) / 2),
    ];
  }

  read() {
    const width = this.width(this.panes[0]);
    const [column, row] = this.cursor;
    const { took, usual } = this.mean(width, row, column);
    const whom = `${this.place(row * width, width)} and ${this.place(column * width, width)}`;
    if (Number.isNaN(took)) {
      const why = width === 1 && row === column ? "the same rank" : "not measured";
      this.write("matrix-read", `Between ${whom}: ${why}.`);
      return;
    }
    const at = row * this.across + column;
    const level = width === this.cell ? this.levelOf[at] : this.levels.length;
    const like = level < this.levels.length
      ? `the median ${this.levels[level]}, ${seconds(usual)}` : `the medians of their levels, ${seconds(usual)}`;
    const mean = width === 1 ? "" : " in the mean";
    const marked = width > 1 ? [] : this.suspects.filter(({ leaves, at: [rows, columns] }) =>
      leaves ? has(rows, row) !== has(rows, column)
        : (has(rows, row) && has(columns, column)) || (has(rows, column) && has(columns, row)));
    const named = marked.map(({ text }) => ` ${text}.`).join("");
    this.write("matrix-read", `Between ${whom}: ${seconds(took)}${mean}, ${compared(took / usual)} ${like}.${named}`);
  }

  place(position, width) {
    if (width === 1) return `rank ${this.rankOf[position]} on ${this.hosts[this.hostOf[position]]}`;
    return `positions ${count(position)} to ${count(Math.min(position + width, this.ranks) - 1)}`;
  }

  /** Suspects: arrows beside rows and columns, a box around a pair. */
  mark(context, { left, top, side, scale }) {
    const color = getComputedStyle(document.querySelector(".suspect-color")).color;
    [context.strokeStyle, context.fillStyle, context.lineWidth] = [color, color, 2];
    const on = (position, low) => (position - low) * scale;
    const seen = (at) => at > 0 && at < side;
    for (const { at: [rows, columns] } of this.suspects) {
      const whole = rows.length === 2 && rows[1] - rows[0] < this.ranks && columns[1] - columns[0] === this.ranks;
      if (whole) {
        const [x, y] = [on((rows[0] + rows[1]) / 2, this.x), on((rows[0] + rows[1]) / 2, this.y)];
        if (seen(y)) triangle(context, left + 1, top + y, 8, 0);
        if (seen(x)) triangle(context, left + x, top + 1, 0, 8);
        continue;
      }
      for (const [a, b] of [[rows, columns], [columns, rows]]) {
        const [x, y] = [on(b[0], this.x), on(a[0], this.y)];
        const [wide, high] = [(b[1] - b[0]) * scale, (a[1] - a[0]) * scale];
        if (seen(x + wide / 2) && seen(y + high / 2)) context.strokeRect(left + x - 2, top + y - 2, wide + 4, high + 4);
      }
    }
  }
}

function triangle(context, x, y, right, down) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - right - down / 2, y - down - right / 2);
  context.lineTo(x - right + down / 2, y - down + right / 2);
  context.fill();
}

function has([first, end], position) {
  return position >= first && position < end;
}

function compared(ratio) {
  return ratio < ALIKE && ratio > 1 / ALIKE ? "like" : `${times(ratio)}`;
}

function times(ratio) {
  return `${ratio.toFixed(2)} x`;
}

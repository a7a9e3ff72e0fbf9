// SPDX-License-Identifier: BSD-3-Clause
// Two communication matrices, before and after: bytes that ranks send to each other.

import { bytes, count, gradient, heat, isDark } from "./format.js";
import { Matrix, SHADES } from "./matrix.js";

export class Traffic extends Matrix {
  constructor(model) {
    super(model.ranks);
    this.model = model;
    this.panes.forEach((pane) => (pane.view = model.views[pane.number === 0 ? 0 : model.best]));
    this.showAll();
  }

  show(view) {
    if (view !== this.model.views[0]) this.panes[1].view = view;
    this.redraw();
  }

  finest(pane) {
    return pane.view.width;
  }

  name(pane) {
    return pane.view.name;
  }

  label(pane, { low, high }) {
    return `bytes from ${bytes(low)} to ${bytes(high)} in a cell`;
  }

  /** Say what the cell under the cursor holds, in both matrices. */
  read(pane) {
    const width = this.width(pane);
    const [column, row] = this.cursor;
    const from = this.place(pane.view, row * width, width);
    const to = this.place(pane.view, column * width, width);
    const amounts = this.panes.map(({ view }) => `${bytes(sum(view, width, row, column))} in ${view.name}`);
    const whose = width > 1 ? "" : ` (ranks as ${pane.view.name} places them)`;
    this.write("matrix-read", `From ${from} to ${to}. ${amounts.join(", ")}${whose}.`);
  }

  place(view, position, width) {
    if (width === 1) return `rank ${view.rankAt[position]} at position ${count(position)}`;
    return `positions ${count(position)} to ${count(Math.min(position + width, this.ranks) - 1)}`;
  }

  /** Both panes have one scale, from the fewest bytes in sight to the most. */
  shades(drawn) {
    const dark = isDark();
    const high = Math.max(...drawn.map(({ bins }) => bins.high));
    const low = Math.min(high, ...drawn.map(({ bins }) => bins.low));
    const colors = heat(dark, SHADES);
    const range = Math.log(high / low) || 1;
    this.write("matrix-low", high ? bytes(low) : "");
    this.write("matrix-high", high ? bytes(high) : "");
    for (const bar of document.querySelectorAll(".heat")) bar.style.background = gradient(heat(dark, 7));
    const shade = (value) => {
      const share = high === low ? 1 : Math.log(value / low) / range;
      return colors[Math.round(share * (SHADES - 1))];
    };
    return drawn.map(() => shade);
  }

  /** Add the cells in sight up to those of the picture. */
  fill(pane, { width, left, up, across, down }) {
    const { cells, width: finest } = pane.view;
    const each = width / finest;
    const amount = new Float64Array(across * down);
    const lastRow = Math.min((up + down) * each, cells.first.length - 1);
    for (let row = up * each; row < lastRow; row++) {
      const line = (Math.floor(row / each) - up) * across;
      for (let i = cells.first[row]; i < cells.first[row + 1]; i++) {
        const column = Math.floor(cells.column[i] / each) - left;
        if (column >= 0 && column < across) amount[line + column] += cells.amount[i];
      }
    }
    return amount.map((total) => total || NaN);
  }
}

/** Bytes of one cell of the picture. */
function sum(view, width, row, column) {
  const { cells } = view;
  const each = width / view.width;
  let total = 0;
  for (let r = row * each; r < Math.min((row + 1) * each, cells.first.length - 1); r++) {
    for (let i = cells.first[r]; i < cells.first[r + 1]; i++) {
      if (Math.floor(cells.column[i] / each) === column) total += cells.amount[i];
    }
  }
  return total;
}

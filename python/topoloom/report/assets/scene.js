// SPDX-License-Identifier: BSD-3-Clause
// The machine: links colored and widened by their load, nodes by the ranks on them.

import { Camera } from "./camera.js";
import { atNextFrame, listen, sharp } from "./canvas.js";
import { count, css, gradient, heat, isDark, rankRamp } from "./format.js";

const BINS = 12; // of loads: a color and a width each
const RANK_COLORS = 16; // colors of ranks
const AT_FIRST = 4000; // busiest links; as many are drawn while it turns
const MOST_IDLE = 20000; // links, beyond which idle ones are left out
const NEAR = 9; // pixels
const SHORT = 0.42; // of a step: what is drawn, at both ends, of a link that closes a ring

export class Scene {
  constructor(model, onPick) {
    this.model = model;
    this.onPick = onPick;
    this.canvas = document.getElementById("scene");
    this.marks = document.getElementById("scene-marks");
    this.camera = new Camera({ place: model.place, unit: model.unit, flat: model.flat, steps: model.steps });
    this.most = document.getElementById("scene-most");
    this.chosen = null;
    this.hovered = null;
    this.moving = false;
    this.redraw = atNextFrame(() => this.draw());
    this.remark = atNextFrame(() => this.mark());
    this.settle = debounce(() => {
      this.moving = false;
      this.redraw();
    }, 150);
    // The slider goes from 10 links to all, by equal factors.
    this.factor = Math.max(model.from.length / 10, 1);
    const first = Math.min(AT_FIRST, model.from.length) / 10;
    this.most.value = this.factor > 1 ? (100 * Math.log(Math.max(first, 1))) / Math.log(this.factor) : 100;
    this.most.addEventListener("input", () => this.sortLinks());
    this.listen();
  }

  show(view) {
    this.view = view;
    this.sortVertices();
    this.sortLinks();
    document.getElementById("scene-top").textContent = this.model.busy(this.model.top);
    document.getElementById("scene-last").textContent = count(this.model.ranks - 1);
    this.marks.setAttribute("aria-label", `The machine with ranks placed by ${view.name}`);
    if (this.chosen) this.say(this.chosen);
  }

  /** Choose the links in sight, and sort them by load into bins. */
  sortLinks() {
    const { top, links } = this.model;
    const { busy, byLoad } = this.view;
    const all = Number(this.most.value) === 100;
    const most = all ? busy.length : untied(byLoad, busy, Math.round(10 * this.factor ** (this.most.value / 100)));
    const text = all && busy.length === links ? `all ${count(links)} links` : `the ${count(most)} busiest of ${count(links)} links`;
    document.getElementById("scene-most-text").textContent = text;
    this.most.setAttribute("aria-valuetext", text);
    this.bins = Array.from({ length: BINS + 1 }, () => []);
    for (const link of byLoad.subarray(0, most)) {
      if (busy[link] === 0 && busy.length > MOST_IDLE) break;
      this.bins[busy[link] === 0 ? 0 : Math.min(Math.ceil((busy[link] / top) * BINS), BINS)].push(link);
    }
    this.redraw();
  }

  draw() {
    const { context, width, height } = sharp(this.canvas);
    [this.width, this.height] = [width, height];
    this.camera.project(width, height);
    const dark = isDark();
    const ink = getComputedStyle(document.querySelector(".keys")).color;
    this.outs = this.camera.steps.map((step) => this.camera.direction(step));
    this.frame(context, ink);
    const small = this.camera.count > 1500 && this.dotSize() < 3;
    if (small) this.dots(context, dark, ink);
    const colors = heat(dark, BINS);
    const crowd = this.bins.reduce((sum, links, bin) => sum + (bin && links.length), 1);
    const widest = Math.min(Math.max(180 / Math.sqrt(crowd), 2.5), 7);
    context.lineCap = "round";
    let left = this.moving ? AT_FIRST : Infinity;
    const drawn = [];
    for (let bin = BINS; bin >= 0 && left > 0; bin--) {
      drawn.push([bin, this.bins[bin].slice(0, left)]);
      left -= this.bins[bin].length;
    }
    for (const [bin, links] of drawn.reverse()) {
      context.strokeStyle = bin === 0 ? ink : css(colors[bin - 1], 0.6 + (0.4 * bin) / BINS);
      context.globalAlpha = bin === 0 ? 0.2 : 1;
      context.lineWidth = bin === 0 ? 0.5 : 0.8 + (widest - 0.8) * (bin / BINS);
      context.beginPath();
      for (const link of links) this.trace(context, link);
      context.stroke();
    }
    context.globalAlpha = 1;
    if (!small) this.dots(context, dark, ink);
    this.mark();
    for (const bar of document.querySelectorAll(".rank-ramp")) bar.style.background = gradient(rankRamp(dark, 5));
  }

  /** The two ends of each line of a link: one line, or two stubs where it goes round. */
  lines(link) {
    const { x, y, scale } = this.camera;
    const { from, to, out } = this.model;
    const [a, b] = [from[link], to[link]];
    if (out[link] === 0) return [this.aside(x[a], y[a], x[b], y[b])];
    const [right, down] = this.outs[(out[link] - 1) >> 1];
    const reach = SHORT * scale * ((out[link] - 1) & 1 ? 1 : -1);
    return [
      this.aside(x[a], y[a], x[a] + right * reach, y[a] + down * reach),
      this.aside(x[b] - right * reach, y[b] - down * reach, x[b], y[b]),
    ];
  }

  /** Traffic keeps to the right, so that both directions of a cable are seen. */
  aside(x1, y1, x2, y2) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const by = Math.min(2.5, 0.05 * length) / length;
    const [dx, dy] = [-(y2 - y1) * by, (x2 - x1) * by];
    return [x1 + dx, y1 + dy, x2 + dx, y2 + dy];
  }

  trace(context, link) {
    for (const [x1, y1, x2, y2] of this.lines(link)) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
  }

  /** The edges of the box in which a grid stands. */
  frame(context, ink) {
    const { shape, steps } = this.model;
    const long = shape.flatMap((extent, axis) => (extent > 1 && axis < steps.length ? [axis] : [])).slice(0, 3);
    if (long.length < 3 || this.camera.count < 200) return;
    const far = long.map((axis) => this.outs[axis].map((way) => way * (shape[axis] - 1) * this.camera.scale));
    const [x, y] = [this.camera.x[0], this.camera.y[0]];
    const corner = (bits) => far.reduce(([cx, cy], [dx, dy], i) => (bits >> i) & 1 ? [cx + dx, cy + dy] : [cx, cy], [x, y]);
    context.strokeStyle = ink;
    context.lineWidth = 0.6;
    context.globalAlpha = 0.6;
    context.beginPath();
    for (let bits = 0; bits < 8; bits++) {
      for (let i = 0; i < 3; i++) {
        if ((bits >> i) & 1) continue;
        context.moveTo(...corner(bits));
        context.lineTo(...corner(bits | (1 << i)));
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  dotSize() {
    return Math.min(Math.max(0.16 * Math.sqrt((this.width * this.height) / this.camera.count) * Math.min(this.camera.zoom, 6), 1), 11);
  }

  dots(context, dark, ink) {
    const colors = rankRamp(dark, RANK_COLORS).map((color) => css(color));
    const size = this.dotSize();
    const { free, switches } = this.shades;
    context.fillStyle = ink;
    this.squares(context, switches, 0.8 * size);
    context.globalAlpha = 0.5;
    this.squares(context, free, Math.min(size / 3, 4));
    context.globalAlpha = 1;
    context.strokeStyle = ink;
    context.lineWidth = 0.8;
    this.shades.taken.forEach((vertices, shade) => {
      context.fillStyle = colors[shade];
      if (size < 4) this.squares(context, vertices, size);
      else this.circles(context, vertices, size);
    });
    if (this.model.ranks <= 128 && size > 7) this.rankNames(context, size);
  }

  squares(context, vertices, size) {
    const { x, y } = this.camera;
    context.beginPath();
    for (const vertex of vertices) context.rect(x[vertex] - size / 2, y[vertex] - size / 2, size, size);
    context.fill();
  }

  circles(context, vertices, size) {
    const { x, y } = this.camera;
    context.beginPath();
    for (const vertex of vertices) {
      context.moveTo(x[vertex] + size / 2, y[vertex]);
      context.arc(x[vertex], y[vertex], size / 2, 0, 7);
    }
    context.fill();
    context.stroke();
  }

  /** Sort vertices by what is on them: no node, no rank, or ranks of some number. */
  sortVertices() {
    const taken = Array.from({ length: RANK_COLORS }, () => []);
    this.shades = { free: [], switches: [], taken };
    for (let vertex = 0; vertex < this.camera.count; vertex++) {
      const ranks = this.ranksAt(vertex);
      if (ranks.length) taken[this.shade(ranks)].push(vertex);
      else if (this.model.vertexNodes[vertex] === 0) this.shades.switches.push(vertex);
      else this.shades.free.push(vertex);
    }
  }

  /** Write ranks beside their node, or below it in a network of switches, where there is room. */
  rankNames(context, size) {
    const below = this.model.vertexNodes.includes(0);
    context.fillStyle = getComputedStyle(document.body).color;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = below ? "center" : "left";
    const written = [];
    for (let vertex = 0; vertex < this.camera.count; vertex++) {
      const ranks = this.ranksAt(vertex);
      if (ranks.length === 0) continue;
      const text = ranks.slice(0, 3).join(",") + (ranks.length > 3 ? "…" : "");
      const x = this.camera.x[vertex] + (below ? 0 : 0.6 * size);
      const y = this.camera.y[vertex] + (below ? 0.5 * size + 12 : -0.6 * size);
      const wide = context.measureText(text).width + 3;
      if (written.some((other) => Math.abs(other.y - y) < 11 && Math.abs(other.x - x) < (other.wide + wide) / 2)) continue;
      written.push({ x, y, wide });
      context.fillText(text, x, y);
    }
  }

  ranksAt(vertex) {
    const nodes = this.model.nodesAt.get(vertex);
    if (nodes === undefined) return [];
    return nodes.length === 1 ? this.view.ranksOf(nodes[0]) : nodes.flatMap((node) => this.view.ranksOf(node));
  }

  shade(ranks) {
    const middle = ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length;
    return Math.min(Math.floor((middle / this.model.ranks) * RANK_COLORS), RANK_COLORS - 1);
  }

  /** What is under the pointer: the link or the node that is nearest. */
  find(px, py) {
    let [best, found] = [NEAR, null];
    for (const links of this.bins) {
      for (const link of links) {
        if (!this.mayBeNear(link, px, py)) continue;
        for (const line of this.lines(link)) {
          const distance = distanceTo(px, py, line);
          if (distance <= best) [best, found] = [distance, { link }];
        }
      }
    }
    const { x, y } = this.camera;
    best = found === null ? NEAR : Math.min(best + 1, this.dotSize() / 2 + 2);
    for (let vertex = 0; vertex < this.camera.count; vertex++) {
      const distance = Math.hypot(x[vertex] - px, y[vertex] - py);
      if (distance < best && this.model.nodesAt.has(vertex)) [best, found] = [distance, { vertex }];
    }
    return found;
  }

  mayBeNear(link, px, py) {
    if (this.model.out[link] !== 0) return true;
    const { x, y } = this.camera;
    const [a, b] = [this.model.from[link], this.model.to[link]];
    const reach = NEAR + 3;
    return (
      Math.min(x[a], x[b]) - reach < px && px < Math.max(x[a], x[b]) + reach &&
      Math.min(y[a], y[b]) - reach < py && py < Math.max(y[a], y[b]) + reach
    );
  }

  /** Draw what is chosen, or else what is under the pointer, over the picture. */
  mark() {
    const { context } = sharp(this.marks);
    const shown = this.hovered ?? this.chosen;
    if (!shown) return;
    const ink = getComputedStyle(this.marks).color;
    if (shown.vertex !== undefined) return this.ring(context, shown.vertex, ink);
    context.lineCap = "round";
    for (const [color, wide] of [[getComputedStyle(this.marks.parentElement).backgroundColor, 9], [ink, 4]]) {
      [context.strokeStyle, context.lineWidth] = [color, wide];
      context.beginPath();
      this.trace(context, shown.link);
      context.stroke();
    }
    const lines = this.lines(shown.link);
    this.arrow(context, lines[lines.length - 1], ink);
    for (const { source, target } of this.view.loaders(shown.link) ?? []) {
      for (const rank of new Set([source, target])) {
        this.ring(context, this.model.nodeVertex[this.view.node[rank]], ink, `${rank}`);
      }
    }
    return undefined;
  }

  ring(context, vertex, ink, text = "") {
    const [x, y] = [this.camera.x[vertex], this.camera.y[vertex]];
    context.strokeStyle = ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, Math.max(this.dotSize() * 0.7, 5), 0, 7);
    context.stroke();
    context.font = "bold 12px system-ui, sans-serif";
    context.lineWidth = 3;
    context.strokeStyle = getComputedStyle(this.marks.parentElement).backgroundColor;
    context.strokeText(text, x + 7, y + 14);
    context.fillStyle = ink;
    context.fillText(text, x + 7, y + 14);
  }

  arrow(context, [x1, y1, x2, y2], ink) {
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const [x, y] = [(x1 + 2 * x2) / 3, (y1 + 2 * y2) / 3];
    context.fillStyle = ink;
    context.beginPath();
    context.moveTo(x + 9 * Math.cos(angle), y + 9 * Math.sin(angle));
    for (const side of [2.4, -2.4]) context.lineTo(x + 9 * Math.cos(angle + side), y + 9 * Math.sin(angle + side));
    context.fill();
  }

  listen() {
    const turned = (act) => (...words) => {
      act(...words);
      this.moving = true;
      this.redraw();
      this.settle();
    };
    const turn = turned((right, down) => {
      if (this.camera.flat) {
        this.camera.right += right;
        this.camera.down += down;
      } else this.camera.turn(right / 180, down / 180);
    });
    const zoom = turned((factor, x = this.width / 2, y = this.height / 2) =>
      this.camera.zoomAt(factor, x, y, this.width, this.height));
    const all = turned(() => this.camera.reset());
    const step = (by) => () => this.step(by);
    listen(this.marks, {
      point: (x, y) => this.hover(this.find(x, y)),
      leave: () => this.hover(null),
      drag: turn,
      rest: () => {},
      pick: (x, y) => this.choose(this.find(x, y)),
      zoom,
      keys: {
        ArrowLeft: () => turn(-18, 0), ArrowRight: () => turn(18, 0), ArrowUp: () => turn(0, -18), ArrowDown: () => turn(0, 18),
        "+": () => zoom(1.4), "=": () => zoom(1.4), "-": () => zoom(1 / 1.4), 0: () => all(),
        n: step(1), p: step(-1),
      },
    });
    document.getElementById("scene-in").addEventListener("click", () => zoom(1.6));
    document.getElementById("scene-out").addEventListener("click", () => zoom(1 / 1.6));
    document.getElementById("scene-all").addEventListener("click", all);
  }

  hover(found) {
    if (same(found, this.hovered)) return;
    this.hovered = found;
    if (found ?? this.chosen) this.say(found ?? this.chosen);
    this.remark();
  }

  /** Step through the busiest links. */
  step(by) {
    const { busiest } = this.view;
    const at = this.chosen?.link === undefined ? -1 : busiest.indexOf(this.chosen.link);
    const index = Math.min(Math.max(at + by, 0), busiest.length - 1);
    if (busiest.length) this.choose({ link: busiest[index] });
  }

  choose(found) {
    this.chosen = found;
    this.hovered = null;
    if (found) this.say(found);
    this.onPick(found);
    this.remark();
  }

  say(found) {
    const { model, view } = this;
    const read = document.getElementById("scene-read");
    if (found.link !== undefined) read.textContent = model.describeLink(view, found.link);
    else {
      const nodes = model.nodesAt.get(found.vertex);
      const told = nodes.slice(0, 4).map((node) => model.describeNode(view, node));
      read.textContent = told.join(" ") + (nodes.length > 4 ? ` And ${nodes.length - 4} more nodes.` : "");
    }
  }
}

function same(a, b) {
  return a === b || (a !== null && b !== null && a.link === b.link && a.vertex === b.vertex);
}

function distanceTo(px, py, [x1, y1, x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = ((px - x1) * dx + (py - y1) * dy) / (dx * dx + dy * dy || 1);
  const at = Math.min(Math.max(along, 0), 1);
  return Math.hypot(px - x1 - at * dx, py - y1 - at * dy);
}

/** How many links to show of so many: of equals all or none, but of some. */
function untied(byLoad, busy, most) {
  const last = busy[byLoad[most - 1]];
  const above = byLoad.findIndex((link) => busy[link] === last);
  if (above > 0 && busy[byLoad[most]] === last) return above;
  const end = byLoad.findIndex((link) => busy[link] < last);
  return end < 0 ? byLoad.length : end;
}

function debounce(act, wait) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}

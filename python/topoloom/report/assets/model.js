// SPDX-License-Identifier: BSD-3-Clause
// The facts of the page as objects: links, nodes, and what each view makes of them.

import { bytes, percent, seconds } from "./format.js";

export class Model {
  constructor(facts, arrays) {
    Object.assign(this, facts);
    this.from = arrays["link.from"];
    this.to = arrays["link.to"];
    this.out = arrays["link.out"];
    this.rate = arrays["link.rate"];
    this.linkName = arrays["link.name"];
    this.place = arrays["vertex.place"];
    this.vertexNodes = arrays["vertex.nodes"];
    this.nodeId = arrays["node.id"];
    this.nodeVertex = arrays["node.vertex"];
    this.host = arrays["node.host"];
    this.nodePlace = arrays["node.place"];
    this.nodesAt = new Map();
    this.nodeVertex.forEach((vertex, node) => push(this.nodesAt, vertex, node));
    this.views = facts.views.map((view, index) => new View(this, view, `view${index}.`, arrays));
    this.choosePart(null);
  }

  /** Show the loads of a part of the messages, by its number; null for all of them. */
  choosePart(part) {
    this.part = part;
    for (const view of this.views) view.choosePart(this, part);
    this.top = Math.max(...this.views.map((view) => view.top));
  }

  /** What loads a link by part, in words. */
  byPart(view, link) {
    const loads = this.parts.map((name, part) => [name, view.partLoads[part][link]]);
    return loads.flatMap(([name, load]) => (load > 0 ? [`${name} ${bytes(load)}`] : [])).join(", ") || "nobody";
  }

  nodeName(node) {
    const place = this.nodePlace[node] ? ` (${this.nodePlace[node]})` : "";
    return this.host[node] ? `${this.host[node]}${place}` : `node ${this.nodeId[node]}${place}`;
  }

  /** A link's load in bytes, and in seconds where its bandwidth is known. */
  load(view, link) {
    const text = bytes(view.load[link]);
    return this.inSeconds ? `${text}, ${seconds(view.busy[link])}` : text;
  }

  busy(value) {
    return this.inSeconds ? seconds(value) : bytes(value);
  }

  /** Who loads a link most, in words. */
  loaders(view, link) {
    if (view.load[link] === 0) return "nobody";
    const told = view.loaders(link);
    if (told === null) return "not among the busiest links, whose loaders the page holds";
    const parts = told.map(({ source, target, amount }) => `rank ${source} → ${target} (${bytes(amount)})`);
    const rest = 1 - told.reduce((sum, { amount }) => sum + amount, 0) / view.load[link];
    return parts.join(", ") + (rest > 0.0005 ? `, others ${percent(rest)}` : "");
  }

  describeLink(view, link) {
    const share = percent(view.busy[link] / (this.top || 1));
    const parts = this.parts.length > 1 ? ` Of all: ${this.byPart(view, link)}.` : "";
    if (this.part !== null) {
      return `Link ${this.linkName[link]}: ${this.load(view, link)} of ${this.parts[this.part]}, ${share} of the busiest.${parts}`;
    }
    return `Link ${this.linkName[link]}: ${this.load(view, link)}, ${share} of the busiest. Loaded by ${this.loaders(view, link)}.${parts}`;
  }

  describeNode(view, node) {
    const ranks = view.ranksOf(node);
    return `${this.nodeName(node)}: ${some(ranks)}; sends ${bytes(view.bytesOut[node])}, receives ${bytes(view.bytesIn[node])}.`;
  }
}

class View {
  constructor(model, facts, key, arrays) {
    Object.assign(this, facts);
    this.whole = arrays[`${key}load`];
    this.partLoads = model.parts.map((_, part) => arrays[`${key}load${part}`]);
    this.slot = arrays[`${key}slot`];
    this.bytesOut = arrays[`${key}bytes_out`];
    this.bytesIn = arrays[`${key}bytes_in`];
    this.messagesOut = arrays[`${key}messages_out`];
    this.messagesIn = arrays[`${key}messages_in`];
    this.hot = arrays[`${key}hot`];
    this.pairs = [arrays[`${key}source`], arrays[`${key}target`], arrays[`${key}bytes`]];
    this.hotIndex = new Map(Array.from(this.hot, (link, index) => [link, index]));
    this.rankAt = arrays[`${key}rank`];
    this.cells = new Cells(arrays[`${key}matrix.count`], arrays[`${key}matrix.column`], arrays[`${key}matrix.bytes`]);
    this.node = this.slot.map((slot) => Math.floor(slot / model.slotsPerNode));
    this.byNode = new Map();
    this.node.forEach((node, rank) => push(this.byNode, node, rank));
  }

  choosePart(model, part) {
    this.load = part === null ? this.whole : this.partLoads[part];
    this.busy = this.load.map((load, link) => load / model.rate[link]);
    this.byLoad = Uint32Array.from(this.busy, (_, link) => link).sort((a, b) => this.busy[b] - this.busy[a]);
    this.top = this.busy.length ? this.busy[this.byLoad[0]] : 0;
    this.busiest = part === null ? this.hot : this.byLoad.filter((link) => this.load[link] > 0);
  }

  ranksOf(node) {
    return this.byNode.get(node) ?? [];
  }

  loaders(link) {
    const index = this.hotIndex.get(link);
    if (index === undefined) return null;
    const [source, target, amount] = this.pairs;
    const each = source.length / this.hot.length;
    const told = [];
    for (let i = index * each; i < (index + 1) * each && amount[i] > 0; i++) {
      told.push({ source: source[i], target: target[i], amount: amount[i] });
    }
    return told;
  }
}

/** Sparse rows of the finest level of the matrix. */
class Cells {
  constructor(countOfRow, column, amount) {
    this.first = new Uint32Array(countOfRow.length + 1);
    countOfRow.forEach((cells, row) => (this.first[row + 1] = this.first[row] + cells));
    this.column = column;
    this.amount = amount;
  }
}

/** Ranks for people: a few by number, many by their count. */
export function some(ranks, most = 12) {
  if (ranks.length === 0) return "no rank";
  const listed = ranks.slice(0, most).join(", ");
  const more = ranks.length > most ? ` and ${ranks.length - most} more` : "";
  return `${ranks.length === 1 ? "rank" : "ranks"} ${listed}${more}`;
}

function push(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

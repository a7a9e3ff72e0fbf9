// SPDX-License-Identifier: BSD-3-Clause
// The table of nodes, and what is on the slots of one of them.

import { bytes, count } from "./format.js";
import { some } from "./model.js";

const ROWS = 20; // on a page of the table

export class Nodes {
  constructor(model, onChoose) {
    this.model = model;
    this.onChoose = onChoose;
    this.columns = [
      { title: "node", value: (node) => model.nodeId[node], text: (node) => `${model.nodeId[node]}` },
      { title: "host", value: (node) => model.host[node], text: (node) => model.host[node], shown: model.host.length > 0 },
      { title: "place", value: (node) => node, text: (node) => model.nodePlace[node], shown: model.nodePlace.length > 0 },
      { title: "ranks", value: (node) => this.view.ranksOf(node)[0] ?? Infinity, text: (node) => listed(this.view.ranksOf(node)) },
      { title: "sends", value: (node) => this.view.bytesOut[node], text: (node) => bytes(this.view.bytesOut[node]), number: true },
      { title: "receives", value: (node) => this.view.bytesIn[node], text: (node) => bytes(this.view.bytesIn[node]), number: true },
      { title: "messages out", value: (node) => this.view.messagesOut[node], text: (node) => count(this.view.messagesOut[node]), number: true },
      { title: "messages in", value: (node) => this.view.messagesIn[node], text: (node) => count(this.view.messagesIn[node]), number: true },
    ].filter((column) => column.shown ?? true);
    this.sortedBy = this.columns.find((column) => column.title === "sends");
    this.descending = true;
    this.page = 0;
    this.chosen = null;
    this.search = document.getElementById("search");
    this.search.addEventListener("input", () => this.refresh(0));
    document.getElementById("back").addEventListener("click", () => this.refresh(this.page - 1));
    document.getElementById("next").addEventListener("click", () => this.refresh(this.page + 1));
    this.heads = this.columns.map((column) => this.head(column));
    document.querySelector("#table thead tr").replaceChildren(...this.heads);
  }

  show(view) {
    this.view = view;
    this.refresh(this.page);
    if (this.chosen !== null) this.choose(this.chosen);
  }

  head(column) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (column.number) cell.className = "number";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.title;
    button.addEventListener("click", () => {
      this.descending = this.sortedBy === column ? !this.descending : Boolean(column.number);
      this.sortedBy = column;
      this.refresh(0);
    });
    cell.append(button);
    return cell;
  }

  /** The nodes that the search leaves, in order. */
  sorted() {
    const nodes = this.matching();
    const values = new Map(nodes.map((node) => [node, this.sortedBy.value(node)]));
    const sign = this.descending ? -1 : 1;
    return nodes.sort((a, b) => {
      const [one, other] = [values.get(a), values.get(b)];
      return one === other ? a - b : one < other ? -sign : sign;
    });
  }

  matching() {
    const { model, view } = this;
    const asked = this.search.value.trim().toLowerCase();
    const all = Array.from(model.nodeId, (_, node) => node);
    if (asked === "") return all;
    const rank = /^rank *(\d+)$/.exec(asked);
    if (rank) return Number(rank[1]) < model.ranks ? [view.node[rank[1]]] : [];
    return all.filter((node) =>
      `${model.nodeId[node]} ${model.host[node] ?? ""} ${model.nodePlace[node] ?? ""}`.toLowerCase().includes(asked));
  }

  refresh(page) {
    const nodes = this.sorted();
    const last = Math.max(Math.ceil(nodes.length / ROWS) - 1, 0);
    this.page = Math.min(Math.max(page, 0), last);
    const first = this.page * ROWS;
    this.shown = nodes.slice(first, first + ROWS);
    document.querySelector("#table tbody").replaceChildren(...this.shown.map((node) => this.row(node)));
    this.markRow();
    const of = `of ${count(nodes.length)} node${nodes.length === 1 ? "" : "s"}`;
    const range = nodes.length ? `${count(first + 1)} to ${count(first + this.shown.length)} ${of}` : "no node";
    document.getElementById("found").textContent = range;
    document.getElementById("back").disabled = this.page === 0;
    document.getElementById("next").disabled = this.page === last;
    this.columns.forEach((column, index) => {
      if (column !== this.sortedBy) return this.heads[index].removeAttribute("aria-sort");
      return this.heads[index].setAttribute("aria-sort", this.descending ? "descending" : "ascending");
    });
  }

  markRow() {
    const rows = document.querySelectorAll("#table tbody tr");
    rows.forEach((row, index) => row.classList.toggle("chosen", this.shown[index] === this.chosen));
  }

  row(node) {
    const row = document.createElement("tr");
    row.append(...this.columns.map((column, index) => {
      const cell = document.createElement(index === 0 ? "th" : "td");
      if (index === 0) {
        cell.scope = "row";
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = column.text(node);
        button.setAttribute("aria-label", `Show ${this.model.nodeName(node)} on the machine`);
        button.addEventListener("click", () => this.onChoose(node));
        cell.append(button);
      } else cell.textContent = column.text(node) ?? "";
      if (column.number) cell.className = "number";
      if (column.title === "ranks") cell.className = "ranks";
      return cell;
    }));
    return row;
  }

  /** Show what is on the slots of a node, grouped as its levels are. */
  choose(node) {
    this.chosen = node;
    this.markRow();
    document.getElementById("node").hidden = node === null;
    if (node === null) return;
    const { model, view } = this;
    document.getElementById("node-title").textContent = `${model.nodeName(node)}: ${some(view.ranksOf(node))}`;
    const first = node * model.slotsPerNode;
    const bySlot = new Map();
    for (const rank of view.ranksOf(node)) {
      const slot = view.slot[rank] - first;
      bySlot.set(slot, [...(bySlot.get(slot) ?? []), rank]);
    }
    let boxes = Array.from({ length: model.slotsPerNode }, (_, slot) => slotBox(slot, bySlot.get(slot)));
    for (const size of model.levels) {
      const groups = [];
      for (let at = 0; at < boxes.length; at += size) groups.push(groupBox(boxes.slice(at, at + size)));
      boxes = groups;
    }
    const top = document.createElement("div");
    top.append(...boxes);
    document.getElementById("node-slots").replaceChildren(top);
  }
}

function slotBox(slot, ranks) {
  const box = document.createElement("li");
  box.className = ranks ? "slot" : "slot free";
  box.textContent = ranks ? ranks.join(", ") : "–";
  box.setAttribute("aria-label", `slot ${slot}: ${ranks ? some(ranks) : "free"}`);
  box.title = `slot ${slot}`;
  return box;
}

function groupBox(boxes) {
  const list = document.createElement("ul");
  list.className = "group";
  list.append(...boxes);
  if (boxes[0].tagName === "LI") return list;
  list.replaceChildren(...boxes.map((box) => {
    const item = document.createElement("li");
    item.append(box);
    return item;
  }));
  return list;
}

function listed(ranks) {
  return ranks.length > 24 ? `${ranks.slice(0, 24).join(" ")} … (${ranks.length})` : ranks.join(" ");
}

// SPDX-License-Identifier: BSD-3-Clause
// Builds the page's pictures from its data, and lets them follow each other.

import { Model } from "./model.js";
import { Nodes } from "./nodes.js";
import { unpack } from "./pack.js";
import { cannotDraw, drawForPaper, followSize, followTheme } from "./paper.js";
import { Scene } from "./scene.js";
import { Traffic } from "./traffic.js";

const HOTTEST = 12; // links in the table

async function main() {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const arrays = await unpack(document.getElementById("arrays").textContent, facts.arrays);
  const model = new Model(facts, arrays);
  const matrix = new Traffic(model);
  const nodes = new Nodes(model, (node) => {
    scene.choose({ vertex: model.nodeVertex[node] });
    nodes.choose(node);
    document.getElementById("scene-marks").focus({ preventScroll: true });
    document.getElementById("machine").scrollIntoView({ block: "start" });
  });
  const scene = new Scene(model, (found) => {
    nodes.choose(found?.vertex === undefined ? null : model.nodesAt.get(found.vertex)[0]);
  });
  const show = (view) => {
    scene.show(view);
    matrix.show(view);
    nodes.show(view);
    fillHot(model, view, scene);
  };
  const chosen = () => model.views[document.querySelector('input[name="view"]:checked').value];
  for (const choice of document.querySelectorAll('input[name="view"]')) {
    choice.addEventListener("change", () => show(chosen()));
  }
  for (const choice of document.querySelectorAll('input[name="part"]')) {
    choice.addEventListener("change", () => {
      model.choosePart(choice.value === "" ? null : Number(choice.value));
      show(chosen());
    });
  }
  show(chosen());
  const redraw = () => {
    scene.redraw();
    matrix.redraw();
  };
  followTheme(redraw);
  drawForPaper(() => {
    scene.draw();
    matrix.draw();
  }, redraw);
  followSize(redraw);
}

/** The busiest links as a table: what the picture shows, for all readers. */
function fillHot(model, view, scene) {
  const why = (link) => (model.part === null ? model.loaders(view, link) : model.byPart(view, link));
  const rows = Array.from(view.busiest.slice(0, HOTTEST), (link) => {
    const row = document.createElement("tr");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = model.linkName[link];
    button.addEventListener("click", () => scene.choose({ link }));
    const cells = [button, model.load(view, link), why(link)].map((content, index) => {
      const cell = document.createElement(index === 0 ? "th" : "td");
      cell.append(content);
      return cell;
    });
    cells[0].scope = "row";
    cells[1].className = "number";
    row.append(...cells);
    return row;
  });
  document.querySelector("#hot tbody").replaceChildren(...rows);
  const loaded = model.part === null ? "" : `, loaded by ${model.parts[model.part]}`;
  document.getElementById("hot-by").textContent = model.part === null ? "who loads it most" : "all that loads it";
  document.getElementById("hot-title").textContent = `The busiest links with ranks placed by ${view.name}${loaded}`;
}

main().catch(cannotDraw);

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
  for (const choice of document.querySelectorAll('input[name="view"]')) {
    choice.addEventListener("change", () => show(model.views[choice.value]));
  }
  show(model.views[document.querySelector('input[name="view"]:checked').value]);
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
  const rows = Array.from(view.hot.slice(0, HOTTEST), (link) => {
    const row = document.createElement("tr");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = model.linkName[link];
    button.addEventListener("click", () => scene.choose({ link }));
    const cells = [button, model.load(view, link), model.loaders(view, link)].map((content, index) => {
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
  document.getElementById("hot-title").textContent = `The busiest links with ranks placed by ${view.name}`;
}

main().catch(cannotDraw);

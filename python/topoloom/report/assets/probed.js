// SPDX-License-Identifier: BSD-3-Clause
// The pictures of a machine that was measured.

import { Costs } from "./costs.js";
import { unpack } from "./pack.js";
import { cannotDraw, drawForPaper, followSize, followTheme } from "./paper.js";

async function main() {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const arrays = await unpack(document.getElementById("arrays").textContent, facts.arrays);
  const costs = new Costs(facts, arrays);
  followTheme(costs.redraw);
  drawForPaper(() => costs.draw(), costs.redraw);
  followSize(costs.redraw);
}

main().catch(cannotDraw);

// SPDX-License-Identifier: BSD-3-Clause
// Enables the theme button; the charts are static SVG.

import { followTheme } from "./paper.js";

followTheme(() => {});

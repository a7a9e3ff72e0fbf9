// SPDX-License-Identifier: BSD-3-Clause
// The button for colors; the pictures of a study are part of the page.

import { followTheme } from "./paper.js";

followTheme(() => {});

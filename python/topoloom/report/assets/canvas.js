// SPDX-License-Identifier: BSD-3-Clause
// What both pictures need: sharp canvases, and the pointer, wheel and keys over them.

/** A context in CSS pixels, with the size of the canvas; the canvas is cleared. */
export function sharp(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * ratio));
  const high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** Call `draw` before the next frame, once however often it is asked for. */
export function atNextFrame(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

/**
 * Pointer, wheel and keys: `point(x, y)`, `leave()`, `drag(dx, dy)`, `rest()` after a
 * drag, `zoom(factor, x, y)`, `pick(x, y)`, and `keys`, by their names.
 */
export function listen(canvas, on) {
  let held = null;
  let moved = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = at(event);
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (held === null) return on.point(x, y);
    moved += Math.abs(x - held[0]) + Math.abs(y - held[1]);
    on.drag(x - held[0], y - held[1]);
    held = [x, y];
  });
  canvas.addEventListener("pointerup", (event) => {
    if (held === null) return;
    held = null;
    if (moved < 4) on.pick(...at(event));
    else on.rest();
  });
  canvas.addEventListener("pointercancel", () => (held = null));
  canvas.addEventListener("pointerleave", () => held === null && on.leave());
  canvas.addEventListener("wheel", (event) => {
    // A page that scrolls past must not zoom.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    on.zoom(Math.exp(-event.deltaY / 400), ...at(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = on.keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}

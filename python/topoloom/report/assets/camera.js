// SPDX-License-Identifier: BSD-3-Clause
// From places in space to pixels: a machine seen in parallel projection.

const MARGIN = 0.9;
const STORED = 65535;

export class Camera {
  constructor({ place, unit, flat, steps }) {
    this.count = place.length / 3;
    this.place = Float32Array.from(place, (stored) => (stored - STORED / 2) * unit);
    this.flat = flat;
    this.steps = steps;
    this.x = new Float32Array(this.count);
    this.y = new Float32Array(this.count);
    this.reset();
  }

  reset() {
    [this.yaw, this.pitch] = this.flat ? [0, 0] : [-0.5, 0.38];
    [this.zoom, this.right, this.down] = [1, 0, 0];
  }

  turn(right, up) {
    this.yaw += right;
    this.pitch = Math.min(Math.max(this.pitch + up, -Math.PI / 2), Math.PI / 2);
  }

  zoomAt(factor, x, y, width, height) {
    const zoom = Math.min(Math.max(this.zoom * factor, 0.5), 200);
    const grown = zoom / this.zoom;
    this.right = (x - width / 2) * (1 - grown) + this.right * grown;
    this.down = (y - height / 2) * (1 - grown) + this.down * grown;
    this.zoom = zoom;
  }

  /** Where a vector points on the page, in units of space. */
  direction([x, y, z]) {
    const [a, b, c, d, e] = this.rotation;
    return [x * a + z * b, -(x * c + y * d + z * e)];
  }

  /** Set `x` and `y` of all vertices, in pixels. */
  project(width, height) {
    const [sinYaw, cosYaw] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    const [sin, cos] = [Math.sin(this.pitch), Math.cos(this.pitch)];
    this.rotation = [cosYaw, sinYaw, -sinYaw * sin, cos, cosYaw * sin];
    const [a, b, c, d, e] = this.rotation;
    const n = this.count;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      const [x, y, z] = [this.place[i], this.place[n + i], this.place[2 * n + i]];
      const across = (this.x[i] = x * a + z * b);
      const up = (this.y[i] = x * c + y * d + z * e);
      if (across < left) left = across;
      if (across > right) right = across;
      if (up < low) low = up;
      if (up > high) high = up;
    }
    // Stubs stand out by half a step.
    const out = this.steps.length ? Math.hypot(...this.steps[0]) || 1 : 0.15;
    const fit = MARGIN * Math.min(width / (right - left + out), height / (high - low + out));
    this.scale = fit * this.zoom;
    for (let i = 0; i < n; i++) {
      this.x[i] = (this.x[i] - (left + right) / 2) * this.scale + width / 2 + this.right;
      this.y[i] = -(this.y[i] - (low + high) / 2) * this.scale + height / 2 + this.down;
    }
  }
}

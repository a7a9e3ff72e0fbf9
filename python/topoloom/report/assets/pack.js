// SPDX-License-Identifier: BSD-3-Clause
// Unpacks what `report/packed_arrays.py` packed.

/** All arrays of an index, by name; a text becomes an array of its lines. */
export async function unpack(letters, index) {
  const named = Object.entries(index).map(async ([name, entry]) => {
    const bytes = await inflate(fromBase64(letters.slice(entry.at, entry.end)));
    return [name, entry.type === "text" ? lines(bytes) : numbers(bytes, entry)];
  });
  return Object.fromEntries(await Promise.all(named));
}

function fromBase64(letters) {
  const text = atob(letters);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function lines(bytes) {
  const text = new TextDecoder().decode(bytes);
  return text === "" ? [] : text.split("\n");
}

function numbers(planes, { type, count, steps }) {
  const width = count === 0 ? 1 : planes.length / count;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0, from = 0; plane < width; plane++) {
    for (let i = 0; i < count; i++) bytes[i * width + plane] = planes[from++];
  }
  if (steps) {
    const whole = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[width](bytes.buffer);
    for (let i = 1; i < count; i++) whole[i] += whole[i - 1];
  }
  return new globalThis[`${type}Array`](bytes.buffer);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Things that V8 compiles, for matrix.py.
"use strict";
const crypto = require("crypto");
const zlib = require("zlib");
const {Worker, isMainThread, parentPort, workerData} =
  require("worker_threads");
const count = Number(process.argv[2] ?? workerData);

class Shape { area() { return 0; } }
class Square extends Shape {
  constructor(a) { super(); this.a = a; }
  area() { return this.a * this.a; }
}
class Disc extends Shape {
  constructor(r) { super(); this.r = r; }
  area() { return Math.PI * this.r ** 2; }
}

function shapes() {
  let sum = 0;
  for (let i = 0; i < count; i++)
    sum += (i % 3 ? new Square(i % 100) : new Disc(i % 50)).area();
  return sum.toFixed(6);
}

function words() {
  const found = new Map();
  for (let i = 0, x = 42; i < count; i++) {
    x = x * 16807 % 2147483647;
    const word = `w${x % 997}`;
    found.set(word, (found.get(word) ?? 0) + i);
  }
  const sorted = [...found].sort((a, b) => b[1] - a[1] ||
                                           (a[0] < b[0] ? -1 : 1));
  const text = JSON.stringify(sorted);
  return [sorted.length, sorted[0], JSON.parse(text).length,
          text.replace(/(\d)(\d)/g, "$2$1").match(/w9\d/g).length,
          crypto.createHash("sha256").update(text).digest("hex"),
          zlib.inflateSync(zlib.deflateSync(text)).length];
}

// (func (export "f") (param i32) (result i32)  local 0 * local 0 + 7)
const module_ = new WebAssembly.Module(new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5,
  1, 1, 102, 0, 0, 10, 12, 1, 10, 0, 32, 0, 32, 0, 108, 65, 7, 106, 11]));

function wasm() {
  const {f} = new WebAssembly.Instance(module_).exports;
  let sum = 0;
  for (let i = 0; i < count; i++)
    sum = sum + f(i) | 0;
  return sum;
}

function mixed() {
  const add = (a, b) => a + b;
  let sum = 0;
  for (let i = 0; i < count; i++)
    sum = add(sum, i);
  let text = "";
  for (let i = 0; i < 100; i++)
    text = add(text, i);
  return [sum, add(sum, 0.5), text.length, String(3n ** 200n).slice(-12),
          new Function("a", "return a.map(x => x * 2)")([1, 2, 3])];
}

if (isMainThread) {
  console.log(shapes(), words(), wasm(), mixed());
  const worker = new Worker(__filename, {workerData: count});
  worker.on("message", message => {
    console.log(message);
    setTimeout(() => {
      console.error("to stderr");
      process.exit(6);
    }, 5);
  });
} else {
  parentPort.postMessage([shapes(), wasm()]);
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that V8 compiles, gives up and compiles again, for jit.py.  The two
// cells are where what is written to /dev/null is; lines say what they hold.
"use strict";
const fs = require("fs");
const cells = new Int32Array(1024), others = new Int32Array(1024);
const sink = fs.openSync("/dev/null", "w");

function sums(at, from, to, rest) {
  for (let i = from; i <= to; i++) {
    at[0] += i % 7 + rest;
    if (i % 1000 === 0)
      at[1] = i;
  }
}

function products(at, from, to, rest) {
  for (let i = from; i <= to; i++) {
    at[0] = (at[0] * 5 + i + rest) % 1000003;
    if (i % 1000 === 0)
      at[1] = -i;
  }
}

// So that there is code when the cells are written.
function warm(rest) {
  for (let i = 0; i < 100; i++) {
    sums(others, 1, 5000, rest);
    products(others, 1, 5000, rest);
  }
}

fs.writeSync(sink, cells);
warm(0);
for (let part = 0; part < 5; part++) {
  const work = part % 2 === 0 ? sums : products;
  // What was an integer no longer is: the code for integers is of no use.
  if (part === 3)
    warm(0.25);
  work(cells, part * 4000 + 1, (part + 1) * 4000, part < 3 ? 0 : 0.25);
  fs.writeSync(1, `${cells[0]} ${cells[1]}\n`);
}

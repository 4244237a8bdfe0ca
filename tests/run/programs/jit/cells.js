// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that V8 compiles, gives up and compiles again, for jit.py.  The two
// cells are where what is written to /dev/null is; lines say what they hold.
"use strict";
const fs = require("fs");
const cells = new Int32Array(1024);
const sink = fs.openSync("/dev/null", "w");

function sums(from, to, rest) {
  for (let i = from; i <= to; i++) {
    cells[0] += i % 7 + rest;
    if (i % 1000 === 0)
      cells[1] = i;
  }
}

function products(from, to, rest) {
  for (let i = from; i <= to; i++) {
    cells[0] = (cells[0] * 5 + i + rest) % 1000003;
    if (i % 1000 === 0)
      cells[1] = -i;
  }
}

fs.writeSync(sink, cells);
for (let part = 0; part < 5; part++) {
  const work = part % 2 === 0 ? sums : products;
  // What was an integer no longer is: the code for integers is of no use.
  work(part * 4000 + 1, (part + 1) * 4000, part < 3 ? 0 : 0.25);
  fs.writeSync(1, `${cells[0]} ${cells[1]}\n`);
}

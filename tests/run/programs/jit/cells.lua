-- SPDX-License-Identifier: GPL-2.0-or-later
-- Loops that LuaJIT compiles, throws away and compiles again, for jit.py.  The
-- first line says where the two cells are, others what they hold.
local ffi = require("ffi")
local cells = ffi.new("int64_t[2]")

local function sums(from, to)
  for i = from, to do
    cells[0] = cells[0] + i % 7
    if i % 1000 == 0 then cells[1] = i end
  end
end

local function products(from, to)
  for i = from, to do
    cells[0] = (cells[0] * 5 + i) % 1000003
    if i % 1000 == 0 then cells[1] = -i end
  end
end

io.stdout:setvbuf("no")
print(string.format("%x", tonumber(ffi.cast("intptr_t", cells))))
for part = 0, 4 do
  local work = part % 2 == 0 and sums or products
  work(part * 4000 + 1, (part + 1) * 4000)
  print(string.format("%d %d", tonumber(cells[0]), tonumber(cells[1])))
  jit.flush()
end

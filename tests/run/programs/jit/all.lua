-- SPDX-License-Identifier: GPL-2.0-or-later
-- Things that LuaJIT compiles, for matrix.py.
local ffi, bit = require("ffi"), require("bit")
local count = tonumber(arg[1])

local seed = 42
local function random(most)
  seed = (seed * 16807) % 2147483647
  return seed % most
end

local words, sum = {}, 0
for i = 1, count do
  local word = "w" .. random(997)
  words[word] = (words[word] or 0) + i
  sum = sum + i / (i % 13 + 1)
end
local sorted = {}
for word in pairs(words) do sorted[#sorted + 1] = word end
table.sort(sorted, function(a, b)
  if words[a] ~= words[b] then return words[a] > words[b] end
  return a < b
end)
print(#sorted, sorted[1], words[sorted[1]], string.format("%.10f", sum))

ffi.cdef [[typedef struct { double x, y; int32_t hits; } point;]]
local points = ffi.new("point[?]", 64)
for i = 1, count do
  local point = points[bit.band(i, 63)]
  point.x, point.y = point.x * 0.5 + i, point.y + math.sin(i)
  point.hits = bit.bxor(point.hits, bit.rol(i, i % 32))
end
print(points[7].x, string.format("%.9f", points[7].y), points[7].hits)

-- It exits from what was compiled, and into another trace.
local function mixed(value, i)
  if i % 101 == 0 then return tostring(value) end
  return value + 1
end
local value = 0
for i = 1, count do value = tonumber(mixed(value, i)) end

local function numbers(most)
  return coroutine.wrap(function()
    for i = 1, most do coroutine.yield(i * i % 11) end
  end)
end
local total = 0
for number in numbers(count / 10) do total = total + number end
print(value, total, pcall(error, "an error"))
jit.flush()
local text = {}
for i = 1, count / 100 do text[#text + 1] = ("%x"):format(i * 7919) end
print(#table.concat(text, ","), (table.concat(text):gsub("%d+", "-")):sub(-20))
os.exit(4)

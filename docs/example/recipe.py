# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses wordindex.c, for docs/heap.md."""
import wordindex

RECIPE = """\
peel the apples
cut the bread
fry apples and bread in butter
serve the apples with the bread
"""

index = wordindex.Index()
for line in RECIPE.splitlines():
    index.add(line)
for word in "butter", "apples", "bread":
    print(word, "is in", index.find(word))

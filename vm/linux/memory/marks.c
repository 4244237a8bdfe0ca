/* SPDX-License-Identifier: GPL-2.0-or-later */
/* marks.c - what mappings have been given, and lose when they go */
#include <stdlib.h>
#include <string.h>

#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

/* Makes room for one more, at `at`. */
static bool insert(struct marks *marks, size_t at, struct mark mark)
{
	struct mark *list = realloc(marks->list,
				    (marks->count + 1) * sizeof(*list));

	if (!list)
		return false;
	memmove(list + at + 1, list + at,
		(marks->count - at) * sizeof(*list));
	list[at] = mark;
	marks->list = list;
	marks->count++;
	return true;
}

static void take_out(struct marks *marks, size_t at)
{
	marks->count--;
	memmove(marks->list + at, marks->list + at + 1,
		(marks->count - at) * sizeof(*marks->list));
}

/* The first that ends behind `addr`. */
static size_t find(const struct marks *marks, guest_addr addr)
{
	size_t low = 0, high = marks->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (marks->list[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void marks_clear(struct marks *marks, guest_addr start, guest_addr end)
{
	size_t at = find(marks, start);

	while (at < marks->count && marks->list[at].start < end) {
		struct mark *mark = &marks->list[at];
		const struct mark behind = { end, mark->end };

		if (mark->start >= start && mark->end <= end) {
			take_out(marks, at);
			continue;
		}
		if (mark->start >= start) {
			mark->start = end;
		} else {
			mark->end = start;
			/* Without memory, too little is known as marked. */
			if (behind.end > end)
				insert(marks, at + 1, behind);
		}
		at++;
	}
}

bool marks_set(struct marks *marks, guest_addr start, guest_addr end)
{
	size_t at;

	if (start >= end)
		return true;
	marks_clear(marks, start, end);
	at = find(marks, start);
	if (at && marks->list[at - 1].end == start) {
		marks->list[at - 1].end = end;
		return true;
	}
	return insert(marks, at, (struct mark){ start, end });
}

uint64_t marks_size(const struct marks *marks, guest_addr start,
		    guest_addr end)
{
	uint64_t size = 0;

	for (size_t i = find(marks, start);
	     i < marks->count && marks->list[i].start < end; i++) {
		const struct mark *mark = &marks->list[i];
		guest_addr from = mark->start > start ? mark->start : start;
		guest_addr to = mark->end < end ? mark->end : end;

		size += to - from;
	}
	return size;
}

void marks_drop(struct marks *marks)
{
	free(marks->list);
	*marks = (struct marks){ 0 };
}

void mappings_lose_marks(struct linux_process *process, guest_addr addr,
			 uint64_t size)
{
	marks_clear(&process->space->locked, addr, addr + size);
	marks_clear(&process->space->growing, addr, addr + size);
}

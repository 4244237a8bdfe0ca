/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pagemap.c - which pages the host has: guest pages are its own */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/memory/memory.h"
#include "vm/linux/process.h"

int pagemap_open(void)
{
	return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

/* Entries of pages in a row in the host's memory. */
static void read_entries(int pagemap, const uint8_t *host, uint64_t *entries,
			 size_t count)
{
	size_t size = count * sizeof(*entries);
	off_t at = (off_t)((uintptr_t)host / GUEST_PAGE * sizeof(*entries));
	ssize_t got = pagemap < 0 ? -1 : pread(pagemap, entries, size, at);
	size_t whole = got > 0 ? (size_t)got : 0;

	memset((uint8_t *)entries + whole, 0, size - whole);
}

void pagemap_entries(struct linux_process *process, int pagemap,
		       uint64_t page, uint64_t *entries, size_t count)
{
	for (size_t done = 0, run; done < count; done += run) {
		uint64_t span;
		const uint8_t *host = memory_host(
			process->memory, (page + done) << GUEST_PAGE_SHIFT,
			(uint64_t)(count - done) << GUEST_PAGE_SHIFT, &span);

		run = host ? span >> GUEST_PAGE_SHIFT : 1;
		if (host)
			read_entries(pagemap, host, entries + done, run);
		else
			entries[done] = 0;
	}
}

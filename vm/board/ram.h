/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ram.h - the machine's memory, and who writes to it
 *
 * The host's pages are closed to writes; the first write to one is a fault,
 * which notes it and opens the page.  Pages that code was translated of are
 * closed again: the engine itself notices only the first write to such a page,
 * and none through another address.
 *
 * Pieces of RAM follow each other in the host's memory.
 *
 * Units:      pages are counted from the start of the host's memory.
 * Ownership:  ram_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_SYSTEM, ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_RAM_H
#define CPREC_VM_BOARD_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/board/board.h"
#include "vm/memory/host_faults.h"

struct failure;

struct ram {
	struct board_ram pieces[BOARD_RAMS_MOST];
	unsigned count;
	uint64_t size;		/* of all */
	uint8_t *host;
	uint8_t *states;	/* of pages: what is known of them */
	struct board_write *written;	/* since ram_close() */
	size_t written_count;
	uint32_t *changed;	/* had translations, and were written */
	size_t changed_count;
	struct host_faults faults;

	/* Called in the handler of the fault: steps at present; and a page with
	 * translations was written. */
	uint64_t (*now)(const void *context);
	void (*code_changed)(void *context);
	void *context;
};

/* `ram->pieces`, `count` and the calls are set.  Nothing is closed yet. */
int ram_create(struct ram *ram, struct failure *why);
void ram_release(struct ram *ram);

/* The page at an address, which is RAM; and its address / GUEST_PAGE. */
uint64_t ram_page(const struct ram *ram, uint64_t addr);
uint64_t ram_guest_page(const struct ram *ram, uint64_t page);

/* Where an address is, if it and what follows are RAM; else NULL. */
uint8_t *ram_at(const struct ram *ram, uint64_t addr, uint64_t size);

/* Code of the page at an address was translated. */
void ram_watch_code(struct ram *ram, uint64_t addr);

/* The host is about to write to the page at an address. */
void ram_open(struct ram *ram, uint64_t addr);

/* From here on, pages that are written are noted anew. */
void ram_close(struct ram *ram);

#endif

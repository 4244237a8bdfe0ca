/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ram.c - see ram.h */
#include "vm/board/ram.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"

enum page_state {
	PAGE_HAS_CODE = 1,
	PAGE_IS_WRITTEN = 2,
};

/* UINT64_MAX: no RAM has so many bytes there. */
static uint64_t offset_of(const struct ram *ram, uint64_t addr, uint64_t size)
{
	uint64_t before = 0;

	for (unsigned i = 0; i < ram->count; i++) {
		const struct board_ram *piece = &ram->pieces[i];
		uint64_t offset = addr - piece->base;

		if (offset < piece->size)
			return size <= piece->size - offset ? before + offset :
							      UINT64_MAX;
		before += piece->size;
	}
	return UINT64_MAX;
}

uint64_t ram_page(const struct ram *ram, uint64_t addr)
{
	return offset_of(ram, addr, 1) >> GUEST_PAGE_SHIFT;
}

uint64_t ram_guest_page(const struct ram *ram, uint64_t page)
{
	unsigned i = 0;

	while (page >= ram->pieces[i].size >> GUEST_PAGE_SHIFT)
		page -= ram->pieces[i++].size >> GUEST_PAGE_SHIFT;
	return page + (ram->pieces[i].base >> GUEST_PAGE_SHIFT);
}

/*
 * The host has room for so many borders between open and closed pages.  When it
 * is full, all are closed: they are opened again one by one.
 */
static void set_open(struct ram *ram, uint64_t page, bool open)
{
	uint8_t *at = ram->host + (page << GUEST_PAGE_SHIFT);
	int prot = open ? PROT_READ | PROT_WRITE : PROT_READ;

	if (!mprotect(at, GUEST_PAGE, prot))
		return;
	if (mprotect(ram->host, ram->size, PROT_READ) ||
	    mprotect(at, GUEST_PAGE, prot))
		give_up("the system does not let memory be protected");
}

static void open_page(struct ram *ram, uint64_t page)
{
	uint8_t *state = &ram->states[page];

	set_open(ram, page, true);
	if (!(*state & PAGE_IS_WRITTEN))
		ram->written[ram->written_count++] = (struct board_write){
			ram_guest_page(ram, page),
			ram->now(ram->context),
		};
	if (*state & PAGE_HAS_CODE) {
		ram->changed[ram->changed_count++] = (uint32_t)page;
		ram->code_changed(ram->context);
	}
	*state = PAGE_IS_WRITTEN;
}

static bool on_fault(void *context, const uint8_t *at, bool writes)
{
	struct ram *ram = context;

	if (writes)
		open_page(ram, (uint64_t)(at - ram->host) >> GUEST_PAGE_SHIFT);
	return writes;
}

int ram_create(struct ram *ram, struct failure *why)
{
	uint64_t pages;
	void *host;

	for (unsigned i = 0; i < ram->count; i++)
		ram->size += ram->pieces[i].size;
	pages = ram->size >> GUEST_PAGE_SHIFT;
	host = mmap(NULL, ram->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (host == MAP_FAILED)
		return failed(why, ERR_NO_MEMORY, "there is no room for %llu"
			      " MiB of memory of the machine: %s",
			      (unsigned long long)ram->size >> 20,
			      strerror(errno));
	ram->host = host;
	ram->states = calloc(pages, 1);
	ram->written = calloc(pages, sizeof(*ram->written));
	ram->changed = calloc(pages, sizeof(*ram->changed));
	if (!ram->states || !ram->written || !ram->changed)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	ram->faults = (struct host_faults){
		.start = ram->host, .size = ram->size,
		.fault = on_fault, .context = ram,
	};
	return host_faults_catch(&ram->faults, why);
}

void ram_release(struct ram *ram)
{
	if (ram->host) {
		host_faults_leave(&ram->faults);
		munmap(ram->host, ram->size);
	}
	free(ram->states);
	free(ram->written);
	free(ram->changed);
	*ram = (struct ram){ 0 };
}

uint8_t *ram_at(const struct ram *ram, uint64_t addr, uint64_t size)
{
	uint64_t offset = offset_of(ram, addr, size);

	return offset != UINT64_MAX ? ram->host + offset : NULL;
}

void ram_watch_code(struct ram *ram, uint64_t addr)
{
	uint64_t page = ram_page(ram, addr);

	if (!ram_at(ram, addr, 1) || ram->states[page] & PAGE_HAS_CODE)
		return;
	ram->states[page] |= PAGE_HAS_CODE;
	set_open(ram, page, false);
}

void ram_open(struct ram *ram, uint64_t addr)
{
	open_page(ram, ram_page(ram, addr));
}

void ram_close(struct ram *ram)
{
	for (size_t i = 0; i < ram->written_count; i++)
		ram->states[ram_page(ram, ram->written[i].page
						  << GUEST_PAGE_SHIFT)] &=
			(uint8_t)~PAGE_IS_WRITTEN;
	ram->written_count = 0;
	if (mprotect(ram->host, ram->size, PROT_READ))
		give_up("the system does not let memory be protected");
}

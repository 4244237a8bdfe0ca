/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.c - telling of a board's accesses to memory
 *
 * Translated code logs them, by their virtual addresses, with the budget that
 * its block has left: that tells when they took place.  The log is told before
 * anything can change what an address means, and before it is full.
 */
#include "vm/board/board_internal.h"

#include <string.h>

#include "formats/error.h"

/* So many are told at once. */
#define TOLD_AT_ONCE 256u

/* Where pages are that were looked up since the log was told last. */
#define KNOWN_PAGES 64u

struct known_pages {
	struct page_tables tables;
	uint64_t pages[KNOWN_PAGES], places[KNOWN_PAGES];
};

static bool tells(const struct board_watcher *watcher)
{
	return watcher && watcher->instruction;
}

int board_watch(struct board *board, const struct board_watcher *watcher,
		struct failure *why)
{
	unsigned kinds = watcher ? watcher->accesses : 0;
	unsigned now = engine_logs(board->engine);
	int rc = 0;

	_Static_assert(BOARD_READS == ENGINE_LOG_READS &&
		       BOARD_WRITES == ENGINE_LOG_WRITES &&
		       BOARD_VALUES == ENGINE_LOG_VALUES, "kinds of accesses");
	if (kinds & ~now) {
		rc = engine_log(board->engine, kinds | now, why);
		board->drops_all = true;
	}
	board->drops_all |= tells(board->watcher) || tells(watcher);
	board->watcher = rc ? NULL : watcher;
	return rc;
}

bool watch_is_told(const struct board *board, guest_addr pc)
{
	return tells(board->watcher) && pc >= board->watcher->first &&
	       pc <= board->watcher->last;
}

void watch_instruction(struct board *board, uint64_t steps, guest_addr pc)
{
	if (watch_is_told(board, pc))
		board->watcher->instruction(board->watcher->context, steps, pc);
}

void watch_tables(const struct board *board, uint64_t steps,
		  const struct page_tables *tables)
{
	if (board->watcher && board->watcher->tables)
		board->watcher->tables(board->watcher->context, steps, tables);
}

uint64_t watch_limit(const struct board *board)
{
	return engine_logs(board->engine) ? ENGINE_LOGGED_STEPS : UINT64_MAX;
}

/* What all that is granted comes to has changed. */
void watch_shift(struct board *board, uint64_t by)
{
	if (engine_logs(board->engine))
		engine_log_shift(board->engine, (int64_t)by);
}

/* ------- what the log says ------- */

/* False: nothing is mapped there, so that it did not take place. */
static bool find_place(const struct board *board, struct known_pages *known,
		       guest_addr addr, uint64_t *out)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT;
	unsigned slot = page % KNOWN_PAGES;
	uint64_t place;

	if (known->pages[slot] != page) {
		if (!tables_translate(board, &known->tables,
				      page << GUEST_PAGE_SHIFT, &place))
			return false;
		known->pages[slot] = page;
		known->places[slot] = place;
	}
	*out = known->places[slot] + addr % GUEST_PAGE;
	return true;
}

static bool is_wanted(const struct board_watcher *watcher,
		      const struct access_site *site)
{
	return watcher->accesses & (site->writes ? BOARD_WRITES : BOARD_READS);
}

/* Whether it is like one that was told just now. */
static bool is_seen(const struct line_epochs *epochs, struct lines_seen *seen,
		    guest_addr addr, const struct access_site *site,
		    uint64_t steps)
{
	return epochs && lines_seen(seen, addr, site->size, site->writes,
				    (steps - epochs->start) >> epochs->shift);
}

/* ------- telling ------- */

struct telling {
	const struct board *board;
	struct known_pages known;
	struct lines_seen seen;
	struct board_access list[TOLD_AT_ONCE];
	size_t count;
};

static void tell_list(struct telling *telling)
{
	const struct board_watcher *watcher = telling->board->watcher;

	if (telling->count)
		watcher->accessed(watcher->context, telling->list,
				  telling->count);
	telling->count = 0;
}

static void look_at(struct telling *telling, const struct access_site *site,
		    guest_addr addr, uint64_t value, uint64_t steps)
{
	const struct board_watcher *watcher = telling->board->watcher;
	struct board_access *out = &telling->list[telling->count];
	unsigned unused = 64 - 8 * site->size;

	if (!is_wanted(watcher, site) ||
	    is_seen(watcher->epochs, &telling->seen, addr, site, steps))
		return;
	*out = (struct board_access){
		.steps = steps, .pc = site->pc,
		.value = value << unused >> unused,
		.size = site->size, .writes = site->writes,
	};
	if (!find_place(telling->board, &telling->known, addr, &out->addr))
		return;
	if (++telling->count == TOLD_AT_ONCE)
		tell_list(telling);
}

static void tell_all(struct board *board)
{
	struct telling telling;
	struct log_reader reader;
	struct logged piece;

	telling.board = board;
	telling.known.tables = board_tables(board);
	memset(telling.known.pages, 0xff, sizeof(telling.known.pages));
	if (board->watcher->epochs)
		telling.seen = (struct lines_seen){ 0 };
	telling.count = 0;
	engine_log_read(board->engine, &reader);
	while (log_next(&reader, &piece)) {
		uint64_t last = board->base + (uint64_t)board->granted -
				(uint64_t)piece.budget;
		const uint64_t *words = piece.words;

		for (unsigned i = 0; i < piece.count;
		     i++, words += reader.words)
			look_at(&telling, &piece.sites[i],
				log_addr(&reader, words),
				reader.words > 1 ? words[1] : 0,
				last - piece.sites[i].left);
	}
	tell_list(&telling);
}

void watch_tell(struct board *board)
{
	if (!engine_logs(board->engine))
		return;
	if (board->watcher && board->watcher->accesses)
		tell_all(board);
	engine_log_clear(board->engine);
}

/* An instruction has not retired: what it accessed, it did not. */
void watch_take_back(struct board *board, guest_addr pc)
{
	if (engine_logs(board->engine))
		engine_log_take_back(board->engine,
				     (int64_t)(board->base -
					       board_steps_at(board, pc)) +
					     board->granted);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_words.h - what is remembered of each word of memory to find races
 *
 * A first replay marks who touches a word, and which bytes serve to
 * synchronize.  Only words that several threads touched and somebody wrote
 * can race: those alone get a record in the second replay.
 *
 * Units:      a word is 8 bytes, aligned; sizes are bytes.
 * Ownership:  race_words_release() frees; a zeroed structure is an empty one.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_RACES_RACE_WORDS_H
#define CPREC_REPLAYER_RACES_RACE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/region.h"
#include "replayer/races/clocks.h"

#define RACE_WORD 8u
#define RACE_PAGE_WORDS (GUEST_PAGE / RACE_WORD)

/* One access that later ones may race with. */
struct race_entry {
	uint64_t pc;
	uint64_t place;		/* what is to blame: `pc`, or who called it */
	uint64_t time;
	uint32_t thread;
	uint32_t count;		/* of the thread's own clock */
	uint8_t bytes;		/* of the word: a bit each */
	bool writes;
	bool is_library;	/* `pc` is in the system's libraries */
	bool is_atomic;
	bool keeps_value;	/* is_atomic: it wrote what was there */
	bool is_blind;		/* a store to synchronizing bytes that gives
				   nothing back */
};

/* A thread's last plain load of synchronizing bytes. */
struct race_load {
	uint32_t thread;
	bool is_late;		/* `before` was not ordered before it */
	struct race_entry before;
	uint64_t learned;	/* when the thread last read there what nothing
				   else had told it */
};

struct race_word {
	uint8_t sync;		/* bytes that serve to synchronize */
	uint8_t atomic;		/* bytes of variables whose type is atomic */
	bool raced;
	struct race_entry *entries;
	uint16_t count, room;
	uint16_t last;		/* that was renewed last */
	uint32_t owner;		/* only this thread accesses it ... */
	uint64_t owned;		/* ... since then */
	struct clock released[2];	/* at its two halves */
	struct race_load *loads;	/* by thread, those that ever were late */
	size_t load_count, load_room;
};

struct race_page {
	uint64_t number;
	uint16_t states[RACE_PAGE_WORDS];
	struct race_word *words[RACE_PAGE_WORDS];	/* NULL: no record */
	uint64_t own[RACE_PAGE_WORDS / 64];	/* bits: words of the library */
};

#define RACE_RECENT 256u

struct race_words {
	struct race_page **slots;	/* open addressing */
	size_t count, room;
	struct race_page *recent[RACE_RECENT];
};

/* The bits of [addr, addr + size) that are in the word at `word`. */
uint8_t race_word_bytes(uint64_t word, uint64_t addr, uint64_t size);

/* Marks that a thread touches bytes. */
int race_words_touch(struct race_words *words, uint32_t thread, uint64_t addr,
		     uint64_t size, bool writes);

/*
 * The program's code loads bytes plainly: whether some serve to synchronize, as
 * far as is known, but are of no variable whose type is atomic.
 */
bool race_words_load(struct race_words *words, uint64_t addr, uint64_t size);

/* Whether such bytes were loaded before that was known. */
bool race_words_was_early(const struct race_words *words);

/* Marks bytes as synchronizing, or as of a variable whose type says so. */
int race_words_synchronize(struct race_words *words, uint64_t addr,
			   uint64_t size, bool by_type);

/*
 * Who touched words that serve to synchronize was not noted: from now on, all
 * threads have.
 */
void race_words_share(struct race_words *words);

/* Whether several threads touched the word at `addr`, and somebody wrote. */
bool race_words_is_shared(struct race_words *words, uint64_t addr);

/*
 * The record of the word that holds `addr`, made if need be; NULL in `*out` if
 * the word cannot race.
 */
int race_words_find(struct race_words *words, uint64_t addr,
		    struct race_word **out);

/* Whether the first or the last of these bytes can race. */
bool race_words_can_race(struct race_words *words, uint64_t addr,
			 uint64_t size);

/* Forgets accesses: other memory is there now. */
void race_words_forget(struct race_words *words, uint64_t addr,
		       uint64_t size);

/* Says whose memory that is: the C library's own, or the program's. */
int race_words_give(struct race_words *words, uint64_t addr, uint64_t size,
		    bool to_library);
bool race_words_is_own(struct race_words *words, uint64_t addr);

void race_words_release(struct race_words *words);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_words.c - see race_words.h */
#include "replayer/races/race_words.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

/* The state of a word: its only thread so far, modulo, counted from 1. */
#define STATE_SHARED 0x8000u
#define STATE_WRITTEN 0x4000u
#define STATE_LOADED 0x2000u	/* plainly, while it was not known to be more */
#define STATE_OWNER 0x1fffu

/* ------- pages ------- */

static size_t slot_of(const struct race_words *words, uint64_t number)
{
	size_t slot = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

	slot &= words->room - 1;
	while (words->slots[slot] && words->slots[slot]->number != number)
		slot = (slot + 1) & (words->room - 1);
	return slot;
}

static int grow(struct race_words *words)
{
	struct race_words larger = { .count = words->count };

	larger.room = words->room ? words->room * 2 : 1024;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return ERR_NO_MEMORY;
	for (size_t i = 0; i < words->room; i++)
		if (words->slots[i])
			larger.slots[slot_of(&larger,
					     words->slots[i]->number)] =
				words->slots[i];
	free(words->slots);
	words->slots = larger.slots;
	words->room = larger.room;
	return 0;
}

/* NULL if it is not there. */
static struct race_page *find_page(struct race_words *words, uint64_t number)
{
	struct race_page **recent = &words->recent[number % RACE_RECENT];

	if (*recent && (*recent)->number == number)
		return *recent;
	if (!words->room)
		return NULL;
	*recent = words->slots[slot_of(words, number)];
	return *recent;
}

static struct race_page *make_page(struct race_words *words, uint64_t number)
{
	struct race_page *page = find_page(words, number);

	if (page)
		return page;
	if (words->count >= words->room / 2 && grow(words))
		return NULL;
	page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->number = number;
	words->slots[slot_of(words, number)] = page;
	words->count++;
	words->recent[number % RACE_RECENT] = page;
	return page;
}

static unsigned index_of(uint64_t addr)
{
	return (unsigned)(addr % GUEST_PAGE / RACE_WORD);
}

uint8_t race_word_bytes(uint64_t word, uint64_t addr, uint64_t size)
{
	uint64_t first = addr > word ? addr - word : 0;
	uint64_t end = addr + size - word;

	if (end > RACE_WORD)
		end = RACE_WORD;
	return (uint8_t)((0xffu << first) & (0xffu >> (RACE_WORD - end)));
}

/* ------- the first replay ------- */

static uint16_t touched(uint16_t state, uint32_t thread, bool writes)
{
	uint16_t owner = (uint16_t)(thread % (STATE_OWNER - 1) + 1);

	if (writes)
		state |= STATE_WRITTEN;
	if (!(state & STATE_OWNER))
		return state | owner;
	if ((state & STATE_OWNER) != owner || thread >= STATE_OWNER - 1)
		state |= STATE_SHARED;
	return state;
}

int race_words_touch(struct race_words *words, uint32_t thread, uint64_t addr,
		     uint64_t size, bool writes)
{
	uint64_t end = addr + size;

	for (addr &= ~(uint64_t)(RACE_WORD - 1); addr < end;
	     addr += RACE_WORD) {
		struct race_page *page =
			make_page(words, addr >> GUEST_PAGE_SHIFT);
		uint16_t *state;

		if (!page)
			return ERR_NO_MEMORY;
		state = &page->states[index_of(addr)];
		*state = touched(*state, thread, writes);
	}
	return 0;
}

static bool is_plain_sync(const struct race_word *word, uint8_t bytes)
{
	return word && word->sync & ~word->atomic & bytes;
}

bool race_words_load(struct race_words *words, uint64_t addr, uint64_t size)
{
	uint64_t end = addr + size;
	bool found = false;

	for (uint64_t at = addr & ~(uint64_t)(RACE_WORD - 1); at < end;
	     at += RACE_WORD) {
		struct race_page *page =
			find_page(words, at >> GUEST_PAGE_SHIFT);

		if (!page)
			continue;
		if (is_plain_sync(page->words[index_of(at)],
				  race_word_bytes(at, addr, size)))
			found = true;
		else
			page->states[index_of(at)] |= STATE_LOADED;
	}
	return found;
}

static bool was_early(const struct race_page *page)
{
	const uint16_t all = STATE_SHARED | STATE_WRITTEN | STATE_LOADED;

	for (unsigned i = 0; i < RACE_PAGE_WORDS; i++)
		if ((page->states[i] & all) == all &&
		    is_plain_sync(page->words[i], 0xff))
			return true;
	return false;
}

bool race_words_was_early(const struct race_words *words)
{
	for (size_t i = 0; i < words->room; i++)
		if (words->slots[i] && was_early(words->slots[i]))
			return true;
	return false;
}

static struct race_word *make_word(struct race_words *words, uint64_t addr)
{
	struct race_page *page = make_page(words, addr >> GUEST_PAGE_SHIFT);
	struct race_word **word;

	if (!page)
		return NULL;
	word = &page->words[index_of(addr)];
	if (!*word)
		*word = calloc(1, sizeof(**word));
	return *word;
}

int race_words_synchronize(struct race_words *words, uint64_t addr,
			   uint64_t size, bool by_type)
{
	uint64_t end = addr + size;

	for (uint64_t at = addr & ~(uint64_t)(RACE_WORD - 1); at < end;
	     at += RACE_WORD) {
		struct race_word *word = make_word(words, at);

		if (!word)
			return ERR_NO_MEMORY;
		word->sync |= race_word_bytes(at, addr, size);
		if (by_type)
			word->atomic |= race_word_bytes(at, addr, size);
	}
	return 0;
}

void race_words_share(struct race_words *words)
{
	for (size_t i = 0; i < words->room; i++) {
		struct race_page *page = words->slots[i];

		for (unsigned j = 0; page && j < RACE_PAGE_WORDS; j++)
			if (page->words[j] && page->words[j]->sync)
				page->states[j] |= STATE_SHARED | STATE_WRITTEN;
	}
}

/* ------- the second replay ------- */

static bool is_shared(const struct race_page *page, uint64_t addr)
{
	const uint16_t both = STATE_SHARED | STATE_WRITTEN;

	return page && (page->states[index_of(addr)] & both) == both;
}

bool race_words_is_shared(struct race_words *words, uint64_t addr)
{
	return is_shared(find_page(words, addr >> GUEST_PAGE_SHIFT), addr);
}

bool race_words_can_race(struct race_words *words, uint64_t addr,
			 uint64_t size)
{
	uint64_t last = addr + size - 1;
	struct race_page *page = find_page(words, addr >> GUEST_PAGE_SHIFT);

	return is_shared(page, addr) ||
	       ((addr ^ last) >= RACE_WORD && race_words_is_shared(words, last));
}

int race_words_find(struct race_words *words, uint64_t addr,
		    struct race_word **out)
{
	struct race_page *page = find_page(words, addr >> GUEST_PAGE_SHIFT);

	*out = NULL;
	if (!is_shared(page, addr))
		return 0;
	*out = page->words[index_of(addr)];
	if (!*out)
		*out = make_word(words, addr);
	return *out ? 0 : ERR_NO_MEMORY;
}

static void forget_word(struct race_word *word)
{
	word->count = 0;
	word->last = 0;
	word->raced = false;
	word->owner = 0;
	word->owned = 0;
	word->load_count = 0;
	clock_release(&word->released[0]);
	clock_release(&word->released[1]);
}

static void forget_in_page(struct race_page *page, uint64_t addr, uint64_t end)
{
	uint64_t start = page->number << GUEST_PAGE_SHIFT;

	for (unsigned i = 0; i < RACE_PAGE_WORDS; i++) {
		uint64_t at = start + i * RACE_WORD;

		if (page->words[i] && at < end && at + RACE_WORD > addr)
			forget_word(page->words[i]);
	}
}

void race_words_forget(struct race_words *words, uint64_t addr, uint64_t size)
{
	uint64_t end = addr + size;
	uint64_t first = addr >> GUEST_PAGE_SHIFT;
	uint64_t last = (end - 1) >> GUEST_PAGE_SHIFT;

	if (!size)
		return;
	/* Large mappings have few pages that anybody touched. */
	if (last - first >= words->count) {
		for (size_t i = 0; i < words->room; i++)
			if (words->slots[i])
				forget_in_page(words->slots[i], addr, end);
		return;
	}
	for (uint64_t number = first; number <= last; number++) {
		struct race_page *page = find_page(words, number);

		if (page)
			forget_in_page(page, addr, end);
	}
}

static void give_word(struct race_page *page, uint64_t addr, bool to_library)
{
	unsigned index = index_of(addr);
	uint64_t bit = UINT64_C(1) << index % 64;

	if (to_library)
		page->own[index / 64] |= bit;
	else
		page->own[index / 64] &= ~bit;
}

int race_words_give(struct race_words *words, uint64_t addr, uint64_t size,
		    bool to_library)
{
	uint64_t end = addr + size;

	while (addr < end) {
		uint64_t number = addr >> GUEST_PAGE_SHIFT;
		uint64_t next = (number + 1) << GUEST_PAGE_SHIFT;
		struct race_page *page = to_library ?
						 make_page(words, number) :
						 find_page(words, number);

		if (!page && to_library)
			return ERR_NO_MEMORY;
		for (; page && addr < end && addr < next; addr += RACE_WORD)
			give_word(page, addr, to_library);
		addr = next;
	}
	return 0;
}

bool race_words_is_own(struct race_words *words, uint64_t addr)
{
	const struct race_page *page =
		find_page(words, addr >> GUEST_PAGE_SHIFT);
	unsigned index = index_of(addr);

	return page && page->own[index / 64] >> index % 64 & 1;
}

static void release_page(struct race_page *page)
{
	for (unsigned i = 0; i < RACE_PAGE_WORDS; i++) {
		if (!page->words[i])
			continue;
		forget_word(page->words[i]);
		free(page->words[i]->entries);
		free(page->words[i]->loads);
		free(page->words[i]);
	}
	free(page);
}

void race_words_release(struct race_words *words)
{
	for (size_t i = 0; i < words->room; i++)
		if (words->slots[i])
			release_page(words->slots[i]);
	free(words->slots);
	*words = (struct race_words) { 0 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_atomics.c - see race_atomics.h
 *
 * Source: System V ABI, AMD64 supplement, 3.2.2 (red zone) and figure 3.36
 * (DWARF register numbers).
 */
#include "replayer/races/race_atomics.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/races/race_internal.h"
#include "replayer/symbols/symbols.h"

#define NO_FACTS UINT64_MAX

#define RED_ZONE 128u

/* If nothing says where a frame ends, it may be as large. */
#define FRAME_GUESS 4096u

struct access {
	struct race_replay *replay;
	struct race_atomics *atomics;
	const struct race_code_facts *facts;
	uint64_t addr, value;
	unsigned size;
	bool writes;
};

/* ------- what may be atomic ------- */

/* The sizes of the word with `addr`; NULL if there are none. */
static uint8_t *sizes_at(struct race_atomics *atomics, uint64_t addr)
{
	return (uint8_t *)number_map_find(&atomics->sizes, addr / RACE_WORD);
}

static uint64_t *expected_bits(struct race_atomics *atomics, uint64_t addr,
			       uint64_t *bit)
{
	uint64_t number = addr / RACE_WORD % EXPECTED_BITS;

	*bit = UINT64_C(1) << (number % 64);
	return &atomics->expected[number / 64];
}

static int expect_atomic(struct race_atomics *atomics, uint64_t addr,
			 uint64_t size)
{
	uint8_t *sizes = sizes_at(atomics, addr);

	if (!sizes) {
		if (number_map_set(&atomics->sizes, addr / RACE_WORD, 0))
			return ERR_NO_MEMORY;
		sizes = sizes_at(atomics, addr);
	}
	sizes[addr % RACE_WORD] = (uint8_t)size;
	return 0;
}

static bool is_expected(struct race_atomics *atomics, uint64_t addr,
			const struct dwarf_part *part)
{
	const uint64_t *pointee = number_map_find(&atomics->pointers, addr);
	const uint8_t *sizes = sizes_at(atomics, addr);

	return part->size ? sizes && sizes[addr % RACE_WORD] == part->size :
			    pointee && *pointee == part->pointee;
}

/* An object of the type is at `object`, most likely. */
static int expect(struct race_atomics *atomics, size_t type, uint64_t object)
{
	const struct dwarf_type *what = &atomics->places.types.list[type];
	int rc = 0;

	if (!object || !what->count ||
	    is_expected(atomics, object + what->parts[0].offset, what->parts))
		return 0;
	for (size_t i = 0; i < what->count && !rc; i++) {
		const struct dwarf_part *part = &what->parts[i];
		uint64_t addr = object + part->offset, bit;

		*expected_bits(atomics, addr, &bit) |= bit;
		if (part->size && part->size <= RACE_WORD)
			rc = expect_atomic(atomics, addr, part->size);
		if (!rc && part->pointee != TYPE_NONE)
			rc = number_map_set(&atomics->pointers, addr,
					    part->pointee);
	}
	return rc;
}

/* ------- accesses ------- */

static uint64_t read_pointer(struct race_replay *replay, uint64_t addr)
{
	uint64_t value = 0;

	return race_read_word(replay, addr, &value) ? value : 0;
}

static int synchronize(const struct access *access)
{
	return race_words_synchronize(&access->replay->detector.words,
				      access->addr, access->size, true);
}

/* What is accessed is a pointer to such an object. */
static int follow(const struct access *access, size_t pointee)
{
	if (access->size != race_word_size(access->replay))
		return 0;
	return expect(access->atomics, pointee, access->value);
}

/* An object of the type may be at `object`: is a part of it accessed? */
static int match(const struct access *access, size_t type, uint64_t object)
{
	const struct dwarf_type *what =
		&access->atomics->places.types.list[type];
	int rc = 0;

	for (size_t i = 0; i < what->count && !rc && object; i++) {
		const struct dwarf_part *part = &what->parts[i];

		if (object + part->offset != access->addr)
			continue;
		if (part->size == access->size)
			rc = synchronize(access);
		if (!rc && part->pointee != TYPE_NONE)
			rc = follow(access, part->pointee);
	}
	return rc;
}

/* A register by its number in DWARF. */
static uint64_t dwarf_reg(const struct access *access, unsigned number)
{
	return number < RACE_REGISTERS ? access->atomics->registers[number] : 0;
}

static uint64_t frame_of(const struct access *access)
{
	return dwarf_reg(access, access->facts->frame_reg) +
	       access->facts->frame_offset;
}

static int match_variable(const struct access *access,
			  const struct dwarf_place *place)
{
	const struct dwarf_type *type =
		&access->atomics->places.types.list[place->type];
	uint64_t at = place->offset;
	int rc = 0;

	if (place->base == BASE_FRAME && !access->facts->has_frame)
		return 0;
	at += place->base == BASE_FRAME ? frame_of(access) :
	      place->base == BASE_REGISTER ?
		      dwarf_reg(access, place->reg) : 0;
	if (place->kind == PLACE_MEMORY)
		rc = match(access, place->type, at);
	for (size_t i = 0; i < type->count && !rc; i++) {
		const struct dwarf_part *part = &type->parts[i];

		if (part->pointee == TYPE_NONE)
			continue;
		if (place->kind == PLACE_MEMORY)
			rc = match(access, part->pointee,
				   read_pointer(access->replay,
						at + part->offset));
		else if (!part->offset)
			rc = match(access, part->pointee, at);
	}
	return rc;
}

/* There a function has also what is its own, such as its arguments. */
static bool is_in_frame(const struct access *access)
{
	uint64_t sp = access->atomics->sp;
	uint64_t end = access->facts->has_frame ? frame_of(access) :
						  sp + FRAME_GUESS;

	return access->addr >= sp - RED_ZONE && access->addr < end;
}

static int match_place(const struct access *access,
		       const struct dwarf_place *place)
{
	if (place->kind != PLACE_FUNCTION)
		return match_variable(access, place);
	return (!place->size || place->size == access->size) &&
	       !is_in_frame(access) ? synchronize(access) : 0;
}

/* ------- code ------- */

static int add_fact(void *context, const struct dwarf_place *place)
{
	struct race_code_facts *facts = context;

	if (array_room(facts->places, facts->count, facts->room))
		return ERR_NO_MEMORY;
	facts->places[facts->count++] = place;
	return 0;
}

static int find_facts(struct race_replay *replay, uint64_t pc, uint64_t *out)
{
	struct race_atomics *atomics = &replay->atomics;
	struct race_code_facts facts = { 0 };
	int rc = dwarf_places_each(&atomics->places, pc, add_fact,
				   &facts);

	if (rc || !facts.count) {
		free(facts.places);
		return rc;
	}
	facts.has_frame = lines_frame(atomics->lines,
				      vm_steps(race_vm(replay)), pc,
				      &facts.frame_reg, &facts.frame_offset);
	if (array_room(atomics->facts, atomics->fact_count,
		       atomics->fact_room)) {
		free(facts.places);
		return ERR_NO_MEMORY;
	}
	*out = atomics->fact_count;
	atomics->facts[atomics->fact_count++] = facts;
	return 0;
}

static int recall_facts(struct race_replay *replay, uint64_t pc, uint64_t *out)
{
	struct number_map *code = &replay->atomics.code;
	const uint64_t *known = number_map_find(code, pc);
	int rc;

	*out = known ? *known : NO_FACTS;
	if (known)
		return 0;
	rc = find_facts(replay, pc, out);
	return rc ? rc : number_map_set(code, pc, *out);
}

/* What is known of the code at `pc`; NULL: nothing. */
static int facts_of(struct race_replay *replay, uint64_t pc,
		    const struct race_code_facts **out)
{
	struct race_atomics *atomics = &replay->atomics;
	size_t slot = pc % RECENT_CODE;
	uint64_t number = atomics->recent[slot].fact;
	int rc = 0;

	if (atomics->recent[slot].pc != pc) {
		rc = recall_facts(replay, pc, &number);
		atomics->recent[slot].pc = pc;
		atomics->recent[slot].fact = number;
	}
	*out = !rc && number != NO_FACTS ? &atomics->facts[number] : NULL;
	return rc;
}

bool race_atomics_knows(struct race_replay *replay, uint64_t pc)
{
	const struct race_code_facts *facts = NULL;

	if (replay->atomics.places.count &&
	    race_home_is_program(race_home_of(&replay->homes, pc)))
		race_note(replay, facts_of(replay, pc, &facts));
	return facts;
}

void race_atomics_step(struct race_replay *replay)
{
	struct race_atomics *atomics = &replay->atomics;
	const struct reg_table *regs = race_regs(replay);
	const struct race_code_facts *facts = NULL;

	if (atomics->places.count)
		race_note(replay, facts_of(replay, replay->pc, &facts));
	if (!facts)
		return;
	atomics->sp = race_reg(replay, regs->sp);
	for (unsigned i = 0; i < regs->dwarf_count && i < RACE_REGISTERS; i++)
		atomics->registers[i] = race_reg(replay, regs->dwarf[i]);
}

/* Whether typed pointers have led here. */
static int look_at_expected(const struct access *access)
{
	struct race_atomics *atomics = access->atomics;
	const uint64_t *pointee;
	const uint8_t *sizes;
	uint64_t bit;
	int rc = 0;

	if (!(*expected_bits(atomics, access->addr, &bit) & bit))
		return 0;
	pointee = number_map_find(&atomics->pointers, access->addr);
	sizes = sizes_at(atomics, access->addr);
	if (sizes && sizes[access->addr % RACE_WORD] == access->size)
		rc = synchronize(access);
	return rc || !pointee ? rc : follow(access, (size_t)*pointee);
}

static int look(struct access *access)
{
	int rc = look_at_expected(access);

	if (!rc)
		rc = facts_of(access->replay, access->replay->pc,
			      &access->facts);
	for (size_t i = 0; access->facts && i < access->facts->count && !rc;
	     i++)
		rc = match_place(access, access->facts->places[i]);
	return rc;
}

void race_atomics_access(struct race_replay *replay, uint64_t addr,
			 unsigned size, bool writes, uint64_t value)
{
	struct race_atomics *atomics = &replay->atomics;
	struct access access = {
		.replay = replay, .atomics = atomics, .addr = addr,
		.size = size, .writes = writes, .value = value,
	};

	if (race_atomics_is_needed(atomics))
		race_note(replay, look(&access));
}

/* ------- beginning and end ------- */

static void note_size(struct race_atomics *atomics, uint64_t size)
{
	atomics->any_sizes |= size && size < 64 ? UINT64_C(1) << size :
						  UINT64_MAX;
}

static void note_sizes(struct race_atomics *atomics)
{
	const struct dwarf_places *places = &atomics->places;

	for (size_t i = 0; i < places->types.count; i++)
		for (size_t j = 0; j < places->types.list[i].count; j++)
			if (places->types.list[i].parts[j].size)
				note_size(atomics,
					  places->types.list[i].parts[j].size);
	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].kind == PLACE_FUNCTION)
			note_size(atomics, places->list[i].size);
}

int race_atomics_start(struct race_atomics *atomics, struct lines *lines,
		       uint64_t t)
{
	struct dwarf_places *places = &atomics->places;
	int rc = lines_add_places(lines, t, race_home_has_atomics, places);

	atomics->lines = lines;
	if (!rc)
		rc = dwarf_places_settle(places);
	note_sizes(atomics);
	for (size_t i = 0; i < places->variable_count && !rc; i++)
		rc = expect(atomics, places->variables[i].type,
			    places->variables[i].addr);
	return rc;
}

static bool has_line(struct race_replay *replay, uint64_t place)
{
	struct number_map *lined = &replay->atomics.lined;
	const uint64_t *known = number_map_find(lined, place);
	struct source_line line;

	if (known)
		return *known;
	lines_find(replay->atomics.lines, replay->time, place, &line);
	race_note(replay, number_map_set(lined, place, line.line != 0));
	return line.line;
}

bool race_atomics_would_tell(struct race_replay *replay, uint64_t place,
			     uint64_t addr, uint64_t size)
{
	const struct race_atomics *atomics = &replay->atomics;
	struct names *names = lines_names(atomics->lines);
	const struct symbols *module;
	uint64_t bias;

	if (!has_line(replay, place))
		return false;
	if (!atomics->any_sizes ||
	    (size < 64 && !(atomics->any_sizes >> size & 1)))
		return true;
	module = names_module(names, replay->time, addr, &bias);
	return module &&
	       names_module(names, replay->time, place, &bias) == module;
}

/* Of large ranges and small maps, whatever is less is gone through. */
static void forget_range(struct number_map *map, uint64_t first,
			 uint64_t count)
{
	if (count < map->room) {
		for (uint64_t i = 0; i < count; i++)
			number_map_remove(map, first + i);
		return;
	}
	for (size_t i = 0; i < map->room;) {
		uint64_t key = map->slots[i].key;

		/* Another key may move to where this one was. */
		if (key != NUMBER_MAP_NONE && key - first < count)
			number_map_remove(map, key);
		else
			i++;
	}
}

void race_atomics_forget(struct race_replay *replay, uint64_t addr,
			 uint64_t size)
{
	struct race_atomics *atomics = &replay->atomics;

	forget_range(&atomics->sizes, addr / RACE_WORD,
		     (size + RACE_WORD - 1) / RACE_WORD);
	forget_range(&atomics->pointers, addr, size);
}

void race_atomics_release(struct race_atomics *atomics)
{
	for (size_t i = 0; i < atomics->fact_count; i++)
		free(atomics->facts[i].places);
	free(atomics->facts);
	number_map_release(&atomics->code);
	number_map_release(&atomics->lined);
	number_map_release(&atomics->sizes);
	number_map_release(&atomics->pointers);
	dwarf_places_release(&atomics->places);
	*atomics = (struct race_atomics) { 0 };
}

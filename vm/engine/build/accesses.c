/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - translated code that logs its accesses to data
 *
 * The functions by which the engine generates a load or a store are replaced:
 * in front of it they generate what writes a record (struct access_record) and
 * moves on to the next one, by 0 if the address is not in the range that is
 * logged.  There is no branch and no call.  For a store,
 *
 *	record->addr = address, record->value = value
 *	record->budget = counter.budget
 *	record->place = (a constant)
 *	if (address - range.first < range.span)	(a conditional move)
 *		record++
 *	log.next = record
 *
 * where several ranges are far apart, with a move for each of them.
 * `record` is read from log.next once for what is executed in one piece: from
 * access to access it stays in a register of the host.  The value of a load is
 * written behind it, into the same record.
 *
 * The engine also asks behind each access whether it was told to stop.  It is
 * told so only by calls that ask by themselves (calls.c), or that leave the
 * translation; so that question is left out, always.
 *
 * What the engine does by a call of a function of its own accesses memory by
 * cpu_ldl_data_ra() and its like: they are replaced, too.  Which instruction
 * makes such a call is stored in front of it.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/error.h"
#include "vm/engine/build/accesses.h"
#include "vm/engine/build/operations.h"

/*
 * An instruction accesses memory as often at most: ENTER does so 64 times,
 * FXSAVE and FNSAVE less.  Each iteration of a repeated one counts.
 */
#define RECORDS_OF_STEP 80u
#define RECORDS ((uint64_t)ENGINE_LOGGED_STEPS * RECORDS_OF_STEP)
#define LOG_SIZE (RECORDS * sizeof(struct access_record))

/* ------- the log ------- */

static uint32_t kinds_now(void)
{
	return engine_entered ? engine_entered->logged.kinds : 0;
}

int engine_log(struct engine *engine, unsigned kinds, struct failure *why)
{
	struct access_log *log = &engine->counter->log;
	void *room = engine->logged.records;

	if (kinds && !room) {
		room = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (room == MAP_FAILED)
			return failed(why, ERR_NO_MEMORY, "out of memory");
		engine->logged.records = room;
		log->next = room;
	}
	engine->logged.kinds = kinds;
	return 0;
}

unsigned engine_logs(const struct engine *engine)
{
	return engine->logged.kinds;
}

void engine_log_range(struct engine *engine, unsigned number, guest_addr first,
		      guest_addr last)
{
	const uint64_t most = sizeof(uint64_t) - 1;
	struct log_range *range = &engine->counter->log.ranges[number];

	/* An access that begins before the range may reach into it. */
	range->first = first < most ? 0 : first - most;
	range->span = last < first ? 0 : last - range->first;
	range->span += range->span && range->span < UINT64_MAX;
}

bool engine_is_logging(const struct engine *engine)
{
	return engine->counter->log.ranges[0].span;
}

struct access_record *engine_logged(const struct engine *engine, size_t *count)
{
	struct access_record *records = engine->logged.records;

	*count = records ? (size_t)(engine->counter->log.next - records) : 0;
	return records;
}

void engine_log_cut(struct engine *engine, size_t count)
{
	if (engine->logged.records)
		engine->counter->log.next = engine->logged.records + count;
}

void accesses_release(struct engine *engine)
{
	if (engine->logged.records)
		munmap(engine->logged.records, LOG_SIZE);
}

/* ------- where translated code is ------- */

void accesses_begin_block(struct engine *engine)
{
	engine->logged.insns = 0;
	engine->logged.first = NULL;
	engine->logged.record = engine->logged.base = 0;
	engine->logged.place_count = 0;
}

/*
 * How many instructions the block has, which its budget pays at its entry, is
 * known at its end: until then, places say how many were before them.
 */
void accesses_end_block(struct engine *engine)
{
	for (unsigned i = 0; i < engine->logged.place_count; i++) {
		uint64_t *place = engine->logged.places[i];
		uint64_t before = *place & PLACE_LEFT_MASK;

		*place += (uint64_t)engine->logged.insns * PLACE_LEFT -
			  2 * before;
	}
}

void accesses_insn(int op, uint64_t pc)
{
	struct engine *engine = engine_entered;

	/* For the one that it runs "until" it generates an exit. */
	if (op == OP_INSTRUCTION && engine && pc != engine->until) {
		engine->logged.insns++;
		/* Of 48 bits: a machine has code in both halves. */
		engine->logged.pc = pc | (engine->machine ? pc >> 63 : 0);
	}
}

/* ------- generating ------- */

static const struct generator *generate(void)
{
	return engine_entered->kind->generator;
}

static uintptr_t new_value(void *context)
{
	return (uintptr_t)generate()->new(context, TYPE_64, false);
}

static void free_value(void *context, uintptr_t value)
{
	generate()->free(context, (void *)value);
}

static void constant(void *context, uintptr_t value, uint64_t number)
{
	generate()->op2(context, OP_CONSTANT, value, number);
}

/* A constant that is the place of the present instruction. */
static void place(void *context, uintptr_t value, unsigned access)
{
	struct engine *engine = engine_entered;
	uint64_t insn = engine->logged.insns - 1;

	constant(context, value, engine->logged.pc << PLACE_PC_AT |
					 insn * PLACE_LEFT | access);
	engine->logged.places[engine->logged.place_count++] =
		&engine->logged.made->operands[1];
}

/* Values that are needed for a few operations. */
struct scratch {
	void *context;
	uintptr_t value, other;
};

static void begin(struct scratch *to, void *context)
{
	*to = (struct scratch) {
		.context = context,
		.value = new_value(context), .other = new_value(context),
	};
}

static void end(struct scratch *to)
{
	free_value(to->context, to->other);
	free_value(to->context, to->value);
}

/* Values that are known until something else may be executed next. */
static uintptr_t counter(void *context)
{
	struct engine *engine = engine_entered;

	if (!engine->logged.base) {
		engine->logged.base = new_value(context);
		constant(context, engine->logged.base,
			 (uintptr_t)engine->counter);
	}
	return engine->logged.base;
}

static void forget_values(void *context)
{
	struct engine *engine = engine_entered;

	if (engine->logged.base)
		free_value(context, engine->logged.base);
	if (engine->logged.record)
		free_value(context, engine->logged.record);
	engine->logged.base = engine->logged.record = 0;
	direct_forget(engine, context);
}

#define IN_COUNTER(member) offsetof(struct counter, member)
#define IN_RECORD(member) offsetof(struct access_record, member)

static void load(void *context, uintptr_t value, size_t offset)
{
	generate()->op3(context, OP_LOAD_64, value, counter(context),
			   offset);
}

static void store(void *context, uintptr_t value, size_t offset)
{
	generate()->op3(context, OP_STORE_64, value, counter(context),
			   offset);
}

static uintptr_t next_record(void *context)
{
	struct engine *engine = engine_entered;

	if (!engine->logged.record) {
		uintptr_t record = new_value(context);

		load(context, record, IN_COUNTER(log.next));
		engine->logged.record = record;
	}
	return engine->logged.record;
}

void accesses_forget(void *context, int op)
{
	switch (op) {
	case OP_LABEL:
	case OP_CALL:
	case OP_JUMP:
	case OP_JUMP_IF_32:
	case OP_JUMP_IF_64:
	case OP_END:
	case OP_GO_ON:
	case OP_GO_TO:
		forget_values(context);
	}
}

/* record->budget and place. */
static void generate_place(const struct scratch *to, uintptr_t record,
			   unsigned access)
{
	void *context = to->context;

	load(context, to->value, IN_COUNTER(budget));
	generate()->op3(context, OP_STORE_64, to->value, record,
			   IN_RECORD(budget));
	place(context, to->value, access);
	generate()->op3(context, OP_STORE_64, to->value, record,
			   IN_RECORD(place));
}

/* How many ranges code looks at. */
static unsigned ranges_now(void)
{
	return kinds_now() & ENGINE_LOG_SEVERAL ? LOG_RANGES : 1;
}

/* record += (addr - range.first < range.span), log.next = record */
static void generate_next(const struct scratch *to, uintptr_t record,
			  uintptr_t addr)
{
	void *context = to->context;
	uintptr_t another = new_value(context);

	constant(context, to->other, sizeof(struct access_record));
	generate()->op3(context, OP_ADD, another, record, to->other);
	for (unsigned i = 0; i < ranges_now(); i++) {
		load(context, to->value, IN_COUNTER(log.ranges[i].first));
		generate()->op3(context, OP_SUBTRACT, to->value, addr,
				   to->value);
		load(context, to->other, IN_COUNTER(log.ranges[i].span));
		generate()->op6(context, OP_MOVE_IF, record, to->value,
				   to->other, another, record, IS_BELOW);
	}
	store(context, record, IN_COUNTER(log.next));
	free_value(context, another);
}

/* The engine calls a value by its distance from the context. */
static uintptr_t of_context(void *context, name value)
{
	return (uintptr_t)context + value;
}

/* Whether an address must be made of what an access has for one. */
static bool is_to_clean(const struct engine_kind *kind)
{
	return kind->is_narrow || kind->tag_bits;
}

/* `clean` = the address, in 64 bits and without its tag. */
static void generate_cleaning(const struct scratch *to, uintptr_t clean,
			      uintptr_t addr)
{
	if (engine_entered->kind->is_narrow) {
		generate()->op2(to->context, OP_WIDEN, clean, addr);
		return;
	}
	constant(to->context, to->value, engine_entered->kind->tag_bits);
	generate()->op3(to->context, OP_SHIFT_UP, clean, addr, to->value);
	generate()->op3(to->context, OP_SHIFT_DOWN, clean, clean, to->value);
}

/* In front of an access; `value` is stored by operation `op`, 0: not. */
static void generate_record(void *context, uintptr_t addr, unsigned access,
			    uintptr_t value, int op)
{
	uintptr_t record = next_record(context), clean = 0;
	struct scratch to;

	begin(&to, context);
	if (is_to_clean(engine_entered->kind)) {
		clean = new_value(context);
		generate_cleaning(&to, clean, addr);
		addr = clean;
	}
	generate()->op3(context, OP_STORE_64, addr, record,
			   IN_RECORD(addr));
	if (op)
		generate()->op3(context, op, value, record,
				   IN_RECORD(value));
	else if (kinds_now() & ENGINE_LOG_VALUES)
		store(context, record, IN_COUNTER(log.loading));
	generate_place(&to, record, (access & PLACE_SIZE) |
					    (op ? PLACE_WRITES : 0));
	generate_next(&to, record, addr);
	if (clean)
		free_value(context, clean);
	end(&to);
}

/* Behind a load: its value goes into the record that was written before. */
static void generate_value(void *context, uintptr_t value, int op)
{
	struct scratch to;

	begin(&to, context);
	load(context, to.value, IN_COUNTER(log.loading));
	generate()->op3(context, op, value, to.value, IN_RECORD(value));
	end(&to);
}

void accesses_before(void *context, name addr, unsigned access, name value,
		     int op)
{
	unsigned kind = op ? ENGINE_LOG_WRITES : ENGINE_LOG_READS;

	if (kinds_now() & kind)
		generate_record(context, of_context(context, addr), access,
				of_context(context, value), op);
	if (engine_entered)
		engine_entered->logged.accessing = true;
}

void accesses_behind(void *context, name value, int op)
{
	const unsigned both = ENGINE_LOG_READS | ENGINE_LOG_VALUES;

	if (engine_entered)
		engine_entered->logged.accessing = false;
	if (op && (kinds_now() & both) == both)
		generate_value(context, of_context(context, value), op);
}

/* ------- functions that translated code calls ------- */

/* In front of each such call: which instruction makes it. */
void accesses_call(void *context)
{
	struct scratch to;

	if (!kinds_now() || !engine_entered->logged.insns)
		return;
	begin(&to, context);
	place(context, to.value, 0);
	store(context, to.value, IN_COUNTER(log.place));
	end(&to);
}

static bool is_logged(const struct access_log *log, guest_addr addr)
{
	bool is = false;

	for (unsigned i = 0; i < ranges_now() && !is; i++)
		is = addr - log->ranges[i].first < log->ranges[i].span;
	return is;
}

struct access_record *accesses_note(guest_addr addr, unsigned size,
				    unsigned kind)
{
	struct counter *counter = engine_entered->counter;
	struct access_log *log = &counter->log;
	struct access_record *record = log->next;

	addr = engine_untag(engine_entered->kind, addr);
	if (!(kinds_now() & kind) || !is_logged(log, addr))
		return NULL;
	*record = (struct access_record) {
		.addr = addr, .budget = counter->budget,
		.place = log->place | size |
			 (kind == ENGINE_LOG_WRITES ? PLACE_WRITES : 0),
	};
	log->next++;
	return record;
}

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
#include "vm/engine/build/generate.h"
#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

/*
 * An instruction accesses memory as often at most: ENTER does so 64 times,
 * FXSAVE and FNSAVE less.  Each iteration of a repeated one counts.
 */
#define RECORDS_OF_STEP 80u
#define RECORDS ((uint64_t)ENGINE_LOGGED_STEPS * RECORDS_OF_STEP)
#define LOG_SIZE (RECORDS * sizeof(struct access_record))

/* Of the operations and conditions of the engine (QEMU 5.0). */
enum {
	OP_LABEL = 1,
	OP_CALL = 2,
	OP_JUMP = 3,
	OP_STORE_32_OF_32 = 16, /* st_i32: all of a value of 32 bits */
	OP_JUMP_IF_32 = 38,
	OP_CONSTANT = 64,
	OP_MOVE_IF = 66,
	OP_LOAD_64 = 73,
	OP_STORE_64 = 77,
	OP_ADD = 78,
	OP_SUBTRACT = 79,
	OP_JUMP_IF_64 = 103,
	OP_INSTRUCTION = 129,	/* insn_start: one begins */
	OP_END = 130, OP_GO_ON = 131, OP_GO_TO = 132,
};
#define IS_BELOW 4		/* TCG_COND_LTU */
#define TYPE_64 1		/* TCG_TYPE_I64 */

/* Where the second operand is in an operation. */
#define OPERAND_1 32

typedef void op2_fn(void *context, int op, uintptr_t a, uintptr_t b);
typedef void op3_fn(void *context, int op, uintptr_t a, uintptr_t b,
		    uintptr_t c);
typedef void op6_fn(void *context, int op, uintptr_t a, uintptr_t b,
		    uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f);
typedef void *new_fn(void *context, int type, bool local);
typedef void free_fn(void *context, void *temporary);
extern op3_fn tcg_gen_op3_x86_64;
extern op6_fn tcg_gen_op6_x86_64;
extern new_fn tcg_temp_new_internal_x86_64;
extern free_fn tcg_temp_free_internal_x86_64;
REPLACES(op2_fn, tcg_gen_op2_x86_64);

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

/* The engine says here, too, that an instruction begins. */
void tcg_gen_op2_x86_64(void *context, int op, uintptr_t a, uintptr_t b)
{
	struct engine *engine = engine_entered;

	/* For the one that it runs "until" it generates an exit. */
	if (op == OP_INSTRUCTION && engine && a != engine->until) {
		engine->logged.insns++;
		engine->logged.pc = a;
	}
	engine_tcg_gen_op2_x86_64(context, op, a, b);
}

/* ------- generating ------- */

static uintptr_t new_value(void *context)
{
	return (uintptr_t)tcg_temp_new_internal_x86_64(context, TYPE_64, false);
}

static void free_value(void *context, uintptr_t value)
{
	tcg_temp_free_internal_x86_64(context, (void *)value);
}

static void constant(void *context, uintptr_t value, uint64_t number)
{
	engine_tcg_gen_op2_x86_64(context, OP_CONSTANT, value, number);
}

/* A constant that is the place of the present instruction. */
static void place(void *context, uintptr_t value, unsigned access)
{
	struct engine *engine = engine_entered;
	uint64_t insn = engine->logged.insns - 1;

	constant(context, value, engine->logged.pc << PLACE_PC_AT |
					 insn * PLACE_LEFT | access);
	engine->logged.places[engine->logged.place_count++] =
		(uint64_t *)(engine->logged.made + OPERAND_1);
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
}

#define IN_COUNTER(member) offsetof(struct counter, member)
#define IN_RECORD(member) offsetof(struct access_record, member)

static void load(void *context, uintptr_t value, size_t offset)
{
	tcg_gen_op3_x86_64(context, OP_LOAD_64, value, counter(context),
			   offset);
}

static void store(void *context, uintptr_t value, size_t offset)
{
	tcg_gen_op3_x86_64(context, OP_STORE_64, value, counter(context),
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

/* Each operation is made by this. */
typedef void *emit_fn(void *context, int op);
REPLACES(emit_fn, tcg_emit_op_x86_64);
void *tcg_emit_op_x86_64(void *context, int op)
{
	struct engine *engine = engine_entered;
	void *made;

	switch (engine ? op : 0) {
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
	made = engine_tcg_emit_op_x86_64(context, op);
	if (engine)
		engine->logged.made = made;
	return made;
}

/* record->budget and place. */
static void generate_place(const struct scratch *to, uintptr_t record,
			   unsigned access)
{
	void *context = to->context;

	load(context, to->value, IN_COUNTER(budget));
	tcg_gen_op3_x86_64(context, OP_STORE_64, to->value, record,
			   IN_RECORD(budget));
	place(context, to->value, access);
	tcg_gen_op3_x86_64(context, OP_STORE_64, to->value, record,
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
	tcg_gen_op3_x86_64(context, OP_ADD, another, record, to->other);
	for (unsigned i = 0; i < ranges_now(); i++) {
		load(context, to->value, IN_COUNTER(log.ranges[i].first));
		tcg_gen_op3_x86_64(context, OP_SUBTRACT, to->value, addr,
				   to->value);
		load(context, to->other, IN_COUNTER(log.ranges[i].span));
		tcg_gen_op6_x86_64(context, OP_MOVE_IF, record, to->value,
				   to->other, another, record, IS_BELOW);
	}
	store(context, record, IN_COUNTER(log.next));
	free_value(context, another);
}

/* In front of an access; `value` is stored by operation `op`, 0: not. */
static void generate_record(void *context, uintptr_t addr, unsigned access,
			    uintptr_t value, int op)
{
	uintptr_t record = next_record(context);
	struct scratch to;

	begin(&to, context);
	tcg_gen_op3_x86_64(context, OP_STORE_64, addr, record,
			   IN_RECORD(addr));
	if (op)
		tcg_gen_op3_x86_64(context, op, value, record,
				   IN_RECORD(value));
	else if (kinds_now() & ENGINE_LOG_VALUES)
		store(context, record, IN_COUNTER(log.loading));
	generate_place(&to, record, (access & PLACE_SIZE) |
					    (op ? PLACE_WRITES : 0));
	generate_next(&to, record, addr);
	end(&to);
}

/* Behind a load: its value goes into the record that was written before. */
static void generate_value(void *context, uintptr_t value, int op)
{
	struct scratch to;

	begin(&to, context);
	load(context, to.value, IN_COUNTER(log.loading));
	tcg_gen_op3_x86_64(context, op, value, to.value, IN_RECORD(value));
	end(&to);
}

/* The question whether the engine was told to stop, behind an access. */
typedef void ask_fn(void *context);
REPLACES(ask_fn, check_exit_request_x86_64);
void check_exit_request_x86_64(void *context)
{
	if (!engine_entered || !engine_entered->logged.accessing)
		engine_check_exit_request_x86_64(context);
}

static void set_accessing(bool accessing)
{
	if (engine_entered)
		engine_entered->logged.accessing = accessing;
}

/* The engine calls a value by its distance from the context. */
static uintptr_t of_context(void *context, name value)
{
	return (uintptr_t)context + value;
}

#define DEFINE_LOAD(name_, op)                                                 \
	REPLACES(load_fn, name_);                                              \
	void name_(void *context, name value, name addr, uintptr_t index,      \
		   unsigned access)                                            \
	{                                                                      \
		unsigned kinds = kinds_now();                                  \
									       \
		if (kinds & ENGINE_LOG_READS)                                  \
			generate_record(context, of_context(context, addr),    \
					access, 0, 0);                         \
		set_accessing(true);                                           \
		engine_##name_(context, value, addr, index, access);           \
		set_accessing(false);                                          \
		if (kinds & ENGINE_LOG_READS && kinds & ENGINE_LOG_VALUES)     \
			generate_value(context, of_context(context, value),    \
				       op);                                    \
	}

#define DEFINE_STORE(name_, op)                                                \
	REPLACES(store_fn, name_);                                             \
	void name_(void *context, name value, name addr, uintptr_t index,      \
		   unsigned access)                                            \
	{                                                                      \
		halves_note_store();                                           \
		if (kinds_now() & ENGINE_LOG_WRITES)                           \
			generate_record(context, of_context(context, addr),    \
					access, of_context(context, value),    \
					op);                                   \
		set_accessing(true);                                           \
		engine_##name_(context, value, addr, index, access);           \
		set_accessing(false);                                          \
	}

DEFINE_LOAD(tcg_gen_qemu_ld_i32_x86_64, OP_STORE_32_OF_32)
DEFINE_LOAD(tcg_gen_qemu_ld_i64_x86_64, OP_STORE_64)
DEFINE_STORE(tcg_gen_qemu_st_i32_x86_64, OP_STORE_32_OF_32)
DEFINE_STORE(tcg_gen_qemu_st_i64_x86_64, OP_STORE_64)

/* ------- functions that translated code calls ------- */

/* In front of each such call: which instruction makes it. */
typedef void call_fn(void *context, void *function, void *result, int count,
		     void **arguments);
REPLACES(call_fn, tcg_gen_callN_x86_64);
void tcg_gen_callN_x86_64(void *context, void *function, void *result,
			  int count, void **arguments)
{
	if (kinds_now() && engine_entered->logged.insns) {
		struct scratch to;

		begin(&to, context);
		place(context, to.value, 0);
		store(context, to.value, IN_COUNTER(log.place));
		end(&to);
	}
	engine_tcg_gen_callN_x86_64(context, function, result, count,
				    arguments);
}

static bool is_logged(const struct access_log *log, guest_addr addr)
{
	bool is = false;

	for (unsigned i = 0; i < ranges_now() && !is; i++)
		is = addr - log->ranges[i].first < log->ranges[i].span;
	return is;
}

static struct access_record *note(guest_addr addr, unsigned size, unsigned kind)
{
	struct counter *counter = engine_entered->counter;
	struct access_log *log = &counter->log;
	struct access_record *record = log->next;

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

#define DEFINE_READ(type, name_, size)                                         \
	typedef type name_##_fn(void *state, uint64_t addr, uintptr_t from);   \
	REPLACES(name_##_fn, name_);                                           \
	type name_(void *state, uint64_t addr, uintptr_t from)                 \
	{                                                                      \
		struct access_record *record =                                 \
			note(addr, size, ENGINE_LOG_READS);                    \
		type value = engine_##name_(state, addr, from);                \
									       \
		if (record)                                                    \
			record->value = (uint64_t)value;                       \
		return value;                                                  \
	}

#define DEFINE_WRITE(type, name_, size)                                        \
	typedef void name_##_fn(void *state, uint64_t addr, type value,        \
				uintptr_t from);                               \
	REPLACES(name_##_fn, name_);                                           \
	void name_(void *state, uint64_t addr, type value, uintptr_t from)     \
	{                                                                      \
		struct access_record *record =                                 \
			note(addr, size, ENGINE_LOG_WRITES);                   \
									       \
		if (record)                                                    \
			record->value = value;                                 \
		engine_##name_(state, addr, value, from);                      \
	}

DEFINE_READ(uint32_t, cpu_lduw_data_ra_x86_64, 1)
DEFINE_READ(uint32_t, cpu_ldl_data_ra_x86_64, 2)
DEFINE_READ(uint64_t, cpu_ldq_data_ra_x86_64, 3)
DEFINE_WRITE(uint32_t, cpu_stb_data_ra_x86_64, 0)
DEFINE_WRITE(uint32_t, cpu_stw_data_ra_x86_64, 1)
DEFINE_WRITE(uint32_t, cpu_stl_data_ra_x86_64, 2)
DEFINE_WRITE(uint64_t, cpu_stq_data_ra_x86_64, 3)

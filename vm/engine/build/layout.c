/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.c - where the engine keeps its processor's registers
 *
 * Some of the state cannot be asked for: the flags that its floating-point
 * units have raised, and which of them flushes to zero.  The engine hands its
 * state to the functions that it calls; it begins with RAX.  What lies where in
 * it, saved contexts tell: each is a copy of it, and what a register's value
 * changes in the copy is where that register is.
 *
 * The two units (struct float_status of QEMU 5.0): one byte each for tininess,
 * rounding, raised flags, precision, flush to zero, flush inputs to zero.
 */
#include "vm/engine/build/layout.h"

#include <pthread.h>
#include <string.h>

#include "vm/engine/build/replaces.h"
#include "vm/engine/engine_internal.h"

#define MXCSR_START 0x1f80u
#define MXCSR_DAZ 0x40u
#define MXCSR_ROUND 0x6000u
#define MXCSR_FZ 0x8000u

#define CONTROL_START 0x37fu
#define STATUS_TOP_AT 11

/* TF; it is in the second byte. */
#define FLAG_TRAP 0x100u

/* From a unit's first byte that tells. */
enum { RAISED_BEHIND_ROUNDING = 1, ZERO_BEHIND_ROUNDING = 4,
       FLUSH_BEHIND_RAISED = 2 };

#define HOOK_WORDS 8		/* of the engine's structure */

struct layout layout;

/* ------- the state itself ------- */

/* What the engine has handed to the function below, on this thread. */
static _Thread_local uint8_t *handed;

/* The engine calls this whenever MXCSR is written, also from outside. */
typedef void update_fn(uint8_t *state);
REPLACES(update_fn, update_mxcsr_status_x86_64);
void update_mxcsr_status_x86_64(uint8_t *state)
{
	handed = state;
	engine_update_mxcsr_status_x86_64(state);
	float_mode_is_new(state);
}

/* The engine names parts of its state when it starts: by its name for it. */
typedef void *name_fn(void *context, int type, void *base, intptr_t offset,
		      const char *name);
REPLACES(name_fn, tcg_global_mem_new_internal_x86_64);
void *tcg_global_mem_new_internal_x86_64(void *context, int type, void *base,
					 intptr_t offset, const char *name)
{
	void *made = engine_tcg_global_mem_new_internal_x86_64(
		context, type, base, offset, name);

	if (engine_entered)
		engine_entered->env = (uintptr_t)context + (uintptr_t)base;
	if (engine_entered && !strcmp(name, "cc_src"))
		engine_entered->conditions = (uintptr_t)made;
	return made;
}

static uint8_t *find_live(struct engine *engine)
{
	const uint32_t mxcsr = MXCSR_START;
	const uint64_t mark = UINT64_C(0x9e3779b97f4a7c15);
	bool begins_with_rax;

	handed = NULL;
	uc_reg_write(engine->uc, UC_X86_REG_MXCSR, &mxcsr);
	uc_reg_write(engine->uc, UC_X86_REG_RAX, &mark);
	begins_with_rax = handed && !memcmp(handed, &mark, sizeof(mark));
	uc_context_restore(engine->uc, engine->pristine);
	return begins_with_rax ? handed : NULL;
}

/* ------- what lies where ------- */

/*
 * The first byte, from `from` on, in which a saved context differs from the
 * pristine one if a register has this value.  That context is then in
 * engine->scratch.  Its size if there is none.
 */
static size_t changed_by(struct engine *engine, uc_x86_reg reg, uint64_t value,
			 size_t from)
{
	const uint8_t *before = (const uint8_t *)engine->pristine;
	const uint8_t *after = (const uint8_t *)engine->scratch;
	size_t size = uc_context_size(engine->uc);
	uc_err err = uc_reg_write(engine->uc, reg, &value);

	if (!err)
		err = uc_context_save(engine->uc, engine->scratch);
	uc_context_restore(engine->uc, engine->pristine);
	if (err)
		return size;
	while (from < size && before[from] == after[from])
		from++;
	return from;
}

/* What was found, as offsets in contexts. */
struct search {
	struct engine *engine;
	size_t start, size;	/* of the state in a context */
	struct layout found;
};

/* Finds where the value of a register is seen, behind `behind`; 0: nowhere. */
static size_t offset(const struct search *search, uc_x86_reg reg,
		     uint64_t value, size_t behind)
{
	size_t at = changed_by(search->engine, reg, value,
			       search->start + behind + 1);

	return at < search->size ? at - search->start : 0;
}

/* MXCSR itself lies behind what its bits change: it has just been given FZ. */
static size_t find_mxcsr(const struct search *search)
{
	const uint8_t *before = (const uint8_t *)search->engine->pristine;
	const uint8_t *after = (const uint8_t *)search->engine->scratch;
	const uint32_t old = MXCSR_START, new = MXCSR_START | MXCSR_FZ;

	for (size_t at = search->start; at + 4 <= search->size; at += 4)
		if (!memcmp(before + at, &old, 4) &&
		    !memcmp(after + at, &new, 4))
			return at - search->start;
	return 0;
}

/* The engine lets FZ flush the wrong unit's results (arch/x86/mxcsr.c). */
static bool find_units(struct search *search)
{
	const uc_x86_reg reg = UC_X86_REG_MXCSR;
	struct layout *found = &search->found;
	size_t rounding = offset(search, reg, MXCSR_START | MXCSR_ROUND, 0);
	size_t zero_inputs = offset(search, reg, MXCSR_START | MXCSR_DAZ, 0);
	size_t forgotten = offset(search, reg, MXCSR_START | MXCSR_FZ, 0);

	found->sse.mxcsr = find_mxcsr(search);
	found->sse.raised = rounding + RAISED_BEHIND_ROUNDING;
	found->sse.flush = found->sse.raised + FLUSH_BEHIND_RAISED;
	found->x87.flush = forgotten;
	found->x87.raised = forgotten - FLUSH_BEHIND_RAISED;
	return found->sse.mxcsr && rounding &&
	       forgotten > FLUSH_BEHIND_RAISED &&
	       zero_inputs == rounding + ZERO_BEHIND_ROUNDING &&
	       forgotten != found->sse.flush;
}

/* The first that changes is the flags themselves. */
static bool find_conditions(struct search *search)
{
	const uint64_t carry = 3;
	struct layout *found = &search->found;
	size_t flags = offset(search, UC_X86_REG_RFLAGS, carry, 0);

	found->conditions = offset(search, UC_X86_REG_RFLAGS, carry, flags);
	return flags && found->conditions && found->conditions % 8 == 0;
}

static bool find_x87(struct search *search)
{
	const uint64_t invalid = 1, first_in_use = 0xfffc;
	struct layout *found = &search->found;

	found->x87.top =
		offset(search, UC_X86_REG_FPSW, 1u << STATUS_TOP_AT, 0);
	found->x87.status = offset(search, UC_X86_REG_FPSW, invalid, 0);
	found->x87.control =
		offset(search, UC_X86_REG_FPCW, CONTROL_START ^ 1, 0);
	found->x87.empty = offset(search, UC_X86_REG_FPTAG, first_in_use, 0);
	found->x87.registers = offset(search, UC_X86_REG_FP0, 1, 0);
	return found->x87.top > found->conditions &&
	       found->x87.status > found->x87.top &&
	       found->x87.control > found->x87.status &&
	       found->x87.empty > found->x87.control &&
	       found->x87.registers > found->x87.empty &&
	       found->x87.raised > found->x87.registers + (size_t)8 * 16;
}

static bool find_jumps(struct search *search)
{
	struct layout *found = &search->found;

	found->pc = offset(search, UC_X86_REG_RIP, 1, 0);
	found->flags = offset(search, UC_X86_REG_RFLAGS, 2 | FLAG_TRAP, 0) - 1;
	return found->pc && found->flags;
}

/* What is found first counts for the process; NULL, or what is not there. */
static const char *find_all(struct search *search)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct layout none;
	const char *missing = NULL;

	if (!find_units(search))
		return "its units of floating point";
	if (!find_conditions(search))
		return "what its flags are computed from";
	if (!find_x87(search))
		return "the registers of x87";
	if (!find_jumps(search))
		return "what jumps depend on";
	pthread_mutex_lock(&lock);
	if (!memcmp(&layout, &none, sizeof(layout)))
		layout = search->found;
	else if (memcmp(&layout, &search->found, sizeof(layout)) != 0)
		missing = "what another engine has";
	pthread_mutex_unlock(&lock);
	return missing;
}

const char *layout_find_x86(struct engine *engine)
{
	struct search search = {
		.engine = engine, .size = uc_context_size(engine->uc),
	};
	struct engine_x86 *x86 = &engine->x86;
	const char *missing;

	engine->state = find_live(engine);
	search.start = changed_by(engine, UC_X86_REG_RAX, 1, 0);
	if (!engine->state || search.start == search.size)
		return "its registers";
	missing = find_all(&search);
	if (missing)
		return missing;
	x86->general = engine->state;
	x86->mxcsr = engine->state + layout.sse.mxcsr;
	x86->sse.raised = engine->state + layout.sse.raised;
	x86->sse.flush = engine->state + layout.sse.flush;
	x86->x87.raised = engine->state + layout.x87.raised;
	x86->x87.flush = engine->state + layout.x87.flush;
	return NULL;
}

/* ------- code of 32 bits ------- */

/*
 * The engine translates code of 32 bits if bits of a word of its state say so
 * (QEMU: hflags), which else only a far jump changes.
 */
#define MODE_CS32 (1u << 4)
#define MODE_SS32 (1u << 5)
#define MODE_LONG (1u << 14)
#define MODE_CS64 (1u << 15)
#define MODE_FXSR_BYTE 2	/* where CR4's OSFXSR is in it */

#define CR4_START 0x620u
#define CR4_OSFXSR 0x200u

static size_t find_mode(const struct search *search)
{
	size_t at = offset(search, UC_X86_REG_CR4, CR4_START & ~CR4_OSFXSR,
			   layout.flags);

	return at % 4 == MODE_FXSR_BYTE ? at - MODE_FXSR_BYTE : 0;
}

const char *layout_find_i386(struct engine *engine)
{
	const char *missing = layout_find_x86(engine);
	struct search search = {
		.engine = engine, .size = uc_context_size(engine->uc),
	};
	size_t at;
	uint32_t mode;

	if (missing)
		return missing;
	search.start = changed_by(engine, UC_X86_REG_RAX, 1, 0);
	at = find_mode(&search);
	if (!at)
		return "what code it is in";
	memcpy(&mode, engine->state + at, sizeof(mode));
	if ((mode & (MODE_LONG | MODE_CS64)) != (MODE_LONG | MODE_CS64))
		return "what code it is in";
	mode = (mode & ~MODE_CS64) | MODE_CS32 | MODE_SS32;
	memcpy(engine->state + at, &mode, sizeof(mode));
	return uc_context_save(engine->uc, engine->pristine) ?
		       "its registers" : NULL;
}

uint64_t *layout_find_range(uc_hook hook, uint64_t first, uint64_t last)
{
	uint64_t *words = (uint64_t *)hook;

	for (unsigned i = 0; i + 1 < HOOK_WORDS; i++)
		if (words[i] == first && words[i + 1] == last)
			return &words[i];
	return NULL;
}

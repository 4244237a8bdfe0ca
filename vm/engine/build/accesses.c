/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - translated code that logs its accesses to data
 *
 * The functions by which the engine generates a load or a store are replaced:
 * in front of it they generate one that writes the address into the log, and
 * where values are logged another one, of what is stored; what is loaded is
 * written behind it.  There is no branch and no call.  All else that there is
 * to say of an access is known when it is translated: its site.
 *
 * From the first access on, up to the next label, jump or call, code is
 * executed in one piece.  In front of that access is, once for the piece,
 *
 *	words = log.next
 *	words[0] = counter.budget
 *	words[1] = the number of the first site, and of accesses
 *	log.next = words + (how many words the piece writes)
 *
 * An access that faults is the only way out of the middle of a piece; then what
 * has not been written is taken back (engine_log_take_back()).
 *
 * The engine also asks behind each access whether it was told to stop.  It is
 * told so only by calls that ask by themselves (calls.c), or that leave the
 * translation; so that question is left out, always.
 *
 * What the engine does by a call of a function of its own accesses memory by
 * cpu_ldl_data_ra() and its like: they are replaced, too.  Which instruction
 * makes such a call is stored in front of it.
 */
#include <immintrin.h>
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
#define ACCESSES_OF_STEP 80u
#define WORDS_OF_FUNCTION (LOG_HEAD + LOG_SITE + 2)
#define LOG_WORDS                                                              \
	((size_t)ENGINE_LOGGED_STEPS * ACCESSES_OF_STEP * WORDS_OF_FUNCTION)

/*
 * A site takes as many bytes as there are of its translation, and these have
 * less than 2^29 until all are dropped.
 */
#define SITES_MOST (1u << LOG_SITE_BITS)

/* ------- the log ------- */

static uint32_t kinds_now(void)
{
	return engine_entered ? engine_entered->logged.kinds : 0;
}

static void *get_room(size_t size)
{
	void *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* At a multiple of its size. */
static void *get_aligned_room(size_t size)
{
	uint8_t *room = get_room(2 * size);
	size_t front;

	if (!room)
		return NULL;
	front = -(uintptr_t)room & (size - 1);
	if (front)
		munmap(room, front);
	munmap(room + front + size, size - front);
	return room + front;
}

static void give_back(void *room, size_t size)
{
	if (room)
		munmap(room, size);
}

#define LOG_SIZE ((size_t)1 << 25)
_Static_assert(LOG_WORDS * sizeof(uint64_t) < LOG_SIZE - (1 << 20) &&
	       LOG_FULL_BITS < LOG_SIZE, "the log has room");
#define SITES_SIZE (SITES_MOST * sizeof(struct access_site))

int engine_log(struct engine *engine, unsigned kinds, struct failure *why)
{
	if (kinds && !engine->logged.sites)
		engine->logged.sites = get_room(SITES_SIZE);
	if (kinds && !engine->logged.words)
		engine->logged.words = get_aligned_room(LOG_SIZE);
	if (kinds && (!engine->logged.sites || !engine->logged.words))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	engine->logged.kinds = kinds;
	engine_log_clear(engine);
	return 0;
}

unsigned engine_logs(const struct engine *engine)
{
	return engine->logged.kinds;
}

void engine_log_clear(struct engine *engine)
{
	engine->counter->log.next = engine->logged.words;
	engine->counter->log.mark = engine->logged.words;
}

bool engine_log_is_full(const struct engine *engine)
{
	return (uintptr_t)engine->counter->log.next & LOG_FULL_BITS;
}

/* In all words, of which most are addresses; none has branches. */
static bool may_have(const uint64_t *at, const uint64_t *end, unsigned tag_bits,
		     guest_addr first, uint64_t span)
{
	bool may = false;

	for (; at < end; at++) {
		int64_t word = (int64_t)(*at << tag_bits) >> tag_bits;

		may |= (uint64_t)word - first < span;
	}
	return may;
}

/* Four at once, which are compared with signs. */
__attribute__((target("avx2"))) static bool
may_have_avx2(const uint64_t *at, const uint64_t *end, guest_addr first,
	      uint64_t span)
{
	const uint64_t lowest = UINT64_C(1) << 63;
	const __m256i from = _mm256_set1_epi64x((int64_t)(first + lowest));
	const __m256i to = _mm256_set1_epi64x((int64_t)(span + lowest));
	__m256i may = _mm256_setzero_si256();

	for (; end - at >= 4; at += 4) {
		__m256i words = _mm256_loadu_si256((const void *)at);

		may = _mm256_or_si256(
			may, _mm256_cmpgt_epi64(
				     to, _mm256_sub_epi64(words, from)));
	}
	return !_mm256_testz_si256(may, may) ||
	       may_have(at, end, 0, first, span);
}

bool engine_log_may_have(const struct engine *engine, guest_addr first,
			 uint64_t span)
{
	const unsigned tag_bits = engine->kind->tag_bits;
	const uint64_t *words = engine->logged.words;
	const uint64_t *end = engine->counter->log.next;

	return !tag_bits && __builtin_cpu_supports("avx2") ?
		       may_have_avx2(words, end, first, span) :
		       may_have(words, end, tag_bits, first, span);
}

void engine_log_read(const struct engine *engine, struct log_reader *out)
{
	*out = (struct log_reader) {
		.at = engine->logged.words, .end = engine->counter->log.next,
		.sites = engine->logged.sites,
		.words = engine->logged.kinds & ENGINE_LOG_VALUES ? 2 : 1,
		.tag_bits = engine->kind->tag_bits,
	};
}

void engine_log_shift(struct engine *engine, int64_t by)
{
	uint64_t *words = engine->logged.words;
	struct log_reader reader;
	struct logged piece;

	engine_log_read(engine, &reader);
	for (const uint64_t *at = reader.at; log_next(&reader, &piece);
	     at = reader.at)
		words[at - words] += (uint64_t)by;
}

/* Of all accesses of a piece, how many stay. */
static unsigned taken_place(const struct logged *piece, int64_t rest)
{
	unsigned count = piece->count;

	while (count && budget_left(piece->budget) +
				piece->sites[count - 1].left <= rest)
		count--;
	return count;
}

void engine_log_take_back(struct engine *engine, int64_t rest)
{
	uint64_t *words = engine->logged.words, *head;
	struct log_reader reader;
	struct logged piece;
	unsigned stay;

	engine_log_read(engine, &reader);
	for (const uint64_t *at = reader.at; log_next(&reader, &piece);
	     at = reader.at) {
		stay = taken_place(&piece, rest);
		if (stay == piece.count)
			continue;
		head = words + (at - words);
		if (stay)
			head[1] += (uint64_t)(piece.count - stay)
				   << LOG_UNDONE_AT;
		engine->counter->log.next = stay ? words + (reader.at - words) :
						   head;
		return;
	}
}

void engine_log_mark(struct engine *engine)
{
	engine->counter->log.mark = engine->counter->log.next;
}

void engine_log_return(struct engine *engine)
{
	engine->counter->log.next = engine->counter->log.mark;
}

void accesses_release(struct engine *engine)
{
	give_back(engine->logged.words, LOG_SIZE);
	give_back(engine->logged.sites, SITES_SIZE);
}

/* ------- where translated code is ------- */

void accesses_begin_block(struct engine *engine)
{
	engine->logged.insns = 0;
	engine->logged.first = NULL;
	engine->branches.count = 0;
	engine->logged.record = 0;
	engine->logged.block_first = engine->logged.site_count;
}

/*
 * How many instructions the block has, which its budget pays at its entry, is
 * known at its end: until then, sites say how many were before them.
 */
void accesses_end_block(struct engine *engine)
{
	for (uint32_t i = engine->logged.block_first;
	     i < engine->logged.site_count; i++)
		engine->logged.sites[i].left = (uint16_t)(
			engine->logged.insns - engine->logged.sites[i].left);
}

void accesses_forget_sites(struct engine *engine)
{
	if (engine->counter->log.next == engine->logged.words)
		engine->logged.site_count = 0;
}

void accesses_insn(int op, uint64_t pc)
{
	struct engine *engine = engine_entered;

	/* For the one that it runs "until" it generates an exit. */
	if (op == OP_INSTRUCTION && engine && pc != engine->until) {
		engine->logged.insns++;
		engine->logged.pc = pc;
	}
}

/* The present instruction accesses memory; returns the site's number. */
static uint32_t add_site(struct engine *engine, unsigned access, bool writes)
{
	if (engine->logged.site_count == SITES_MOST)
		give_up("too many translations that log accesses");
	engine->logged.sites[engine->logged.site_count] = (struct access_site) {
		.pc = engine->logged.pc,
		.left = (uint16_t)(engine->logged.insns - 1),
		.size = (uint8_t)(1u << (access & ACCESS_SIZE)),
		.writes = writes,
	};
	return engine->logged.site_count++;
}

/* ------- generating ------- */

/* Returns where the number is, which may still change. */
static uint64_t *constant(void *context, uintptr_t value, uint64_t number)
{
	generate_op2(context, OP_CONSTANT, value, number);
	return &engine_entered->logged.made->operands[1];
}

static uint64_t *store_number(void *context, uint64_t number, uintptr_t to,
			      size_t offset)
{
	uintptr_t value = generate_value(context, TYPE_64);
	uint64_t *place = constant(context, value, number);

	generate_op3(context, OP_STORE_64, value, to, offset);
	generate_end(context, value);
	return place;
}

/* Behind the end of what is executed in one piece. */
static void forget_values(void *context)
{
	struct engine *engine = engine_entered;

	if (engine->logged.record)
		generate_end(context, engine->logged.record);
	engine->logged.record = 0;
	direct_forget(engine, context);
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

#define IN_COUNTER(member) offsetof(struct counter, member)
#define WORD sizeof(uint64_t)

/* A value that is the counter's address. */
static uintptr_t new_counter(void *context)
{
	uintptr_t counter = generate_value(context, TYPE_64);

	constant(context, counter, (uintptr_t)engine_entered->counter);
	return counter;
}

/* The log's next words are those of a piece that begins with this site. */
static void begin_piece(void *context, uint32_t site)
{
	struct engine *engine = engine_entered;
	uintptr_t counter = new_counter(context);
	uintptr_t words = generate_value(context, TYPE_64);
	uintptr_t value = generate_value(context, TYPE_64);

	generate_op3(context, OP_LOAD_64, words, counter, IN_COUNTER(log.next));
	generate_op3(context, OP_LOAD_64, value, counter, IN_COUNTER(budget));
	generate_op3(context, OP_STORE_64, value, words, 0);
	engine->logged.piece = store_number(context, site, words, WORD);
	engine->logged.size = constant(context, value, LOG_HEAD * WORD);
	generate_op3(context, OP_ADD, value, words, value);
	generate_op3(context, OP_STORE_64, value, counter,
		     IN_COUNTER(log.next));
	engine->logged.record = words;
	generate_end(context, value);
	generate_end(context, counter);
}

/* Words of an access. */
static unsigned words_now(void)
{
	return kinds_now() & ENGINE_LOG_VALUES ? 2 : 1;
}

/* The present access is one more of its piece; returns where its words are. */
static size_t add_to_piece(void *context, unsigned access, bool writes)
{
	struct engine *engine = engine_entered;
	uint32_t site = add_site(engine, access, writes);
	size_t at;

	if (engine->logged.record &&
	    *engine->logged.piece >> LOG_SITE_BITS == LOG_PIECE_MOST)
		forget_values(context);
	if (!engine->logged.record)
		begin_piece(context, site);
	*engine->logged.piece += 1u << LOG_SITE_BITS;
	at = *engine->logged.size;
	*engine->logged.size += words_now() * WORD;
	return at;
}

/* The engine calls a value by its distance from the context. */
static uintptr_t of_context(void *context, name value)
{
	return (uintptr_t)context + value;
}

static void log_addr_of(void *context, uintptr_t addr, size_t at)
{
	const struct engine *engine = engine_entered;
	uintptr_t wide = 0;

	if (engine->kind->is_narrow) {
		wide = generate_value(context, TYPE_64);
		generate_op2(context, OP_WIDEN, wide, addr);
	}
	generate_op3(context, OP_STORE_64, wide ? wide : addr,
		     engine->logged.record, at);
	if (wide)
		generate_end(context, wide);
}

void accesses_before(void *context, name addr, unsigned access, name value,
		     int op)
{
	unsigned kind = op ? ENGINE_LOG_WRITES : ENGINE_LOG_READS;
	size_t at;

	if (kinds_now() & kind) {
		at = add_to_piece(context, access, op);
		log_addr_of(context, of_context(context, addr), at);
		if (op && kinds_now() & ENGINE_LOG_VALUES)
			generate_op3(context, op, of_context(context, value),
				     engine_entered->logged.record, at + WORD);
	}
	if (engine_entered)
		engine_entered->logged.accessing = true;
}

/* A load's value is the newest word of the piece. */
void accesses_behind(void *context, name value, int op)
{
	const unsigned both = ENGINE_LOG_READS | ENGINE_LOG_VALUES;
	struct engine *engine = engine_entered;

	if (engine)
		engine->logged.accessing = false;
	if (op && (kinds_now() & both) == both)
		generate_op3(context, op, of_context(context, value),
			     engine->logged.record,
			     *engine->logged.size - WORD);
}

/* ------- functions that translated code calls ------- */

/* In front of each such call: which instruction makes it. */
void accesses_call(void *context)
{
	struct engine *engine = engine_entered;
	uintptr_t counter;

	if (!kinds_now() || !engine->logged.insns)
		return;
	counter = new_counter(context);
	store_number(context, add_site(engine, 0, false), counter,
		     IN_COUNTER(log.caller));
	generate_end(context, counter);
}

uint64_t *accesses_note(guest_addr addr, unsigned size, unsigned kind)
{
	static _Thread_local uint64_t nowhere;
	struct engine *engine = engine_entered;
	struct access_log *log = &engine->counter->log;
	uint64_t *words = log->next;
	struct access_site *site = (struct access_site *)(words + LOG_HEAD);

	if (!(kinds_now() & kind))
		return &nowhere;
	words[0] = (uint64_t)engine->counter->budget;
	words[1] = 0;
	*site = engine->logged.sites[log->caller];
	site->size = (uint8_t)(1u << size);
	site->writes = kind == ENGINE_LOG_WRITES;
	words[LOG_HEAD + LOG_SITE] = addr;
	log->next = words + WORDS_OF_FUNCTION;
	return log->next - 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* context.c - see context.h */
#include "replayer/expressions/context.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/expressions/trace.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

struct context_memory {
	struct context_memory *next;
	_Alignas(16) uint8_t bytes[];
};

static void forget(struct context *context)
{
	while (context->taken) {
		struct context_memory *next = context->taken->next;

		free(context->taken);
		context->taken = next;
	}
}

void *context_take(struct context *context, size_t size)
{
	struct context_memory *memory = calloc(1, sizeof(*memory) + size);

	if (!memory)
		return NULL;
	memory->next = context->taken;
	context->taken = memory;
	return memory->bytes;
}

/* ------- modules ------- */

static struct context_index *find_index(struct context *context, Dwarf *dwarf)
{
	struct context_index *index;

	for (size_t i = 0; i < context->index_count; i++)
		if (context->indexes[i]->dwarf == dwarf)
			return context->indexes[i];
	if (array_room(context->indexes, context->index_count,
		       context->index_room))
		return NULL;
	index = calloc(1, sizeof(*index));
	if (!index)
		return NULL;
	index->dwarf = dwarf;
	if (die_index_build(&index->index, dwarf)) {
		die_index_release(&index->index);
		free(index);
		return NULL;
	}
	context->indexes[context->index_count++] = index;
	return index;
}

const struct die_index *context_index(struct context *context,
				      const struct context_module *module)
{
	struct context_index *index = find_index(context, module->dwarf);

	return index ? &index->index : NULL;
}

const struct context_module *context_module_of(struct context *context,
					       Dwarf_Die *die)
{
	return context_module_with(context, dwarf_cu_getdwarf(die->cu));
}

const struct context_module *context_module_with(struct context *context,
						 const Dwarf *dwarf)
{
	for (size_t i = 0; i < context->module_count; i++)
		if (context->modules[i].dwarf == dwarf)
			return &context->modules[i];
	return context_complete(context) ?
		       context_module_with(context, dwarf) : NULL;
}

bool context_variable_at(struct context *context, uint64_t addr,
			 Dwarf_Die *out)
{
	for (size_t i = 0; i < context->module_count; i++) {
		const struct context_module *module = &context->modules[i];
		const struct die_index *index = context_index(context, module);
		const struct die_entry *entry = index ?
			die_index_at(index, addr - module->bias) : NULL;

		if (!entry)
			continue;
		*out = entry->die;
		return true;
	}
	return addr >> 63 && context_complete(context) &&
	       context_variable_at(context, addr, out);
}

static bool has_dwarf(const struct context *context,
		      const struct symbols *symbols)
{
	struct names *names = lines_names(context->lines);
	uint64_t bias;

	for (size_t i = 0; i < context->module_count; i++)
		if (names_mapped(names, context->place.at.time,
				 context->modules[i].number, &bias) == symbols)
			return true;
	return false;
}

int context_no_type(struct context *context, uint64_t addr,
		    struct failure *why)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(
		lines_names(context->lines), context->place.at.time, addr,
		&bias);

	context->mistake = MISTAKE_NAME;
	if (!symbols || has_dwarf(context, symbols))
		return failed(why, ERR_NOT_FOUND, "its type is not known,"
			      " cast it");
	return failed(why, ERR_NOT_FOUND, "there is no debugging information"
		      " of '%s'%s: its type is not known, cast it",
		      symbols->path, access(symbols->path, F_OK) ?
		      ", which is gone" : "");
}

const char *context_plain_program(struct context *context, bool *is_gone)
{
	uint64_t bias;
	const struct symbols *program = names_own(
		lines_names(context->lines), context->place.at.time, &bias);

	if (!program || has_dwarf(context, program))
		return NULL;
	*is_gone = access(program->path, F_OK) != 0;
	return program->path;
}

static void forget_frames(struct context *context)
{
	free(context->frames);
	context->frames = NULL;
}

/* Of `before` modules, the same one may be there. */
static int add_module(struct context *context, size_t before,
		      const struct context_module *what, struct failure *why)
{
	struct context_module *module;
	bool is_same;

	if (array_room(context->modules, context->module_count,
		       context->module_room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	module = &context->modules[context->module_count];
	is_same = context->module_count++ < before &&
		  module->dwarf == what->dwarf && module->bias == what->bias;
	*module = *what;
	if (!is_same)
		forget_frames(context);
	return 0;
}

static int find_modules(struct context *context, struct failure *why)
{
	struct names *names = lines_names(context->lines);
	uint64_t t = context->place.at.time;
	const struct symbols *program = names_own(names, t, &(uint64_t){ 0 });
	size_t before = context->module_count;
	bool is_last = false;
	int rc = 0;

	context->module_count = 0;
	for (size_t i = 0; !is_last && !rc; i++) {
		struct context_module module = { .number = i };
		uint64_t bias;

		module.dwarf = lines_dwarf(context->lines, t, i, &module.bias,
					   &is_last);
		if (!module.dwarf)
			continue;
		module.is_program = names_mapped(names, t, i, &bias) ==
				    program;
		rc = add_module(context, before, &module, why);
	}
	if (context->module_count != before)
		forget_frames(context);
	return rc;
}

/* Whoever asks may be at one of those that are known: these stay, too. */
bool context_complete(struct context *context)
{
	const size_t before = context->module_count;
	struct kept_frame *frames = context->frames;

	if (context->is_complete || !recording_is_machine(context->recording))
		return false;
	context->is_complete = true;
	names_complete(lines_names(context->lines), context->place.at.time);
	context->first_modules = context->modules;
	context->modules = NULL;
	context->module_count = context->module_room = 0;
	context->frames = NULL;
	find_modules(context, NULL);
	context->frames = frames;
	return context->module_count > before;
}

static bool is_same(const struct expression_place *a,
		    const struct expression_place *b)
{
	return !position_compare(&a->at, &b->at) &&
	       a->some_thread == b->some_thread && a->tid == b->tid &&
	       a->frame == b->frame;
}

int context_set(struct context *context, const struct expression_place *place,
		struct failure *why)
{
	bool was_set = context->modules && !context->live &&
		       is_same(&context->place, place) &&
		       (!place->frame || context->has_registers);
	const struct reg_file *file;
	int rc;

	forget(context);
	context->members = 0;
	context->live = NULL;
	if (was_set)
		return 0;
	context->place = *place;
	context->has_registers = context->has_frame = false;
	rc = find_modules(context, why);
	/* Whether there is such a thread or frame is known before all else. */
	if (!rc && place->some_thread)
		rc = recording_has_tid(context->recording, place->tid, why);
	if (!rc && place->frame)
		rc = context_registers(context, &file, why);
	return rc;
}

void context_set_live(struct context *context, struct replayer *replayer,
		      const struct expression_place *place)
{
	forget(context);
	context->members = 0;
	context->live = replayer;
	context->place = *place;
	context->has_registers = context->has_frame = false;
}

void context_init(struct context *context, struct lines *lines,
		  struct query *query, struct recording *recording)
{
	const struct reg_table *table = recording_reg_table(recording);

	*context = (struct context) {
		.lines = lines, .query = query, .recording = recording,
		/* The widest kind has no registers of its own. */
		.types.has_quads =
			table->float_result == table->vector_results[0],
	};
}

void context_release(struct context *context)
{
	forget(context);
	number_map_release(&context->begins);
	types_release(&context->types);
	for (size_t i = 0; i < context->index_count; i++) {
		die_index_release(&context->indexes[i]->index);
		free(context->indexes[i]);
	}
	free(context->indexes);
	free(context->modules);
	free(context->first_modules);
	forget_frames(context);
}

/* ------- memory and registers ------- */

int context_look(struct context *context, uint64_t addr, uint8_t *bytes,
		 uint8_t *known, size_t size, struct failure *why)
{
	struct query_answer answer;

	memset(known, 0, size);
	if (context->trace && size) {
		context->trace->opaque++;
		context->trace->read(context->trace->context, addr, size);
	}
	if (!size || size - 1 > UINT64_MAX - addr)
		return 0;
	if (context->live)
		return replayer_read(context->live, addr, bytes, known, size,
				     why);
	return query_memory(context->query, addr, &context->place.at, bytes, known,
			    size, &answer, why);
}

int context_read(struct context *context, uint64_t addr, uint8_t *bytes,
		 size_t size, struct failure *why)
{
	uint8_t *known = malloc(size + 1);
	int rc;

	if (!known)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = context_look(context, addr, bytes, known, size, why);
	for (size_t i = 0; i < size && !rc && context->only_types; i++)
		if (!known[i]) {
			bytes[i] = 0;
			known[i] = 1;
		}
	if (!rc && memchr(known, 0, size) && context->trace)
		context->trace->is_unknown = true;
	if (!rc && memchr(known, 0, size))
		rc = failed(why, ERR_NOT_FOUND,
			    "cannot read %zu bytes at 0x%" PRIx64 ": they are"
			    " not mapped, or not known", size, addr);
	free(known);
	return rc;
}

static int find_stream(struct context *context, struct replayer *replayer,
		       uint32_t *stream, struct failure *why)
{
	struct recording *recording = context->recording;
	uint64_t t = replayer_time(replayer);

	*stream = replayer_stream(replayer);
	if (!context->place.some_thread)
		return 0;
	return recording_find_stream(recording, context->place.tid, t, stream,
				     why);
}

/* The registers of the thread are those of its innermost frame. */
static int read_innermost(struct context *context, struct replayer *replayer,
			  uint32_t stream, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);

	int rc = 0;

	/* A guest that runs has the registers of the thread that runs. */
	if (context->live && stream != replayer_stream(replayer)) {
		if (context->trace)
			context->trace->is_unknown = true;
		return failed(why, ERR_INPUT, "the registers of another thread"
			      " than the one that runs are not known");
	}
	if (context->place.some_thread && !context->live)
		rc = replayer_thread_registers(replayer, stream,
					       &context->registers, why);
	else
		replayer_registers(replayer, &context->registers);
	context->code = reg_get(table, &context->registers, table->pc);
	context->inlined = 0;
	context->is_tail_call = false;
	memset(context->is_lost, 0, sizeof(context->is_lost));
	return rc;
}

struct frame_search {
	struct context *context;
	uint64_t left;		/* frames before it */
	bool is_found;
};

/*
 * Of what the unwinder knows nothing, functions need not keep the contents.
 * Others, as the thread pointer, are the same in all frames.
 */
static void take_registers(struct context *context, const struct frame *frame)
{
	const struct reg_table *table = recording_reg_table(context->recording);

	for (unsigned i = 0; i < table->dwarf_all_count; i++)
		context->is_lost[table->dwarf_all[i]] = true;
	for (unsigned i = 0; i < table->count; i++)
		context->is_lost[i] |= table->regs[i].flags != NULL;
	for (unsigned i = 0; i < table->dwarf_count; i++) {
		context->is_lost[table->dwarf[i]] = !frame->registers->known[i];
		reg_set(table, &context->registers, table->dwarf[i],
			frame->registers->value[i]);
	}
	context->is_lost[table->pc] = false;
	reg_set(table, &context->registers, table->pc, frame->pc);
}

static void take_frame(struct context *context, const struct frame *frame)
{
	/* The innermost ones have all registers. */
	if (context->place.frame > frame->inlined)
		take_registers(context, frame);
	context->code = frame->code;
	context->inlined = frame->inlined;
	context->is_tail_call = frame->is_tail_call;
}

static int visit_frame(void *opaque, const struct frame *frame)
{
	struct frame_search *search = opaque;

	if (search->left--)
		return 0;
	search->is_found = true;
	take_frame(search->context, frame);
	return 1;
}

static int walk(struct context *context, struct replayer *replayer,
		uint32_t stream,
		int (*visit)(void *opaque, const struct frame *frame),
		void *opaque, struct failure *why)
{
	const struct backtrace backtrace = {
		.replayer = replayer,
		.lines = context->lines,
		.stream = stream,
		.visit = visit,
		.context = opaque,
	};
	enum frames_end end;

	return backtrace_walk(&backtrace, &end, why);
}

static int read_outer(struct context *context, struct replayer *replayer,
		      uint32_t stream, struct failure *why)
{
	struct frame_search search = { context, context->place.frame, false };
	int rc = walk(context, replayer, stream, visit_frame, &search, why);

	if (!rc && !search.is_found)
		rc = failed(why, ERR_NOT_FOUND, "there is no frame %" PRIu64
			    ": the outermost is %" PRIu64, context->place.frame,
			    context->place.frame - search.left - 1);
	return rc;
}

/* Where the thread stands, to be asked of registers. */
static int go(struct context *context, struct replayer **replayer,
	      uint32_t *stream, struct failure *why)
{
	int rc = query_replayer(context->query, replayer, why);

	if (!rc && !context->live)
		rc = replayer_seek(*replayer, &context->place.at, why);
	return rc ? rc : find_stream(context, *replayer, stream, why);
}

static int find_innermost(struct context *context, struct replayer **replayer,
			  uint32_t *stream, struct failure *why)
{
	int rc = go(context, replayer, stream, why);

	return rc ? rc : read_innermost(context, *replayer, *stream, why);
}

int context_enter(struct context *context, const struct expression_place *place,
		  const struct frame *frame, struct failure *why)
{
	const struct expression_place innermost = {
		place->at, place->some_thread, place->tid, 0
	};
	struct replayer *replayer;
	uint32_t stream;
	int rc = context_set(context, &innermost, why);

	if (!rc)
		rc = find_innermost(context, &replayer, &stream, why);
	if (rc)
		return rc;
	context->place.frame = place->frame;
	take_frame(context, frame);
	context->has_registers = true;
	context->has_frame = false;
	return 0;
}

int context_stand_at(struct context *context, uint64_t pc, unsigned inlined,
		     struct failure *why)
{
	const struct reg_file *registers;
	int rc = context_registers(context, &registers, why);

	context->code = pc;
	context->inlined = inlined;
	context->is_tail_call = false;
	context->has_frame = false;
	return rc;
}

int context_registers(struct context *context, const struct reg_file **out,
		      struct failure *why)
{
	struct replayer *replayer;
	uint32_t stream;
	int rc = 0;

	*out = &context->registers;
	if (context->trace) {
		context->trace->opaque++;
		context->trace->asks_registers = true;
	}
	if (context->has_registers)
		return 0;
	rc = find_innermost(context, &replayer, &stream, why);
	if (!rc && context->place.frame)
		rc = read_outer(context, replayer, stream, why);
	context->has_registers = !rc;
	return rc;
}

/*
 * Where callers tell what they have passed, compilers mean that what they call
 * keeps a register, also one that functions need not keep.
 */
static bool is_said_to_be_kept(const struct context *context, unsigned reg)
{
	const struct reg_table *table = recording_reg_table(context->recording);

	for (unsigned i = 0; i < table->dwarf_count && context->callers; i++)
		if (table->dwarf[i] == reg)
			return true;
	return false;
}

int context_register(struct context *context, unsigned reg,
		     const struct reg_file **out, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	int rc = context_registers(context, out, why);

	if (rc || !context->is_lost[reg] || is_said_to_be_kept(context, reg))
		return rc;
	context->asked_lost = true;
	return failed(why, ERR_NOT_FOUND, "cannot tell what %s was in"
		      " frame %" PRIu64 ": functions need not keep it",
		      table->regs[reg].name, context->place.frame);
}

/* ------- the frame ------- */

/* Leaves functions that were inlined, and are frames of their own. */
static void leave_inlined(struct code_frame *frame, unsigned count)
{
	while (count && frame->count)
		count -= dwarf_tag(&frame->scopes[--frame->count]) ==
			 DW_TAG_inlined_subroutine;
}

void context_find_code(struct context *context, uint64_t pc, unsigned inlined,
		       struct code_frame *frame)
{
	Dwarf_Die *unit;

	for (size_t i = 0; i < context->module_count; i++) {
		*frame = (struct code_frame) {
			.module = &context->modules[i],
			.pc = pc - context->modules[i].bias,
		};
		unit = lines_unit_at(context->lines, frame->module->dwarf,
				     frame->pc);
		if (unit) {
			frame->unit = *unit;
			frame->count = lines_scopes(
				context->lines, &frame->unit, frame->pc,
				frame->scopes);
		}
		if (frame->count) {
			leave_inlined(frame, inlined);
			frame->is_known = true;
			return;
		}
	}
	*frame = (struct code_frame) { 0 };
	if (pc >> 63 && context_complete(context))
		context_find_code(context, pc, inlined, frame);
}

/* To look for it takes as long as its unit is large: it may be asked again. */
static void find_frame(struct context *context)
{
	struct kept_frame *kept;

	if (!context->frames)
		context->frames = calloc(FRAMES_KEPT, sizeof(*kept));
	if (!context->frames) {
		context_find_code(context, context->code, context->inlined,
				  &context->frame);
		return;
	}
	kept = &context->frames[context->code % FRAMES_KEPT];
	if (!kept->is_there || kept->code != context->code ||
	    kept->inlined != context->inlined) {
		context_find_code(context, context->code, context->inlined,
				  &kept->frame);
		kept->is_there = true;
		kept->code = context->code;
		kept->inlined = context->inlined;
	}
	context->frame = kept->frame;
}

int context_frame(struct context *context, const struct code_frame **out,
		  struct failure *why)
{
	const struct reg_file *file;
	bool may_be;
	int rc = 0;

	*out = &context->frame;
	if (context->has_frame)
		return 0;
	context->frame = (struct code_frame) { 0 };
	may_be = !context->no_frame &&
		 (context->module_count || context_complete(context));
	if (may_be)
		rc = context_registers(context, &file, why);
	if (rc)
		return rc;
	if (may_be)
		find_frame(context);
	context->has_frame = true;
	return 0;
}

struct each_frame {
	struct context *context;
	uint64_t number;
	int (*visit)(void *opaque, uint64_t number,
		     const struct code_frame *frame);
	void *opaque;
};

static int visit_each(void *opaque, const struct frame *frame)
{
	struct each_frame *each = opaque;
	struct code_frame found;

	context_find_code(each->context, frame->code, frame->inlined, &found);
	return each->visit(each->opaque, each->number++, &found);
}

int context_each_frame(struct context *context,
		       int (*visit)(void *opaque, uint64_t number,
				    const struct code_frame *frame),
		       void *opaque, struct failure *why)
{
	struct each_frame each = { context, 0, visit, opaque };
	struct replayer *replayer;
	uint32_t stream;
	int rc;

	/* Callers are looked for where a replay stands, not while it runs. */
	if (context->live || context->no_frame)
		return failed(why, ERR_INPUT, "no frames are meant");
	rc = go(context, &replayer, &stream, why);
	return rc ? rc : walk(context, replayer, stream, visit_each, &each,
			      why);
}

/* ------- what is in a frame ------- */

const char *code_frame_function(const struct code_frame *frame)
{
	for (size_t i = frame->count; i-- > 0;) {
		Dwarf_Die scope = frame->scopes[i];

		if (dwarf_tag(&scope) != DW_TAG_lexical_block &&
		    dwarf_diename(&scope))
			return dwarf_diename(&scope);
	}
	return NULL;
}

/* Of several in one block, the last one shadows (Rust). */
static bool find_variable(Dwarf_Die *scope, const char *name, Dwarf_Die *out)
{
	bool is_found = false;
	Dwarf_Die die;

	if (dwarf_child(scope, &die))
		return false;
	do {
		const char *its = die_variable_name(&die);

		if (its && !strcmp(its, name)) {
			*out = die;
			is_found = true;
		}
	} while (!die_sibling(&die, &die));
	return is_found;
}

bool code_frame_variable(const struct code_frame *frame, const char *name,
			 Dwarf_Die *out)
{
	for (size_t i = frame->count; i-- > 0;) {
		Dwarf_Die scope = frame->scopes[i];

		if (find_variable(&scope, name, out))
			return true;
		/* What it was inlined into is a frame of its own. */
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
			break;
	}
	return false;
}

const char *code_frame_declares(const struct code_frame *frame,
				const char *name)
{
	for (size_t i = frame->count; i-- > 0;) {
		Dwarf_Die scope = frame->scopes[i];

		if (dwarf_tag(&scope) == DW_TAG_lexical_block)
			continue;
		return die_declares(&scope, name) ? dwarf_diename(&scope) :
						    NULL;
	}
	return NULL;
}

/* ------- the caller ------- */

struct context_callee {
	uint64_t number;	/* of the frame */
	struct reg_file registers;
	bool is_lost[REGS_MOST];
	uint64_t code;
	unsigned inlined;
	bool is_tail_call;
	bool has_frame;
	struct code_frame frame;
};

struct caller_search {
	struct context *context;
	bool is_entered;	/* what was inlined there was visited, too */
	bool is_found;
};

/* The same code may have several frames, of functions that were inlined. */
static int visit_caller(void *opaque, const struct frame *frame)
{
	struct caller_search *search = opaque;

	if (!search->is_entered) {
		search->is_entered = !frame->is_inlined;
		return frame->is_signal;
	}
	search->is_found = frame->is_sure;
	if (search->is_found) {
		take_registers(search->context, frame);
		search->context->code = frame->code;
		search->context->inlined = 0;
		search->context->is_tail_call = frame->is_tail_call;
	}
	return 1;
}

static int find_caller(struct context *context, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	struct caller_search search = { .context = context };
	struct reg_file registers;
	bool known[DWARF_REGISTERS_MOST] = { false };
	struct backtrace backtrace = {
		.lines = context->lines, .registers = &registers,
		.known = known, .is_tail_call = context->is_tail_call,
		.visit = visit_caller, .context = &search,
	};
	enum frames_end end;
	int rc = go(context, &backtrace.replayer, &backtrace.stream, why);

	if (rc)
		return rc;
	registers = context->registers;
	for (unsigned i = 0; i < table->dwarf_count &&
			     i < DWARF_REGISTERS_MOST; i++)
		known[i] = !context->is_lost[table->dwarf[i]];
	backtrace.at_call = context->code != reg_get(table, &registers,
						     table->pc);
	rc = backtrace_walk(&backtrace, &end, why);
	if (!rc && !search.is_found)
		rc = failed(why, ERR_NOT_FOUND, "who called this is not known");
	return rc;
}

void context_leave_caller(struct context *context,
			  struct context_callee *callee)
{
	context->place.frame = callee->number;
	context->registers = callee->registers;
	memcpy(context->is_lost, callee->is_lost, sizeof(context->is_lost));
	context->code = callee->code;
	context->inlined = callee->inlined;
	context->is_tail_call = callee->is_tail_call;
	context->has_frame = callee->has_frame;
	context->frame = callee->frame;
	free(callee);
}

int context_enter_caller(struct context *context, struct context_callee **out,
			 struct failure *why)
{
	const struct reg_file *file;
	struct context_callee *callee;
	int rc;

	/* Callers are looked for only where a query stands at a frame, not
	 * while a replay is under way. */
	if (context->live || context->no_frame || context->is_elsewhere)
		return failed(why, ERR_NOT_FOUND, "callers are not known here");
	/* No tree tells of a caller's registers. */
	if (context->trace)
		context->trace->opaque++;
	rc = context_registers(context, &file, why);
	if (rc)
		return rc;
	callee = malloc(sizeof(*callee));
	if (!callee)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	*callee = (struct context_callee) {
		.number = context->place.frame, .registers = context->registers,
		.code = context->code, .inlined = context->inlined,
		.is_tail_call = context->is_tail_call,
		.has_frame = context->has_frame, .frame = context->frame,
	};
	memcpy(callee->is_lost, context->is_lost, sizeof(callee->is_lost));
	rc = find_caller(context, why);
	if (rc) {
		context_leave_caller(context, callee);
		return rc;
	}
	context->place.frame = callee->number + callee->inlined + 1;
	context->has_frame = false;
	*out = callee;
	return 0;
}

/* ------- where a frame is ------- */

static int read_word(struct context *context, uint64_t addr, uint64_t *out,
		     struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	uint8_t bytes[8] = { 0 };
	int rc = context_read(context, addr, bytes, reg_word(table), why);

	memcpy(out, bytes, sizeof(bytes));
	return rc;
}

int context_frame_address(struct context *context, uint64_t *out,
			  struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	uint64_t offset;
	unsigned reg;
	bool is_stored;
	int rc = context_registers(context, &file, why);

	if (rc)
		return rc;
	is_stored = !lines_frame(context->lines, context->place.at.time,
				 context->code, &reg, &offset);
	if ((is_stored &&
	     !lines_frame_stored(context->lines, context->place.at.time,
				 context->code, &reg, &offset)) ||
	    reg >= table->dwarf_count)
		return failed(why, ERR_NOT_FOUND, "cannot tell where the frame"
			      " of the function is");
	*out = reg_get(table, file, table->dwarf[reg]) + offset;
	return is_stored ? read_word(context, *out, out, why) : 0;
}

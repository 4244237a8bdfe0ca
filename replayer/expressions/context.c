/* SPDX-License-Identifier: GPL-2.0-or-later */
/* context.c - see context.h */
#include "replayer/expressions/context.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

#define DEPTH_MOST 64u

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
	Dwarf *dwarf = dwarf_cu_getdwarf(die->cu);

	for (size_t i = 0; i < context->module_count; i++)
		if (context->modules[i].dwarf == dwarf)
			return &context->modules[i];
	return NULL;
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
	return false;
}

static int find_modules(struct context *context, struct failure *why)
{
	bool is_last = false;

	context->module_count = 0;
	for (size_t i = 0; !is_last; i++) {
		uint64_t bias;
		Dwarf *dwarf = lines_dwarf(context->lines, context->at.time, i,
					   &bias, &is_last);

		if (!dwarf)
			continue;
		if (array_room(context->modules, context->module_count,
			       context->module_room))
			return failed(why, ERR_NO_MEMORY, "out of memory");
		context->modules[context->module_count++] =
			(struct context_module) { .dwarf = dwarf,
						  .bias = bias };
	}
	return 0;
}

int context_set(struct context *context, const struct position *at,
		bool some_thread, uint32_t tid, struct failure *why)
{
	bool is_same = !position_compare(&context->at, at) &&
		       context->modules && context->tid == tid &&
		       context->some_thread == some_thread;

	forget(context);
	context->members = 0;
	if (is_same)
		return 0;
	context->at = *at;
	context->some_thread = some_thread;
	context->tid = tid;
	context->has_registers = context->has_frame = false;
	return find_modules(context, why);
}

void context_init(struct context *context, struct lines *lines,
		  struct query *query, struct recording *recording)
{
	*context = (struct context) {
		.lines = lines, .query = query, .recording = recording,
	};
}

void context_release(struct context *context)
{
	forget(context);
	types_release(&context->types);
	for (size_t i = 0; i < context->index_count; i++) {
		die_index_release(&context->indexes[i]->index);
		free(context->indexes[i]);
	}
	free(context->indexes);
	free(context->modules);
}

/* ------- memory and registers ------- */

int context_look(struct context *context, uint64_t addr, uint8_t *bytes,
		 uint8_t *known, size_t size, struct failure *why)
{
	struct query_answer answer;

	memset(known, 0, size);
	if (!size || size - 1 > UINT64_MAX - addr)
		return 0;
	return query_memory(context->query, addr, &context->at, bytes, known,
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
	if (!rc && memchr(known, 0, size))
		rc = failed(why, ERR_NOT_FOUND,
			    "cannot read %zu bytes at 0x%" PRIx64 ": they are"
			    " not mapped, or not known", size, addr);
	free(known);
	return rc;
}

static int read_registers(struct context *context, struct replayer *replayer,
			  struct failure *why)
{
	struct recording *recording = context->recording;
	uint64_t t = replayer_time(replayer);
	uint32_t thread, stream;
	int rc;

	if (!context->some_thread) {
		replayer_registers(replayer, &context->registers);
		return 0;
	}
	rc = recording_find_thread(recording, context->tid, t, &thread, why);
	if (rc)
		return rc;
	stream = recording_stream_of(recording, thread, t);
	if (recording_thread_of(recording, stream, t) != thread)
		return failed(why, ERR_NOT_FOUND,
			      "thread %" PRIu32 " has ended before t=%" PRIu64,
			      context->tid, t);
	return replayer_thread_registers(replayer, stream, &context->registers,
					 why);
}

int context_registers(struct context *context, const struct reg_file **out,
		      struct failure *why)
{
	struct replayer *replayer;
	int rc = 0;

	*out = &context->registers;
	if (context->has_registers)
		return 0;
	rc = query_replayer(context->query, &replayer, why);
	if (!rc)
		rc = replayer_seek(replayer, &context->at, why);
	if (!rc)
		rc = read_registers(context, replayer, why);
	context->has_registers = !rc;
	return rc;
}

/* ------- the frame ------- */

static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_inlined_subroutine;
}

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* From the unit down to the innermost block with the code. */
static bool find_scopes(struct code_frame *frame, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MOST || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (is_scope(tag) && dwarf_haspc(&die, frame->pc) > 0) {
			if (frame->count == SCOPES_MOST)
				return true;
			frame->scopes[frame->count++] = die;
			find_scopes(frame, &die, depth + 1);
			return true;
		}
		if ((may_hold_functions(tag) || tag == DW_TAG_subprogram) &&
		    find_scopes(frame, &die, depth + 1))
			return true;
	} while (!die_sibling(&die, &die));
	return false;
}

/* Some compilers write no table of where the code of a unit is. */
static bool find_unit(struct code_frame *frame)
{
	Dwarf_CU *unit = NULL;

	if (dwarf_addrdie(frame->module->dwarf, frame->pc, &frame->unit))
		return true;
	while (!dwarf_get_units(frame->module->dwarf, unit, &unit, NULL, NULL,
				&frame->unit, NULL))
		if (dwarf_haspc(&frame->unit, frame->pc) > 0)
			return true;
	return false;
}

static void find_frame(struct context *context, uint64_t pc)
{
	struct code_frame *frame = &context->frame;

	for (size_t i = 0; i < context->module_count; i++) {
		*frame = (struct code_frame) {
			.module = &context->modules[i],
			.pc = pc - context->modules[i].bias,
		};
		if (find_unit(frame) &&
		    find_scopes(frame, &frame->unit, 0)) {
			frame->is_known = true;
			return;
		}
	}
	*frame = (struct code_frame) { 0 };
}

int context_frame(struct context *context, const struct code_frame **out,
		  struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	int rc = 0;

	*out = &context->frame;
	if (context->has_frame)
		return 0;
	context->frame = (struct code_frame) { 0 };
	if (context->module_count)
		rc = context_registers(context, &file, why);
	if (rc)
		return rc;
	if (context->module_count)
		find_frame(context, reg_get(table, file, table->pc));
	context->has_frame = true;
	return 0;
}

int context_frame_address(struct context *context, uint64_t *out,
			  struct failure *why)
{
	const struct reg_table *table = recording_reg_table(context->recording);
	const struct reg_file *file;
	uint64_t offset;
	unsigned reg;
	int rc = context_registers(context, &file, why);

	if (rc)
		return rc;
	if (!lines_frame(context->lines, context->at.time,
			 reg_get(table, file, table->pc), &reg, &offset) ||
	    reg >= table->dwarf_count)
		return failed(why, ERR_NOT_FOUND, "cannot tell where the frame"
			      " of the function is");
	*out = reg_get(table, file, table->dwarf[reg]) + offset;
	return 0;
}

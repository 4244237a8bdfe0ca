/* SPDX-License-Identifier: GPL-2.0-or-later */
/* looks.c - memory, mappings and registers at a cursor */
#include "library/handles.h"

#include <stdlib.h>
#include <string.h>

#include "vm/vm.h"

/* ------- memory ------- */

static int make_room(struct cprec_cursor *cursor, uint64_t length,
		     struct failure *why)
{
	free(cursor->bytes);
	free(cursor->known);
	cursor->bytes = calloc(1, length + 1);
	cursor->known = calloc(1, length + 1);
	return cursor->bytes && cursor->known ? 0 :
		failed(why, ERR_NO_MEMORY, "out of memory");
}

static int take_memory(struct cprec_cursor *cursor, uint64_t addr,
		       uint64_t length, struct failure *why)
{
	static const enum cprec_source sources[] = {
		[QUERY_UNKNOWN] = CPREC_FROM_NOWHERE,
		[QUERY_CODE] = CPREC_FROM_CODE,
		[QUERY_SNAPSHOT] = CPREC_FROM_SNAPSHOT,
		[QUERY_REPLAY] = CPREC_FROM_REPLAY,
		[QUERY_FILE] = CPREC_FROM_FILE,
	};
	struct query_answer answer = {
		.source = QUERY_REPLAY, .as_of = QUERY_CERTAIN,
	};
	bool is_walked = cursor->of->trail &&
			 trail_read(cursor->of->trail, &cursor->at, addr,
				    cursor->bytes, length);
	int rc = 0;

	if (is_walked)
		memset(cursor->known, 1, length);
	else
		rc = query_memory(cursor->of->query, addr, &cursor->at,
				  cursor->bytes, cursor->known, length,
				  &answer, why);

	if (rc)
		return rc;
	cursor->memory = (struct cprec_memory) {
		.addr = addr, .length = length, .bytes = cursor->bytes,
		.known = cursor->known, .source = sources[answer.source],
		.is_certain = answer.as_of == QUERY_CERTAIN,
		.as_of = answer.as_of, .is_mapped = true,
	};
	if (memchr(cursor->known, 1, length))
		return 0;
	return recording_is_mapped(cursor->of->recording, &cursor->at, addr,
				   &cursor->memory.is_mapped, why);
}

static const uint8_t all_known[WORD_MOST] = {
	1, 1, 1, 1, 1, 1, 1, 1,
};

/* What is asked most, millions of times: is it told quickly? */
static bool take_at_once(struct cprec_cursor *cursor, uint64_t addr,
			 uint64_t length)
{
	if (length > sizeof(cursor->word) || !cursor_stands(cursor) ||
	    !replayer_peek(cursor->told, addr, cursor->word, length))
		return false;
	cursor->memory = (struct cprec_memory) {
		.addr = addr, .length = length, .bytes = cursor->word,
		.known = all_known, .source = CPREC_FROM_REPLAY,
		.is_certain = true, .as_of = QUERY_CERTAIN, .is_mapped = true,
	};
	return true;
}

/* Memory is what the cursor's thread sees. */
static int see_as_thread(struct cprec_cursor *cursor, struct failure *why)
{
	uint32_t stream;
	int rc;

	if (!recording_is_machine(cursor->of->recording))
		return 0;
	if (!cursor->some_thread) {
		query_use_turn(cursor->of->query);
		return 0;
	}
	rc = recording_find_stream(cursor->of->recording, cursor->tid,
				   cursor->at.time, &stream, why);
	if (!rc)
		query_use_core(cursor->of->query, stream);
	return rc;
}

PUBLIC int cprec_read(struct cprec_cursor *cursor, uint64_t addr,
		      uint64_t length, const struct cprec_memory **out,
		      struct cprec_failure *why)
{
	int rc = question_begin(cursor->of, true, why);

	if (!rc && (!length || length > CPREC_MEMORY_MOST))
		rc = failed(inner(why), ERR_INPUT,
			    "1 to 16777216 bytes can be asked for");
	if (!rc && length - 1 > UINT64_MAX - addr)
		rc = failed(inner(why), ERR_INPUT,
			    "the bytes reach past the last address");
	if (!rc)
		rc = see_as_thread(cursor, inner(why));
	if (!rc && take_at_once(cursor, addr, length)) {
		*out = &cursor->memory;
		return 0;
	}
	if (!rc)
		rc = make_room(cursor, length, inner(why));
	if (!rc)
		rc = take_memory(cursor, addr, length, inner(why));
	if (!rc)
		*out = &cursor->memory;
	return rc;
}

/* ------- mappings ------- */

int tell_mapping(void *context, const struct region *region)
{
	struct mapping_visits *visits = context;
	const struct cprec_mapping mapping = {
		.start = region->start, .end = region->end,
		.protection = region->prot,
		.is_shared = region->kind == REGION_SHARED,
		.offset = region->offset,
		.name = region->name ? region->name : "",
	};

	_Static_assert((int)CPREC_MAY_READ == MAY_READ &&
		       (int)CPREC_MAY_WRITE == MAY_WRITE &&
		       (int)CPREC_MAY_EXECUTE == MAY_EXEC, "the same bits");
	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &mapping));
}

PUBLIC int cprec_each_mapping(struct cprec_cursor *cursor,
			      int (*visit)(void *context,
					   const struct cprec_mapping *mapping),
			      void *context, struct cprec_failure *why)
{
	struct mapping_visits visits = {
		{ .of = cursor->of, .context = context }, visit,
	};
	struct replayer *replayer;
	int rc = cursor_begin(cursor, &replayer, why);

	if (rc)
		return rc;
	cursor->of->runs = true;
	rc = mappings_each(replayer, tell_mapping, &visits);
	cursor->of->runs = false;
	return visits_result(&visits.visits, rc);
}

/* ------- registers ------- */

static int find_registers(struct cprec_cursor *cursor,
			  struct frame_registers *out, struct failure *why)
{
	const struct expression_place place = cursor_place(cursor);
	struct replayer *replayer;
	uint32_t stream, tid;
	int rc;

	if (cursor->frame)
		return expressions_registers(cursor->of->expressions, &place,
					     out, why);
	rc = query_replayer(cursor->of->query, &replayer, why);
	if (!rc)
		rc = cursor_find_thread(cursor, &stream, &tid, why);
	return rc ? rc : replayer_thread_registers(replayer, stream,
						   &out->file, why);
}

int tell_registers(const struct reg_table *table,
		   const struct frame_registers *found,
		   int (*visit)(void *context,
				const struct cprec_register *reg),
		   void *context)
{
	int rc = 0;

	for (unsigned i = 0; i < table->count && !rc; i++) {
		const struct reg_info *info = &table->regs[i];
		const struct cprec_register reg = {
			.name = info->name, .number = i, .length = info->size,
			.bytes = found->file.bytes + info->offset,
			.value = info->size <= 8 ?
					 reg_get(table, &found->file, i) : 0,
			.is_known = !found->is_lost[i],
			.is_general = reg_is_general(info),
		};

		rc = visit(context, &reg);
	}
	return rc;
}

int cursor_registers(struct cprec_cursor *cursor, struct frame_registers *out,
		     struct cprec_failure *why)
{
	struct replayer *replayer;
	int rc;

	if (cursor_walked(cursor, &out->file))
		return 0;
	rc = cursor_begin(cursor, &replayer, why);
	return rc ? rc : find_registers(cursor, out, inner(why));
}

PUBLIC int cprec_each_register(struct cprec_cursor *cursor,
			       int (*visit)(void *context,
					    const struct cprec_register *reg),
			       void *context, struct cprec_failure *why)
{
	const struct reg_table *table =
		recording_reg_table(cursor->of->recording);
	struct frame_registers found = { 0 };
	int rc = question_begin(cursor->of, true, why);

	if (!rc)
		rc = cursor_registers(cursor, &found, why);
	return rc ? rc : tell_registers(table, &found, visit, context);
}

static int take_register(void *context, const struct cprec_register *reg)
{
	struct cprec_register *wanted = context;

	if (reg->number != wanted->number)
		return 0;
	*wanted = *reg;
	return 1;
}

PUBLIC int cprec_register_value(struct cprec_cursor *cursor, uint32_t number,
				uint64_t *out, struct cprec_failure *why)
{
	const struct reg_table *table =
		recording_reg_table(cursor->of->recording);
	struct cprec_register found = { .number = number };
	int rc = question_begin(cursor->of, true, why);

	if (rc)
		return rc;
	if (number >= table->count || table->regs[number].size > sizeof(*out))
		return failed(inner(why), ERR_INPUT, "this is no number of a"
			      " register of at most 8 bytes");
	if (cursor_stands(cursor)) {
		*out = replayer_reg(cursor->told, number);
		return 0;
	}
	rc = cprec_each_register(cursor, take_register, &found, why);
	if (rc == 1 && !found.is_known)
		return failed(inner(why), ERR_NOT_FOUND, "it is not known");
	*out = found.value;
	return rc < 0 ? rc : 0;
}

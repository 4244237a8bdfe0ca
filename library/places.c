/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.c - what addresses are called; symbols, source and code */
#include "library/handles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vm/vm.h"

/* ------- places ------- */

/* Names of functions of libraries begin with theirs. */
static const char *without_module(const struct source_line *line)
{
	size_t size = strlen(line->module);

	return size && !strncmp(line->function, line->module, size) &&
			       line->function[size] == '!' ?
		       line->function + size + 1 : line->function;
}

void place_take(struct kept_place *out, const char *module)
{
	const struct source_line *line = &out->line;

	out->place = (struct cprec_place) {
		.symbol = out->symbol[0] ? out->symbol : NULL,
		.data = out->data[0] ? out->data : NULL,
		.module = module,
		.function = line->function[0] ? without_module(line) : NULL,
		.linkage_name = line->linkage_name[0] ? line->linkage_name :
							NULL,
		.offset = line->offset, .file = line->file,
		.directory = line->directory, .line = line->line,
	};
}

void place_find(struct kept_place *out, struct cprec_recording *handle,
		uint64_t t, uint64_t addr)
{
	const struct symbols *symbols;
	uint64_t bias;

	out->symbol[0] = out->data[0] = '\0';
	if (!lines_symbol(handle->lines, t, addr, out->symbol,
			  sizeof(out->symbol)))
		out->symbol[0] = '\0';
	lines_find(handle->lines, t, addr, &out->line);
	symbols = names_module(lines_names(handle->lines), t, addr, &bias);
	place_take(out, symbols ? symbols->path : NULL);
}

/* While a replay runs, only what needs none is told. */
PUBLIC int cprec_find_place(struct cprec_cursor *cursor, uint64_t addr,
			    const struct cprec_place **out,
			    struct cprec_failure *why)
{
	struct kept_place *kept = &cursor->place;
	struct cprec_recording *handle = cursor->of;
	int rc = question_begin(handle, false, why);

	if (rc)
		return rc;
	place_find(kept, handle, cursor->at.time, addr);
	if (!handle->runs &&
	    expressions_name(handle->expressions, &cursor->at, addr,
			     kept->data, sizeof(kept->data)))
		kept->place.data = kept->data;
	*out = &kept->place;
	return 0;
}

PUBLIC int cprec_find_unit(struct cprec_cursor *cursor, uint64_t addr,
			   const struct cprec_unit **out,
			   struct cprec_failure *why)
{
	struct code_unit found;
	int rc = question_begin(cursor->of, false, why);

	if (rc)
		return rc;
	if (!code_unit_find(cursor->of->lines, cursor->at.time, addr, &found))
		return failed(inner(why), ERR_NOT_FOUND, "no file is there that"
			      " knows 0x%" PRIx64, addr);
	cursor->unit = (struct cprec_unit) {
		.section = found.section, .file = found.file,
		.directory = found.directory, .language = found.language,
		.producer = found.producer, .dwarf = found.dwarf,
		.has_macros = found.has_macros,
	};
	*out = &cursor->unit;
	return 0;
}

/* ------- symbols ------- */

struct symbol_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_symbol *symbol);
	struct cprec_cursor *cursor;
	struct symbol_pattern pattern;
	size_t count;
	struct source_line line;
};

static void find_source(struct symbol_visits *visits,
			const struct lines_symbol *symbol)
{
	struct cprec_cursor *cursor = visits->cursor;

	visits->line.file = NULL;
	visits->line.line = 0;
	if (symbol->type == SYMBOL_FUNCTION)
		lines_find(cursor->of->lines, cursor->at.time, symbol->addr,
			   &visits->line);
	else if (symbol->type == SYMBOL_OBJECT)
		expressions_source(cursor->of->expressions, &cursor->at,
				   symbol->addr, &visits->line.file,
				   &visits->line.line);
}

enum cprec_symbol_kind symbol_kind(enum symbol_type type)
{
	static const enum cprec_symbol_kind kinds[] = {
		[SYMBOL_OTHER] = CPREC_SYMBOL_OTHER,
		[SYMBOL_OBJECT] = CPREC_SYMBOL_DATA,
		[SYMBOL_FUNCTION] = CPREC_SYMBOL_FUNCTION,
	};

	return kinds[type];
}

static int tell_symbol(struct symbol_visits *visits,
		       const struct lines_symbol *symbol, const char *plain)
{
	const struct source_line *line = &visits->line;
	const char *file = visits->pattern.file;
	struct cprec_symbol out = {
		.addr = symbol->addr, .length = symbol->size,
		.kind = symbol_kind(symbol->type), .name = plain,
		.linkage_name = symbol->name, .module = symbol->module,
		.is_program = symbol->is_program,
	};

	find_source(visits, symbol);
	if (file && (!line->file || !source_file_is(line->file, file)))
		return 0;
	out.file = line->line ? line->file : NULL;
	out.line = line->line;
	visits->count++;
	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &out));
}

static int on_symbol(void *context, const struct lines_symbol *symbol)
{
	struct symbol_visits *visits = context;
	const struct symbol_pattern *pattern = &visits->pattern;
	char *plain = demangle(symbol->name);
	const char *name = plain ? plain : symbol->name;
	int rc = 0;

	if ((!pattern->library ||
	     module_is_called(symbol->module, pattern->library)) &&
	    symbol_pattern_is(pattern, symbol->name, name))
		rc = tell_symbol(visits, symbol, name);
	free(plain);
	return rc;
}

PUBLIC int cprec_each_symbol(struct cprec_cursor *cursor, const char *pattern,
			     int (*visit)(void *context,
					  const struct cprec_symbol *symbol),
			     void *context, struct cprec_failure *why)
{
	struct symbol_visits visits = {
		.visits = { .of = cursor->of, .context = context },
		.visit = visit, .cursor = cursor,
	};
	struct lines *lines = cursor->of->lines;
	int rc = question_begin(cursor->of, true, why);

	if (!rc && pattern && symbol_pattern_init(&visits.pattern, pattern))
		rc = failed(inner(why), ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = names_check(lines_names(lines), cursor->at.time,
				 inner(why));
	cursor->of->runs = true;
	if (!rc)
		rc = lines_each_symbol(lines, cursor->at.time, on_symbol,
				       &visits, inner(why));
	/* Where no name is just so, those in scopes are meant. */
	visits.pattern.any_scope = true;
	if (!rc && pattern && !visits.count)
		rc = lines_each_symbol(lines, cursor->at.time, on_symbol,
				       &visits, inner(why));
	cursor->of->runs = false;
	if (!rc && pattern && !visits.count)
		rc = failed(inner(why), ERR_NOT_FOUND,
			    "no symbol is called '%s'", pattern);
	symbol_pattern_release(&visits.pattern);
	return visits_result(&visits.visits, rc);
}

/* ------- where breakpoints stop ------- */

struct place_visits {
	struct visits visits;
	int (*visit)(void *context, uint64_t addr);
};

static int on_place(void *context, uint64_t addr, unsigned frame)
{
	struct place_visits *visits = context;

	(void)frame;
	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, addr));
}

PUBLIC int cprec_each_place(struct cprec_cursor *cursor, const char *where,
			    int (*visit)(void *context, uint64_t addr),
			    void *context, struct cprec_failure *why)
{
	struct place_visits visits = {
		{ .of = cursor->of, .context = context }, visit,
	};
	struct log_point point;
	int rc = question_begin(cursor->of, true, why);

	if (rc)
		return rc;
	rc = log_point_init(&point, where, inner(why));
	cursor->of->runs = true;
	if (!rc)
		rc = log_point_places(&point, cursor->of->lines,
				      cursor->at.time, on_place, &visits,
				      inner(why));
	cursor->of->runs = false;
	log_point_release(&point);
	return visits_result(&visits.visits, rc);
}

/* ------- source ------- */

PUBLIC int cprec_read_source(struct cprec_recording *handle, const char *file,
			     const char *directory, const char *folders,
			     const struct cprec_text **out,
			     struct cprec_failure *why)
{
	struct source *source = &handle->source;
	struct source_line *line;
	int rc = question_begin(handle, false, why);

	if (rc)
		return rc;
	line = calloc(1, sizeof(*line));
	if (!line)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	line->file = file;
	line->directory = directory;
	source_close(source);
	*source = (struct source){ 0 };
	rc = source_open(source, line, folders, inner(why));
	free(line);
	if (rc)
		return rc;
	handle->text = (struct cprec_text) {
		.path = source->path, .text = source->text,
		.length = source->size, .lines = source->count,
		.changed = source->changed.tv_sec,
	};
	*out = &handle->text;
	return 0;
}

/* ------- code ------- */

struct code_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_instruction *one);
};

static int tell_code(void *context, const struct code_line *line)
{
	struct code_visits *visits = context;
	const struct vm_instruction *instruction = &line->instruction;
	bool is_one = line->bytes && instruction->size;
	const struct cprec_instruction one = {
		.addr = line->addr, .bytes = line->bytes,
		.length = (uint32_t)line->size,
		.text = is_one ? instruction->text : NULL,
		.symbol = line->name[0] ? line->name : NULL,
		.has_target = is_one && instruction->has_target,
		.target = is_one ? instruction->target : 0,
		.target_symbol = line->target[0] ? line->target : NULL,
	};

	return visits_told(&visits->visits,
			   visits->visit(visits->visits.context, &one));
}

/* Without a start, the function that the frame is in. */
static int find_code(struct cprec_cursor *cursor, struct code_walk *walk,
		     struct failure *why)
{
	struct backtrace backtrace = {
		.replayer = walk->replayer, .lines = walk->lines,
	};
	struct frame frame;
	uint32_t tid;
	int rc = 0;

	if (walk->start || walk->end)
		return 0;
	rc = cursor_find_thread(cursor, &backtrace.stream, &tid, why);
	if (!rc)
		rc = backtrace_find(&backtrace, cursor->frame, &frame, why);
	if (rc)
		return rc;
	if (!code_function(walk->lines, cursor->at.time, frame.code,
			   &walk->start, &walk->end))
		return failed(why, ERR_NOT_FOUND,
			      "it is not known what function the frame is in");
	return 0;
}

PUBLIC int cprec_each_instruction(struct cprec_cursor *cursor,
				  const struct cprec_code *code,
				  int (*visit)(void *context,
					const struct cprec_instruction *one),
				  void *context, struct cprec_failure *why)
{
	struct code_visits visits = {
		{ .of = cursor->of, .context = context }, visit,
	};
	struct cprec_code asked;
	struct code_walk walk;
	int rc = QUESTION_TAKE(&asked, code, why);

	walk = (struct code_walk) {
		.lines = cursor->of->lines, .start = asked.start,
		.end = asked.start && !asked.end ? UINT64_MAX : asked.end,
		.count = asked.count ? asked.count : UINT64_MAX,
		.syntax = asked.att ? VM_ATT : VM_INTEL,
		.visit = tell_code, .context = &visits,
	};
	if (!rc && asked.start && !asked.end && !asked.count)
		rc = failed(inner(why), ERR_INPUT,
			    "an end or a count is missing");
	if (!rc)
		rc = cursor_begin(cursor, &walk.replayer, why);
	if (!rc)
		rc = find_code(cursor, &walk, inner(why));
	cursor->of->runs = true;
	if (!rc)
		rc = code_each(&walk, inner(why));
	cursor->of->runs = false;
	return visits_result(&visits.visits, rc);
}

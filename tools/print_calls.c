/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_calls.c - see print_calls.h */
#include "tools/print_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "tools/print.h"
#include "tools/table.h"

/* ------- values ------- */

/* Name, type and value of each, with a NUL behind each text. */
struct call_texts {
	char *bytes;
	size_t size;
};

struct writing {
	FILE *out;
};

static void write_text(FILE *out, const char *text)
{
	if (text)
		fputs(text, out);
	fputc('\0', out);
}

static int write_value(void *context, const struct call_value *value)
{
	struct writing *writing = context;

	write_text(writing->out, value->name);
	write_text(writing->out, value->type);
	write_text(writing->out, value->value);
	return 0;
}

/* Goes from text to text; false behind the last value. */
static bool next_value(const struct call_texts *texts, size_t *at,
		       struct call_value *out)
{
	const char *text = texts->bytes + *at;

	if (*at >= texts->size)
		return false;
	out->name = text;
	out->type = out->name + strlen(out->name) + 1;
	out->value = out->type + strlen(out->type) + 1;
	*at += (size_t)(out->value + strlen(out->value) + 1 - text);
	return true;
}

static json_t *value_as_json(const struct call_value *value)
{
	json_t *object = json_object();

	if (*value->name)
		json_set_text(object, "name", value->name);
	if (*value->type)
		json_set_text(object, "type", value->type);
	json_set_text(object, "value", value->value);
	return object;
}

/* ------- callers ------- */

struct caller {
	struct caller *next;		/* of all that were found */
	const struct symbols *symbols;	/* of the module; it may go away */
	uint64_t bias;
	char *function, *module, *file;	/* "": not known */
	unsigned line;
	uint64_t offset;
	bool is_program;
};

static void free_caller(struct caller *caller)
{
	free(caller->function);
	free(caller->module);
	free(caller->file);
	free(caller);
}

static struct caller *make_caller(struct call_lines *lines, uint64_t t,
				  uint64_t addr)
{
	struct caller *caller = calloc(1, sizeof(*caller));
	const struct symbols *program = NULL;
	struct source_line line;

	if (!caller)
		return NULL;
	lines_find(lines->lines, t, addr, &line);
	caller->symbols = names_module(lines_names(lines->lines), t, addr,
				       &caller->bias);
	names_program(lines_names(lines->lines), t, &program, NULL);
	caller->is_program = caller->symbols == program;
	caller->function = strdup(without_module(line.function, line.module));
	caller->module = strdup(line.module);
	caller->file = strdup(line.file ? line.file : "");
	caller->line = line.line;
	caller->offset = line.offset;
	if (caller->function && caller->module && caller->file)
		return caller;
	free_caller(caller);
	return NULL;
}

/* The same code calls again and again. */
static const struct caller *find_caller(struct call_lines *lines, uint64_t t,
					uint64_t addr)
{
	uint64_t bias = 0, *found = number_map_find(&lines->callers, addr);
	const struct symbols *symbols = names_module(
		lines_names(lines->lines), t, addr, &bias);
	struct caller *caller = found ? (void *)(uintptr_t)*found : NULL;

	if (caller && caller->symbols == symbols &&
	    (!symbols || caller->bias == bias))
		return caller;
	/* One that was there before may still be printed: it stays. */
	caller = make_caller(lines, t, addr);
	if (!caller)
		return NULL;
	caller->next = lines->all_callers;
	lines->all_callers = caller;
	return number_map_set(&lines->callers, addr,
			      (uint64_t)(uintptr_t)caller) ? NULL : caller;
}

/* ------- lines that are kept ------- */

struct call_line {
	struct call_line *next;
	struct call call;
	bool is_over;
	struct call_texts arguments, returned;
	const struct caller *caller;
};

static void free_line(struct call_line *line)
{
	free(line->arguments.bytes);
	free(line->returned.bytes);
	free(line);
}

void call_lines_init(struct call_lines *out, struct lines *lines,
		     struct expressions *expressions, bool json)
{
	uint64_t end = recording_end(names_recording(lines_names(lines)));

	*out = (struct call_lines) {
		.lines = lines, .expressions = expressions, .json = json,
		.width = snprintf(NULL, 0, "%" PRIu64, end),
	};
}

void call_lines_release(struct call_lines *lines)
{
	while (lines->first) {
		struct call_line *next = lines->first->next;

		free_line(lines->first);
		lines->first = next;
	}
	while (lines->all_callers) {
		struct caller *next = lines->all_callers->next;

		free_caller(lines->all_callers);
		lines->all_callers = next;
	}
	number_map_release(&lines->callers);
}

static int take_values(struct call_lines *lines, const struct call *call,
		       const struct position *at, bool returned,
		       struct call_texts *out, struct failure *why)
{
	struct writing writing = { open_memstream(&out->bytes, &out->size) };
	int rc;

	if (!writing.out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (returned)
		rc = expressions_returned(lines->expressions, at, call->pc,
					  write_value, &writing, why);
	else
		rc = expressions_arguments(lines->expressions, at, call->pc,
					   write_value, &writing, why);
	if (fclose(writing.out) && !rc)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

int call_lines_begin(struct call_lines *lines, struct call *call,
		     struct failure *why)
{
	struct call_line *line = calloc(1, sizeof(*line));

	if (!line)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!lines->first)
		lines->last = &lines->first;
	*lines->last = line;
	lines->last = &line->next;
	call->kept = line;
	/* In the instruction that calls, or jumps. */
	line->caller = find_caller(lines, call->at.time,
				   call->from ? call->from : call->back - 1);
	if (!line->caller)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return take_values(lines, call, &call->at, false, &line->arguments,
			   why);
}

/* ------- as text ------- */

static void print_text(const char *text)
{
	print_escaped(stdout, text, strlen(text));
}

void print_function_name(const char *name, const char *module, bool is_program)
{
	if (!is_program && *module) {
		print_text(module);
		putchar('!');
	}
	print_escaped(stdout, name, symbol_name_size(name));
}

static void print_arguments(const struct call_texts *texts)
{
	struct call_value value;
	size_t at = 0;

	putchar('(');
	while (next_value(texts, &at, &value)) {
		if (value.name != texts->bytes)
			fputs(", ", stdout);
		if (*value.name) {
			print_text(value.name);
			putchar('=');
		}
		print_value_text(stdout, value.value);
	}
	putchar(')');
}

/* Why a call has not returned. */
static const char *end_text(enum call_end end)
{
	switch (end) {
	case CALL_RUNS:
		return "not over yet";
	case CALL_LEFT:
		return "left by a jump or an exception";
	case CALL_THREAD_ENDED:
		return "the thread ended";
	case CALL_PROCESS_ENDED:
		return "the process ended";
	case CALL_REPLACED:
		return "another program was executed";
	case CALL_RETURNED:
		break;
	}
	return NULL;
}

static void print_end(const struct call_line *line)
{
	const char *why_not = end_text(line->call.end);
	struct call_value value;
	size_t at = 0;

	if (why_not) {
		printf(" = <%s>", why_not);
	} else if (next_value(&line->returned, &at, &value)) {
		fputs(" = ", stdout);
		print_value_text(stdout, value.value);
	}
	if (line->call.has_steps)
		printf(", %" PRIu64 " instruction%s", line->call.steps,
		       line->call.steps == 1 ? "" : "s");
}

static void print_caller(const struct caller *caller, bool jumped)
{
	/* After a reset, nobody has called. */
	if (!*caller->function && !*caller->module)
		return;
	fputs(jumped ? ", jump from " : ", from ", stdout);
	if (*caller->function)
		print_function_name(caller->function, caller->module,
				    caller->is_program);
	else
		print_text(caller->module);
	printf("+0x%" PRIx64, caller->offset);
	if (!caller->line)
		return;
	fputs(" (", stdout);
	print_text(caller->file);
	printf(":%u)", caller->line);
}

static void print_as_text(const struct call_lines *lines,
			  const struct call_line *line)
{
	const struct call *call = &line->call;
	char at[POSITION_TEXT];

	printf("%*s %" PRIu32 " %*s", lines->width,
	       position_text(at, &call->at), call->tid,
	       2 * (int)(call->depth < 100 ? call->depth : 100), "");
	print_function_name(call->function->name, call->function->module,
			    call->function->is_program);
	print_arguments(&line->arguments);
	print_end(line);
	print_caller(line->caller, call->from != 0);
	putchar('\n');
}

/* ------- as JSON ------- */

static void set_function(json_t *object, const struct call_function *function)
{
	json_set_text(object, "function", function->name);
	if (function->linkage_name)
		json_set_text(object, "linkage_name", function->linkage_name);
	json_set_text(object, "module", function->module);
}

static void set_values(json_t *object, const struct call_line *line)
{
	json_t *arguments = json_array();
	struct call_value value;
	size_t at = 0;

	while (next_value(&line->arguments, &at, &value))
		json_array_append_new(arguments, value_as_json(&value));
	json_object_set_new(object, "passed", arguments);
	at = 0;
	if (next_value(&line->returned, &at, &value))
		json_object_set_new(object, "returned", value_as_json(&value));
}

static json_t *caller_as_json(const struct call_line *line)
{
	const struct caller *caller = line->caller;
	const struct call *call = &line->call;
	json_t *object = json_object();

	json_set_address(object, "pc", call->from ? call->from : call->back);
	if (*caller->function)
		json_set_text(object, "function", caller->function);
	if (*caller->module)
		json_set_text(object, "module", caller->module);
	json_set_count(object, "offset", caller->offset);
	if (caller->line) {
		json_set_text(object, "file", caller->file);
		json_set_count(object, "line", caller->line);
	}
	return object;
}

static void print_as_json(const struct call_line *line)
{
	const struct call *call = &line->call;
	json_t *object = json_object();

	json_set_position(object, &call->at);
	json_set_count(object, "thread", call->tid);
	json_set_count(object, "depth", call->depth);
	set_function(object, call->function);
	set_values(object, line);
	if (end_text(call->end))
		json_set_text(object, "not_returned", end_text(call->end));
	if (call->has_steps)
		json_set_count(object, "instructions", call->steps);
	if (call->end == CALL_RETURNED)
		json_set_count(object, "until", call->ended.time);
	if (call->from)
		json_object_set_new(object, "jumped", json_true());
	json_object_set_new(object, "caller", caller_as_json(line));
	print_json(object);
}

/* ------- in their order ------- */

int call_lines_end(struct call_lines *lines, struct call *call,
		   struct failure *why)
{
	struct call_line *line = call->kept;
	int rc = 0;

	line->call = *call;
	line->is_over = true;
	if (call->end == CALL_RETURNED)
		rc = take_values(lines, call, &call->ended, true,
				 &line->returned, why);
	while ((line = lines->first) && line->is_over && !rc) {
		if (lines->json)
			print_as_json(line);
		else
			print_as_text(lines, line);
		lines->first = line->next;
		free_line(line);
	}
	return rc;
}

/* ------- counts ------- */

static int compare_counts(const void *left, const void *right)
{
	const struct call_function *a = *(struct call_function *const *)left;
	const struct call_function *b = *(struct call_function *const *)right;

	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	if (a->steps != b->steps)
		return a->steps < b->steps ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void count_as_json(const struct call_function *function)
{
	json_t *object = json_object();

	set_function(object, function);
	json_set_count(object, "calls", function->calls);
	json_set_count(object, "instructions", function->steps);
	print_json(object);
}

static void count_as_text(struct table *table,
			  const struct call_function *function)
{
	table_cell(table, "%" PRIu64, function->calls);
	table_cell(table, "%" PRIu64, function->steps);
	table_cell(table, "%s%s%s", function->is_program ? "" :
				    function->module,
		   function->is_program ? "" : "!", function->name);
}

static const struct table_column count_columns[] = {
	{ "CALLS", true }, { "INSTRUCTIONS", true }, { "FUNCTION", false },
};

int print_call_counts(const struct call_functions *functions, bool json,
		      struct failure *why)
{
	size_t size = functions->count * sizeof(*functions->list);
	struct call_function **list = malloc(size + 1);
	struct table table = { .columns = count_columns, .width = 3 };

	if (!list)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	memcpy(list, functions->list, size);
	qsort(list, functions->count, sizeof(*list), compare_counts);
	for (size_t i = 0; i < functions->count && list[i]->calls; i++)
		if (json)
			count_as_json(list[i]);
		else
			count_as_text(&table, list[i]);
	if (!json)
		table_print(&table, false);
	free(list);
	return 0;
}

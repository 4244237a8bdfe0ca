/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answers.c - asks a recording of guest.c all that the library answers
 *
 * usage: answers FILE.cpr SOURCE SOURCE:LINE
 *
 * Only <cprec.h> is included.  answers.py asks the same, and prints the same
 * lines.
 */
#include <cprec.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cprec_failure why;
static struct cprec_recording *recording;
static struct cprec_cursor *cursor;

/* What must succeed. */
static void must(int code, const char *what)
{
	if (!code)
		return;
	printf("failed %s: %d %s\n", what, code, code < 0 ? why.text : "");
	exit(1);
}
#define MUST(call) must(call, #call)

static const char *at_text(struct cprec_position at)
{
	static char texts[4][CPREC_POSITION_TEXT];
	static unsigned next;

	return cprec_position_text(texts[next++ % 4], at);
}

static const char *or_none(const char *text)
{
	return text ? text : "None";
}

static void print_bytes(const uint8_t *bytes, const uint8_t *known,
			uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		if (!known || known[i])
			printf("%02x", bytes[i]);
		else
			printf("??");
}

/* ------- the recording ------- */

static int on_thread(void *context, const struct cprec_thread *thread)
{
	(void)context;
	printf("thread %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n",
	       thread->tid, thread->first, thread->last, thread->instructions,
	       thread->has_ended);
	return 0;
}

static int on_thread_at(void *context, const struct cprec_thread *thread)
{
	(void)context;
	printf("there %" PRIu32 "\n", thread->tid);
	return 0;
}

static int on_process(void *context, const struct cprec_process *process)
{
	(void)context;
	printf("process %s %" PRIu32 " %d %s %s\n", process->name,
	       process->pid, process->is_this, process->program,
	       process->called);
	return 0;
}

static int on_program(void *context, const struct cprec_program *program)
{
	(void)context;
	printf("program %s %s %s\n", at_text(program->at), program->path,
	       program->argv[0]);
	return 0;
}

static int on_output(void *context, const struct cprec_output *output)
{
	(void)context;
	printf("output %s %" PRIu32 " %" PRIu32 " ", at_text(output->at),
	       output->tid, output->descriptor);
	print_bytes((const uint8_t *)output->text, NULL, output->length);
	putchar('\n');
	return 0;
}

static int on_bookmark(void *context, const struct cprec_bookmark *bookmark)
{
	(void)context;
	printf("bookmark %s %s %s\n", bookmark->name, at_text(bookmark->at),
	       bookmark->text);
	return 0;
}

static void name_places(void)
{
	const struct cprec_position at = { .time = 100 };
	const struct cprec_position later = { .time = 200 };

	MUST(cprec_set_bookmark(recording, "later", later, NULL, &why));
	MUST(cprec_set_bookmark(recording, "early", at, "a \"text\"", &why));
	MUST(cprec_each_bookmark(recording, on_bookmark, NULL, &why));
	MUST(cprec_delete_bookmark(recording, "later", &why));
	MUST(cprec_delete_bookmark(recording, "early", &why));
	printf("bookmark none %d %d\n",
	       cprec_delete_bookmark(recording, "early", &why),
	       cprec_set_bookmark(recording, "end", at, NULL, &why));
}

static int on_module_symbol(void *context,
			    const struct cprec_module_symbol *symbol)
{
	(void)context;
	if (!strcmp(symbol->name, "counter"))
		printf("linked %s %#" PRIx64 " %" PRIu64 " %" PRIu32 "\n",
		       symbol->name, symbol->addr, symbol->length,
		       symbol->kind);
	return 0;
}

static int on_module(void *context, const struct cprec_module *module)
{
	struct cprec_file *file;
	char id[200], bytes[64];
	uint64_t done;

	(void)context;
	printf("module %s %s %" PRIu64 " %" PRIu64 "\n", module->path,
	       or_none(module->build_id), module->kept, module->kept_debug);
	MUST(cprec_file_open(&file, recording, module->path, &why));
	MUST(cprec_file_read(file, 0, bytes, sizeof(bytes), &done, &why));
	printf("file %" PRIu64 " %s ", cprec_file_describe(file)->length,
	       or_none(cprec_file_describe(file)->path));
	print_bytes((const uint8_t *)bytes, NULL, done);
	MUST(cprec_file_read(file, UINT64_MAX, bytes, 9, &done, &why));
	printf(" %" PRIu64 "\n", done);
	cprec_file_close(file);
	MUST(cprec_each_module_symbol(recording, module->path,
				      on_module_symbol, NULL, &why));
	if (!module->build_id)
		return 0;
	snprintf(id, sizeof(id), "/.build-id/%.2s/%s", module->build_id,
		 module->build_id + 2);
	MUST(cprec_file_open(&file, recording, id, &why));
	return 0;
}

static void read_files(void)
{
	struct cprec_file *file;

	MUST(cprec_each_module(recording, on_module, NULL, &why));
	printf("file none %d\n",
	       cprec_file_open(&file, recording, "/etc/passwd", &why));
}

static void describe(void)
{
	const struct cprec_info *info;
	const struct cprec_crash *crash;

	MUST(cprec_describe(recording, &info, &why));
	printf("info %" PRIu32 " %s %s %" PRIu32 " %d %" PRIu32 "\n",
	       info->pid, info->arch, at_text(info->end), info->threads,
	       info->is_complete, info->exit_signal);
	MUST(cprec_each_thread(recording, on_thread, NULL, &why));
	MUST(cprec_each_process(recording, on_process, NULL, &why));
	MUST(cprec_each_program(recording, on_program, NULL, &why));
	MUST(cprec_find_crash(recording, &crash, &why));
	printf("crash %s %s %" PRIu32 " %#" PRIx64 " %d\n",
	       crash->signal_name, at_text(crash->at), crash->tid,
	       crash->addr, crash->is_write);
	MUST(cprec_each_output(recording, on_output, NULL, &why));
	name_places();
	read_files();
}

/* ------- where it crashed ------- */

static int on_frame(void *context, const struct cprec_frame *frame)
{
	(void)context;
	printf("frame %" PRIu64 " %#" PRIx64 " %s %" PRIu32 "\n",
	       frame->number, frame->pc, or_none(frame->place->function),
	       frame->place->line);
	return 0;
}

static int on_variable(void *context, const struct cprec_variable *variable)
{
	(void)context;
	printf("variable %s %s = %s %d %s\n", variable->type, variable->name,
	       variable->value, variable->is_argument, variable->brief);
	return 0;
}

static int on_mapping(void *context, const struct cprec_mapping *mapping)
{
	(void)context;
	printf("mapping %#" PRIx64 " %#" PRIx64 " %" PRIu32 " %#" PRIx64 " %s\n",
	       mapping->start, mapping->end, mapping->protection,
	       mapping->offset, mapping->name);
	return 0;
}

static int on_symbol(void *context, const struct cprec_symbol *symbol)
{
	(void)context;
	printf("symbol %#" PRIx64 " %" PRIu64 " %d %s %s %" PRIu32 "\n",
	       symbol->addr, symbol->length, symbol->kind, symbol->name,
	       symbol->module, symbol->line);
	return 0;
}

static int on_instruction(void *context, const struct cprec_instruction *one)
{
	(void)context;
	printf("instruction %#" PRIx64 " ", one->addr);
	print_bytes(one->bytes, NULL, one->length);
	printf(" %s\n", or_none(one->text));
	return 0;
}

static int on_text(void *context, const char *text)
{
	(void)context;
	printf("text %s\n", text);
	return 0;
}

static void evaluate(const char *expression)
{
	const struct cprec_value *value;
	int code = cprec_evaluate(cursor, expression, NULL, &value, &why);

	if (code) {
		printf("value %s: %d\n", expression, code);
		return;
	}
	printf("value %s: (%s) %s %" PRIu64 " ", expression,
	       or_none(value->type), or_none(value->text), value->length);
	if (value->bytes)
		print_bytes(value->bytes, value->known, value->length);
	putchar('\n');
}

static int on_inlined(void *context, const struct cprec_inlined *one)
{
	(void)context;
	printf("inlined %s\n", one->function);
	return 0;
}

/* What steps by lines need. */
static void step_lines(struct cprec_cursor *cursor)
{
	const struct cprec_variable *returned;
	const struct cprec_line *line;
	struct cprec_failure why;
	uint64_t addr, length, base;

	MUST(cprec_find_address(cursor, "total", &addr, &length, &why));
	MUST(cprec_find_line(cursor, addr, &line, &why));
	printf("line %" PRIu32 " %d %d %d\n", line->line, line->is_statement,
	       line->function == addr, line->body > addr);
	printf("check %d %d %d\n",
	       cprec_check_expression(cursor, "counter == 3 && head->name",
				      addr, &why),
	       cprec_check_expression(cursor, "counter == -3 && head->nix",
				      addr, &why),
	       cprec_check_expression(cursor, "counter ==", addr, &why));
	MUST(cprec_each_inlined(cursor, addr, on_inlined, NULL, &why));
	MUST(cprec_find_base(cursor, &base, &why));
	printf("base %#" PRIx64 "\n", base);
	MUST(cprec_find_returned(cursor, line->function, &returned, &why));
	printf("returned %d\n", returned != NULL);
}

static void look_at_crash(void)
{
	static const char *const expressions[] = {
		"counter", "ratio", "*head", "head->next->name", "pattern",
		"head->price * 2 + 1", "$rsp", "no_such_thing", "1 +",
		"item",
	};
	const struct cprec_memory *memory;
	const struct cprec_place *place;
	const struct cprec_unit *unit;
	const struct cprec_value *value;
	struct cprec_code code = { .size = sizeof(code) };
	uint64_t addr, length;
	const struct cprec_state *state;
	const char *type;
	char percent[CPREC_PERCENT_TEXT];

	MUST(cprec_cursor_create(&cursor, recording, NULL, &why));
	MUST(cprec_cursor_describe(cursor, &state, &why));
	printf("state %s %" PRIu32 " %" PRIu64 " %d %d\n", at_text(state->at),
	       state->tid, state->instructions, state->has_turn,
	       state->has_ended);
	MUST(cprec_each_frame(cursor, on_frame, NULL, NULL, &why));
	MUST(cprec_each_variable(cursor, on_variable, NULL, &why));
	for (unsigned i = 0; i < sizeof(expressions) / sizeof(*expressions);
	     i++)
		evaluate(expressions[i]);
	MUST(cprec_cursor_frame(cursor, 2, &why));
	evaluate("item");
	MUST(cprec_each_variable(cursor, on_variable, NULL, &why));
	printf("frame 99: %d\n", cprec_cursor_frame(cursor, 99, &why));
	MUST(cprec_cursor_frame(cursor, 0, &why));
	MUST(cprec_evaluate(cursor, "counter", NULL, &value, &why));
	MUST(cprec_find_address(cursor, "head", &addr, &length, &why));
	MUST(cprec_find_address(cursor, "counter", &addr, &length, &why));
	printf("address %#" PRIx64 " %" PRIu64 "\n", addr, length);
	printf("kept %s\n", value->text);
	MUST(cprec_find_place(cursor, addr + 2, &place, &why));
	printf("place %s %s\n", or_none(place->symbol), or_none(place->data));
	MUST(cprec_find_unit(cursor, addr, &unit, &why));
	printf("unit %s\n", or_none(unit->section));
	MUST(cprec_find_type(cursor, "head", true, &type, &why));
	printf("type %s\n", type);
	printf("type none: %d\n",
	       cprec_find_type(cursor, "no_such", false, &type, &why));
	printf("percent %s\n",
	       cprec_percent_text(percent, recording,
				  cprec_cursor_position(cursor)));
	step_lines(cursor);
	MUST(cprec_read(cursor, addr, length, &memory, &why));
	printf("memory ");
	print_bytes(memory->bytes, memory->known, memory->length);
	printf(" %d %d\n", memory->is_certain, memory->is_mapped);
	MUST(cprec_read(cursor, 8, 4, &memory, &why));
	printf("memory ");
	print_bytes(memory->bytes, memory->known, memory->length);
	printf(" %d %d\n", memory->is_certain, memory->is_mapped);
	MUST(cprec_each_mapping(cursor, on_mapping, NULL, &why));
	MUST(cprec_each_symbol(cursor, "library_guest!*o*", on_symbol, NULL, &why));
	printf("no symbol: %d\n", cprec_each_symbol(cursor, "no_such_*",
						    on_symbol, NULL, &why));
	MUST(cprec_each_instruction(cursor, &code, on_instruction, NULL, &why));
	MUST(cprec_complete(cursor, "cou", on_text, NULL, &why));
}

/* ------- history ------- */

static int on_access(void *context, const struct cprec_access *access)
{
	(void)context;
	printf("access %s %s %" PRIu32 " %d %d %s:%" PRIu32 " ",
	       at_text(access->before), at_text(access->after), access->tid,
	       access->kind == CPREC_BY_INSTRUCTION, access->is_write,
	       or_none(access->place->function), access->place->line);
	print_bytes(access->old_bytes, access->old_known, access->length);
	putchar(' ');
	print_bytes(access->new_bytes, access->new_known, access->length);
	putchar('\n');
	return 0;
}

static int stop_soon(void *context, const struct cprec_access *access)
{
	(void)access;
	return ++*(int *)context == 3 ? 77 : 0;
}

static int ask_inside(void *context, const struct cprec_access *access)
{
	const struct cprec_place *place;
	const struct cprec_value *value;

	(void)context;
	printf("inside %d %d\n",
	       cprec_find_place(cursor, access->pc, &place, &why),
	       cprec_evaluate(cursor, "counter", NULL, &value, &why));
	return 0;
}

static int on_bits(void *context, const struct cprec_access *access)
{
	(void)context;
	printf("bits %s ", at_text(access->before));
	print_bytes(access->new_bytes, access->new_known, access->length);
	putchar('\n');
	return 0;
}

/* A write of a neighbour is none. */
static void look_for_bits(void)
{
	struct cprec_accesses asked = { .size = sizeof(asked),
					.visit = on_bits };
	struct cprec_bits bits;

	MUST(cprec_find_bits(cursor, "bits.high", &bits, &why));
	printf("bits %" PRIu64 " %" PRIu32 " %" PRIu32 " %d\n", bits.length,
	       bits.bit_offset, bits.bit_size, bits.is_signed);
	asked.addr = bits.addr;
	asked.length = bits.length;
	asked.bit_offset = bits.bit_offset;
	asked.bit_size = bits.bit_size;
	MUST(cprec_each_access(recording, &asked, &why));
	asked.bit_offset = 4;
	printf("too many %d\n",
	       cprec_each_access(recording, &asked, &why));
}

static void look_back(void)
{
	const struct cprec_register_write *write;
	struct cprec_accesses asked = { .size = sizeof(asked),
					.visit = on_access };
	int count = 0;

	MUST(cprec_find_address(cursor, "counter", &asked.addr, &asked.length,
				&why));
	MUST(cprec_each_access(recording, &asked, &why));
	asked.last = true;
	MUST(cprec_each_access(recording, &asked, &why));
	asked.last = false;
	asked.has_value = true;
	asked.value = 15;
	MUST(cprec_each_access(recording, &asked, &why));
	asked.has_value = false;
	asked.reads = asked.writes = true;
	asked.limit = 5;
	MUST(cprec_each_access(recording, &asked, &why));
	asked.visit = stop_soon;
	asked.context = &count;
	asked.limit = 0;
	printf("stopped %d\n", cprec_each_access(recording, &asked, &why));
	asked.visit = ask_inside;
	asked.reads = false;
	asked.last = true;
	MUST(cprec_each_access(recording, &asked, &why));
	look_for_bits();
	MUST(cprec_find_register_write(cursor, "rax", &write, &why));
	printf("register %s %" PRIu32 " %#" PRIx64 " ", at_text(write->before),
	       write->tid, write->pc);
	print_bytes(write->old_bytes, NULL, write->length);
	putchar(' ');
	print_bytes(write->new_bytes, NULL, write->length);
	putchar('\n');
}

/* ------- calls and lines ------- */

static int on_end(void *context, const struct cprec_call *call,
		  struct cprec_cursor *there)
{
	(void)context;
	(void)there;
	printf("call %" PRIu64 " %s %s %" PRIu32 " %" PRIu32 " (", call->number,
	       call->function, at_text(call->at), call->tid, call->depth);
	for (size_t i = 0; i < call->argument_count; i++)
		printf("%s=%s,", or_none(call->arguments[i]->name),
		       call->arguments[i]->value);
	printf(") %d %s %" PRIu64 "\n", call->end,
	       call->returned ? call->returned->value : "None",
	       call->instructions);
	return 0;
}

static int on_count(void *context, const struct cprec_call_count *count)
{
	(void)context;
	printf("count %s %" PRIu64 " %" PRIu64 "\n", count->function,
	       count->calls, count->instructions);
	return 0;
}

static const char *const names[] = { "counter", "price", "counter / 0" };

static int on_met(void *context, const struct cprec_met *met,
		  struct cprec_cursor *there)
{
	const struct cprec_value *value;

	(void)context;
	printf("met %zu %s %" PRIu32, met->point, at_text(met->at), met->tid);
	for (unsigned i = 0; i < 3; i++)
		printf(" %s", cprec_evaluate(there, names[i], NULL, &value,
					     &why) ? "-" : value->text);
	putchar('\n');
	return 0;
}

static void look_at_calls(const char *line)
{
	static const char *const patterns[] = { "add", "total" };
	const char *points[] = { line, "mark" };
	struct cprec_calls calls = {
		.size = sizeof(calls), .patterns = patterns,
		.pattern_count = 2, .ends = on_end,
	};
	struct cprec_log log = {
		.size = sizeof(log), .points = points, .point_count = 2,
		.met = on_met, .expressions = names, .expression_count = 3,
	};
	static const char *const none[] = { "no_such_function" };

	MUST(cprec_each_call(recording, &calls, &why));
	calls.ends = NULL;
	calls.no_values = true;
	calls.counts = on_count;
	MUST(cprec_each_call(recording, &calls, &why));
	calls.patterns = none;
	calls.pattern_count = 1;
	printf("no call: %d\n", cprec_each_call(recording, &calls, &why));
	MUST(cprec_each_visit(recording, &log, &why));
	log.expressions = none;
	log.expression_count = 1;
	printf("no value: %d\n", cprec_each_visit(recording, &log, &why));
}

/* What is asked in a callback leads the replay away, and it comes back. */
static int ask_far(void *context, const struct cprec_met *met,
		   struct cprec_cursor *there)
{
	const uint64_t *marked = context;
	const struct cprec_until until = { .size = sizeof(until),
					   .breaks = marked, .break_count = 1 };
	struct cprec_accesses last = { .size = sizeof(last), .last = true,
				       .visit = on_access, .has_to = true,
				       .to = met->at };
	const struct cprec_stop *stop;
	const struct cprec_log log = { .size = sizeof(log) };
	const struct cprec_value *value;
	struct cprec_failure why_not;

	MUST(cprec_find_address(there, "counter", &last.addr, &last.length,
				&why));
	MUST(cprec_each_access(recording, &last, &why));
	MUST(cprec_evaluate(cursor, "counter", NULL, &value, &why));
	printf("far %s %s", at_text(met->at), value->text);
	MUST(cprec_cursor_run(there, &until, &stop, &why));
	printf(" %s", at_text(stop->at));
	MUST(cprec_cursor_seek(there, "start", &why));
	MUST(cprec_cursor_step(there, 200, &why));
	MUST(cprec_evaluate(there, "counter", NULL, &value, &why));
	printf(" %s %d\n", value->text,
	       cprec_each_visit(recording, &log, &why_not));
	return 0;
}

static void ask_inside_of_visits(void)
{
	static const char *const points[] = { "add", "work", "add" };
	uint64_t marked, length;
	struct cprec_log log = {
		.size = sizeof(log), .points = points, .point_count = 3,
		.met = ask_far, .context = &marked,
	};

	MUST(cprec_find_address(cursor, "marked", &marked, &length, &why));
	MUST(cprec_each_visit(recording, &log, &why));
}

/* ------- conditions ------- */

static int on_became(void *context, const struct cprec_became *met)
{
	const struct cprec_value *value;

	(void)context;
	MUST(cprec_cursor_move(cursor, met->at, &why));
	MUST(cprec_evaluate(cursor, "counter", NULL, &value, &why));
	printf("became %s %d %" PRIu32 " %s:%" PRIu32 " %s\n",
	       at_text(met->at), met->is_place, met->tid,
	       or_none(met->place->function), met->place->line, value->text);
	return 0;
}

static void look_for(const char *text, uint64_t limit)
{
	const struct cprec_condition asked = {
		.size = sizeof(asked), .text = text, .limit = limit,
		.met = on_became,
	};

	printf("condition %s: %d\n", text, cprec_each_condition(
		recording, &asked, NULL, &why));
}

/* ------- system calls ------- */

static int on_event(void *context, const struct cprec_event *event)
{
	(void)context;
	printf("event %d %s %" PRIu32 " %" PRIu64 " %s %" PRId64 " %s %s",
	       event->kind, at_text(event->at), event->tid, event->number,
	       or_none(event->name), event->result, or_none(event->error),
	       or_none(event->text));
	for (size_t i = 0; i < event->argument_count; i++)
		printf(" | %s", event->arguments[i]);
	putchar('\n');
	return 0;
}

static void look_at_events(void)
{
	struct cprec_events asked = { .size = sizeof(asked),
				      .visit = on_event };

	MUST(cprec_each_event(recording, &asked, &why));
}

/* ------- moving ------- */

static int on_place(void *context, uint64_t addr)
{
	*(uint64_t *)context = addr;
	printf("break %#" PRIx64 "\n", addr);
	return 0;
}

static int on_register(void *context, const struct cprec_register *reg)
{
	(void)context;
	if (strcmp(reg->name, "r12") && strcmp(reg->name, "r13") &&
	    strcmp(reg->name, "rip"))
		return 0;
	printf("register %s %#" PRIx64 " %d\n", reg->name, reg->value,
	       reg->is_known);
	return 0;
}

static void run(const struct cprec_until *until)
{
	const struct cprec_stop *stop;

	MUST(cprec_cursor_run(cursor, until, &stop, &why));
	printf("stop %d %s %" PRIu32 " %zu %d %#" PRIx64 "\n", stop->kind,
	       at_text(stop->at), stop->tid, stop->index, stop->is_write,
	       stop->pc);
}

static void move(void)
{
	uint64_t addr, length;
	struct cprec_until until = { .size = sizeof(until), .breaks = &addr,
				     .break_count = 1 };
	struct cprec_watch watch = { .writes = true };
	struct cprec_position half;
	const struct cprec_state *state;
	const char *name;
	uint32_t parent;

	MUST(cprec_cursor_seek(cursor, "start", &why));
	MUST(cprec_cursor_step(cursor, 1000, &why));
	MUST(cprec_cursor_step(cursor, -10, &why));
	printf("at %s\n", at_text(cprec_cursor_position(cursor)));
	printf("back %d\n", cprec_cursor_step(cursor, INT64_MIN, &why));
	printf("at %s\n", at_text(cprec_cursor_position(cursor)));
	MUST(cprec_cursor_seek(cursor, "end", &why));
	MUST(cprec_each_place(cursor, "add", on_place, &addr, &why));
	MUST(cprec_find_address(cursor, "marked", &addr, &length, &why));
	MUST(cprec_cursor_seek(cursor, "start", &why));
	run(&until);
	MUST(cprec_each_register(cursor, on_register, NULL, &why));
	MUST(cprec_each_thread_at(cursor, on_thread_at, NULL, &why));
	MUST(cprec_cursor_describe(cursor, &state, &why));
	MUST(cprec_find_thread_name(cursor, state->tid, &name, &why));
	printf("name %s\n", name);
	printf("parent %d\n",
	       cprec_find_parent(cursor, &parent, &half, &why));
	MUST(cprec_cursor_keep(cursor, &why));
	MUST(cprec_find_address(cursor, "counter", &watch.addr, &watch.length,
				&why));
	until.watches = &watch;
	until.watch_count = 1;
	until.backwards = true;
	run(&until);
	run(&until);
	until.backwards = false;
	run(&until);
	MUST(cprec_find_position(recording, "50%", &half, &why));
	until.has_to = true;
	until.to = half;
	until.backwards = cprec_position_compare(
		half, cprec_cursor_position(cursor)) < 0;
	until.break_count = until.watch_count = 0;
	run(&until);
	MUST(cprec_keep_range(recording, half, cprec_cursor_position(cursor),
			      1000, &why));
	printf("seek %d\n", cprec_cursor_seek(cursor, "nonsense", &why));
	printf("nobody %d\n", cprec_cursor_thread(cursor, 1, &why));
}

/* ------- programs of other versions ------- */

static void ask_by_others(void)
{
	struct {
		struct cprec_until known;
		uint64_t later;
	} until = { .known.size = sizeof(until) };
	const struct cprec_stop *stop;

	printf("later %d", cprec_cursor_run(cursor, &until.known, &stop, &why));
	until.later = 1;
	printf(" %d", cprec_cursor_run(cursor, &until.known, &stop, &why));
	until.known.size = 0;
	printf(" %d", cprec_cursor_run(cursor, &until.known, &stop, &why));
	/* One that knew of no more than the first fields. */
	until.known.size = offsetof(struct cprec_until, to);
	until.known.break_count = 99;
	printf(" %d\n", cprec_cursor_run(cursor, &until.known, &stop, &why));
}

/* ------- the end of questions ------- */

static void on_printed(void *context, uint32_t descriptor, const uint8_t *bytes,
		       uint64_t length)
{
	(void)context;
	(void)bytes;
	printf("printed %" PRIu32 " %" PRIu64 "\n", descriptor, length);
}

static void end(const char *source)
{
	const struct cprec_text *text;
	struct cprec_until future = { .size = sizeof(future) };
	const struct cprec_stop *stop;

	MUST(cprec_read_source(recording, source, NULL, NULL, &text, &why));
	printf("source %zu %zu\n", text->lines, text->length);
	cprec_cancel(recording);
	printf("cancelled %d\n", cprec_cursor_run(cursor, &future, &stop,
						  &why));
	cprec_resume(recording);
	MUST(cprec_cursor_seek(cursor, "start", &why));
	future.printed = on_printed;
	run(&future);
}

int main(int argc, char **argv)
{
	int code;

	(void)argc;
	code = cprec_open(&recording, "/no/such/file", NULL, &why);
	printf("open %d\n", code);
	code = cprec_open(&recording, argv[1], "1", &why);
	printf("open %d\n", code);
	MUST(cprec_open(&recording, argv[1], NULL, &why));
	describe();
	look_at_crash();
	look_back();
	look_at_calls(argv[3]);
	ask_inside_of_visits();
	look_for("counter > 10", 0);
	look_for("counter % 16 == 0", 3);
	look_for("counter >", 0);
	look_at_events();
	move();
	end(argv[2]);
	ask_by_others();
	cprec_close(recording);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* strace_lines.c - see strace_lines.h */
#include "tools/strace_lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "tools/print.h"
#include "tools/print_frames.h"
#include "tools/table.h"
#include "vm/linux/abi/names.h"

/* Where results stand, as strace has them. */
#define RESULT_COLUMN 40

/* A stack that was filled up by mistake has too many to look at. */
#define FRAMES_SHOWN 100u

/* ------- lines ------- */

static void finish(struct strace_lines *lines)
{
	if (lines->is_open)
		puts(" <unfinished ...>");
	lines->is_open = false;
}

/* Where the recording does not say, nothing is printed. */
static void print_clock(const struct strace_lines *lines, uint64_t t)
{
	struct failure ignored;
	int64_t clock;
	struct tm parts;
	time_t seconds;
	char text[32];

	if (!lines->clock ||
	    recording_clock_at(lines->recording, t, &clock, &ignored))
		return;
	seconds = (time_t)(clock / 1000000);
	if (lines->clock < 3 && localtime_r(&seconds, &parts) &&
	    strftime(text, sizeof(text), "%H:%M:%S", &parts))
		fputs(text, stdout);
	else
		printf("%" PRId64, clock / 1000000);
	if (lines->clock > 1)
		printf(".%06" PRId64, clock % 1000000);
	putchar(' ');
}

/* Which thread it is, where there are several; of a machine, with its name. */
static void print_thread(const struct strace_lines *lines, uint32_t tid,
			 const char *program)
{
	if (program) {
		printf("[pid %5" PRIu32 "<", tid);
		print_escaped(stdout, program, strlen(program));
		fputs(">] ", stdout);
	} else if (recording_threads(lines->recording) > 1) {
		printf("[pid %5" PRIu32 "] ", tid);
	}
}

static void begin_line(struct strace_lines *lines, const struct position *at,
		       uint32_t tid, const char *program)
{
	char text[POSITION_TEXT];

	finish(lines);
	printf("%-16s ", position_text(text, at));
	print_clock(lines, at->time);
	print_thread(lines, tid, program);
	lines->column = 0;
}

/* NULL: it is no machine's. */
static const char *program_of(const struct strace_call *call)
{
	return call->has_program ? call->program : NULL;
}

__attribute__((format(printf, 2, 3)))
static void put(struct strace_lines *lines, const char *format, ...)
{
	va_list args;
	int size;

	va_start(args, format);
	size = vprintf(format, args);
	va_end(args);
	lines->column += size > 0 ? size : 0;
}

/* Arguments from `first` on, each behind a comma. */
static void put_arguments(struct strace_lines *lines,
			  const struct call_text *call, unsigned first)
{
	for (unsigned i = first; i < call->count; i++)
		put(lines, "%s%s", i ? ", " : "", call->texts[i]);
}

static void print_entry(struct strace_lines *lines,
			const struct strace_call *call, uint32_t stream)
{
	char name[CALL_NAME];

	begin_line(lines, &call->began, call->tid, program_of(call));
	put(lines, "%s(", call_text_name(name, call->text.call, call->number));
	put_arguments(lines, &call->text, 0);
	if (call->text.has_more && call->text.count)
		put(lines, ", ");
	lines->is_open = true;
	lines->open = stream;
}

static void print_resumed(struct strace_lines *lines,
			  const struct strace_call *call,
			  const struct position *at)
{
	char name[CALL_NAME];

	begin_line(lines, at, call->tid, program_of(call));
	put(lines, "<... %s resumed>",
	    call_text_name(name, call->text.call, call->number));
}

static void put_result(struct strace_lines *lines, const char *result)
{
	put(lines, ")");
	printf("%*s= %s\n", lines->column < RESULT_COLUMN ?
				    RESULT_COLUMN - lines->column : 1,
	       "", result);
}

/* What was not known when the call began, and the result. */
static void print_exit(struct strace_lines *lines,
		       const struct strace_call *call, bool had_more)
{
	const struct call_text *text = &call->text;
	unsigned first = text->entered;

	if (first)
		put(lines, "%s", text->texts[first - 1] + text->split);
	if (had_more && first && first < text->count)
		put(lines, "%s", text->texts[first++]);
	put_arguments(lines, text, first);
	put_result(lines, text->result);
	lines->is_open = false;
}

/* All in one line, when it is over. */
static void print_whole(struct strace_lines *lines,
			const struct strace_call *call, const char *result)
{
	char name[CALL_NAME];

	begin_line(lines, &call->began, call->tid, program_of(call));
	put(lines, "%s(%s", call_text_name(name, call->text.call, call->number),
	    call->text.lacks_args ? "..." : "");
	put_arguments(lines, &call->text, 0);
	put_result(lines, result);
}

/* ------- JSON ------- */

static json_t *json_event(const struct call_event *event, const char *kind)
{
	json_t *object = json_object();

	json_set_position(object, &event->at);
	json_set_count(object, "thread", event->tid);
	if (event->program)
		json_object_set_new(object, "process",
				    json_text(event->program));
	json_set_text(object, "kind", kind);
	return object;
}

/* All of the call in one text, as a line would have it. */
static void json_set_line(json_t *object, const struct call_text *call,
			  const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "%s(%s", name, call->lacks_args ? "..." : "");
	for (unsigned i = 0; i < call->count; i++)
		fprintf(out, "%s%s", i ? ", " : "", call->texts[i]);
	fprintf(out, ") = %s", call->result);
	fclose(out);
	if (text)
		json_set_text(object, "text", text);
	free(text);
}

static json_t *json_call(const struct strace_call *call,
			 const struct call_event *event)
{
	json_t *object = json_event(event, "call"), *args = json_array();
	const char *error = linux_error_name(event->result);
	char name[CALL_NAME];

	if (position_compare(&call->began, &event->at))
		json_set_count(object, "began", call->began.time);
	json_set_text(object, "name",
		      call_text_name(name, event->call, event->number));
	json_set_count(object, "number", event->number);
	for (unsigned i = 0; i < call->text.count; i++)
		json_array_append_new(args, json_text(call->text.texts[i]));
	json_object_set_new(object, "arguments", args);
	json_object_set_new(object, "result", json_integer(event->result));
	if (error)
		json_set_text(object, "errno", error);
	json_set_line(object, &call->text, name);
	return object;
}

/* ------- backtraces ------- */

static int add_frames(struct strace_lines *lines, json_t *object,
		      uint32_t stream)
{
	const struct frames_question asked = {
		lines->recording, lines->replayer, lines->symbols, stream,
		FRAMES_SHOWN,
	};

	return lines->symbols ? json_set_frames(object, &asked, lines->why) : 0;
}

static int print_backtrace(struct strace_lines *lines, uint32_t stream)
{
	json_t *object;
	int rc;

	if (!lines->symbols)
		return 0;
	object = json_object();
	rc = add_frames(lines, object, stream);
	if (!rc)
		print_frames(stdout, object, "                  ");
	json_decref(object);
	return rc;
}

/* ------- calls ------- */

static bool read_memory(void *context, guest_addr addr, void *bytes,
			size_t size)
{
	struct strace_lines *lines = context;

	return known_memory_read(lines->replayer, addr, bytes, size);
}

static const char *file_name(void *context, int descriptor)
{
	struct strace_lines *lines = context;

	return lines->kernel ?
		       kernel_descriptor(lines->kernel, lines->task, descriptor,
					 lines->path) :
		       files_name(&lines->files, descriptor);
}

static void begin_call(struct strace_lines *lines, struct strace_call *call,
		       const struct call_event *event)
{
	call_text_release(&call->text);
	*call = (struct strace_call){
		.is_there = true,
		.began = event->at,
		.tid = event->tid,
		.number = event->number,
		.has_program = event->program,
		.text = {
			.arch = lines->arch,
			.call = event->call,
			.lacks_args = event->lacks_args,
			.sp = event->sp,
			.string_most = lines->string_most,
			.fetches = event->program,
			.read = read_memory,
			.file = lines->names_files ? file_name : NULL,
			.context = lines,
		},
	};
	memcpy(call->text.args, event->args, sizeof(call->text.args));
	if (event->program)
		snprintf(call->program, sizeof(call->program), "%s",
			 event->program);
}

/* A machine gets more threads while it is looked at; NULL: no memory. */
static struct strace_call *call_of(struct strace_lines *lines, uint32_t stream)
{
	while (lines->call_count <= stream) {
		if (array_room(lines->calls, lines->call_count,
			       lines->call_room))
			return NULL;
		lines->calls[lines->call_count++] = (struct strace_call){ 0 };
	}
	return &lines->calls[stream];
}

static bool is_wanted(const struct strace_lines *lines,
		      const struct call_event *event)
{
	if (lines->one_thread && event->tid != lines->tid)
		return false;
	if (event->visit == VISIT_SIGNAL)
		return filter_has_signal(&lines->filter, event->signal);
	return event->visit == VISIT_END ||
	       filter_has_call(&lines->filter, event->call);
}

static int no_memory(struct strace_lines *lines)
{
	return failed(lines->why, ERR_NO_MEMORY, "out of memory");
}

static int enter(struct strace_lines *lines, const struct call_event *event)
{
	struct strace_call *call = call_of(lines, event->stream);

	begin_call(lines, call, event);
	if (call_text_enter(&call->text))
		return no_memory(lines);
	if (!lines->json && !lines->filter.has_statuses)
		print_entry(lines, call, event->stream);
	return 0;
}

static enum filter_status status_of(const struct strace_call *call,
				    const struct call_event *event)
{
	if (*call->text.result == '?' && !call->text.result[1])
		return FILTER_UNFINISHED;
	return linux_error_name(event->result) ||
	       (event->result <= CALL_RESTARTS &&
		event->result >= CALL_RESTARTS_LAST) ? FILTER_FAILED :
						       FILTER_SUCCESSFUL;
}

/* They do not come back; what has ended them may be told of. */
static void leave_unfinished(struct strace_lines *lines, uint32_t stream)
{
	struct strace_call *call = call_of(lines, stream);

	if (call->is_there && lines->filter.has_statuses && !lines->json &&
	    filter_has_status(&lines->filter, FILTER_UNFINISHED))
		print_whole(lines, call, "?");
	call->is_there = false;
}

/* What a call names is known by its old name to the end. */
static int leave(struct strace_lines *lines, const struct call_event *event)
{
	struct strace_call *call = call_of(lines, event->stream);
	bool was_there = event->was_entered && call->is_there;
	bool had_more;
	json_t *object;
	int rc;

	if (!was_there)
		begin_call(lines, call, event);
	had_more = was_there && call->text.has_more;
	if (call_text_leave(&call->text, event->result))
		return no_memory(lines);
	call->is_there = false;
	if (!filter_has_status(&lines->filter, status_of(call, event)))
		return 0;
	if (lines->json) {
		object = json_call(call, event);
		rc = add_frames(lines, object, event->stream);
		print_json(object);
		return rc;
	}
	if (lines->filter.has_statuses) {
		print_whole(lines, call, call->text.result);
	} else {
		if (!lines->is_open || lines->open != event->stream)
			print_resumed(lines, call, &event->at);
		print_exit(lines, call, had_more);
	}
	return print_backtrace(lines, event->stream);
}

/* ------- counting ------- */

static struct strace_sum *sum_of(struct strace_lines *lines,
				 const struct call_event *event)
{
	for (size_t i = 0; i < lines->sum_count; i++)
		if (lines->sums[i].number == event->number &&
		    lines->sums[i].call == event->call)
			return &lines->sums[i];
	if (array_room(lines->sums, lines->sum_count, lines->sum_room))
		return NULL;
	lines->sums[lines->sum_count] = (struct strace_sum){
		.call = event->call, .number = event->number,
	};
	return &lines->sums[lines->sum_count++];
}

/* A call counts when it begins; if that was before, when it is over. */
static int count(struct strace_lines *lines, const struct call_event *event)
{
	struct strace_sum *sum = sum_of(lines, event);

	if (!sum)
		return no_memory(lines);
	if (event->visit == VISIT_ENTER || !event->was_entered)
		sum->calls++;
	if (event->visit == VISIT_LEAVE && linux_error_name(event->result))
		sum->errors++;
	return 0;
}

static int compare(const void *first, const void *second)
{
	const struct strace_sum *a = first, *b = second;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static void print_sums_as_json(const struct strace_lines *lines)
{
	char name[CALL_NAME];

	for (size_t i = 0; i < lines->sum_count; i++) {
		const struct strace_sum *sum = &lines->sums[i];
		json_t *object = json_object();

		json_set_text(object, "name",
			      call_text_name(name, sum->call, sum->number));
		json_set_count(object, "number", sum->number);
		json_set_count(object, "calls", sum->calls);
		json_set_count(object, "errors", sum->errors);
		print_json(object);
	}
}

static void print_sums_as_text(const struct strace_lines *lines)
{
	static const struct table_column columns[] = {
		{ "calls", true }, { "errors", true }, { "syscall", false },
	};
	struct table table = { .columns = columns, .width = 3 };
	uint64_t calls = 0, errors = 0;
	char name[CALL_NAME];

	for (size_t i = 0; i < lines->sum_count; i++) {
		const struct strace_sum *sum = &lines->sums[i];

		table_cell(&table, "%" PRIu64, sum->calls);
		table_cell(&table, "%.0" PRIu64, sum->errors);	/* 0: blank */
		table_cell(&table, "%s",
			   call_text_name(name, sum->call, sum->number));
		calls += sum->calls;
		errors += sum->errors;
	}
	table_cell(&table, "%" PRIu64, calls);
	table_cell(&table, "%" PRIu64, errors);
	table_cell(&table, "total");
	table_print(&table, false);
}

/* ------- signals and ends ------- */

/* Bytes of a siginfo_t that have a meaning: those of the kernel's own. */
#define INFO_USED 48u

/* What is known of it: from what the handler is told, the fault, or the thread's own
 * call. */
static char *describe(struct strace_lines *lines,
		      const struct call_event *event)
{
	struct vm_stop fault;
	uint8_t bytes[SIGNAL_INFO] = { 0 };
	siginfo_t info = { .si_signo = 0 };
	const struct signal_sender sender = {
		.arch = lines->arch, .call = event->call,
		.args = event->args, .pid = event->pid, .tid = event->tid,
		.has_uid = event->has_uid, .uid = event->uid,
		.read = read_memory, .context = lines,
	};
	char *text;

	if (event->info && read_memory(lines, event->info, bytes, INFO_USED))
		signal_info(lines->arch, bytes, &info);
	if (info.si_signo == (int)event->signal)
		return signal_text(lines->arch, &info);
	if (event->is_fault && replayer_last_fault(lines->replayer, &fault))
		return fault_text(lines->arch, replayer_vm(lines->replayer),
				  &fault, event->signal);
	text = event->is_behind_call ? own_signal_text(&sender, event->signal) :
				       NULL;
	return text ? text : unknown_signal_text(lines->arch, event->signal);
}

static int tell_signal(struct strace_lines *lines,
		       const struct call_event *event)
{
	char name[SIGNAL_NAME], *text = describe(lines, event);
	json_t *object;

	if (!text)
		return no_memory(lines);
	signal_text_name(name, event->signal);
	if (lines->json) {
		object = json_event(event, "signal");
		json_set_count(object, "number", event->signal);
		json_set_text(object, "name",
			      signal_text_name(name, event->signal));
		json_set_text(object, "text", text);
		print_json(object);
	} else {
		begin_line(lines, &event->at, event->tid, event->program);
		printf("--- %s %s ---\n", signal_text_name(name, event->signal),
		       text);
	}
	free(text);
	return 0;
}

static void tell_end(struct strace_lines *lines, const struct call_event *event)
{
	char name[SIGNAL_NAME];
	json_t *object;

	if (lines->json) {
		object = json_event(event, "exit");
		json_object_set_new(object, "result",
				    json_integer(event->result));
		print_json(object);
		return;
	}
	begin_line(lines, &event->at, event->tid, event->program);
	if (event->result >= 0)
		printf("+++ exited with %" PRId64 " +++\n", event->result);
	else
		printf("+++ killed by %s +++\n",
		       signal_text_name(name, (uint64_t)-event->result));
}

/* ------- from event to event ------- */

static int tell(struct strace_lines *lines, const struct call_event *event)
{
	bool is_call = event->visit == VISIT_ENTER ||
		       event->visit == VISIT_LEAVE;

	if (lines->counts)
		return is_call ? count(lines, event) : 0;
	switch (event->visit) {
	case VISIT_ENTER:
		return enter(lines, event);
	case VISIT_LEAVE:
		return leave(lines, event);
	case VISIT_SIGNAL:
		return tell_signal(lines, event);
	case VISIT_END:
		leave_unfinished(lines, event->stream);
		tell_end(lines, event);
	}
	return 0;
}

int strace_lines_visit(void *context, const struct call_event *event)
{
	struct strace_lines *lines = context;
	int rc = 0;

	if (!call_of(lines, event->stream))
		return no_memory(lines);
	/* The result of a call that opens a file has that file's name. */
	lines->task = event->task;
	if (event->visit == VISIT_LEAVE && lines->names_files &&
	    !lines->kernel && event->result >= 0)
		files_follow(&lines->files, lines->replayer, event);
	if (is_wanted(lines, event))
		rc = tell(lines, event);
	return rc;
}

int strace_lines_start(struct strace_lines *lines)
{
	lines->arch = arch_of_code(recording_reg_table(lines->recording)->arch);
	/* Those of a program are all known. */
	return call_of(lines, recording_threads(lines->recording)) ? 0 :
		       no_memory(lines);
}

void strace_lines_end(struct strace_lines *lines)
{
	finish(lines);
	if (!lines->counts) {
		for (uint32_t i = 0; i < lines->call_count; i++)
			leave_unfinished(lines, i);
		return;
	}
	qsort(lines->sums, lines->sum_count, sizeof(*lines->sums), compare);
	if (lines->json)
		print_sums_as_json(lines);
	else
		print_sums_as_text(lines);
}

void strace_lines_release(struct strace_lines *lines)
{
	for (size_t i = 0; lines->calls && i < lines->call_count; i++)
		call_text_release(&lines->calls[i].text);
	free(lines->calls);
	free(lines->sums);
	files_release(&lines->files);
}

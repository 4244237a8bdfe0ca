/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asks.c - threads, processes, mappings, history: what is only shown */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/nearest.h"
#include "tools/debug/session.h"
#include "tools/print.h"

static void show_text(const char *text)
{
	print_escaped(stdout, text, strlen(text));
}

static void show_position(struct cprec_position position)
{
	char text[CPREC_POSITION_TEXT];

	fputs(cprec_position_text(text, position), stdout);
}

int ask_end(struct session *session, int rc, struct cprec_failure *why)
{
	return search_end(session) && rc ? wrong(why, "interrupted") : rc;
}

/* ------- threads ------- */

struct threads {
	uint32_t *list;
	size_t count, room;
};

static int on_thread(void *context, const struct cprec_thread *thread)
{
	struct threads *threads = context;

	if (threads->count == threads->room) {
		size_t room = 2 * threads->room + 16;
		uint32_t *more = reallocarray(threads->list, room,
					      sizeof(*more));

		if (!more)
			return CPREC_NO_MEMORY;
		threads->list = more;
		threads->room = room;
	}
	threads->list[threads->count++] = thread->tid;
	return 0;
}

static void show_thread_name(struct session *session, uint32_t tid)
{
	const char *name;

	if (cprec_find_thread_name(session->cursor, tid, &name, NULL) || !name)
		return;
	putchar('"');
	show_text(name);
	fputs("\" ", stdout);
}

int do_threads(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	struct threads threads = { 0 };
	uint32_t tid = session->tid;
	uint64_t frame = session->frame;
	unsigned hidden = session->hidden;
	int rc = cprec_each_thread_at(session->cursor, on_thread, &threads,
				      why);

	(void)args;
	for (size_t i = 0; !rc && i < threads.count; i++) {
		struct cprec_failure ignored;

		printf("%c %-8" PRIu32 " ", threads.list[i] == tid ? '*' : ' ',
		       threads.list[i]);
		show_thread_name(session, threads.list[i]);
		session->hidden = threads.list[i] == tid ? hidden : 0;
		if (session_select(session, threads.list[i], 0, &ignored) ||
		    show_frame(session, false, &ignored))
			puts("(it is not there)");
	}
	free(threads.list);
	session->hidden = hidden;
	return rc ? rc : session_select(session, tid, frame, why);
}

int do_thread(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	uint64_t number;
	int rc = take_count(args, session->tid, &number, why);

	if (rc)
		return rc;
	if (number == session->tid) {
		printf("[thread %" PRIu32 "]\n", session->tid);
		return 0;
	}
	rc = cprec_cursor_thread(session->cursor, (uint32_t)number, why);
	if (rc)
		return rc;
	session->hidden = 0;
	session->at_signal = false;
	rc = session_select(session, (uint32_t)number, 0, why);
	if (rc)
		return rc;
	printf("[Switching to thread %" PRIu32 "]\n", session->tid);
	rc = show_frame(session, true, why);
	return rc ? rc : show_source_line(session, why);
}

/* ------- processes ------- */

static int on_process(void *context, const struct cprec_process *process)
{
	const char *called = process->called ? process->called : "?";
	const char *slash = strrchr(called, '/');

	(void)context;
	printf("%c %-8s ", process->is_this ? '*' : ' ', process->name);
	called = slash && slash[1] ? slash + 1 : called;
	show_text(called);
	printf("%*s ", (int)(strlen(called) < 12 ? 12 - strlen(called) : 0),
	       "");
	show_text(process->path);
	putchar('\n');
	return 0;
}

int do_processes(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	(void)args;
	return cprec_each_process(session->recording, on_process, NULL, why);
}

/* A time of day, as a position in a recording. */
static void clock_text(int64_t clock, char text[64])
{
	time_t seconds = clock / 1000000;
	struct tm local;

	localtime_r(&seconds, &local);
	snprintf(text, 64, "%02d:%02d:%02d.%06d", local.tm_hour, local.tm_min,
		 local.tm_sec, (int)(clock % 1000000));
}

/* Stands where it was at that time; else where it began, or was over. */
static int stand_at_clock(struct cprec_cursor **out,
			  struct cprec_recording *recording,
			  const struct cprec_info *info, int64_t clock,
			  struct cprec_failure *why)
{
	int64_t begun;
	char text[64];
	int rc;

	clock_text(clock, text);
	if (!cprec_cursor_create(out, recording, text, NULL))
		return 0;
	rc = cprec_find_clock(recording, info->start, &begun, why);
	if (rc)
		return rc;
	puts(clock < begun ? "It had not begun then: this is its start." :
			     "It was over then: this is its end.");
	return cprec_cursor_create(out, recording,
				   clock < begun ? "start" : "end", why);
}

static void take_over(struct session *session,
		      struct cprec_recording *recording,
		      struct cprec_cursor *cursor,
		      const struct cprec_info *info)
{
	while (session->point_count)
		point_delete(session, session->points[0]);
	cprec_close(session->recording);
	session->recording = recording;
	session->cursor = cursor;
	session->start = info->start;
	if (cprec_find_position(recording, "end", &session->end, NULL))
		session->end = info->end;
	session->visited_count = session->visited_at = 0;
	session->hidden = 0;
	session->at_signal = false;
	free(session->looked_for);
	free(session->looked_shown);
	session->looked_for = session->looked_shown = NULL;
}

static int change_process(struct session *session, const char *name,
			  struct cprec_failure *why)
{
	struct cprec_recording *recording;
	struct cprec_cursor *cursor;
	const struct cprec_info *info;
	bool had_points = session->point_count > 0;
	int64_t clock;
	int rc = cprec_find_clock(session->recording,
				  cprec_cursor_position(session->cursor),
				  &clock, why);

	if (!rc)
		rc = cprec_open(&recording, session->path, name, why);
	if (rc)
		return rc;
	rc = cprec_describe(recording, &info, why);
	if (!rc)
		rc = stand_at_clock(&cursor, recording, info, clock, why);
	if (rc) {
		cprec_close(recording);
		return rc;
	}
	take_over(session, recording, cursor, info);
	if (had_points)
		puts("Breakpoints were those of the other process: they are"
		     " gone.");
	return 0;
}

/* The machine goes on as a whole: breakpoints are those of one process. */
static int follow_process(struct session *session, const char *name,
			  struct cprec_failure *why)
{
	bool all = !strcmp(name, "all");
	int rc = cprec_follow_process(session->recording, all ? NULL : name,
				      why);

	if (!rc && all)
		puts("Breakpoints stop in all processes.");
	else if (!rc)
		printf("Breakpoints stop in process %s only.\n", name);
	return rc;
}

int do_process(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	char text[CPREC_POSITION_TEXT];
	const struct cprec_info *info;
	int rc;

	if (!*args)
		return do_processes(session, args, why);
	rc = cprec_describe(session->recording, &info, why);
	if (!rc && info->is_machine)
		return follow_process(session, args, why);
	if (!rc)
		rc = change_process(session, args, why);
	if (rc)
		return rc;
	rc = cprec_describe(session->recording, &info, why);
	if (rc)
		return rc;
	printf("[Switching to process %" PRIu32 "]\n", info->pid);
	return do_goto(session, cprec_position_text(
			text, cprec_cursor_position(session->cursor)), why);
}

/* ------- mappings ------- */

static int on_mapping(void *context, const struct cprec_mapping *mapping)
{
	(void)context;
	printf("0x%012" PRIx64 " 0x%012" PRIx64 " %c%c%c%c 0x%08" PRIx64 " ",
	       mapping->start, mapping->end,
	       mapping->protection & CPREC_MAY_READ ? 'r' : '-',
	       mapping->protection & CPREC_MAY_WRITE ? 'w' : '-',
	       mapping->protection & CPREC_MAY_EXECUTE ? 'x' : '-',
	       mapping->is_shared ? 's' : 'p', mapping->offset);
	show_text(mapping->name);
	putchar('\n');
	return 0;
}

int do_maps(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	(void)args;
	return cprec_each_mapping(session->cursor, on_mapping, NULL, why);
}

static int on_library(void *context, const struct cprec_mapping *mapping)
{
	(void)context;
	if (!(mapping->protection & CPREC_MAY_EXECUTE) ||
	    *mapping->name != '/')
		return 0;
	printf("0x%012" PRIx64 " 0x%012" PRIx64 " ", mapping->start,
	       mapping->end);
	show_text(mapping->name);
	putchar('\n');
	return 0;
}

static int info_libraries(struct session *session, const char *args,
			  struct cprec_failure *why)
{
	(void)args;
	return cprec_each_mapping(session->cursor, on_library, NULL, why);
}

/* ------- output ------- */

struct outputs {
	struct cprec_position now;
};

static int on_output(void *context, const struct cprec_output *output)
{
	const struct outputs *outputs = context;

	if (cprec_position_compare(output->at, outputs->now) > 0)
		return 1;
	fwrite(output->text, 1, output->length, stdout);
	return 0;
}

int do_output(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	struct outputs outputs = { cprec_cursor_position(session->cursor) };
	int rc = cprec_each_output(session->recording, on_output, &outputs,
				   why);

	(void)args;
	return rc < 0 ? rc : 0;
}

/* ------- calls ------- */

static void show_arguments(const struct cprec_call *call)
{
	for (size_t i = 0; i < call->argument_count; i++) {
		const struct cprec_variable *one = call->arguments[i];

		fputs(i ? ", " : "", stdout);
		if (one->name)
			printf("%s=", one->name);
		print_value_text(stdout, one->value ? one->value : "?");
	}
}

static int on_call(void *context, const struct cprec_call *call,
		   struct cprec_cursor *cursor)
{
	(void)context;
	(void)cursor;
	search_speaks();
	show_position(call->at);
	printf("\t%*s", (int)(call->depth < 40 ? 2 * call->depth : 80), "");
	show_text(call->function);
	putchar('(');
	show_arguments(call);
	puts(")");
	return 0;
}

static int on_call_end(void *context, const struct cprec_call *call,
		       struct cprec_cursor *cursor)
{
	(void)context;
	(void)cursor;
	if (call->end != CPREC_CALL_RETURNED || !call->returned ||
	    !call->returned->value)
		return 0;
	search_speaks();
	show_position(call->ended);
	printf("\t%*s", (int)(call->depth < 40 ? 2 * call->depth : 80), "");
	show_text(call->function);
	fputs(" returned ", stdout);
	print_value_text(stdout, call->returned->value);
	putchar('\n');
	return 0;
}

int do_calls(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	const struct cprec_calls question = {
		.size = sizeof(question), .patterns = &args,
		.pattern_count = 1, .begins = on_call, .ends = on_call_end,
	};
	int rc;

	if (!*args)
		return wrong(why, "a pattern is missing: main, list_*,"
			     " libz.so!inflate*");
	search_begin(session, false);
	rc = cprec_each_call(session->recording, &question, why);
	return ask_end(session, rc, why);
}

/* ------- log ------- */

/* Where an expression ends, of several with commas between. */
static size_t expression_length(const char *text)
{
	size_t length = 0;
	int open = 0;

	for (; text[length] && (open > 0 || text[length] != ','); length++)
		open += strchr("([{<", text[length]) ? 1 :
			strchr(")]}>", text[length]) &&
			(!length || text[length - 1] != '-') ? -1 : 0;
	return length;
}

static void show_logged(struct cprec_cursor *cursor, const char *expression)
{
	const struct cprec_value *value;
	struct cprec_failure why;

	show_text(expression);
	fputs(" = ", stdout);
	if (cprec_evaluate(cursor, expression, NULL, &value, &why))
		printf("<%s>", why.text);
	else if (value->text)
		print_value_text(stdout, value->text);
	else
		printf("<%s>", value->no_text ? value->no_text : "?");
}

/* Expressions, as many as there are. */
struct logged {
	char **list;
	size_t count;
};

static int take_expressions(struct logged *out, const char *text,
			    struct cprec_failure *why)
{
	/* No more than there are bytes. */
	out->list = calloc(strlen(text) + 1, sizeof(*out->list));
	while (out->list && *text) {
		size_t length = expression_length(text);
		char *one = strndup(text, length);

		if (!one)
			return no_memory(why);
		out->list[out->count++] = one;
		text += length + (text[length] == ',');
		text += strspn(text, " \t");
	}
	return out->list ? 0 : no_memory(why);
}

static void release_expressions(struct logged *logged)
{
	for (size_t i = 0; i < logged->count; i++)
		free(logged->list[i]);
	free(logged->list);
}

static int on_met(void *context, const struct cprec_met *met,
		  struct cprec_cursor *cursor)
{
	const struct logged *logged = context;

	search_speaks();
	show_position(met->at);
	printf("\tthread %" PRIu32, met->tid);
	for (size_t i = 0; i < logged->count; i++) {
		fputs(i ? ", " : "\t", stdout);
		show_logged(cursor, logged->list[i]);
	}
	putchar('\n');
	return 0;
}

static int log_place(struct session *session, const char *where,
		     struct logged *logged, struct cprec_failure *why)
{
	char *place = NULL;
	int rc = whole_place(session, where, &place, why);
	const char *points[] = { place };
	const struct cprec_log question = {
		.size = sizeof(question), .points = points, .point_count = 1,
		.met = on_met, .context = logged,
		.expressions = (const char *const *)logged->list,
		.expression_count = logged->count,
	};

	if (rc)
		return rc;
	search_begin(session, false);
	rc = cprec_each_visit(session->recording, &question, why);
	rc = ask_end(session, rc, why);
	free(place);
	return rc;
}

/* "PLACE => EXPRESSION, EXPRESSION"; the arrow may be left away. */
int do_log(struct session *session, const char *args,
	   struct cprec_failure *why)
{
	const char *arrow = strstr(args, "=>"), *rest;
	size_t length = arrow ? (size_t)(arrow - args) : strcspn(args, " \t");
	struct logged logged = { 0 };
	char *where;
	int rc;

	rest = args + length + (arrow ? 2 : 0);
	rest += strspn(rest, " \t");
	while (length && (args[length - 1] == ' ' || args[length - 1] == '\t'))
		length--;
	if (!length)
		return wrong(why, "a place is missing: FILE:LINE, FUNCTION or"
			     " *ADDRESS");
	where = strndup(args, length);
	rc = where ? take_expressions(&logged, rest, why) : no_memory(why);
	if (!rc)
		rc = log_place(session, where, &logged, why);
	release_expressions(&logged);
	free(where);
	return rc;
}

/* ------- system calls ------- */

struct events {
	struct cprec_position now;
	const char *name;
	bool is_behind;
};

static int on_event(void *context, const struct cprec_event *event)
{
	struct events *events = context;

	if (event->kind == CPREC_THREAD_ENDS ||
	    (*events->name && (!event->name ||
			       strcmp(event->name, events->name) != 0)))
		return 0;
	if (!events->is_behind &&
	    cprec_position_compare(event->at, events->now) > 0) {
		events->is_behind = true;
		puts("=> here");
	}
	search_speaks();
	show_position(event->at);
	printf("\tthread %" PRIu32 "\t", event->tid);
	show_text(event->text ? event->text : event->name);
	putchar('\n');
	return 0;
}

int do_strace(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	struct events events = {
		.now = cprec_cursor_position(session->cursor), .name = args,
	};
	const struct cprec_events question = {
		.size = sizeof(question), .visit = on_event,
		.context = &events,
	};
	int rc;

	search_begin(session, false);
	rc = cprec_each_event(session->recording, &question, why);
	return ask_end(session, rc, why);
}

/* ------- info ------- */

static int info_program(struct session *session, const char *args,
			struct cprec_failure *why)
{
	const struct cprec_info *info;
	int rc = cprec_describe(session->recording, &info, why);

	(void)args;
	if (rc)
		return rc;
	printf("recording: %s\nprocess:   %" PRIu32 "\nprogram:   ",
	       info->path, info->pid);
	show_text(info->program);
	fputs("\ntimes:     ", stdout);
	show_position(info->start);
	fputs(" to ", stdout);
	show_position(info->end);
	printf("\nthreads:   %" PRIu32 "\n", info->threads);
	return show_status(session, why);
}

static int info_all(struct session *session, const char *args,
		    struct cprec_failure *why)
{
	return do_registers(session, *args ? args : "all", why);
}

static const struct topic {
	const char *name;
	int (*run)(struct session *session, const char *args,
		   struct cprec_failure *why);
	const char *summary;
} topics[] = {
	{ "all-registers", info_all, "of the frame" },
	{ "args", info_args, "arguments of the frame" },
	{ "b", info_breakpoints, NULL },
	{ "bookmarks", do_bookmarks, "positions with names" },
	{ "breakpoints", info_breakpoints, "where it stops" },
	{ "frame", info_frame, "the frame" },
	{ "inferiors", do_processes, "processes that were recorded" },
	{ "line", info_line, "[PLACE]: which code a source line has" },
	{ "locals", info_locals, "local variables of the frame" },
	{ "maps", do_maps, "what is mapped where" },
	{ "processes", do_processes, "the same as inferiors" },
	{ "program", info_program, "what was recorded" },
	{ "registers", do_registers, "[NAME...]: registers of the frame" },
	{ "sharedlibrary", info_libraries, "code of the program and libraries" },
	{ "signals", info_signals, "which stop nobody" },
	{ "source", info_source, "the source file here" },
	{ "symbol", info_symbol, "EXPR: what is at an address" },
	{ "threads", do_threads, "all threads, and where they are" },
	{ "watchpoints", info_breakpoints, "the same as breakpoints" },
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

const char *topic_name(size_t number)
{
	return number < TOPICS ? topics[number].name : NULL;
}

static int no_topic(const char *word, struct cprec_failure *why)
{
	struct nearest nearest;
	char text[NEAREST_TEXT];

	nearest_begin(&nearest, word, strlen(word));
	for (size_t i = 0; i < TOPICS; i++)
		nearest_offer(&nearest, topics[i].name);
	return wrong(why, "'info' knows no '%s'%s", word,
		     nearest_text(&nearest, text));
}

static void list_topics(void)
{
	for (size_t i = 0; i < TOPICS; i++)
		if (topics[i].summary)
			printf("info %-14s %s\n", topics[i].name,
			       topics[i].summary);
}

int do_info(struct session *session, const char *args,
	    struct cprec_failure *why)
{
	char *word = take_word(&args);
	const struct topic *found = NULL;
	size_t length = word ? strlen(word) : 0, count = 0;
	int rc;

	if (!length) {
		free(word);
		list_topics();
		return 0;
	}
	for (size_t i = 0; i < TOPICS; i++) {
		if (strncmp(topics[i].name, word, length) != 0)
			continue;
		count++;
		if (!found)
			found = &topics[i];
		if (topics[i].name[length])
			continue;
		found = &topics[i];
		count = 1;
		break;
	}
	/* As in gdb, "info s" is nothing; "info b" is. */
	rc = count == 1 ? found->run(session, args, why) :
	     count ? wrong(why, "'info %s' can be several: '%s' and others",
			   word, found->name) : no_topic(word, why);
	free(word);
	return rc;
}

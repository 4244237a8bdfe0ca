/* SPDX-License-Identifier: GPL-2.0-or-later */
/* points.c - breakpoints, watchpoints, what is caught: set, shown, changed */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

/* ------- all points ------- */

bool point_has(const struct point *point, uint64_t pc)
{
	if (point->kind != POINT_BREAK || point->is_off)
		return false;
	for (size_t i = 0; i < point->place_count; i++)
		if (point->places[i] == pc)
			return !point->lacks || !point->lacks[i];
	return false;
}

/* Both without scopes: gdb does not ask for them, either. */
bool point_means(const struct point *point, const char *function)
{
	size_t size = strcspn(point->where, "(<"), length;
	const char *name = point->where;

	for (size_t i = 0; i < size; i++)
		if (strchr(":!", point->where[i]))
			name = point->where + i + 1;
	size -= (size_t)(name - point->where);
	length = strcspn(function, "(<");
	return length >= size &&
	       !strncmp(function + length - size, name, size) &&
	       (length == size || strchr(":!", function[length - size - 1]));
}

static void tell_lack(struct session *session, uint64_t addr,
		      const struct cprec_failure *why)
{
	const struct cprec_place *place;

	printf("No stop at 0x%" PRIx64, addr);
	if (!cprec_find_place(session->cursor, addr, &place, NULL) &&
	    place->function) {
		fputs(" in ", stdout);
		print_escaped(stdout, place->function,
			      strlen(place->function));
	}
	fputs(": ", stdout);
	print_escaped(stdout, why->text, strlen(why->text));
	putchar('\n');
}

/*
 * In the code where it is asked for.  Of several places, one is enough: at
 * those that lack what it names, nothing stops.
 */
static int check_condition(struct session *session, const char *condition,
			   struct point *point, struct cprec_failure *why)
{
	size_t count = point->place_count, bad = 0;
	struct cprec_failure *reasons = calloc(count + 1, sizeof(*reasons));
	bool *lacks = calloc(count + 1, sizeof(*lacks));
	int rc = 0;

	if (!reasons || !lacks)
		rc = no_memory(why);
	for (size_t i = 0; condition && i < count && !rc; i++) {
		lacks[i] = cprec_check_expression(session->cursor, condition,
						  point->places[i],
						  &reasons[i]) != 0;
		bad += lacks[i];
	}
	if (bad && bad == count) {
		*why = reasons[0];
		rc = CPREC_INPUT;
	}
	for (size_t i = 0; i < count && !rc; i++)
		if (lacks[i])
			tell_lack(session, point->places[i], &reasons[i]);
	free(reasons);
	if (rc) {
		free(lacks);
		return rc;
	}
	free(point->lacks);
	point->lacks = lacks;
	return 0;
}

/* Any byte of its value. */
static int find_truth(struct cprec_cursor *cursor, const char *condition,
		      bool *out, struct cprec_failure *why)
{
	const struct cprec_format format = {
		.size = sizeof(format), .is_value = true,
	};
	const struct cprec_value *value;
	int rc = cprec_evaluate(cursor, condition, &format, &value, why);

	*out = true;
	if (rc)
		return rc;
	if (!value->bytes)
		return wrong(why, "its value is not known");
	*out = false;
	for (uint64_t i = 0; i < value->length; i++)
		*out |= value->bytes[i] != 0;
	return 0;
}

static int is_thread(struct cprec_cursor *cursor, uint32_t tid)
{
	const struct cprec_state *state;
	int rc = cprec_cursor_describe(cursor, &state, NULL);

	return rc ? rc : state->tid == tid;
}

int point_is_met(struct cprec_cursor *cursor, const struct point *point,
		 char **problem)
{
	struct cprec_failure why;
	bool is_true;
	int rc;

	if (problem)
		*problem = NULL;
	if (point->tid) {
		rc = is_thread(cursor, point->tid);
		if (rc <= 0)
			return rc;
	}
	if (!point->condition)
		return 1;
	rc = find_truth(cursor, point->condition, &is_true, &why);
	if (rc == CPREC_CANCELLED)
		return rc;
	if (rc && problem)
		*problem = strdup(why.text);
	return is_true;
}

static void point_release(struct point *point)
{
	free(point->where);
	free(point->condition);
	free(point->problem);
	free(point->places);
	free(point->lacks);
	free(point->shown);
	free(point->last_bytes);
	free(point->last_value);
	free(point);
}

void point_delete(struct session *session, struct point *point)
{
	for (size_t i = 0; i < session->point_count; i++) {
		if (session->points[i] != point)
			continue;
		point_release(point);
		session->point_count--;
		memmove(session->points + i, session->points + i + 1,
			(session->point_count - i) * sizeof(*session->points));
		return;
	}
}

void points_forget(struct session *session)
{
	while (session->point_count)
		point_release(session->points[--session->point_count]);
	free(session->points);
}

int point_add(struct session *session, const struct point *made,
	      struct point **out, struct cprec_failure *why)
{
	struct point *point = malloc(sizeof(*point));

	if (point && session->point_count == session->point_room) {
		size_t room = 2 * session->point_room + 16;
		struct point **more = reallocarray(session->points, room,
						   sizeof(*more));

		if (more) {
			session->points = more;
			session->point_room = room;
		}
	}
	if (!point || session->point_count == session->point_room) {
		free(point);
		return no_memory(why);
	}
	*point = *made;
	point->number = ++session->next_point;
	session->points[session->point_count++] = point;
	*out = point;
	return 0;
}

/* ------- where ------- */

struct places {
	uint64_t *list;
	size_t count, room;
};

static int on_place(void *context, uint64_t addr)
{
	struct places *places = context;

	if (places->count == places->room) {
		size_t room = 2 * places->room + 8;
		uint64_t *more = reallocarray(places->list, room,
					      sizeof(*more));

		if (!more)
			return CPREC_NO_MEMORY;
		places->list = more;
		places->room = room;
	}
	places->list[places->count++] = addr;
	return 0;
}

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

int whole_place(struct session *session, const char *where, char **out,
		struct cprec_failure *why)
{
	struct shown_frame frame;
	const char *file = session->listed_file;

	if (!is_number(where)) {
		*out = strdup(where);
		return *out ? 0 : no_memory(why);
	}
	if (!file) {
		int rc = find_frame(session, &frame, why);

		if (rc)
			return rc;
		file = frame.file;
	}
	if (!file)
		return wrong(why, "there is no source file here: FILE:LINE");
	if (asprintf(out, "%s:%s", file, where) >= 0)
		return 0;
	*out = NULL;
	return no_memory(why);
}

static bool is_line(const char *where)
{
	const char *colon = strrchr(where, ':');

	return colon && is_number(colon + 1);
}

static int look_up(struct session *session, const char *where,
		   struct places *places, struct cprec_failure *why)
{
	char *text = NULL;
	uint64_t addr;
	int rc;

	if (*where == '*') {
		rc = find_address(session, where + 1, &addr, why);
		return rc ? rc : on_place(places, addr);
	}
	if (!*where) {
		struct shown_frame frame;

		rc = find_frame(session, &frame, why);
		return rc ? rc : on_place(places, frame.pc);
	}
	rc = whole_place(session, where, &text, why);
	if (!rc)
		rc = cprec_each_place(session->cursor, text, on_place, places,
				      why);
	free(text);
	return rc;
}

int find_places(struct session *session, const char *where, uint64_t **out,
		size_t *count, bool *is_function, struct cprec_failure *why)
{
	struct places places = { 0 };
	int rc = look_up(session, where, &places, why);

	if (is_function)
		*is_function = *where && *where != '*' && !is_number(where) &&
			       !is_line(where);
	if (rc) {
		free(places.list);
		return rc;
	}
	*out = places.list;
	*count = places.count;
	return 0;
}

/* ------- breakpoints ------- */

/* "WHERE [if CONDITION]"; `*condition` is NULL without. */
static int split(const char *args, char **where, char **condition,
		 struct cprec_failure *why)
{
	const char *mark = args;
	size_t length = strlen(args);

	*condition = NULL;
	while ((mark = strstr(mark, "if"))) {
		if ((mark == args || isspace((unsigned char)mark[-1])) &&
		    (isspace((unsigned char)mark[2]) || mark[2] == '('))
			break;
		mark++;
	}
	if (mark) {
		length = (size_t)(mark - args);
		mark += 2;
		mark += strspn(mark, " \t");
		*condition = strdup(mark);
	}
	while (length && isspace((unsigned char)args[length - 1]))
		length--;
	*where = strndup(args, length);
	if (*where && (*condition || !mark))
		return 0;
	free(*where);
	free(*condition);
	return no_memory(why);
}

static void show_place(struct session *session, const struct point *point)
{
	const struct cprec_place *place;

	if (point->place_count > 1) {
		printf("%zu places", point->place_count);
		return;
	}
	printf("0x%" PRIx64, point->places[0]);
	if (cprec_find_place(session->cursor, point->places[0], &place, NULL))
		return;
	if (place->file) {
		printf(": file ");
		print_escaped(stdout, place->file, strlen(place->file));
		printf(", line %u", place->line);
	} else if (place->symbol) {
		printf(": ");
		print_escaped(stdout, place->symbol, strlen(place->symbol));
	}
}

static int add_break(struct session *session, const char *args,
		     bool is_temporary, struct cprec_failure *why)
{
	struct point made = { .kind = POINT_BREAK,
			      .is_temporary = is_temporary }, *point = NULL;
	int rc = split(args, &made.where, &made.condition, why);

	if (rc)
		return rc;
	rc = find_places(session, made.where, &made.places, &made.place_count,
			 &made.is_function, why);
	if (!rc)
		rc = check_condition(session, made.condition, &made, why);
	if (!rc)
		rc = point_add(session, &made, &point, why);
	if (rc) {
		free(made.where);
		free(made.condition);
		free(made.places);
		free(made.lacks);
		return rc;
	}
	printf("%s %u at ", is_temporary ? "Temporary breakpoint" :
					   "Breakpoint", point->number);
	show_place(session, point);
	putchar('\n');
	return 0;
}

int do_break(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	return add_break(session, args, false, why);
}

int do_tbreak(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	return add_break(session, args, true, why);
}

/* ------- watchpoints ------- */

char *watch_bytes(struct session *session, const struct point *point)
{
	const struct cprec_memory *memory;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (cprec_read(session->cursor, point->watch.addr,
		       point->watch.length, &memory, NULL))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (uint64_t i = memory->length; i-- > 0;)
		if (memory->known[i])
			fprintf(out, "%02x", memory->bytes[i]);
		else
			fputs("??", out);
	return fclose(out) ? NULL : text;
}

char *watch_value(struct session *session, const struct point *point)
{
	char *bytes, *text = shown_value(session->cursor, NULL,
					  point->shown);

	if (text)
		return text;
	bytes = watch_bytes(session, point);
	if (!bytes || asprintf(&text, "0x%s", bytes) < 0)
		text = NULL;
	free(bytes);
	return text;
}

/* "int [2][3]" is "@3@2" behind an int: the innermost first. */
static void write_lengths(FILE *out, const char *lengths)
{
	for (const char *at = lengths + strlen(lengths); at > lengths; at--)
		if (at[-1] == '[')
			fprintf(out, "@%llu", strtoull(at, NULL, 10));
}

char *shown_by(const struct cprec_value *value)
{
	const char *type = value->type, *lengths;
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!type || strchr(type, '('))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	lengths = type + strcspn(type, "[");
	fprintf(out, "*(%.*s *) 0x%" PRIx64, (int)(lengths - type), type,
		value->addr);
	write_lengths(out, lengths);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int find_watched(struct session *session, struct point *made,
			struct cprec_failure *why)
{
	const struct cprec_value *value;
	int rc = cprec_find_address(session->cursor, made->where,
				    &made->watch.addr, &made->watch.length,
				    why);

	if (!rc && !cprec_evaluate(session->cursor, made->where, NULL, &value,
				   NULL) && value->has_addr)
		made->shown = shown_by(value);
	return rc;
}

int check_here(struct session *session, const char *expression,
	       struct cprec_failure *why)
{
	struct shown_frame frame;
	int rc = find_frame(session, &frame, why);

	if (rc)
		return rc;
	/* A frame that has called another stands in the call. */
	frame.pc -= session->frame > 0;
	return cprec_check_expression(session->cursor, expression, frame.pc,
				      why);
}

static int add_watch(struct session *session, const char *args,
		     const char *name, bool reads, bool writes,
		     struct cprec_failure *why)
{
	struct point made = {
		.kind = POINT_WATCH,
		.watch = { .reads = reads, .writes = writes },
	}, *point = NULL;
	int rc;

	if (is_word(args, "-l") || is_word(args, "-location")) {
		args += strcspn(args, " \t");
		args += strspn(args, " \t");
	}
	if (!*args)
		return wrong(why, "an expression is missing");
	rc = split(args, &made.where, &made.condition, why);
	if (rc)
		return rc;
	rc = find_watched(session, &made, why);
	/* What a watchpoint depends on is as here. */
	if (!rc && made.condition)
		rc = check_here(session, made.condition, why);
	if (!rc)
		rc = point_add(session, &made, &point, why);
	if (rc) {
		free(made.where);
		free(made.condition);
		free(made.shown);
		return rc;
	}
	printf("%s %u: ", name, point->number);
	print_escaped(stdout, point->where, strlen(point->where));
	putchar('\n');
	return 0;
}

int do_watch(struct session *session, const char *args,
	     struct cprec_failure *why)
{
	return add_watch(session, args, "Watchpoint", false, true, why);
}

int do_rwatch(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	return add_watch(session, args, "Read watchpoint", true, false, why);
}

int do_awatch(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	return add_watch(session, args, "Access watchpoint", true, true, why);
}

/* ------- numbers of points ------- */

static struct point *find_number(struct session *session, uint64_t number)
{
	for (size_t i = 0; i < session->point_count; i++)
		if (session->points[i]->number == number)
			return session->points[i];
	return NULL;
}

/* The point that a word means. */
static int take_point(struct session *session, const char **args,
		      struct point **out, struct cprec_failure *why)
{
	char *word = take_word(args), *end = word;
	uint64_t number = word ? strtoull(word, &end, 10) : 0;
	int rc = 0;

	*out = find_number(session, number);
	if (!word || end == word || *end)
		rc = wrong(why, "'%s' is no number of a breakpoint",
			   word ? word : "");
	else if (!*out)
		rc = wrong(why, "there is no breakpoint %s", word);
	free(word);
	return rc;
}

/* Of each that is named, or of all. */
static int each_point(struct session *session, const char *args,
		      void (*change)(struct session *session,
				     struct point *point),
		      struct cprec_failure *why)
{
	struct point *point;
	int rc = 0;

	if (!*args) {
		for (size_t i = session->point_count; i-- > 0;)
			change(session, session->points[i]);
		return 0;
	}
	while (!rc && *args) {
		rc = take_point(session, &args, &point, why);
		if (!rc)
			change(session, point);
	}
	return rc;
}

int do_delete(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	if (is_word(args, "bookmark")) {
		args += strlen("bookmark");
		return delete_bookmark(session, args + strspn(args, " \t"),
				       why);
	}
	if (is_word(args, "breakpoints")) {
		args += strlen("breakpoints");
		args += strspn(args, " \t");
	}
	return each_point(session, args, point_delete, why);
}

static void enable(struct session *session, struct point *point)
{
	(void)session;
	point->is_off = false;
}

static void disable(struct session *session, struct point *point)
{
	(void)session;
	point->is_off = true;
}

int do_enable(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	return each_point(session, args, enable, why);
}

int do_disable(struct session *session, const char *args,
	       struct cprec_failure *why)
{
	return each_point(session, args, disable, why);
}

int do_condition(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	struct point *point;
	char *condition;
	int rc = take_point(session, &args, &point, why);

	if (rc)
		return rc;
	if (point->kind == POINT_BREAK)
		rc = check_condition(session, *args ? args : NULL, point, why);
	else
		rc = *args ? check_here(session, args, why) : 0;
	if (rc)
		return rc;
	condition = *args ? strdup(args) : NULL;
	if (*args && !condition)
		return no_memory(why);
	free(point->condition);
	point->condition = condition;
	free(point->problem);
	point->problem = NULL;
	return 0;
}

int do_ignore(struct session *session, const char *args,
	      struct cprec_failure *why)
{
	struct point *point;
	uint64_t count;
	int rc = take_point(session, &args, &point, why);

	if (!rc)
		rc = take_count(args, 0, &count, why);
	if (rc)
		return rc;
	point->ignored = count;
	printf("%u does not stop for the next %" PRIu64 " times\n",
	       point->number, count);
	return 0;
}

/* ------- showing them ------- */

static const char *kind_of(const struct point *point)
{
	if (point->kind == POINT_SYSCALL || point->kind == POINT_SIGNAL)
		return "catchpoint";
	if (point->kind == POINT_BREAK)
		return "breakpoint";
	return !point->watch.writes ? "read watchpoint" :
	       point->watch.reads ? "acc watchpoint" : "watchpoint";
}

static void show_point(struct session *session, const struct point *point)
{
	printf("%-4u %-15s %-4s %-3s ", point->number, kind_of(point),
	       point->is_temporary ? "del" : "keep",
	       point->is_off ? "n" : "y");
	print_escaped(stdout, point->where, strlen(point->where));
	if (point->kind == POINT_BREAK) {
		printf("  ");
		show_place(session, point);
	}
	putchar('\n');
	if (point->condition) {
		printf("\tstop only if ");
		print_escaped(stdout, point->condition,
			      strlen(point->condition));
		putchar('\n');
	}
	for (size_t i = 0; point->lacks && i < point->place_count; i++)
		if (point->lacks[i])
			printf("\tnot at 0x%" PRIx64 ", where that means"
			       " nothing\n", point->places[i]);
	if (point->hits)
		printf("\tmet %" PRIu64 " time%s\n", point->hits,
		       point->hits == 1 ? "" : "s");
	if (point->ignored)
		printf("\tdoes not stop for the next %" PRIu64 " times\n",
		       point->ignored);
}

int info_breakpoints(struct session *session, const char *args,
		     struct cprec_failure *why)
{
	(void)args;
	(void)why;
	if (!session->point_count)
		puts("There are no breakpoints or watchpoints.");
	else
		puts("Num  Type            Disp Enb What");
	for (size_t i = 0; i < session->point_count; i++)
		show_point(session, session->points[i]);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* marks.c - see marks.h */
#include "replayer/session/marks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "formats/array.h"
#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/replayer.h"
#include "replayer/session/kernel_internal.h"

#define MARK_NONE SIZE_MAX

#define WATCHED UINT64_MAX	/* to the end */

struct mark {
	uint64_t addr;		/* as in the module's file */
	size_t module, number;
	size_t next;		/* another one at the same place, or MARK_NONE */
	bool is_set, is_lasting;
};

struct mark_module {
	const struct symbols *symbols;
	uint64_t bias;
	bool mapped;
};

struct marks {
	const struct marks_question *question;
	const struct marks_user *user;
	struct replayer *replayer;
	struct failure *why;
	struct mark_module *modules;
	size_t module_count, module_room;
	size_t asked;		/* whose marks are asked for, or MARK_NONE */
	struct mark *list;
	size_t count, room;
	struct number_map set;	/* the first mark, by where it is now */
	struct number_map watched;	/* how often, or WATCHED */
	struct number_map mapping;	/* those watched by itself */
	bool forgotten;
	bool everywhere;	/* in all processes of a machine: a module may
				   be at several places, each of which is one
				   here, with marks of its own; and stays */
	size_t programs;	/* that have begun */
};

static int out_of_memory(struct marks *marks)
{
	return failed(marks->why, ERR_NO_MEMORY, "out of memory");
}

struct replayer *marks_replayer(const struct marks *marks)
{
	return marks->replayer;
}

struct failure *marks_why(const struct marks *marks)
{
	return marks->why;
}

/* ------- marks and breakpoints ------- */

static uint64_t place_of(const struct marks *marks, const struct mark *mark)
{
	return mark->addr + marks->modules[mark->module].bias;
}

static int set(struct marks *marks, size_t index)
{
	struct mark *mark = &marks->list[index];
	uint64_t addr = place_of(marks, mark);
	uint64_t *first = number_map_find(&marks->set, addr);

	mark->next = first ? *first : MARK_NONE;
	mark->is_set = true;
	if (number_map_set(&marks->set, addr, index))
		return out_of_memory(marks);
	if (first || number_map_find(&marks->watched, addr))
		return 0;
	return replayer_break_set(marks->replayer, addr, marks->why);
}

static void clear(struct marks *marks, const struct mark *mark)
{
	uint64_t addr = place_of(marks, mark);

	if (!number_map_find(&marks->set, addr))
		return;
	number_map_remove(&marks->set, addr);
	if (!number_map_find(&marks->watched, addr))
		replayer_break_clear(marks->replayer, addr);
}

/* All of a module go at once, so no list of those at one place is cut. */
static void clear_module(struct marks *marks, size_t module)
{
	for (size_t i = 0; i < marks->count; i++) {
		struct mark *mark = &marks->list[i];

		if (mark->module != module || !mark->is_set)
			continue;
		clear(marks, mark);
		mark->is_set = false;
	}
}

static int set_module(struct marks *marks, size_t module)
{
	int rc = 0;

	for (size_t i = 0; i < marks->count && !rc; i++) {
		const struct mark *mark = &marks->list[i];

		if (mark->module == module && !mark->is_set &&
		    (mark->is_lasting || !marks->forgotten))
			rc = set(marks, i);
	}
	return rc;
}

int marks_forget(struct marks *marks)
{
	int rc = 0;

	marks->forgotten = true;
	for (size_t i = 0; i < marks->module_count && !rc; i++) {
		clear_module(marks, i);
		if (marks->modules[i].mapped)
			rc = set_module(marks, i);
	}
	return rc;
}

static int watch(struct marks *marks, uint64_t addr, uint64_t how)
{
	if (number_map_set(&marks->watched, addr, how))
		return out_of_memory(marks);
	if (number_map_find(&marks->set, addr))
		return 0;
	return replayer_break_set(marks->replayer, addr, marks->why);
}

int marks_watch(struct marks *marks, uint64_t addr)
{
	uint64_t *how = number_map_find(&marks->watched, addr);

	if (!how)
		return watch(marks, addr, WATCHED);
	*how = WATCHED;
	return 0;
}

int marks_watch_for(struct marks *marks, uint64_t addr)
{
	uint64_t *how = number_map_find(&marks->watched, addr);

	if (!how)
		return watch(marks, addr, 1);
	*how += *how != WATCHED;
	return 0;
}

void marks_unwatch(struct marks *marks, uint64_t addr)
{
	uint64_t *how = number_map_find(&marks->watched, addr);

	if (!how || *how == WATCHED || --*how)
		return;
	number_map_remove(&marks->watched, addr);
	if (!number_map_find(&marks->set, addr))
		replayer_break_clear(marks->replayer, addr);
}

/* ------- modules ------- */

static int find_module(struct marks *marks, const struct symbols *symbols,
		       uint64_t bias, size_t *out, bool *is_new)
{
	const struct mark_module *module = marks->modules;

	*is_new = false;
	for (*out = 0; *out < marks->module_count; ++*out, module++)
		if (module->symbols == symbols &&
		    (!marks->everywhere || module->bias == bias))
			return 0;
	if (array_room(marks->modules, marks->module_count,
		       marks->module_room))
		return out_of_memory(marks);
	marks->modules[marks->module_count++] =
		(struct mark_module) { .symbols = symbols, .bias = bias };
	*is_new = true;
	return 0;
}

/* The module that has an address now, or MARK_NONE. */
static int module_at(struct marks *marks, uint64_t addr, size_t *out)
{
	uint64_t bias, t = replayer_time(marks->replayer);
	const struct symbols *symbols = names_module(
		lines_names(marks->question->lines), t, addr, &bias);
	bool is_new;
	int rc;

	*out = MARK_NONE;
	if (!symbols)
		return 0;
	rc = find_module(marks, symbols, bias, out, &is_new);
	if (rc)
		return rc;
	marks->modules[*out].bias = bias;
	marks->modules[*out].mapped = true;
	return 0;
}

static int add(struct marks *marks, uint64_t addr, struct mark mark)
{
	int rc = 0;

	mark.module = marks->asked;
	if (mark.module == MARK_NONE)
		rc = module_at(marks, addr, &mark.module);
	if (rc || mark.module == MARK_NONE)
		return rc;
	if (array_room(marks->list, marks->count, marks->room))
		return out_of_memory(marks);
	mark.addr = addr - marks->modules[mark.module].bias;
	marks->list[marks->count++] = mark;
	return set(marks, marks->count - 1);
}

int marks_add(struct marks *marks, uint64_t addr, size_t number)
{
	if (marks->forgotten)
		return 0;
	return add(marks, addr, (struct mark) { .number = number });
}

int marks_add_lasting(struct marks *marks, uint64_t addr, size_t number)
{
	return add(marks, addr, (struct mark) {
		.number = number, .is_lasting = true,
	});
}

/* Once for each module. */
static int ask(struct marks *marks, size_t index, size_t number)
{
	const struct marks_user *user = marks->user;
	int rc;

	marks->asked = index;
	rc = user->module(user->context, marks,
			  replayer_time(marks->replayer), number);
	marks->asked = MARK_NONE;
	return rc;
}

static size_t first_place(const struct marks *marks,
			  const struct symbols *symbols)
{
	size_t i = 0;

	while (marks->modules[i].symbols != symbols)
		i++;
	return i;
}

static int copy_marks(struct marks *marks, size_t from, size_t to)
{
	const size_t count = marks->count;

	for (size_t i = 0; i < count; i++) {
		struct mark mark = marks->list[i];

		if (mark.module != from)
			continue;
		mark.module = to;
		mark.is_set = false;
		if (array_room(marks->list, marks->count, marks->room))
			return out_of_memory(marks);
		marks->list[marks->count++] = mark;
	}
	return set_module(marks, to);
}

/* A module is there, perhaps at another place than before. */
static int see_module(struct marks *marks, size_t number,
		      const struct symbols *symbols, uint64_t bias)
{
	struct mark_module *module;
	size_t index, other;
	bool is_new;
	int rc = find_module(marks, symbols, bias, &index, &is_new);

	if (rc)
		return rc;
	module = &marks->modules[index];
	if (module->mapped && module->bias != bias)
		clear_module(marks, index);
	module->mapped = true;
	module->bias = bias;
	if (!is_new)
		return set_module(marks, index);
	other = first_place(marks, symbols);
	return other == index ? ask(marks, index, number) :
				copy_marks(marks, other, index);
}

static bool is_mapped(struct names *names, uint64_t t,
		      const struct symbols *symbols)
{
	const struct symbols *mapped;
	uint64_t bias;

	for (size_t i = 0; (mapped = names_mapped(names, t, i, &bias)); i++)
		if (mapped == symbols)
			return true;
	return false;
}

/* What is mapped now. */
static int see_modules(struct marks *marks)
{
	struct names *names = lines_names(marks->question->lines);
	uint64_t bias, t = replayer_time(marks->replayer);
	const struct symbols *symbols;
	int rc = names_check(names, t, marks->why);

	for (size_t i = 0; i < marks->module_count && !marks->everywhere; i++) {
		struct mark_module *module = &marks->modules[i];

		if (module->mapped && !is_mapped(names, t, module->symbols)) {
			clear_module(marks, i);
			module->mapped = false;
		}
	}
	for (size_t i = 0; !rc; i++) {
		symbols = names_mapped(names, t, i, &bias);
		if (!symbols)
			break;
		rc = see_module(marks, i, symbols, bias);
	}
	return rc;
}

static int see_programs(struct marks *marks)
{
	uint64_t t = replayer_time(marks->replayer);
	const struct recording_program *list;
	size_t count, begun = 0;
	bool is_first = !marks->programs;
	int rc = recording_programs(names_recording(lines_names(
			marks->question->lines)), &list, &count, marks->why);

	if (rc)
		return rc;
	while (begun < count && list[begun].time <= t)
		begun++;
	if (begun == marks->programs || !begun)
		return 0;
	marks->programs = begun;
	if (is_first || !marks->user->replaced)
		return 0;
	return marks->user->replaced(marks->user->context,
				     list[begun - 1].time);
}

/* ------- the run ------- */

/*
 * Processes of a machine that are asked for map files as they go on: then they
 * are looked at again.  Where it is to stop for that, is watched.
 */
static int watch_mappings(struct marks *marks)
{
	struct kernel *kernel = marks->question->query->follows;
	const struct kernel_addresses *stops;
	int rc;

	if (!kernel)
		return 0;
	rc = kernel_follow_stops(kernel, lines_names(marks->question->lines),
				 marks->question->to.time, &stops, marks->why);
	for (size_t i = 0; !rc && i < stops->count; i++) {
		rc = marks_watch(marks, stops->list[i]);
		if (!rc && number_map_set(&marks->mapping, stops->list[i], 0))
			rc = out_of_memory(marks);
	}
	return rc;
}

static int see_mapped(struct marks *marks, const struct position *at)
{
	bool is_new;
	int rc = 0;

	if (!kernel_has_mapped(marks->question->query->follows, &is_new))
		return 0;
	if (is_new && marks->user->replaced)
		rc = marks->user->replaced(marks->user->context, at->time);
	return rc ? rc : see_modules(marks);
}

/* The kernel is there in all processes; of these, one may have another program
 * there. */
static bool is_here(const struct marks *marks, const struct mark *mark,
		    uint64_t pc)
{
	const struct mark_module *module = &marks->modules[mark->module];
	uint64_t bias;

	if (!marks->everywhere || pc >> 63)
		return true;
	return names_module(lines_names(marks->question->lines),
			    replayer_time(marks->replayer), pc,
			    &bias) == module->symbols && bias == module->bias;
}

static int on_break(void *context, const struct vm_stop *stop,
		    const struct position *at)
{
	struct marks *marks = context;
	const struct marks_user *user = marks->user;
	uint64_t *first;
	size_t i;
	int rc = 0;

	if (number_map_find(&marks->mapping, stop->pc))
		rc = see_mapped(marks, at);
	else if (number_map_find(&marks->watched, stop->pc))
		rc = user->watched(user->context, marks, stop, at);
	first = number_map_find(&marks->set, stop->pc);
	i = first ? (size_t)*first : MARK_NONE;
	while (!rc && i != MARK_NONE) {
		if (is_here(marks, &marks->list[i], stop->pc))
			rc = user->met(user->context, marks,
				       marks->list[i].number, stop, at);
		i = marks->list[i].next;
	}
	return rc;
}

/* As long as the modules stay where they are. */
static int run_part(struct marks *marks, bool *is_last)
{
	const struct marks_question *question = marks->question;
	struct replay_visits visits = {
		.to = question->to, .visit = on_break, .context = marks,
	};
	uint64_t until;
	int rc = see_programs(marks);

	if (!rc)
		rc = see_modules(marks);
	if (!rc)
		rc = names_until(lines_names(question->lines),
				 replayer_time(marks->replayer), &until,
				 marks->why);
	if (rc)
		return rc;
	*is_last = until >= question->to.time ||
		   until <= replayer_time(marks->replayer);
	if (!*is_last)
		visits.to = (struct position) { until, 0 };
	return replayer_visit(marks->replayer, &visits, marks->why);
}

/* Breakpoints of the replayer are left to nobody. */
static void end(struct marks *marks)
{
	for (size_t i = 0; marks->replayer && i < marks->module_count; i++)
		clear_module(marks, i);
	for (size_t i = 0; i < marks->watched.room; i++)
		if (marks->watched.slots[i].key != NUMBER_MAP_NONE)
			replayer_break_clear(marks->replayer,
					     marks->watched.slots[i].key);
	number_map_release(&marks->set);
	number_map_release(&marks->watched);
	number_map_release(&marks->mapping);
	free(marks->modules);
	free(marks->list);
}

int marks_run(const struct marks_question *question, struct failure *why)
{
	struct marks marks = { .question = question, .user = question->user,
			       .why = why, .asked = MARK_NONE };
	bool is_last = false;
	int rc = query_replayer(question->query, &marks.replayer, why);

	marks.everywhere = kernel_follows_all(question->query->follows);
	if (!rc)
		rc = replayer_seek(marks.replayer, &question->from, why);
	names_complete(lines_names(question->lines), question->from.time);
	if (!rc)
		rc = watch_mappings(&marks);
	while (!rc && !is_last)
		rc = run_part(&marks, &is_last);
	end(&marks);
	return rc;
}

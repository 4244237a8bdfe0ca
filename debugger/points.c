/* SPDX-License-Identifier: GPL-2.0-or-later */
/* points.c - breakpoints and watchpoints */
#include "debugger/server_internal.h"

#include <stdlib.h>
#include <string.h>

enum { SOFT_BREAK, HARD_BREAK, WRITE_WATCH, READ_WATCH, ACCESS_WATCH };

/* All breakpoints, and all watchpoints. */
#define POINTS_MOST (1u << 16)

struct point {
	uint64_t type, addr, length;
};

/* "0,ADDR,KIND"; `*args` goes behind it. */
static bool parse(const char **args, struct point *out)
{
	return text_read_hex(args, &out->type) && text_pass(args, ',') &&
	       text_read_hex(args, &out->addr) && text_pass(args, ',') &&
	       text_read_hex(args, &out->length) &&
	       out->type <= ACCESS_WATCH;
}

static bool is_break(const struct point *point)
{
	return point->type <= HARD_BREAK;
}

/* ------- breakpoints ------- */

static size_t find_break(const struct server *server, const struct point *point)
{
	size_t i = 0;

	while (i < server->break_count &&
	       (server->breaks[i] != point->addr ||
		server->break_codes[i].type != point->type))
		i++;
	return i;
}

static bool make_room(struct server *server)
{
	size_t room = 2 * server->break_room + 16;
	struct break_codes *codes;
	uint64_t *breaks;

	if (server->break_count < server->break_room)
		return true;
	if (server->break_count >= POINTS_MOST)
		return false;
	breaks = reallocarray(server->breaks, room, sizeof(*breaks));
	if (breaks)
		server->breaks = breaks;
	codes = reallocarray(server->break_codes, room, sizeof(*codes));
	if (codes)
		server->break_codes = codes;
	if (!breaks || !codes)
		return false;
	server->break_room = room;
	return true;
}

/* One that is there gets other conditions. */
static bool insert_break(struct server *server, const struct point *point,
			 const char *args)
{
	struct break_codes codes = { .type = point->type };
	size_t i = find_break(server, point);

	if (!codes_parse(&codes, args) || !make_room(server)) {
		codes_release(&codes);
		return false;
	}
	if (i < server->break_count)
		codes_release(&server->break_codes[i]);
	else
		server->break_count++;
	server->breaks[i] = point->addr;
	server->break_codes[i] = codes;
	return true;
}

static bool remove_break(struct server *server, const struct point *point)
{
	size_t i = find_break(server, point);

	if (i == server->break_count)
		return false;
	codes_release(&server->break_codes[i]);
	server->break_count--;
	server->breaks[i] = server->breaks[server->break_count];
	server->break_codes[i] = server->break_codes[server->break_count];
	return true;
}

/* ------- watchpoints ------- */

static bool insert_watch(struct server *server, const struct point *point)
{
	if (server->watch_count >= POINTS_MOST || !point->length ||
	    point->length > WATCHED_MOST ||
	    point->length - 1 > UINT64_MAX - point->addr)
		return false;
	if (server->watch_count == server->watch_room) {
		size_t room = 2 * server->watch_room + 16;
		struct watchpoint *more = reallocarray(server->watches, room,
						       sizeof(*more));

		if (!more)
			return false;
		server->watches = more;
		server->watch_room = room;
	}
	server->watches[server->watch_count++] = (struct watchpoint) {
		.type = point->type, .addr = point->addr,
		.length = point->length,
	};
	return true;
}

static bool remove_watch(struct server *server, const struct point *point)
{
	for (size_t i = 0; i < server->watch_count; i++) {
		struct watchpoint *watch = &server->watches[i];

		if (watch->type == point->type && watch->addr == point->addr &&
		    watch->length == point->length) {
			*watch = server->watches[--server->watch_count];
			return true;
		}
	}
	return false;
}

/* ------- requests ------- */

void on_insert(struct server *server, const char *args)
{
	struct point point;
	bool done = false;

	if (parse(&args, &point))
		done = is_break(&point) ? insert_break(server, &point, args) :
					  insert_watch(server, &point);
	reply(server, done ? "OK" : "E01");
}

void on_remove(struct server *server, const char *args)
{
	struct point point;
	bool done = false;

	/* A copy that a fork has made loses its breakpoints. */
	if (server->means_other)
		done = true;
	else if (parse(&args, &point))
		done = is_break(&point) ? remove_break(server, &point) :
					  remove_watch(server, &point);
	reply(server, done ? "OK" : "E01");
}

void breaks_release(struct server *server)
{
	for (size_t i = 0; i < server->break_count; i++)
		codes_release(&server->break_codes[i]);
	free(server->break_codes);
	free(server->breaks);
	free(server->watches);
}

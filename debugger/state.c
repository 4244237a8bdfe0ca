/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - threads, registers and memory where time stands */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/wire.h"
#include "debugger/target.h"

/* ------- threads ------- */

bool state_parse_process(struct server *server, const char **text,
			 uint32_t *tid, bool *is_other)
{
	const char *at = *text;
	uint64_t number;

	*is_other = false;
	if (*at == 'p') {
		at++;
		if (!strncmp(at, "-1", 2))
			at += 2;
		else if (!text_read_hex(&at, &number))
			return false;
		else
			*is_other = number && number != server->pid;
		/* All threads of a process. */
		if (*at != '.') {
			*text = at;
			*tid = ALL_THREADS;
			return true;
		}
		at++;
	}
	if (!strncmp(at, "-1", 2)) {
		*tid = ALL_THREADS;
		*text = at + 2;
		return true;
	}
	if (!text_read_hex(&at, &number) || number >= ALL_THREADS)
		return false;
	*tid = number;
	*text = at;
	return true;
}

bool state_parse_thread(struct server *server, const char **text,
			uint32_t *tid)
{
	bool is_other;

	return state_parse_process(server, text, tid, &is_other);
}

uint32_t state_general(const struct server *server)
{
	return server->general == ANY_THREAD || server->general == ALL_THREADS ?
		       server->stop.tid : server->general;
}

int state_thread(struct server *server, uint32_t tid, struct cprec_failure *why)
{
	if (tid == ANY_THREAD || tid == ALL_THREADS)
		tid = server->stop.tid;
	server->meant = tid;
	return cprec_cursor_thread(server->cursor, tid, why);
}

void on_choose_thread(struct server *server, const char *args)
{
	uint32_t *chosen = *args == 'g' ? &server->general :
			   *args == 'c' ? &server->resumed : NULL;
	bool is_other;
	uint32_t tid;

	args += *args != '\0';
	if (!chosen || !state_parse_process(server, &args, &tid, &is_other)) {
		reply_nonsense(server);
		return;
	}
	/* One that a fork has made is told to go its way, and no more. */
	if (chosen == &server->general)
		server->means_other = is_other;
	if (!is_other)
		*chosen = tid;
	reply(server, "OK");
}

/* ------- other positions ------- */

int state_visit(struct server *server, struct cprec_position at,
		struct elsewhere *out, struct cprec_failure *why)
{
	char text[CPREC_POSITION_TEXT];
	struct cprec_cursor *cursor;
	int rc = cprec_cursor_create(&cursor, server->recording,
				     cprec_position_text(text, at), why);

	if (rc)
		return rc;
	*out = (struct elsewhere){ server->cursor, server->diverted.diversion };
	server->cursor = cursor;
	server->diverted.diversion = NULL;
	return 0;
}

void state_return(struct server *server, const struct elsewhere *from)
{
	cprec_cursor_destroy(server->cursor);
	server->cursor = from->cursor;
	server->diverted.diversion = from->diversion;
}

/* ------- all threads ------- */

struct thread_search {
	struct server *server;
	uint32_t tid;		/* that is looked for */
	bool is_there;
	struct text *list;	/* of all; or NULL */
	const char *between;
};

static int visit_thread(void *context, const struct cprec_thread *thread)
{
	struct thread_search *search = context;

	search->is_there |= thread->tid == search->tid;
	if (!search->list)
		return 0;
	text_add(search->list, "%sp%" PRIx32 ".%" PRIx32, search->between,
		 search->server->pid, thread->tid);
	search->between = ",";
	return 0;
}

static int each_thread(struct thread_search *search, struct cprec_failure *why)
{
	return cprec_each_thread_at(search->server->cursor, visit_thread,
				    search, why);
}

void on_thread_alive(struct server *server, const char *args)
{
	struct thread_search search = { .server = server };

	if (!state_parse_thread(server, &args, &search.tid) ||
	    each_thread(&search, NULL) || !search.is_there)
		reply(server, "E01");
	else
		reply(server, "OK");
}

void on_current_thread(struct server *server, const char *args)
{
	(void)args;
	reply(server, "QCp%" PRIx32 ".%" PRIx32, server->pid,
	      server->stop.tid);
}

void on_first_threads(struct server *server, const char *args)
{
	struct thread_search search = {
		.server = server, .list = &server->reply, .between = "m",
	};
	struct cprec_failure why;

	(void)args;
	if (each_thread(&search, &why)) {
		text_clear(&server->reply);
		reply_failure(server, &why);
	} else if (!server->reply.size) {
		reply(server, "l");
	}
}

void on_more_threads(struct server *server, const char *args)
{
	(void)args;
	reply(server, "l");
}

/* What `info threads` shows beside a thread. */
void on_thread_info(struct server *server, const char *args)
{
	const struct cprec_state *state;
	struct text text = { 0 };
	uint32_t tid;

	if (!state_parse_thread(server, &args, &tid) ||
	    cprec_cursor_thread(server->cursor, tid, NULL) ||
	    cprec_cursor_describe(server->cursor, &state, NULL)) {
		reply(server, "E01");
		return;
	}
	text_add(&text, "%s%" PRIu64 " instructions",
		 state->has_turn ? "runs, " : "", state->instructions);
	if (text.bytes)
		text_add_hex(&server->reply, text.bytes, text.size);
	text_release(&text);
}

/* ------- registers ------- */

struct value_search {
	struct server *server;
	struct values *values;
};

/* Which one of debuggers' it is; their number: none. */
static size_t find_ours(const struct target *target, const char *name)
{
	size_t i = 0;

	while (i < target->count && (!target->registers[i].ours ||
				     strcmp(target->registers[i].ours, name)))
		i++;
	return i;
}

/* Each step asks for all of them, so it is looked up once. */
static size_t place_of(struct server *server, const struct cprec_register *reg)
{
	const size_t most = sizeof(server->places) / sizeof(*server->places);

	if (reg->number >= most)
		return find_ours(server->target, reg->name);
	if (!server->places[reg->number])
		server->places[reg->number] =
			find_ours(server->target, reg->name) + 1;
	return server->places[reg->number] - 1;
}

static int take_value(void *context, const struct cprec_register *reg)
{
	const struct value_search *search = context;
	uint32_t length = reg->length < 16 ? reg->length : 16;
	size_t i = place_of(search->server, reg);

	if (i == search->server->target->count)
		return 0;
	memcpy(search->values->list[i].bytes, reg->bytes, length);
	search->values->list[i].is_known = reg->is_known;
	return 0;
}

/* Whether the thread that is meant is the one that was changed. */
static bool is_diverted(const struct server *server)
{
	return server->diverted.diversion &&
	       server->meant == server->diverted.tid;
}

int state_values(struct server *server, struct values *out,
		 struct cprec_failure *why)
{
	struct value_search search = { server, out };

	*out = (struct values){ 0 };
	if (is_diverted(server))
		return cprec_diversion_each_register(
			server->diverted.diversion, take_value, &search, why);
	return cprec_each_register(server->cursor, take_value, &search, why);
}

static size_t find_register(const struct target *target, const char *name)
{
	size_t i = 0;

	while (strcmp(target->registers[i].name, name))
		i++;
	return i;
}

bool values_are_same(const struct target *target, const struct values *a,
		     const struct values *b, const char *name)
{
	size_t first = name ? find_register(target, name) : 0;
	size_t count = name ? 1 : target->count;

	return !memcmp(&a->list[first], &b->list[first],
		       count * sizeof(a->list[0]));
}

static void add_value(const struct target *target, const struct values *values,
		      size_t i, struct text *out)
{
	const struct target_register *reg = &target->registers[i];
	uint8_t bytes[16];

	memcpy(bytes, values->list[i].bytes, sizeof(bytes));
	if (!reg->ours && reg->is_ones)
		memset(bytes, 0xff, sizeof(bytes));
	if (reg->ours && !values->list[i].is_known)
		for (unsigned digit = 0; digit < reg->bits / 4; digit++)
			text_add(out, "x");
	else
		text_add_hex(out, bytes, reg->bits / 8);
}

static int read_all(struct server *server, uint32_t tid, struct values *values,
		    struct cprec_failure *why)
{
	int rc = state_thread(server, tid, why);

	return rc ? rc : state_values(server, values, why);
}

void on_all_registers(struct server *server, const char *args)
{
	struct cprec_failure why;
	struct values values;

	(void)args;
	if (read_all(server, server->general, &values, &why)) {
		reply_failure(server, &why);
		return;
	}
	for (size_t i = 0; i < server->target->count; i++)
		add_value(server->target, &values, i, &server->reply);
}

void on_register(struct server *server, const char *args)
{
	struct cprec_failure why;
	struct values values;
	uint64_t number;

	if (!text_read_hex(&args, &number) || number >= server->target->count) {
		reply(server, "E01");
		return;
	}
	if (read_all(server, server->general, &values, &why))
		reply_failure(server, &why);
	else
		add_value(server->target, &values, number, &server->reply);
}

int state_register(struct server *server, const char *name, uint64_t *out,
		   struct cprec_failure *why)
{
	size_t number = find_register(server->target, name);
	struct values values;
	int rc = state_values(server, &values, why);

	memcpy(out, values.list[number].bytes, sizeof(*out));
	return rc;
}

#define NO_REGISTER UINT32_MAX

struct number_search {
	struct server *server;
	const struct target *target;
};

static int take_number(void *context, const struct cprec_register *reg)
{
	const struct number_search *search = context;

	for (size_t i = 0; i < search->target->count; i++) {
		const char *ours = search->target->registers[i].ours;

		if (ours && !strcmp(ours, reg->name) && reg->length <= 8)
			search->server->numbers[i] = reg->number;
	}
	return 0;
}

int state_find_registers(struct server *server, struct cprec_failure *why)
{
	struct number_search search = { server, server->target };

	for (size_t i = 0; i < REGISTERS_MOST; i++)
		server->numbers[i] = NO_REGISTER;
	server->pc_number = find_register(server->target, server->target->pc);
	return cprec_each_register(server->cursor, take_number, &search, why);
}

int state_number(struct server *server, size_t number, uint64_t *out,
		 struct cprec_failure *why)
{
	struct values values;
	int rc;

	if (server->numbers[number] == NO_REGISTER) {
		if (why)
			snprintf(why->text, sizeof(why->text),
				 "this register is not recorded");
		return CPREC_NOT_FOUND;
	}
	if (!is_diverted(server))
		return cprec_register_value(server->cursor,
					    server->numbers[number], out, why);
	rc = state_values(server, &values, why);
	memcpy(out, values.list[number].bytes, sizeof(*out));
	return rc;
}

/* What a debugger looks at first, whenever the program has stopped. */
void state_add_expedited(struct server *server, struct text *out)
{
	const struct target *target = server->target;
	struct values values;

	if (read_all(server, server->stop.tid, &values, NULL))
		return;
	for (size_t i = 0; i < target->count; i++) {
		const char *name = target->registers[i].name;

		if (strcmp(name, target->pc) && strcmp(name, target->sp) &&
		    strcmp(name, target->fp))
			continue;
		text_add(out, "%zx:", i);
		add_value(target, &values, i, out);
		text_add(out, ";");
	}
}

/* ------- memory ------- */

static int read_memory(struct server *server, uint64_t addr, uint64_t size,
		       const struct cprec_memory **out,
		       struct cprec_failure *why)
{
	if (server->diverted.diversion)
		return cprec_diversion_read(server->diverted.diversion, addr,
					    size, out, why);
	return cprec_read(server->cursor, addr, size, out, why);
}

int state_each_mapping(struct server *server,
		       int (*visit)(void *context,
				    const struct cprec_mapping *mapping),
		       void *context)
{
	if (server->diverted.diversion)
		return cprec_diversion_each_mapping(server->diverted.diversion,
						    visit, context, NULL);
	return cprec_each_mapping(server->cursor, visit, context, NULL);
}

bool state_read(struct server *server, uint64_t addr, void *out, size_t size)
{
	const struct cprec_memory *memory;

	if (read_memory(server, addr, size, &memory, NULL) ||
	    memchr(memory->known, 0, size))
		return false;
	memcpy(out, memory->bytes, size);
	return true;
}

bool state_path(struct server *server, uint64_t addr, char out[PATH_LONGEST])
{
	for (size_t i = 0; i < PATH_LONGEST; i++) {
		if (!state_read(server, addr + i, &out[i], 1))
			return false;
		if (!out[i])
			return true;
	}
	return false;
}

/* How many bytes are known, from the first on. */
static int read_known(struct server *server, const char *args,
		      const struct cprec_memory **memory, size_t *known,
		      struct cprec_failure *why)
{
	uint64_t addr, size;
	const uint8_t *unknown;
	int rc;

	*known = 0;
	if (!text_read_hex(&args, &addr) || !text_pass(&args, ',') ||
	    !text_read_hex(&args, &size) || *args) {
		snprintf(why->text, sizeof(why->text), "this is no range");
		return CPREC_INPUT;
	}
	/* As digits it must fit into a message. */
	if (size > WIRE_MESSAGE_MOST / 2 - 16)
		size = WIRE_MESSAGE_MOST / 2 - 16;
	if (size && size - 1 > UINT64_MAX - addr)
		size = UINT64_MAX - addr + 1;
	if (!size)
		return 0;
	rc = read_memory(server, addr, size, memory, why);
	if (rc)
		return rc;
	unknown = memchr((*memory)->known, 0, size);
	*known = unknown ? (size_t)(unknown - (*memory)->known) : size;
	if (*known)
		return 0;
	snprintf(why->text, sizeof(why->text), (*memory)->is_mapped ?
		 "what is at 0x%" PRIx64 " is not known" :
		 "0x%" PRIx64 " is not mapped", addr);
	return CPREC_NOT_FOUND;
}

void on_memory(struct server *server, const char *args)
{
	const struct cprec_memory *memory;
	struct cprec_failure why;
	size_t known;

	/* gdb takes no words here. */
	if (read_known(server, args, &memory, &known, &why))
		reply(server, "E0e");
	else if (known)
		text_add_hex(&server->reply, memory->bytes, known);
}

void on_memory_bytes(struct server *server, const char *args)
{
	const struct cprec_memory *memory;
	struct cprec_failure why;
	size_t known;

	if (read_known(server, args, &memory, &known, &why)) {
		reply(server, "E0e");
		return;
	}
	text_add(&server->reply, "b");
	if (known)
		text_add_bytes(&server->reply, memory->bytes, known);
}

/* ------- searching memory ------- */

#define SEARCHED_AT_ONCE (UINT64_C(1) << 20)

struct pattern {
	const char *bytes;
	size_t size;
};

/* 1: it is there, 0: it is not, -1: not all of it is known. */
static int search(struct server *server, uint64_t addr, uint64_t size,
		  const struct pattern *pattern, uint64_t *found)
{
	while (size >= pattern->size) {
		uint64_t part = size < SEARCHED_AT_ONCE ? size :
							  SEARCHED_AT_ONCE;
		const struct cprec_memory *memory;
		const uint8_t *at;

		if (atomic_load(&server->interrupted) ||
		    read_memory(server, addr, part, &memory, NULL) ||
		    memchr(memory->known, 0, part))
			return -1;
		at = memmem(memory->bytes, part, pattern->bytes, pattern->size);
		if (at) {
			*found = addr + (at - memory->bytes);
			return 1;
		}
		if (part == size)
			break;
		part -= pattern->size - 1;
		addr += part;
		size -= part;
	}
	return 0;
}

/* "ADDR;LENGTH;BYTES"; the bytes may be any. */
void on_search(struct server *server, const char *args)
{
	const char *end = args + server->args_size;
	struct pattern pattern;
	uint64_t addr, size, found = 0;
	int rc = -1;

	if (text_read_hex(&args, &addr) && text_pass(&args, ';') &&
	    text_read_hex(&args, &size) && text_pass(&args, ';') && args < end) {
		pattern = (struct pattern){ args, end - args };
		if (pattern.size < SEARCHED_AT_ONCE &&
		    (!size || size - 1 <= UINT64_MAX - addr))
			rc = search(server, addr, size, &pattern, &found);
	}
	if (rc < 0)
		reply(server, "E0e");
	else if (rc)
		reply(server, "1,%" PRIx64, found);
	else
		reply(server, "0");
}

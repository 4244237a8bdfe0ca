/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * objects.c - what a debugger reads piece by piece: the processor, threads,
 * libraries, and what the kernel told the program
 *
 * Source: "Debugging with GDB", appendix E.5 (qXfer), E.14, G; System V ABI for
 * what is on a new program's stack, and of the dynamic linker.
 */
#include "debugger/server_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/elf_parts.h"
#include "debugger/target.h"
#include "debugger/wire.h"

/* ------- the processor ------- */

static int make_features(struct server *server, struct text *out,
			 struct cprec_failure *why)
{
	const struct target *target = server->target;
	bool in_feature = false;

	(void)why;
	text_add(out, "<?xml version=\"1.0\"?>"
		 "<!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
		 "<architecture>%s</architecture><osabi>%s</osabi>",
		 target->name, target->osabi);
	for (size_t i = 0; i < target->count; i++) {
		const struct target_register *reg = &target->registers[i];

		if (reg->feature)
			text_add(out, "%s<feature name=\"%s\">%s",
				 in_feature ? "</feature>" : "", reg->feature,
				 reg->types ? reg->types : "");
		in_feature = true;
		text_add(out, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>",
			 reg->name, reg->bits, reg->type);
	}
	text_add(out, "</feature></target>");
	return 0;
}

/* ------- the program ------- */

static int make_path(struct server *server, struct text *out,
		     struct cprec_failure *why)
{
	struct program_found found = { .path = out };
	char *name = NULL;
	int rc;

	if (kernel_file_path(server, out))
		return 0;
	rc = find_program_at(server, cprec_cursor_position(server->cursor),
			     &found, why);

	if (!rc && out->bytes)
		name = program_file_name(server, out->bytes,
					 program_auxv(server, AT_ENTRY));
	if (name) {
		text_clear(out);
		text_add(out, "%s", name);
	}
	free(name);
	return rc;
}

/* ------- what the kernel told it ------- */

/* Of a list in the program's memory, which need have no end. */
#define ENTRIES_MOST (1u << 20)

/* Words from `addr` on, until one is 0; `*addr` goes behind it. */
static bool pass_list(struct server *server, uint64_t *addr)
{
	uint64_t word;

	for (unsigned i = 0; i < ENTRIES_MOST; i++) {
		if (!elf_words(server, *addr, &word, 1))
			return false;
		*addr += server->target->word;
		if (!word)
			return true;
	}
	return false;
}

#define TYPES_MOST 64u
#define ENTRY_MOST (2 * sizeof(uint64_t))	/* bytes: a type and a value */

static uint64_t entry_size(const struct server *server)
{
	return 2 * server->target->word;
}

static uint64_t type_at(const struct server *server, const void *entry)
{
	return elf_word(server->target->word, entry);
}

static bool add_auxv(struct server *server, struct text *out)
{
	uint64_t size = entry_size(server), addr, type;
	uint8_t entry[ENTRY_MOST];
	unsigned count = 0;

	if (state_register(server, server->target->sp, &addr, NULL))
		return false;
	addr += server->target->word;	/* how many arguments there are */
	if (!pass_list(server, &addr) || !pass_list(server, &addr))
		return false;
	do {
		if (!state_read(server, addr, entry, size))
			return false;
		type = type_at(server, entry);
		text_add_bytes(out, entry, size);
		addr += size;
	} while (type != AT_NULL && ++count < TYPES_MOST);
	return type == AT_NULL;
}

static uint64_t value_at(const struct server *server, const void *entry)
{
	unsigned word = server->target->word;

	return elf_word(word, (const uint8_t *)entry + word);
}

static uint64_t auxv_value(const struct server *server,
			   const struct text *auxv, uint64_t type)
{
	uint64_t size = entry_size(server);

	for (size_t i = 0; i + size <= auxv->size; i += size)
		if (type_at(server, auxv->bytes + i) == type)
			return value_at(server, auxv->bytes + i);
	return 0;
}

#define STACK_MOST (UINT64_C(4) << 20)	/* bytes that are searched */

static int take_stack(void *context, const struct cprec_mapping *mapping)
{
	struct cprec_mapping *out = context;

	if (strcmp(mapping->name, "[stack]") != 0)
		return 0;
	*out = *mapping;
	return 1;
}

/*
 * A process that was forked began with its parent's program: where that put it,
 * at the top of the stack, it still is.  It is found by an entry that is the
 * same in all programs.
 */
static bool search_auxv(struct server *server, struct text *out)
{
	const uint64_t word = server->target->word, size = 2 * word;
	struct cprec_mapping mapping = { 0 };
	const struct cprec_memory *stack;
	const uint8_t *bytes;
	uint64_t at, length;

	text_clear(out);
	if (state_each_mapping(server, take_stack, &mapping) != 1)
		return false;
	length = mapping.end - mapping.start;
	if (length > STACK_MOST)
		length = STACK_MOST;
	if (cprec_read(server->cursor, mapping.end - length, length, &stack,
		       NULL))
		return false;
	bytes = stack->bytes;
	for (at = length - size; at >= word; at -= word)
		if (type_at(server, bytes + at) == AT_PHENT &&
		    value_at(server, bytes + at) == elf_header_size(word))
			break;
	if (at < word)
		return false;
	while (at >= size && type_at(server, bytes + at - size) &&
	       type_at(server, bytes + at - size) < TYPES_MOST)
		at -= size;
	for (; at + size <= length; at += size) {
		text_add_bytes(out, bytes + at, size);
		if (type_at(server, bytes + at) == AT_NULL)
			return auxv_value(server, out, AT_PHDR) != 0;
	}
	return false;
}

/* Time goes to where the program began, and back. */
static int read_auxv(struct server *server, struct cprec_position at,
		     struct cprec_failure *why)
{
	struct elsewhere from;
	int rc = state_visit(server, at, &from, why);

	if (rc)
		return rc;
	text_clear(&server->auxv);
	server->auxv_at = at;
	if ((!add_auxv(server, &server->auxv) ||
	     !auxv_value(server, &server->auxv, AT_PHDR)) &&
	    !search_auxv(server, &server->auxv)) {
		if (why)
			snprintf(why->text, sizeof(why->text),
				 "the program's stack is not known");
		rc = CPREC_NOT_FOUND;
		text_clear(&server->auxv);
	}
	state_return(server, &from);
	return rc;
}

/* It stays the same for as long as the program does. */
static int make_auxv(struct server *server, struct text *out,
		     struct cprec_failure *why)
{
	struct program_found found = { 0 };
	int rc = find_program_at(server, cprec_cursor_position(server->cursor),
			      &found, why);

	if (!rc && (!server->auxv.size ||
		    cprec_position_compare(server->auxv_at, found.at)))
		rc = read_auxv(server, found.at, why);
	if (!rc)
		text_add_bytes(out, server->auxv.bytes, server->auxv.size);
	return rc;
}

/* ------- libraries ------- */

/* Where what one of the program's headers says is; 0: there is none. */
static uint64_t find_part(struct server *server, const struct text *auxv,
			  uint32_t type)
{
	uint64_t headers = auxv_value(server, auxv, AT_PHDR);
	uint64_t count = auxv_value(server, auxv, AT_PHNUM);
	uint64_t part = 0, bias = 0;
	bool has_part = false;
	Elf64_Phdr header;

	for (uint64_t i = 0; i < count && i < PN_XNUM; i++) {
		if (!elf_header_at(server, headers, i, &header))
			return 0;
		if (header.p_type == PT_PHDR)
			bias = headers - header.p_vaddr;
		if (header.p_type == type) {
			part = header.p_vaddr;
			has_part = true;
		}
	}
	return has_part ? part + bias : 0;
}

static uint64_t find_dynamic(struct server *server, const struct text *auxv)
{
	return find_part(server, auxv, PT_DYNAMIC);
}

/* The dynamic linker's list; 0: it has none yet. */
static uint64_t find_link_map(struct server *server, uint64_t dynamic)
{
	enum { TAG, VALUE, ENTRY };
	uint64_t entry[ENTRY], debug[2];	/* its version, the list */
	unsigned count = 0;

	do {
		if (!elf_words(server, dynamic, entry, ENTRY))
			return 0;
		dynamic += ENTRY * server->target->word;
	} while (entry[TAG] != DT_NULL && entry[TAG] != DT_DEBUG &&
		 ++count < ENTRIES_MOST);
	if (entry[TAG] != DT_DEBUG || !entry[VALUE] ||
	    !elf_words(server, entry[VALUE], debug, 2))
		return 0;
	return debug[1];
}

#define LIBRARIES_MOST 4096

/* The first is the program itself. */
static void add_libraries(struct server *server, uint64_t first,
			  struct text *out)
{
	uint64_t at = first;
	char path[PATH_LONGEST];
	struct elf_module module;

	for (unsigned i = 0; at && i < LIBRARIES_MOST; i++) {
		uint64_t here = at;
		char *name;

		if (!elf_module_at(server, at, &module))
			return;
		at = module.next;
		if (here == first ||
		    !state_path(server, module.name, path) || !*path)
			continue;
		library_names_add(server, path, module.dynamic);
		name = program_file_name(server, path, module.dynamic);
		text_add(out, "<library name=\"");
		text_add_xml(out, name ? name : path);
		free(name);
		text_add(out, "\" lm=\"0x%" PRIx64 "\" l_addr=\"0x%" PRIx64
			 "\" l_ld=\"0x%" PRIx64 "\" lmid=\"0x0\"/>", here,
			 module.bias, module.dynamic);
	}
}

uint64_t program_auxv(struct server *server, uint64_t type)
{
	struct text auxv = { 0 };
	uint64_t value = 0;

	if (!make_auxv(server, &auxv, NULL))
		value = auxv_value(server, &auxv, type);
	text_release(&auxv);
	return value;
}

bool program_is_interpreter(struct server *server, const char *path)
{
	struct text auxv = { 0 };
	char its[PATH_LONGEST];
	uint64_t addr = 0;

	if (!make_auxv(server, &auxv, NULL))
		addr = find_part(server, &auxv, PT_INTERP);
	text_release(&auxv);
	return addr && state_path(server, addr, its) && !strcmp(its, path);
}

static int make_libraries(struct server *server, struct text *out,
			  struct cprec_failure *why)
{
	struct text auxv = { 0 };
	int rc = make_auxv(server, &auxv, why);
	uint64_t dynamic = rc ? 0 : find_dynamic(server, &auxv);
	uint64_t first = dynamic ? find_link_map(server, dynamic) : 0;

	text_release(&auxv);
	library_names_release(server);
	text_add(out, "<library-list-svr4 version=\"1.0\"");
	if (first)
		text_add(out, " main-lm=\"0x%" PRIx64 "\"", first);
	text_add(out, ">");
	add_libraries(server, first, out);
	text_add(out, "</library-list-svr4>");
	return 0;
}

/* 0 means it, too, where there is no list. */
bool program_thread_block(struct server *server, uint64_t link_map,
			  uint64_t *out)
{
	struct text auxv = { 0 };
	uint64_t headers, count, dynamic, head = server->target->tls_head;
	Elf64_Phdr header = { .p_type = PT_NULL };

	if (make_auxv(server, &auxv, NULL))
		return false;
	headers = auxv_value(server, &auxv, AT_PHDR);
	count = auxv_value(server, &auxv, AT_PHNUM);
	dynamic = link_map ? find_dynamic(server, &auxv) : 0;
	text_release(&auxv);
	if (link_map &&
	    (!dynamic || find_link_map(server, dynamic) != link_map))
		return false;
	for (uint64_t i = 0; i < count && header.p_type != PT_TLS; i++)
		if (i >= PN_XNUM ||
		    !elf_header_at(server, headers, i, &header))
			return false;
	if (header.p_type != PT_TLS || !header.p_align)
		return false;
	/* Below the pointer, or behind what is there. */
	*out = head ? head + ((header.p_vaddr - head) & (header.p_align - 1)) :
		      -((header.p_memsz + header.p_align - 1) /
			header.p_align * header.p_align);
	return true;
}

/* ------- threads ------- */

struct thread_list {
	struct server *server;
	struct text *out;
};

static int add_thread(void *context, const struct cprec_thread *thread)
{
	struct thread_list *list = context;
	const char *name;

	text_add(list->out, "<thread id=\"p%" PRIx32 ".%" PRIx32 "\"",
		 list->server->pid, thread->tid);
	if (!cprec_find_thread_name(list->server->cursor, thread->tid, &name,
				    NULL) && name) {
		text_add(list->out, " name=\"");
		text_add_xml(list->out, name);
		text_add(list->out, "\"");
	}
	text_add(list->out, "/>");
	return 0;
}

static int make_threads(struct server *server, struct text *out,
			struct cprec_failure *why)
{
	struct thread_list list = { server, out };
	int rc;

	text_add(out, "<?xml version=\"1.0\"?><threads>");
	rc = cprec_each_thread_at(server->cursor, add_thread, &list, why);
	text_add(out, "</threads>");
	return rc;
}

/* ------- pieces ------- */

static const struct object {
	const char *name;	/* as a request begins */
	int (*make)(struct server *server, struct text *out,
		    struct cprec_failure *why);
} objects[] = {
	{ "features:read:target.xml:", make_features },
	{ "exec-file:read:", make_path },
	{ "auxv:read::", make_auxv },
	{ "libraries-svr4:read:", make_libraries },
	{ "siginfo:read::", make_siginfo },
	{ "threads:read::", make_threads },
};

static const struct object *find_object(const char *request)
{
	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
		if (!strncmp(request, objects[i].name,
			     strlen(objects[i].name)))
			return &objects[i];
	return NULL;
}

static void reply_piece(struct server *server, uint64_t offset, uint64_t size)
{
	const struct text *object = &server->object;
	uint64_t left = offset < object->size ? object->size - offset : 0;

	if (size > WIRE_MESSAGE_MOST / 2)
		size = WIRE_MESSAGE_MOST / 2;
	text_add(&server->reply, "%s", left > size ? "m" : "l");
	if (left)
		text_add_bytes(&server->reply, object->bytes + offset,
			       left > size ? size : left);
}

/* "NAME:read:PART:OFFSET,SIZE"; what is read on is what it was. */
void on_object(struct server *server, const char *args)
{
	const struct object *object = find_object(args);
	const char *last = strrchr(args, ':');
	struct cprec_failure why;
	uint64_t offset, size;
	int rc = 0;

	if (!object || !last)
		return;
	last++;
	if (!text_read_hex(&last, &offset) || !text_pass(&last, ',') ||
	    !text_read_hex(&last, &size)) {
		reply(server, "E00");
		return;
	}
	if (!offset || strcmp(server->object_name, object->name)) {
		text_clear(&server->object);
		snprintf(server->object_name, sizeof(server->object_name),
			 "%s", object->name);
		rc = object->make(server, &server->object, &why);
	}
	if (rc)
		reply_failure(server, &why);
	else
		reply_piece(server, offset, size);
}

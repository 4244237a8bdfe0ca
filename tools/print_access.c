/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_access.c - see print_access.h */
#include "tools/print_access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/print_frames.h"
#include "vm/linux/abi/names.h"

/* Values of more bytes are cut off in text. */
#define SHOWN_MOST 16u

/* ------- values ------- */

enum show { SHOW_HEX, SHOW_SIGNED, SHOW_UNSIGNED, SHOW_FLOAT, SHOW_DOUBLE };

static enum show show_of(const char *type, uint64_t size)
{
	if (!type || strpbrk(type, "*&[("))
		return SHOW_HEX;
	if (!strcmp(type, "float"))
		return SHOW_FLOAT;
	if (!strcmp(type, "double"))
		return SHOW_DOUBLE;
	if (!strncmp(type, "struct ", 7) || !strncmp(type, "union ", 6))
		return SHOW_HEX;
	if (strstr(type, "unsigned") || !strcmp(type, "size_t") ||
	    *type == 'u' || strstr(type, "bool"))
		return SHOW_UNSIGNED;
	return size <= 8 ? SHOW_SIGNED : SHOW_HEX;
}

static void print_number(enum show show, const uint8_t *bytes, uint64_t size)
{
	uint64_t value = 0;
	unsigned unused = 64 - 8 * (unsigned)size;
	double wide;
	float narrow;

	memcpy(&value, bytes, size);
	memcpy(&wide, bytes, size == 8 ? 8 : 0);
	memcpy(&narrow, bytes, size == 4 ? 4 : 0);
	if (show == SHOW_DOUBLE && size == 8)
		printf("%.17g", wide);
	else if (show == SHOW_FLOAT && size == 4)
		printf("%.9g", (double)narrow);
	else if (show == SHOW_SIGNED)
		printf("%" PRId64, (int64_t)(value << unused) >> unused);
	else if (show == SHOW_UNSIGNED)
		printf("%" PRIu64, value);
	else
		printf("0x%" PRIx64, value);
}

static void print_value(enum show show, const uint8_t *bytes,
			const uint8_t *known, uint64_t size)
{
	uint64_t shown = size < SHOWN_MOST ? size : SHOWN_MOST;

	if ((size == 1 || size == 2 || size == 4 || size == 8) &&
	    !memchr(known, 0, size)) {
		print_number(show, bytes, size);
		return;
	}
	for (uint64_t i = 0; i < shown; i++)
		if (known[i])
			printf("%02x", bytes[i]);
		else
			printf("??");
	if (shown < size)
		printf("...");
}

static void print_values(const struct access_printing *printing,
			 const struct history_access *access)
{
	bool is_all = access->addr == printing->addr &&
		      access->size == printing->size;
	enum show show = show_of(is_all ? printing->type : NULL,
				 access->size);

	if (!is_all)
		printf(" %" PRIu64 " byte%s at +%" PRIu64, access->size,
		       access->size == 1 ? "" : "s",
		       access->addr - printing->addr);
	if (!access->old)
		return;
	printf(": ");
	if (access->writes) {
		print_value(show, access->old, access->old_known,
			    access->size);
		printf(" -> ");
	}
	print_value(show, access->new, access->new_known, access->size);
}

/* ------- who it was ------- */

/* "read()", "signal 11", "another process" */
static const char *agent(const struct access_printing *printing,
			 const struct history_access *access, char *text,
			 size_t room)
{
	const char *name = NULL;

	if (access->event == PACKET_SYSCALL || access->event == PACKET_RETURN ||
	    access->event == PACKET_FIXED_CALL)
		name = linux_syscall_name(
			recording_reg_table(printing->recording)->arch,
			access->number);
	if (access->kind == HISTORY_OTHERS)
		return "another process";
	if (name)
		snprintf(text, room, "%s()", name);
	else if (access->event == PACKET_SIGNAL)
		snprintf(text, room, "signal %" PRIu64, access->number);
	else
		snprintf(text, room, "the kernel");
	return text;
}

static const char *verb(const struct history_access *access)
{
	switch (access->kind) {
	case HISTORY_MAPPED:
		return "mapped";
	case HISTORY_UNMAPPED:
		return "unmapped";
	case HISTORY_CLEARED:
		return "cleared";
	default:
		return access->writes ? "wrote" : "read";
	}
}

static void print_code(const struct source_line *line, uint64_t pc)
{
	printf("0x%" PRIx64, pc);
	/* An inlined function is named without a distance from its start. */
	if (line->function[0] && line->line)
		printf(" in %s at %s:%u", line->function, line->file,
		       line->line);
	else if (line->function[0])
		printf(" <%s+%" PRIu64 ">", line->function, line->offset);
	else if (line->module[0])
		printf(" (%s+0x%" PRIx64 ")", line->module, line->offset);
}

/* ------- a line ------- */

static void print_text(const struct access_printing *printing,
		       const struct history_access *access,
		       const struct source_line *line, uint32_t tid)
{
	char text[POSITION_TEXT], who[64];

	printf("t=%s", position_text(text, &access->before));
	if (recording_threads(printing->recording) > 1)
		printf(" thread %" PRIu32, tid);
	printf(": ");
	print_code(line, access->pc);
	if (access->kind != HISTORY_INSTRUCTION)
		printf(", %s", agent(printing, access, who, sizeof(who)));
	printf(" %s", verb(access));
	print_values(printing, access);
	putchar('\n');
}

static void set_bytes(json_t *object, const char *key, const uint8_t *bytes,
		      const uint8_t *known, uint64_t size)
{
	char *text = memory_text(bytes, known, size);

	json_object_set_new(object, key, text ? json_string(text) : NULL);
	free(text);
}

static const char *access_word(const struct history_access *access)
{
	static const char *const words[] = {
		[HISTORY_MAPPED] = "map", [HISTORY_UNMAPPED] = "unmap",
		[HISTORY_CLEARED] = "clear",
	};

	if (access->kind >= HISTORY_MAPPED)
		return words[access->kind];
	return access->writes ? "write" : "read";
}

static void print_object(const struct access_printing *printing,
			 const struct history_access *access,
			 const struct source_line *line, const char *module,
			 uint32_t tid)
{
	json_t *object = json_object();
	char who[64];

	json_set_position(object, &access->before);
	json_set_count(object, "thread", tid);
	json_set_text(object, "access", access_word(access));
	json_set_address(object, "addr", access->addr);
	json_set_count(object, "size", access->size);
	if (access->old) {
		set_bytes(object, "old", access->old, access->old_known,
			  access->size);
		set_bytes(object, "new", access->new, access->new_known,
			  access->size);
	}
	if (access->kind != HISTORY_INSTRUCTION)
		json_set_text(object, "by", agent(printing, access, who,
						  sizeof(who)));
	json_set_code(object, access->pc, module, line);
	print_json(object);
}

int print_access(const struct access_printing *printing,
		 const struct history_access *access, struct failure *why)
{
	uint64_t t = access->before.time;
	struct recording *recording = printing->recording;
	const struct symbols *symbols;
	struct source_line line;
	uint64_t bias;
	uint32_t tid;
	int rc = recording_tid(recording,
			       recording_thread_of(recording, access->stream,
						   t),
			       &tid, why);

	if (rc)
		return rc;
	lines_find(printing->lines, t, access->pc, &line);
	symbols = names_module(lines_names(printing->lines), t, access->pc,
			       &bias);
	if (printing->json)
		print_object(printing, access, &line,
			     symbols ? symbols->path : NULL, tid);
	else
		print_text(printing, access, &line, tid);
	return 0;
}

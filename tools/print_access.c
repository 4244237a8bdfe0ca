/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_access.c - see print_access.h */
#include "tools/print_access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/bit_field.h"
#include "tools/print.h"
#include "tools/print_bytes.h"
#include "tools/print_frames.h"
#include "vm/linux/abi/names.h"

/* ------- values ------- */

/* All of a number of which a part is accessed. */
static void print_whole(const struct access_printing *printing,
			const struct history_access *access)
{
	uint64_t at = access->addr - printing->addr, size = printing->size;
	uint8_t old[8], old_known[8];

	memcpy(old, access->new - at, size);
	memcpy(old_known, access->new_known - at, size);
	memcpy(old + at, access->old, access->size);
	memcpy(old_known + at, access->old_known, access->size);
	printf(": ");
	if (access->writes) {
		print_bytes(stdout, printing->type, old, old_known, size);
		printf(" -> ");
	}
	print_bytes(stdout, printing->type, access->new - at, access->new_known - at,
		    size);
	if (access->size < size)
		printf(" (%" PRIu64 " byte%s at +%" PRIu64 ")", access->size,
		       access->size == 1 ? "" : "s", at);
}

/* The number that bits are. */
static json_t *bits_value(const struct access_printing *printing,
			  const uint8_t *bytes, const uint8_t *known)
{
	uint64_t value;

	if (!bit_field_read(bytes, known, printing->bit_offset,
			    printing->bit_size, &value))
		return NULL;
	return json_integer(printing->is_signed ?
		bit_field_signed(value, printing->bit_size) :
		(json_int_t)value);
}

static void print_bits(const struct access_printing *printing,
		       const uint8_t *bytes, const uint8_t *known)
{
	json_t *value = bits_value(printing, bytes, known);

	if (!value)
		printf("?");
	else if (printing->is_signed)
		printf("%" PRId64, (int64_t)json_integer_value(value));
	else
		printf("%" PRIu64, (uint64_t)json_integer_value(value));
	json_decref(value);
}

static void print_values(const struct access_printing *printing,
			 const struct history_access *access)
{
	if (printing->bit_size) {
		printf(": ");
		if (access->writes) {
			print_bits(printing, access->old, access->old_known);
			printf(" -> ");
		}
		print_bits(printing, access->new, access->new_known);
		return;
	}
	if (access->old && bytes_are_number(printing->size)) {
		print_whole(printing, access);
		return;
	}
	if (access->size < printing->size)
		printf(" %" PRIu64 " byte%s at +%" PRIu64, access->size,
		       access->size == 1 ? "" : "s",
		       access->addr - printing->addr);
	if (!access->old)
		return;
	printf(": ");
	if (access->writes) {
		print_bytes(stdout, NULL, access->old, access->old_known,
			    access->size);
		printf(" -> ");
	}
	print_bytes(stdout, NULL, access->new, access->new_known, access->size);
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
		snprintf(text, room, access->event == PACKET_DMA ?
				     "a device" : "the kernel");
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

/* When, where and who. */
static void print_start(const struct access_printing *printing,
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
}

static void print_text(const struct access_printing *printing,
		       const struct history_access *access,
		       const struct source_line *line, uint32_t tid)
{
	print_start(printing, access, line, tid);
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
	if (printing->bit_size) {
		json_object_set_new(object, "old_bits", bits_value(
			printing, access->old, access->old_known));
		json_object_set_new(object, "new_bits", bits_value(
			printing, access->new, access->new_known));
	}
	if (access->kind != HISTORY_INSTRUCTION)
		json_set_text(object, "by", agent(printing, access, who,
						  sizeof(who)));
	json_set_code(object, access->pc, module, line);
	print_json(object);
}

/* ------- where it was ------- */

struct place {
	struct source_line line;
	const char *module;	/* path; or NULL */
	uint32_t tid;
};

static int find_place(const struct access_printing *printing, uint32_t stream,
		      uint64_t t, uint64_t pc, struct place *out,
		      struct failure *why)
{
	struct recording *recording = printing->recording;
	const struct symbols *symbols;
	uint64_t bias;
	int rc = recording_tid(recording,
			       recording_thread_of(recording, stream, t),
			       &out->tid, why);

	if (rc)
		return rc;
	lines_find(printing->lines, t, pc, &out->line);
	symbols = names_module(lines_names(printing->lines), t, pc, &bias);
	out->module = symbols ? symbols->path : NULL;
	return 0;
}

int print_access_place(const struct access_printing *printing,
		       const struct history_access *access,
		       struct failure *why)
{
	struct place place;
	int rc = find_place(printing, access->stream, access->before.time,
			    access->pc, &place, why);

	if (!rc)
		print_start(printing, access, &place.line, place.tid);
	return rc;
}

int access_place_object(const struct access_printing *printing,
			const struct history_access *access, json_t **out,
			struct failure *why)
{
	struct place place;
	char who[64];
	int rc = find_place(printing, access->stream, access->before.time,
			    access->pc, &place, why);

	if (rc)
		return rc;
	*out = json_object();
	json_set_position(*out, &access->before);
	json_set_count(*out, "thread", place.tid);
	if (access->kind != HISTORY_INSTRUCTION)
		json_set_text(*out, "by", agent(printing, access, who,
						sizeof(who)));
	json_set_code(*out, access->pc, place.module, &place.line);
	return 0;
}

int print_access(const struct access_printing *printing,
		 const struct history_access *access, struct failure *why)
{
	struct place place;
	int rc = find_place(printing, access->stream, access->before.time,
			    access->pc, &place, why);

	if (rc)
		return rc;
	if (printing->json)
		print_object(printing, access, &place.line, place.module,
			     place.tid);
	else
		print_text(printing, access, &place.line, place.tid);
	return 0;
}

/* ------- registers ------- */

/* As the same access to memory would be called. */
static struct history_access as_access(const struct register_write *write)
{
	return (struct history_access) {
		.before = write->before, .stream = write->stream,
		.kind = write->by_event ? HISTORY_KERNEL : HISTORY_INSTRUCTION,
		.writes = true, .pc = write->pc, .event = write->event,
		.number = write->number,
	};
}

int print_register_write(const struct access_printing *printing,
			 const struct reg_info *info,
			 const struct register_write *write,
			 struct failure *why)
{
	const struct history_access access = as_access(write);
	struct reg_file old = { 0 }, new = { 0 };
	char texts[2][REGISTER_TEXT], who[64];
	uint8_t known[sizeof(write->old)];
	struct place place;
	json_t *object;
	int rc = find_place(printing, write->stream, write->before.time,
			    write->pc, &place, why);

	if (rc)
		return rc;
	memcpy(old.bytes + info->offset, write->old, info->size);
	memcpy(new.bytes + info->offset, write->new, info->size);
	register_text(texts[0], info, &old);
	register_text(texts[1], info, &new);
	if (!printing->json) {
		print_start(printing, &access, &place.line, place.tid);
		printf(" wrote %s: %s -> %s\n", info->name, texts[0],
		       texts[1]);
		return 0;
	}
	object = json_object();
	json_set_position(object, &write->before);
	json_set_count(object, "thread", place.tid);
	json_set_text(object, "access", "write");
	json_set_text(object, "register", info->name);
	memset(known, 1, sizeof(known));
	set_bytes(object, "old", write->old, known, info->size);
	set_bytes(object, "new", write->new, known, info->size);
	if (write->by_event)
		json_set_text(object, "by", agent(printing, &access, who,
						  sizeof(who)));
	json_set_code(object, write->pc, place.module, &place.line);
	print_json(object);
	return 0;
}

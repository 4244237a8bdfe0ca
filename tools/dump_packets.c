/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump_packets.c - see dump_packets.h */
#include "tools/dump_packets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "vm/linux/abi/names.h"

const char *dump_kind(size_t number)
{
	static const char *const others[] = {
		"KEY_FRAME", "REGION", "DOUBTFUL", "SNAPSHOT", "INDEX", "PAGE",
	};
	const size_t count = sizeof(others) / sizeof(others[0]);

	if (number < count)
		return others[number];
	number -= count;
	for (unsigned kind = 0; kind < 256; kind++)
		if (packet_name(kind) && !number--)
			return packet_name(kind);
	return NULL;
}

static void set_name(json_t *line, const char *name, size_t size)
{
	char *copy = strndup(name, size);

	if (copy)
		json_set_text(line, "name", copy);
	free(copy);
}

static void set_protection(json_t *line, unsigned prot)
{
	char text[] = "---";

	if (prot & MAY_READ)
		text[0] = 'r';
	if (prot & MAY_WRITE)
		text[1] = 'w';
	if (prot & MAY_EXEC)
		text[2] = 'x';
	json_object_set_new(line, "prot", json_string(text));
}

static void set_region_kind(json_t *line, enum region_kind kind)
{
	static const char *const names[] = {
		[REGION_ANON] = "anonymous",
		[REGION_FILE] = "file",
		[REGION_SHARED] = "shared",
		[REGION_DEVICE] = "device",
	};

	json_object_set_new(line, "region", json_string(
		names[kind]));
}

static void set_register(json_t *line, const struct packet *packet,
			 const struct reg_table *table)
{
	char text[REGISTER_TEXT];
	struct reg_file file = { 0 };
	const struct reg_info *info;

	if (packet->number >= table->count) {
		json_set_count(line, "number", packet->number);
		return;
	}
	info = &table->regs[packet->number];
	if (packet->size == info->size)
		memcpy(file.bytes + info->offset, packet->value, info->size);
	register_text(text, info, &file);
	json_object_set_new(line, "register", json_string(info->name));
	json_object_set_new(line, "value", json_string(text));
}

static void set_range(json_t *line, const struct packet *packet)
{
	json_set_address(line, "addr", packet->addr);
	json_set_count(line, "size", packet->size);
}

static void set_mapping(json_t *line, const struct packet *packet)
{
	set_range(line, packet);
	set_protection(line, packet->prot);
	set_region_kind(line, packet->region);
	if (packet->target)
		json_set_address(line, "common", packet->target);
	if (packet->region != REGION_ANON)
		json_set_address(line, "file_offset", packet->offset);
	if (packet->name_size)
		set_name(line, packet->name, packet->name_size);
}

static void set_touch(json_t *line, const struct packet *packet)
{
	json_set_address(line, "addr", packet->addr);
	if (packet->kind == PACKET_TOUCH)
		json_set_count(line, "doubt", packet->number);
	if (packet->source == TOUCH_STORED)
		json_set_count(line, "page_id", packet->page_id);
	else
		json_object_set_new(line, "source", json_string("reads"));
}

static void set_constant(json_t *line, const char *key, const char *name)
{
	if (name)
		json_object_set_new(line, key, json_string(name));
}

/* What has no name is known by its number. */
static void set_syscall(json_t *line, const struct packet *packet,
			unsigned arch)
{
	json_set_count(line, "number", packet->number);
	set_constant(line, "name", linux_syscall_name(arch, packet->number));
	json_object_set_new(line, "result", json_integer(packet->result));
	set_constant(line, "errno", linux_error_name(packet->result));
	if (packet->result >= 0 &&
	    linux_syscall_gives_address(arch, packet->number))
		json_set_address(line, "addr", (uint64_t)packet->result);
}

static void set_signal(json_t *line, const struct packet *packet)
{
	json_set_count(line, "number", packet->number);
	set_constant(line, "name", linux_signal_name(packet->number));
}

/* A status, or minus the signal that ended the thread. */
static void set_exit(json_t *line, const struct packet *packet)
{
	json_object_set_new(line, "result", json_integer(packet->result));
	if (packet->result >= 0)
		return;
	json_set_count(line, "signal", (uint64_t)-packet->result);
	set_constant(line, "name", linux_signal_name((uint64_t)-packet->result));
}

json_t *dump_line(const char *kind, uint64_t t)
{
	json_t *line = json_object();

	json_set_count(line, "at", t);
	json_object_set_new(line, "kind", json_string(kind));
	return line;
}

void dump_packet(json_t *line, const struct packet *packet,
		 const struct reg_table *table)
{
	switch (packet->kind) {
	case PACKET_SYSCALL:
	case PACKET_RETURN:
	case PACKET_FIXED_CALL:
		set_syscall(line, packet, table->arch);
		break;
	case PACKET_SIGNAL:
	case PACKET_FAULT:
		set_signal(line, packet);
		break;
	case PACKET_VALUE:
	case PACKET_GIVE_WAY:
	case PACKET_INTERRUPT:
	case PACKET_DMA:
		break;
	case PACKET_EXIT:
		set_exit(line, packet);
		break;
	case PACKET_SLICE:
		json_set_count(line, "skipped", packet->skipped);
		json_set_count(line, "doubts", packet->doubts);
		break;
	case PACKET_REG:
		set_register(line, packet, table);
		break;
	case PACKET_WRITE:
	case PACKET_SEEN:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
		set_range(line, packet);
		break;
	case PACKET_MAP:
		set_mapping(line, packet);
		break;
	case PACKET_PROTECT:
		set_range(line, packet);
		set_protection(line, packet->prot);
		break;
	case PACKET_MOVE:
		set_range(line, packet);
		json_set_address(line, "target", packet->target);
		break;
	case PACKET_DOUBT:
		set_range(line, packet);
		json_set_count(line, "doubt", packet->number);
		break;
	case PACKET_OUTPUT:
		set_range(line, packet);
		json_set_count(line, "stream", packet->number);
		break;
	case PACKET_TOUCH:
	case PACKET_SEEN_PAGE:
	case PACKET_STORED:
		set_touch(line, packet);
		break;
	}
}

void dump_key_frame(json_t *line, const struct key_frame *frame,
		    const struct reg_table *table)
{
	char text[REGISTER_TEXT];

	json_set_count(line, "thread", frame->tid);
	json_set_count(line, "instructions", frame->steps);
	register_text(text, &table->regs[table->pc], &frame->regs);
	json_object_set_new(line, table->regs[table->pc].name,
			    json_string(text));
	register_text(text, &table->regs[table->sp], &frame->regs);
	json_object_set_new(line, table->regs[table->sp].name,
			    json_string(text));
	json_set_count(line, "region_count", frame->region_count);
	json_set_count(line, "doubt_count", frame->doubt_count);
	json_set_count(line, "doubt", frame->doubt);
	json_set_count(line, "page_count", frame->page_count);
	json_object_set_new(line, "cache_state", json_string(
		frame->cache ? "stored" : "flushed"));
}

void dump_region(json_t *line, const struct region *region)
{
	json_set_address(line, "addr", region->start);
	json_set_count(line, "size", region->end - region->start);
	set_protection(line, region->prot);
	set_region_kind(line, region->kind);
	if (region->common)
		json_set_address(line, "common", region->common);
	if (region->kind != REGION_ANON)
		json_set_address(line, "file_offset", region->offset);
	if (region->name && *region->name)
		set_name(line, region->name, strlen(region->name));
}

void dump_doubt_range(json_t *line, const struct doubt_range *range)
{
	json_set_address(line, "addr", range->page << GUEST_PAGE_SHIFT);
	json_set_count(line, "size", range->count << GUEST_PAGE_SHIFT);
	json_set_count(line, "doubt", range->number);
}

void dump_page_ref(json_t *line, const struct page_ref *ref)
{
	json_set_address(line, "addr", ref->page << GUEST_PAGE_SHIFT);
	json_set_count(line, "page_id", ref->id);
}

void dump_page_touch(json_t *line, const struct page_touch *touch)
{
	json_set_address(line, "addr", touch->page << GUEST_PAGE_SHIFT);
	json_object_set_new(line, "read",
			    json_boolean(touch->how & PAGE_WAS_READ));
	json_object_set_new(line, "written",
			    json_boolean(touch->how & PAGE_WAS_WRITTEN));
	if (touch->how & PAGE_WAS_WRITTEN)
		json_set_count(line, "not_written_before", touch->write_time);
	if (touch->how & PAGE_WAS_RESOLVED) {
		json_set_count(line, "doubt", touch->doubt);
		json_set_count(line, "page_id", touch->resolved_id);
	}
}

static void print_value(const json_t *value)
{
	if (json_is_string(value))
		print_escaped(stdout, json_string_value(value),
			      json_string_length(value));
	else if (json_is_integer(value))
		printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		printf("%.0f", json_real_value(value));
	else
		fputs(json_is_true(value) ? "yes" : "no", stdout);
}

void dump_print(json_t *line, bool json, bool has_time)
{
	const json_t *time = json_object_get(line, "at");
	const char *key;
	json_t *value;
	int column;

	if (json) {
		print_json(line);
		return;
	}
	if (has_time)
		printf("%-16" JSON_INTEGER_FORMAT " ", json_integer_value(time));
	else
		printf("%-16s ", "");
	value = json_object_get(line, "kind");
	column = printf("%s", json_string_value(value));
	json_object_foreach(line, key, value) {
		if (!strcmp(key, "at") || !strcmp(key, "kind"))
			continue;
		printf("%*s%s=", column < 10 ? 11 - column : 1, "", key);
		print_value(value);
		column = 10;
	}
	putchar('\n');
	json_decref(line);
}

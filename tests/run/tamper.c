/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tamper.c - copies a recording and changes exactly one thing in it
 *
 * usage: tamper IN OUT WHAT N [NAME]
 *
 *	nothing 0	copies it
 *	result N	adds 1 to the result of system call N
 *	steps N		event N comes a step later
 *	drop N		event N and its effects are left out; times stay
 *	touch N		touch N of a stored page finds another page
 *	value N		effect REG number N sets another value
 *	reads N		the last byte of the reads of segment N
 *	register N NAME	a register in the key frame of segment N
 *	page N		the first byte of stored page N
 *	only N		only stream N has packets and reads; not one thing
 *	unseen N	the same, and stream N is not told what others wrote
 *	later N		all times are N later, the first thread has N more steps
 *	behaviour N	the processor's behaviour is N
 *	model 0		the processor is another one
 *
 * Prints the segment in which it was changed and the time: of the event, or
 * of the key frame.  Counts go over all segments, from 0.  Exits with 2 if
 * there is no such thing.
 *
 * The copy is a sound file: its checksums are right.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/key_frame.h"
#include "formats/meta.h"
#include "formats/packet.h"
#include "formats/page_items.h"
#include "formats/trace_file.h"
#include "tests/run/check.h"

struct tamper {
	const char *what, *name;
	uint64_t left;		/* things to pass before the one */
	bool done;

	/* Of the segment under way. */
	uint64_t start, time;
	uint64_t dropped_steps;
	bool dropping;
	struct packet_state in, out;
};


static bool is_what(const struct tamper *tamper, const char *what)
{
	return !strcmp(tamper->what, what);
}

/* Whether this is the one; if so, says where it is. */
static bool is_it(struct tamper *tamper, uint32_t segment, uint64_t time)
{
	if (tamper->done || tamper->left--)
		return false;
	tamper->done = true;
	printf("%" PRIu32 " %" PRIu64 "\n", segment, time);
	return true;
}

static void start_segment(struct tamper *tamper, const uint8_t *bytes,
			  size_t size)
{
	struct key_frame frame;

	check(key_frame_decode(&frame, reg_table(ARCH_X86_64), bytes, size));
	tamper->start = tamper->time = frame.time;
	tamper->in = (struct packet_state){ .doubt = frame.doubt };
	tamper->out = tamper->in;
	tamper->dropping = false;
	tamper->dropped_steps = 0;
	key_frame_release(&frame);
}

static void change_register(const struct tamper *tamper, struct output *out,
			    uint8_t *bytes, size_t size)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame;

	check(key_frame_decode(&frame, table, bytes, size));
	for (unsigned reg = 0; reg < table->count; reg++)
		if (!strcmp(table->regs[reg].name, tamper->name))
			frame.regs.bytes[table->regs[reg].offset] ^= 1;
	key_frame_encode(out, table, &frame);
	key_frame_release(&frame);
}

/* Changes a packet, if it is the one. */
static void change_packet(struct tamper *tamper, uint32_t segment,
			  struct packet *packet)
{
	static uint8_t value[PACKET_REG_SIZE_MAX];

	if (is_what(tamper, "result") && packet->kind == PACKET_SYSCALL) {
		if (is_it(tamper, segment, tamper->time))
			packet->result++;
	} else if (is_what(tamper, "steps") && packet_is_event(packet->kind)) {
		if (is_it(tamper, segment, tamper->time))
			packet->steps++;
	} else if (is_what(tamper, "touch") && packet->kind == PACKET_TOUCH &&
		   packet->source == TOUCH_STORED) {
		if (is_it(tamper, segment, tamper->time))
			packet->page_id = packet->page_id > 1 ? 1 : 2;
	} else if (is_what(tamper, "value") && packet->kind == PACKET_REG) {
		if (is_it(tamper, segment, tamper->time)) {
			memcpy(value, packet->value, packet->size);
			value[0] ^= 1;
			packet->value = value;
		}
	}
}

/* Whether the packet is left out. */
static bool is_dropped(struct tamper *tamper, uint32_t segment,
		       struct packet *packet)
{
	if (!is_what(tamper, "drop"))
		return false;
	if (!packet_is_event(packet->kind))
		return tamper->dropping;
	tamper->dropping = is_it(tamper, segment, tamper->time);
	if (tamper->dropping)
		tamper->dropped_steps = packet->steps;
	else
		packet->steps += tamper->dropped_steps;
	if (!tamper->dropping)
		tamper->dropped_steps = 0;
	return tamper->dropping;
}

static void change_events(struct tamper *tamper, uint32_t segment,
			  struct output *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };

	while (input_left(&in)) {
		struct packet packet;

		check(packet_decode(&in, &tamper->in, &packet));
		if (packet_is_event(packet.kind))
			tamper->time += packet.steps;
		if (is_what(tamper, "unseen") &&
		    (packet.kind == PACKET_SEEN ||
		     packet.kind == PACKET_SEEN_PAGE))
			continue;
		if (is_dropped(tamper, segment, &packet))
			continue;
		change_packet(tamper, segment, &packet);
		packet_encode(out, &tamper->out, &packet);
	}
}

/* ------- the whole of it ------- */

static void make_later(const struct tamper *tamper,
		       const struct chunk_info *info, const uint8_t *bytes,
		       struct output *out)
{
	const struct reg_table *table = reg_table(ARCH_X86_64);
	struct key_frame frame;
	struct summary summary;

	if (info->kind == CHUNK_KEY_FRAME) {
		check(key_frame_decode(&frame, table, bytes, info->size));
		frame.time += tamper->left;
		if (!info->stream)
			frame.steps += tamper->left;
		key_frame_encode(out, table, &frame);
		key_frame_release(&frame);
	} else {
		check(summary_decode(&summary, bytes, info->size));
		summary.time += tamper->left;
		summary.threads[0].steps += tamper->left;
		summary_encode(out, &summary);
		summary_release(&summary);
	}
}

static void change_processor(const struct tamper *tamper,
			     const struct chunk_info *info,
			     const uint8_t *bytes, struct output *out)
{
	struct meta meta;

	check(meta_decode(&meta, bytes, info->size));
	if (is_what(tamper, "behaviour")) {
		meta.processor.behaviour = tamper->left;
	} else {
		free((char *)(uintptr_t)meta.processor.model);
		meta.processor.model = strdup("other");
	}
	meta_encode(out, &meta);
	meta_release(&meta);
}

/* Whether it is a change that is not of one thing. */
static bool is_of_all(const struct tamper *tamper)
{
	static const char *const whats[] = {
		"nothing", "only", "unseen", "later", "behaviour", "model",
	};

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		if (is_what(tamper, whats[i]))
			return true;
	return false;
}

static void change_bytes(struct tamper *tamper, const struct chunk_info *info,
			 uint8_t *bytes)
{
	if (is_what(tamper, "reads") && info->kind == CHUNK_READS &&
	    info->segment == tamper->left && !tamper->done && info->size) {
		tamper->left = 0;
		if (is_it(tamper, info->segment, tamper->time))
			bytes[info->size - 1] ^= 1;
	}
	if (is_what(tamper, "page") && info->kind == CHUNK_PAGES &&
	    tamper->left >= info->first &&
	    tamper->left - info->first < info->stream && !tamper->done) {
		struct page_item items[PAGE_ITEMS_MOST];
		size_t which = (size_t)(tamper->left - info->first), at;

		check(page_items_decode(items, info->stream, info->first,
					bytes, info->size));
		if (!items[which].bytes)
			return;	/* it is another process's */
		/* Of a patch, its first change. */
		at = (size_t)(items[which].bytes - bytes) +
		     (items[which].base ? PAGE_MASK : 0);
		tamper->left = 0;
		if (is_it(tamper, info->segment, tamper->time))
			bytes[at] ^= 1;
	}
}

/* Streams that are left out as a whole. */
static bool is_removed(const struct tamper *tamper,
		       const struct chunk_info *info)
{
	return (is_what(tamper, "only") || is_what(tamper, "unseen")) &&
	       (info->kind == CHUNK_EVENTS || info->kind == CHUNK_READS) &&
	       info->stream != tamper->left;
}

static void copy_chunk(struct tamper *tamper, const struct chunk_info *info,
		       uint8_t *bytes, struct output *out)
{
	if (is_what(tamper, "later") &&
	    (info->kind == CHUNK_KEY_FRAME || info->kind == CHUNK_SUMMARY)) {
		make_later(tamper, info, bytes, out);
		return;
	}
	if ((is_what(tamper, "behaviour") || is_what(tamper, "model")) &&
	    info->kind == CHUNK_META) {
		change_processor(tamper, info, bytes, out);
		return;
	}
	switch (info->kind) {
	case CHUNK_KEY_FRAME:
		start_segment(tamper, bytes, info->size);
		if (is_what(tamper, "register") &&
		    is_it(tamper, info->segment, tamper->start)) {
			change_register(tamper, out, bytes, info->size);
			return;
		}
		break;
	case CHUNK_EVENTS:
		if (is_of_all(tamper) && !is_what(tamper, "unseen"))
			break;
		change_events(tamper, info->segment, out, bytes, info->size);
		return;
	default:
		change_bytes(tamper, info, bytes);
	}
	output_bytes(out, bytes, info->size);
}

static void copy(struct tamper *tamper, const char *from, const char *to)
{
	struct trace_reader *reader;
	struct trace_writer *writer;

	check(trace_reader_open(&reader, from, &why));
	check(trace_writer_open(&writer, to, trace_reader_header(reader), 1,
				&why));
	for (size_t i = 0; i < trace_reader_count(reader); i++) {
		const struct chunk_info *info = trace_reader_info(reader, i);
		uint64_t first = info->first;
		struct output out = { 0 };
		uint8_t *bytes;

		if (is_removed(tamper, info))
			continue;
		check(trace_reader_chunk(reader, i, &bytes, &why));
		copy_chunk(tamper, info, bytes, &out);
		free(bytes);
		check(out.error);
		if (is_what(tamper, "later") &&
		    (info->kind == CHUNK_KEY_FRAME ||
		     info->kind == CHUNK_PROGRAM))
			first += tamper->left;
		check(trace_writer_chunk(writer, info->kind, info->stream,
					 info->segment, first, &out, &why));
	}
	check(trace_writer_finish(writer, &why));
	trace_writer_close(writer);
	trace_reader_close(reader);
}

int main(int argc, char **argv)
{
	struct tamper tamper = { 0 };

	if (argc < 5) {
		fprintf(stderr, "usage: tamper IN OUT WHAT N [NAME]\n");
		return 2;
	}
	tamper.what = argv[3];
	tamper.left = strtoull(argv[4], NULL, 0);
	tamper.name = argc > 5 ? argv[5] : "rax";
	copy(&tamper, argv[1], argv[2]);
	return tamper.done || is_of_all(&tamper) ? 0 : 2;
}

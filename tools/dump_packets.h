/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump_packets.h - packets, key frames and indexes as lines
 *
 * A line is a JSON object whose keys, in order, are also the words of the
 * text form; both forms therefore say the same.
 */
#ifndef CPREC_TOOLS_DUMP_PACKETS_H
#define CPREC_TOOLS_DUMP_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "formats/key_frame.h"
#include "formats/packet.h"
#include "formats/registers.h"

/* The names of all kinds of lines, one after the other; then NULL. */
const char *dump_kind(size_t number);

/* A line of a kind ("SYSCALL"), at a time. */
json_t *dump_line(const char *kind, uint64_t t);

/* Adds what a packet says. */
void dump_packet(json_t *line, const struct packet *packet,
		 const struct reg_table *table);
void dump_key_frame(json_t *line, const struct key_frame *frame,
		    const struct reg_table *table);
void dump_region(json_t *line, const struct region *region);
void dump_doubt_range(json_t *line, const struct doubt_range *range);
void dump_page_ref(json_t *line, const struct page_ref *ref);
void dump_page_touch(json_t *line, const struct page_touch *touch);

/* Prints and ends a line; as text, with its time only if `has_time`. */
void dump_print(json_t *line, bool json, bool has_time);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btf.h - where members are in a kernel's structures, by its own BTF
 *
 * Source: Linux, Documentation/bpf/btf.rst.
 *
 * Ownership:  the bytes are borrowed until btf_close().
 * Errors:     ERR_NOT_FOUND, ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_BTF_H
#define CPREC_REPLAYER_SYMBOLS_BTF_H

#include <stddef.h>
#include <stdint.h>

struct btf {
	const uint8_t *types, *strings;
	size_t types_size, strings_size;
	uint32_t *places;	/* of types, by their numbers, from 1 on */
	uint32_t count;
};

/* Looks for it in a kernel's memory. */
int btf_find(struct btf *out, const uint8_t *bytes, size_t size);
void btf_close(struct btf *btf);

/* Bytes from a structure's start to a member: "tasks", "desc_ring.descs". */
int btf_member(const struct btf *btf, const char *name, const char *member,
	       uint32_t *out);

/* Bytes of a structure. */
int btf_size(const struct btf *btf, const char *name, uint32_t *out);

#endif

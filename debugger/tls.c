/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls.c - where a thread has its own variables
 *
 * Beside the thread's pointer are the variables of the program itself.  Those
 * of a library are where its code thinks that they are: the loader has stored how
 * far from the pointer, or the module's number, by which a vector leads to them,
 * or a function that tells it, and its argument, which is one of both.  What has
 * not been used by a thread yet may have no place.
 *
 * Source: "ELF Handling For Thread-Local Storage"; System V ABI.
 */
#include "debugger/server_internal.h"

#include <elf.h>
#include <inttypes.h>
#include <link.h>

#include "debugger/target.h"

/* Behind an entry of the vector is what is to be freed. */
#define VECTOR_ENTRY 16u
#define NOT_ALLOCATED UINT64_MAX

static bool find_in_vector(struct server *server, uint64_t pointer,
			   uint64_t module, uint64_t *out)
{
	uint64_t vector, count;

	return state_read(server, pointer + server->target->vector, &vector,
			  sizeof(vector)) &&
	       state_read(server, vector - VECTOR_ENTRY, &count,
			  sizeof(count)) &&
	       module && module <= count &&
	       state_read(server, vector + module * VECTOR_ENTRY, out,
			  sizeof(*out)) &&
	       *out && *out != NOT_ALLOCATED;
}

/* ------- what the loader has stored ------- */

#define ENTRIES_MOST (1u << 20)

/* Of a library, as it is in memory. */
struct library {
	uint64_t bias, symbols;
	struct {
		uint64_t at, size;
	} relocations[2];	/* also those of its jumps */
};

/* Some loaders have added where the library is. */
static uint64_t with_bias(const struct library *library, uint64_t addr)
{
	return addr < library->bias ? addr + library->bias : addr;
}

static bool read_library(struct server *server, uint64_t link_map,
			 struct library *out)
{
	struct link_map map;
	Elf64_Dyn entry = { .d_tag = DT_NULL };
	uint64_t at;

	*out = (struct library){ 0 };
	if (!state_read(server, link_map, &map, sizeof(map)))
		return false;
	out->bias = map.l_addr;
	at = (uint64_t)(uintptr_t)map.l_ld;
	for (unsigned i = 0; i < ENTRIES_MOST; i++, at += sizeof(entry)) {
		if (!state_read(server, at, &entry, sizeof(entry)))
			return false;
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_RELA)
			out->relocations[0].at =
				with_bias(out, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_RELASZ)
			out->relocations[0].size = entry.d_un.d_val;
		else if (entry.d_tag == DT_JMPREL)
			out->relocations[1].at =
				with_bias(out, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_PLTRELSZ)
			out->relocations[1].size = entry.d_un.d_val;
		else if (entry.d_tag == DT_SYMTAB)
			out->symbols = with_bias(out, entry.d_un.d_ptr);
	}
	return out->symbols != 0;
}

/* Where a variable is in its block, which the loader took into account. */
static bool value_of(struct server *server, const struct library *library,
		     const Elf64_Rela *relocation, uint64_t *out)
{
	uint64_t number = ELF64_R_SYM(relocation->r_info);
	Elf64_Sym symbol = { .st_shndx = SHN_ABS };

	if (number && !state_read(server, library->symbols +
				  number * sizeof(symbol), &symbol,
				  sizeof(symbol)))
		return false;
	*out = symbol.st_value + (uint64_t)relocation->r_addend;
	/* One of another module says nothing of this one. */
	return symbol.st_shndx != SHN_UNDEF;
}

/* The argument of the function is how far it is, or leads to a number. */
static bool find_by_code(struct server *server, uint64_t argument,
			 uint64_t inside, uint64_t pointer, uint64_t *out)
{
	uint64_t place[2];

	if (!state_read(server, argument, place, sizeof(place)) ||
	    place[1] != inside) {
		*out = pointer + argument - inside;
		return true;
	}
	return find_in_vector(server, pointer, place[0], out);
}

static bool find_of(struct server *server, const struct library *library,
		    const Elf64_Rela *relocation, uint64_t pointer,
		    uint64_t *out)
{
	const struct target *target = server->target;
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t at = library->bias + relocation->r_offset, filled, inside;

	if ((type != target->tls_offset && type != target->tls_number &&
	     type != target->tls_code) ||
	    !value_of(server, library, relocation, &inside) ||
	    !state_read(server, type == target->tls_code ? at + 8 : at,
			&filled, sizeof(filled)))
		return false;
	if (type == target->tls_number)
		return find_in_vector(server, pointer, filled, out);
	if (type == target->tls_code)
		return find_by_code(server, filled, inside, pointer, out);
	*out = pointer + filled - inside;
	return true;
}

static bool find_in(struct server *server, const struct library *library,
		    unsigned list, uint64_t pointer, uint64_t *out)
{
	Elf64_Rela relocation;
	uint64_t at = library->relocations[list].at;
	uint64_t count = library->relocations[list].size / sizeof(relocation);

	for (uint64_t i = 0; at && i < count && i < ENTRIES_MOST; i++)
		if (state_read(server, at + i * sizeof(relocation),
			       &relocation, sizeof(relocation)) &&
		    find_of(server, library, &relocation, pointer, out))
			return true;
	return false;
}

static bool find_block(struct server *server, uint64_t pointer,
		       uint64_t link_map, uint64_t *out)
{
	struct library library;
	uint64_t offset;

	if (program_thread_block(server, link_map, &offset)) {
		*out = pointer + offset;
		return true;
	}
	return read_library(server, link_map, &library) &&
	       (find_in(server, &library, 0, pointer, out) ||
		find_in(server, &library, 1, pointer, out));
}

/* ------- requests ------- */

/* "THREAD,OFFSET,LINK_MAP" */
void on_thread_local(struct server *server, const char *args)
{
	uint64_t offset, link_map, pointer, block;
	struct cprec_failure why;
	uint32_t tid;
	int rc;

	if (!state_parse_thread(server, &args, &tid) ||
	    !text_pass(&args, ',') || !text_read_hex(&args, &offset) ||
	    !text_pass(&args, ',') || !text_read_hex(&args, &link_map)) {
		reply_nonsense(server);
		return;
	}
	rc = state_thread(server, tid, &why);
	if (!rc)
		rc = state_register(server, server->target->tls, &pointer,
				    &why);
	if (rc)
		reply_failure(server, &why);
	else if (pointer && find_block(server, pointer, link_map, &block))
		reply(server, "%" PRIx64, block + offset);
	else
		reply(server, "E.this thread has no such variables yet");
}

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

#include <inttypes.h>

#include "debugger/elf_parts.h"
#include "debugger/target.h"

/* Behind an entry of the vector is what is to be freed. */
#define VECTOR_ENTRY 2u			/* words */

/* The entry of what is not allocated yet: all bits. */
static bool is_allocated(const struct server *server, uint64_t entry)
{
	return entry && entry != UINT64_MAX >> (64 - 8 * server->target->word);
}

static bool find_in_vector(struct server *server, uint64_t pointer,
			   uint64_t module, uint64_t *out)
{
	const uint64_t entry = VECTOR_ENTRY * server->target->word;
	uint64_t vector, count;

	return elf_words(server, pointer + server->target->vector, &vector,
			 1) &&
	       elf_words(server, vector - entry, &count, 1) &&
	       module && module <= count &&
	       elf_words(server, vector + module * entry, out, 1) &&
	       is_allocated(server, *out);
}

/* ------- what the loader has stored ------- */

#define ENTRIES_MOST (1u << 20)

/* Of a library, as it is in memory. */
struct library {
	uint64_t bias, symbols;
	uint64_t name;		/* the path of its file */
	struct {
		uint64_t at, size;
		bool has_addends;
	} relocations[2];	/* also those of its jumps */
};

/* Some loaders have added where the library is. */
static uint64_t with_bias(const struct library *library, uint64_t addr)
{
	return addr < library->bias ? addr + library->bias : addr;
}

static void take_entry(struct library *library, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_RELA:
	case DT_REL:
		library->relocations[0].at = with_bias(library, value);
		library->relocations[0].has_addends = tag == DT_RELA;
		break;
	case DT_RELASZ:
	case DT_RELSZ:
		library->relocations[0].size = value;
		break;
	case DT_JMPREL:
		library->relocations[1].at = with_bias(library, value);
		break;
	case DT_PLTRELSZ:
		library->relocations[1].size = value;
		break;
	case DT_PLTREL:
		library->relocations[1].has_addends = value == DT_RELA;
		break;
	case DT_SYMTAB:
		library->symbols = with_bias(library, value);
		break;
	default:
		break;
	}
}

static bool read_library(struct server *server, uint64_t link_map,
			 struct library *out)
{
	enum { TAG, VALUE, ENTRY };
	struct elf_module module;
	uint64_t entry[ENTRY], at;

	*out = (struct library){ 0 };
	if (!elf_module_at(server, link_map, &module))
		return false;
	out->bias = module.bias;
	out->name = module.name;
	at = module.dynamic;
	for (unsigned i = 0; i < ENTRIES_MOST; i++) {
		if (!elf_words(server, at, entry, ENTRY))
			return false;
		if (entry[TAG] == DT_NULL)
			break;
		take_entry(out, entry[TAG], entry[VALUE]);
		at += ENTRY * server->target->word;
	}
	return out->symbols != 0;
}

/* ------- addends that the loader has overwritten ------- */

/* Where a word of the library is in its file; its header is in front of it. */
static bool find_in_file(struct server *server, const struct library *library,
			 uint64_t addr, uint64_t *out)
{
	uint64_t list, count;
	Elf64_Phdr header;

	if (!elf_headers_of(server, library->bias, &list, &count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!elf_header_at(server, list, i, &header))
			return false;
		if (header.p_type == PT_LOAD && header.p_vaddr <= addr &&
		    addr - header.p_vaddr < header.p_filesz) {
			*out = addr - header.p_vaddr + header.p_offset;
			return true;
		}
	}
	return false;
}

static bool read_addend(struct server *server, const struct library *library,
			uint64_t addr, uint64_t *out)
{
	unsigned word = server->target->word;
	uint8_t bytes[sizeof(uint64_t)];
	struct cprec_failure why;
	struct cprec_file *file;
	char path[PATH_LONGEST];
	uint64_t at, size = 0;

	if (!state_path(server, library->name, path) ||
	    !find_in_file(server, library, addr, &at) ||
	    program_file_open(server, path, &file, &why))
		return false;
	if (cprec_file_read(file, at, bytes, word, &size, &why))
		size = 0;
	cprec_file_close(file);
	*out = size == word ? elf_word(word, bytes) : 0;
	return size == word;
}

/* One of another module says nothing of this one. */
static bool symbol_of(struct server *server, const struct library *library,
		      const Elf64_Rela *relocation, Elf64_Sym *out)
{
	uint64_t number = ELF64_R_SYM(relocation->r_info);

	*out = (Elf64_Sym){ .st_shndx = SHN_ABS };
	return !number ||
	       (elf_symbol_at(server, library->symbols, number, out) &&
		out->st_shndx != SHN_UNDEF);
}

/* The argument of the function is how far it is, or leads to a number. */
static bool find_by_code(struct server *server, uint64_t argument,
			 uint64_t inside, uint64_t pointer, uint64_t *out)
{
	uint64_t place[2];

	if (!elf_words(server, argument, place, 2) || place[1] != inside) {
		*out = pointer + argument - inside;
		return true;
	}
	return find_in_vector(server, pointer, place[0], out);
}

static bool find_of(struct server *server, const struct library *library,
		    const Elf64_Rela *relocation, bool has_addend,
		    uint64_t pointer, uint64_t *out)
{
	const struct target *target = server->target;
	uint32_t type = ELF64_R_TYPE(relocation->r_info);
	uint64_t at = library->bias + relocation->r_offset, filled[2], inside;
	Elf64_Sym symbol;

	if ((type != target->tls_offset && type != target->tls_number &&
	     type != target->tls_code) ||
	    !symbol_of(server, library, relocation, &symbol) ||
	    !elf_words(server, at, filled, 2))
		return false;
	if (type == target->tls_number)
		return find_in_vector(server, pointer, filled[0], out);
	inside = (uint64_t)relocation->r_addend;
	if (!has_addend &&
	    !read_addend(server, library, relocation->r_offset, &inside))
		return false;
	/* Where it is in its block, which the loader took into account. */
	inside += symbol.st_value;
	if (type == target->tls_code)
		return find_by_code(server, filled[1], inside, pointer, out);
	*out = pointer + filled[0] - inside;
	return true;
}

static bool find_in(struct server *server, const struct library *library,
		    unsigned list, uint64_t pointer, uint64_t *out)
{
	bool has_addends = library->relocations[list].has_addends;
	size_t size = elf_relocation_size(server->target->word, has_addends);
	uint64_t at = library->relocations[list].at;
	uint64_t count = library->relocations[list].size / size;
	Elf64_Rela relocation;

	for (uint64_t i = 0; at && i < count && i < ENTRIES_MOST; i++)
		if (elf_relocation_at(server, at, i, has_addends,
				      &relocation) &&
		    find_of(server, library, &relocation, has_addends, pointer,
			    out))
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

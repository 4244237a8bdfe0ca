/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made_files.c - what a debugger reads in place of a file that cannot be had
 *
 * Symbols and the build id are in each recording.  With them a file is made that
 * has the module's sections without contents, as those have that only have
 * debugging information: so there are names, and a debugger that has debugging
 * information of that build id finds it.
 *
 * Without vmlinux, a machine's kernel has no file, but symbols in its memory.  The
 * file made for it has them and those of its modules, at the addresses where they
 * are loaded.
 *
 * Source: System V ABI, "Object Files"; gdb's solib-svr4.c, which compares the
 * program's headers with those in memory.
 */
#include "debugger/server_internal.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/elf_parts.h"
#include "debugger/target.h"

#define MAPPINGS_MOST 1024u
#define HEADERS_MOST 64u
#define TEXTS_MOST (UINT64_C(64) << 20)
#define SIZE_MOST (UINT64_C(1) << 40)
#define ID_MOST 64u

/* Sections, in their order: none, these, those with addresses. */
enum { NOTE = 1, NAMES, SYMBOLS, TEXTS, FIRST_MAPPED };

static const char section_names[] =
	"\0.note.gnu.build-id\0.shstrtab\0.symtab\0.strtab\0.text\0.data"
	"\0.debug_frame";
enum { NAME_NOTE = 1, NAME_NAMES = 20, NAME_SYMBOLS = 30, NAME_TEXTS = 38,
       NAME_CODE = 46, NAME_DATA = 52, NAME_FRAMES = 58 };

#define KERNEL_PATH "/boot/%s"
#define PIECE_GAP (UINT64_C(1) << 20)	/* between parts of a kernel's module */
#define PAGE UINT64_C(4096)
#define FUNCTIONS_LOOKED 1000u	/* to tell whether it has lines */

struct made {
	const char *path;	/* of the module */
	const struct target *target;
	struct {
		uint64_t start, end;
		bool is_code;
	} mappings[MAPPINGS_MOST];
	size_t mapping_count;
	uint64_t base;		/* where its file begins */
	uint64_t bias, entry;
	Elf64_Phdr headers[HEADERS_MOST];
	size_t header_count;
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[ID_MOST];
	} note;
	struct text symbols, texts;

	/* Of a kernel: */
	char *module;		/* which the last mapping is of */
	unsigned looked;	/* functions */
	bool has_lines;		/* it has a file, which is better */
	struct text functions;	/* struct made_function */
	struct text frames;
};

/* ------- where it is ------- */

static int take_mapping(void *context, const struct cprec_mapping *mapping)
{
	struct made *made = context;
	size_t i = made->mapping_count;

	if (strcmp(mapping->name, made->path) != 0)
		return 0;
	if (!i)
		made->base = mapping->start - mapping->offset;
	if (i == MAPPINGS_MOST)
		return 1;
	made->mappings[i].start = mapping->start;
	made->mappings[i].end = mapping->end;
	made->mappings[i].is_code = mapping->protection & CPREC_MAY_EXECUTE;
	made->mapping_count++;
	return 0;
}

/* Index of the one with an address, or how many there are. */
static size_t mapping_of(const struct made *made, uint64_t addr)
{
	size_t i = 0;

	while (i < made->mapping_count &&
	       (addr < made->mappings[i].start ||
		made->mappings[i].end <= addr))
		i++;
	return i;
}

/* Of the program, a debugger compares the headers. */
static void take_headers(struct server *server, struct made *made)
{
	uint64_t addr = program_auxv(server, AT_PHDR);
	uint64_t count = program_auxv(server, AT_PHNUM);

	if (mapping_of(made, addr) == made->mapping_count ||
	    count > HEADERS_MOST)
		return;
	for (uint64_t i = 0; i < count; i++)
		if (!elf_header_at(server, addr, i, &made->headers[i]))
			return;
	made->header_count = count;
	made->bias = 0;
	for (size_t i = 0; i < count; i++)
		if (made->headers[i].p_type == PT_PHDR)
			made->bias = addr - made->headers[i].p_vaddr;
	made->entry = program_auxv(server, AT_ENTRY) - made->bias;
}

/* ------- what is known of it ------- */

static void begin_symbols(struct made *made)
{
	elf_add_symbol(&made->symbols, made->target->word, (Elf64_Sym){ 0 });
	text_add_bytes(&made->texts, "", 1);
}

static void add_symbol(struct made *made, size_t mapping, unsigned kind,
		       Elf64_Sym one, const char *name)
{
	unsigned type = kind == CPREC_SYMBOL_FUNCTION ? STT_FUNC :
			kind == CPREC_SYMBOL_DATA     ? STT_OBJECT :
							STT_NOTYPE;

	one.st_name = made->texts.size;
	one.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
	one.st_shndx = FIRST_MAPPED + mapping;
	elf_add_symbol(&made->symbols, made->target->word, one);
	/* Versions are for linkers. */
	text_add_bytes(&made->texts, name, strcspn(name, "@"));
	text_add_bytes(&made->texts, "", 1);
}

static int take_symbol(void *context, const struct cprec_module_symbol *symbol)
{
	struct made *made = context;
	size_t mapping = mapping_of(made, symbol->addr + made->bias);

	if (mapping == made->mapping_count)
		return 0;
	add_symbol(made, mapping, symbol->kind, (Elf64_Sym) {
		.st_value = symbol->addr | symbol->is_thumb,
		.st_size = symbol->length,
	}, symbol->name);
	return made->texts.size > TEXTS_MOST;
}

static int take_build_id(void *context, const struct cprec_module *module)
{
	struct made *made = context;
	size_t size;

	if (strcmp(module->path, made->path) != 0)
		return 0;
	size = module->build_id ? strlen(module->build_id) / 2 : 0;
	if (size && size <= ID_MOST &&
	    text_read_bytes(module->build_id, made->note.id, size))
		made->note.head.n_descsz = size;
	made->note.head.n_namesz = sizeof(made->note.name);
	made->note.head.n_type = NT_GNU_BUILD_ID;
	memcpy(made->note.name, ELF_NOTE_GNU, sizeof(made->note.name));
	return 1;
}

static bool find_all(struct server *server, struct made *made)
{
	state_each_mapping(server, take_mapping, made);
	if (!made->mapping_count)
		return false;
	made->bias = made->base;
	take_headers(server, made);
	cprec_each_module(server->recording, take_build_id, made, NULL);
	begin_symbols(made);
	cprec_each_module_symbol(server->recording, made->path, take_symbol,
				 made, NULL);
	return made->symbols.size > elf_symbol_size(made->target->word);
}

/* ------- a machine's kernel ------- */

static bool is_in_kernel(const struct cprec_symbol *symbol)
{
	return symbol->addr >> 63;
}

/* The kernel itself comes first; where it begins, few functions have lines. */
static int take_kernel(void *context, const struct cprec_symbol *symbol)
{
	struct made *made = context;

	if (!symbol->is_program || !is_in_kernel(symbol))
		return 1;
	if (symbol->kind != CPREC_SYMBOL_FUNCTION)
		return 0;
	if (!made->module)
		made->module = strdup(symbol->module);
	made->has_lines = symbol->file;
	return made->has_lines || ++made->looked == FUNCTIONS_LOOKED;
}

bool kernel_file_path(struct server *server, struct text *out)
{
	struct made made = { 0 };
	bool is_there;

	if (!server->target->is_machine)
		return false;
	cprec_each_symbol(server->cursor, NULL, take_kernel, &made, NULL);
	is_there = made.module && !made.has_lines;
	if (is_there)
		text_add(out, KERNEL_PATH, made.module);
	free(made.module);
	return is_there;
}

bool kernel_file_is(struct server *server, const char *path)
{
	struct text its = { 0 };
	bool is_it = kernel_file_path(server, &its) && its.bytes &&
		     !strcmp(its.bytes, path);

	text_release(&its);
	return is_it;
}

/* Symbols of a module that are near to each other are in one part. */
static bool begin_part(struct made *made, const struct cprec_symbol *symbol)
{
	size_t i = made->mapping_count;

	if (i && made->module && !strcmp(made->module, symbol->module) &&
	    symbol->addr + PIECE_GAP >= made->mappings[i - 1].start &&
	    symbol->addr <= made->mappings[i - 1].end + PIECE_GAP)
		return true;
	free(made->module);
	made->module = strdup(symbol->module);
	if (i == MAPPINGS_MOST)
		return false;
	made->mappings[i].start = symbol->addr & ~(PAGE - 1);
	made->mappings[i].end = made->mappings[i].start + PAGE;
	made->mappings[i].is_code = true;
	made->mapping_count++;
	return true;
}

static void extend_part(struct made *made, const struct cprec_symbol *symbol)
{
	size_t i = made->mapping_count - 1;
	uint64_t end = (symbol->addr + symbol->length + PAGE) & ~(PAGE - 1);

	if (symbol->addr < made->mappings[i].start)
		made->mappings[i].start = symbol->addr & ~(PAGE - 1);
	if (end > made->mappings[i].end && end - symbol->addr < SIZE_MOST)
		made->mappings[i].end = end;
}

/* Where programs give way to the kernel: "el0t_64_sync"; callers end there. */
static bool is_entry(const char *name)
{
	return !strncmp(name, "el0t_", 5) && !strstr(name, "_handler");
}

static int take_own_symbol(void *context, const struct cprec_symbol *symbol)
{
	struct made *made = context;

	if (!is_in_kernel(symbol))
		return 0;
	if (!begin_part(made, symbol))
		return 1;
	extend_part(made, symbol);
	if (symbol->kind == CPREC_SYMBOL_FUNCTION)
		text_add_bytes(&made->functions, &(struct made_function){
			symbol->addr, symbol->length, is_entry(symbol->name),
		}, sizeof(struct made_function));
	add_symbol(made, made->mapping_count - 1, symbol->kind, (Elf64_Sym) {
		.st_value = symbol->addr, .st_size = symbol->length,
	}, symbol->linkage_name);
	return made->texts.size > TEXTS_MOST;
}

static bool find_kernel(struct server *server, struct made *made)
{
	begin_symbols(made);
	cprec_each_symbol(server->cursor, NULL, take_own_symbol, made, NULL);
	free(made->module);
	if (!made->functions.failed)
		frames_make(server, &made->functions, &made->frames);
	return made->symbols.size > elf_symbol_size(made->target->word);
}

/* ------- the file ------- */

/* Contents, and where they are. */
static void add_contents(struct text *out, Elf64_Shdr *section,
			 const void *bytes, size_t size)
{
	static const char zeros[8];

	if (out->size % sizeof(zeros))
		text_add_bytes(out, zeros,
			       sizeof(zeros) - out->size % sizeof(zeros));
	section->sh_offset = out->size;
	section->sh_size = size;
	text_add_bytes(out, bytes, size);
}

static void add_mapped(const struct made *made, struct text *out)
{
	for (size_t i = 0; i < made->mapping_count; i++) {
		bool is_code = made->mappings[i].is_code;

		elf_add_section(out, made->target->word, (Elf64_Shdr) {
			.sh_name = is_code ? NAME_CODE : NAME_DATA,
			.sh_type = SHT_NOBITS,
			.sh_flags = SHF_ALLOC |
				    (is_code ? SHF_EXECINSTR : SHF_WRITE),
			.sh_addr = made->mappings[i].start - made->bias,
			.sh_size = made->mappings[i].end -
				   made->mappings[i].start,
			.sh_addralign = 1,
		});
	}
}

static void add_file_header(const struct made *made, struct text *out)
{
	unsigned word = made->target->word;
	const Elf64_Ehdr header = {
		.e_ident = { [EI_DATA] = ELFDATA2LSB,
			     [EI_VERSION] = EV_CURRENT },
		.e_type = made->bias ? ET_DYN : ET_EXEC,
		.e_machine = made->target->machine, .e_version = EV_CURRENT,
		.e_flags = made->target->flags,
		.e_entry = made->entry,
		.e_phoff = made->header_count ? elf_file_size(word) : 0,
		.e_phnum = made->header_count,
		.e_shnum = FIRST_MAPPED + made->mapping_count +
			   (made->frames.size > 0),
		.e_shstrndx = NAMES,
	};

	elf_add_file(out, word, header);
	for (size_t i = 0; i < made->header_count; i++)
		elf_add_header(out, word, made->headers[i]);
}

/* As large as the headers say that it is: debuggers look. */
static uint64_t size_of(const struct made *made, const struct text *out)
{
	uint64_t size = out->size;

	for (size_t i = 0; i < made->header_count; i++) {
		const Elf64_Phdr *header = &made->headers[i];

		if (header->p_offset < SIZE_MOST &&
		    header->p_filesz < SIZE_MOST &&
		    header->p_offset + header->p_filesz > size)
			size = header->p_offset + header->p_filesz;
	}
	return size;
}

static bool add_all(const struct made *made, struct text *out)
{
	unsigned word = made->target->word;
	Elf64_Shdr note = { NAME_NOTE, SHT_NOTE, 0, 0, 0, 0, 0, 0, 4, 0 };
	Elf64_Shdr names = { NAME_NAMES, SHT_STRTAB, 0, 0, 0, 0, 0, 0, 1, 0 };
	Elf64_Shdr texts = { NAME_TEXTS, SHT_STRTAB, 0, 0, 0, 0, 0, 0, 1, 0 };
	Elf64_Shdr frames = { NAME_FRAMES, SHT_PROGBITS, 0, 0, 0, 0, 0, 0,
			      8, 0 };
	Elf64_Shdr symbols = { NAME_SYMBOLS, SHT_SYMTAB, 0, 0, 0, 0, TEXTS, 1,
			       8, elf_symbol_size(word) };
	uint64_t at;

	add_file_header(made, out);
	add_contents(out, &note, &made->note,
		     made->note.head.n_descsz ?
			     sizeof(made->note.head) +
				     sizeof(made->note.name) +
				     made->note.head.n_descsz : 0);
	add_contents(out, &names, section_names, sizeof(section_names));
	add_contents(out, &symbols, made->symbols.bytes, made->symbols.size);
	add_contents(out, &texts, made->texts.bytes, made->texts.size);
	add_contents(out, &frames, made->frames.bytes, made->frames.size);
	add_contents(out, &(Elf64_Shdr){ 0 }, "", 0);
	at = out->size;
	elf_add_section(out, word, (Elf64_Shdr){ 0 });
	elf_add_section(out, word, note);
	elf_add_section(out, word, names);
	elf_add_section(out, word, symbols);
	elf_add_section(out, word, texts);
	add_mapped(made, out);
	if (made->frames.size)
		elf_add_section(out, word, frames);
	if (out->failed || made->frames.failed || made->symbols.failed ||
	    made->texts.failed)
		return false;
	elf_set_sections(out, word, at);
	return true;
}

bool program_file_make(struct server *server, const char *path,
		       struct text *out, uint64_t *size)
{
	bool is_kernel = kernel_file_is(server, path);
	char *mapped = is_kernel ? NULL : program_file_mapped(server, path);
	struct made made = {
		.path = mapped ? mapped : path,
		.target = server->target,
	};
	bool is_made = (is_kernel ? find_kernel(server, &made) :
				    find_all(server, &made)) &&
		       add_all(&made, out);

	*size = size_of(&made, out);
	text_release(&made.symbols);
	text_release(&made.texts);
	text_release(&made.functions);
	text_release(&made.frames);
	free(mapped);
	if (!is_made)
		text_release(out);
	return is_made;
}

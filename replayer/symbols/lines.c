/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - see lines.h */
#include "replayer/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/symbols/debug_files.h"
#include "replayer/symbols/demangle.h"
#include "replayer/symbols/dwarf_atomics.h"
#include "replayer/symbols/dwarf_places.h"
#include "replayer/symbols/file_symbols.h"
#include "replayer/symbols/jump_tables.h"
#include "replayer/symbols/names.h"
#include "replayer/symbols/units.h"

struct lines {
	struct names *names;
	struct debug_files files;
	struct row_tables rows;
	struct scope_tables scopes;
	struct call_site_tables sites;
	struct symbol_tables symbols;
	struct unit_tables units;
};

int lines_create(struct lines **out, struct recording *recording,
		 struct failure *why)
{
	int rc;

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	(*out)->files.recording = recording;
	rc = names_create(&(*out)->names, recording, why);
	(*out)->files.names = (*out)->names;
	return rc;
}

struct names *lines_names(struct lines *lines)
{
	return lines->names;
}

struct symbol_tables *lines_symbol_tables(struct lines *lines)
{
	return &lines->symbols;
}

void lines_destroy(struct lines *lines)
{
	if (!lines)
		return;
	row_tables_release(&lines->rows);
	scope_tables_release(&lines->scopes);
	call_site_tables_release(&lines->sites);
	symbol_tables_release(&lines->symbols);
	unit_tables_release(&lines->units);
	debug_files_release(&lines->files);
	names_destroy(lines->names);
	free(lines);
}

struct Dwfl_Module *lines_module(struct lines *lines, uint64_t t,
				 uint64_t addr, uint64_t *bias)
{
	const struct symbols *symbols = names_module(lines->names, t, addr,
						     bias);

	return symbols ? debug_files_find(&lines->files, symbols) : NULL;
}

Dwarf_Die *lines_unit(struct lines *lines, Dwfl_Module *module, uint64_t addr,
		      uint64_t *bias)
{
	return module ? unit_find(&lines->units, module, addr, bias) : NULL;
}

Dwarf_Die *lines_unit_at(struct lines *lines, Dwarf *dwarf, uint64_t addr)
{
	return unit_at(&lines->units, dwarf, addr);
}

const char *lines_module_path(struct lines *lines, const char *path)
{
	const struct symbols *symbols = names_at_path(lines->names, path);
	Dwfl_Module *module = symbols ?
		debug_files_find(&lines->files, symbols) : NULL;
	const char *found = NULL;
	GElf_Addr bias;

	/* Before, its name is not known. */
	if (module && dwfl_module_getelf(module, &bias))
		dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &found,
				 NULL);
	return found;
}

/* ------- symbols ------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Code that a linker has made has no symbol: the one before, which says no size,
 * seems to reach there.
 */
static bool may_be_table(struct lines *lines, uint64_t t, uint64_t addr)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(lines->names, t, addr,
						     &bias);
	const struct symbol *symbol = symbols ?
		symbols_at(symbols, addr - bias) : NULL;

	return symbols && (!symbol || (!symbol->size &&
				       symbol->addr != addr - bias));
}

static bool name_of_table(struct lines *lines, uint64_t t, uint64_t addr,
			  char *text, size_t room)
{
	uint64_t bias, unused;
	const struct symbols *own = names_own(lines->names, t, &unused),
			     *symbols = names_module(lines->names, t, addr,
						     &bias);
	Dwfl_Module *module;
	char name[1024];

	if (!may_be_table(lines, t, addr))
		return false;
	module = lines_module(lines, t, addr, &bias);
	if (!module ||
	    !jump_table_name(module, addr - bias, name, sizeof(name)))
		return false;
	snprintf(text, room, "%s%s%s",
		 symbols == own ? "" : last_part(symbols->path),
		 symbols == own ? "" : "!", name);
	return true;
}

bool lines_symbol(struct lines *lines, uint64_t t, uint64_t addr, char *text,
		  size_t room)
{
	Dwfl_Module *module;
	uint64_t bias;
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name;
	size_t length;

	if (name_of_table(lines, t, addr, text, room) ||
	    names_of(lines->names, t, addr, text, room))
		return true;
	module = lines_module(lines, t, addr, &bias);
	name = module ? file_symbol_at(&lines->symbols, module, addr - bias,
				       &offset, &symbol) : NULL;
	if (!name || symbol_is_mark(name) ||
	    (symbol.st_size && offset >= symbol.st_size))
		return false;
	demangle_into(text, room, name);
	length = strlen(text);
	if (offset)
		snprintf(text + length, room - length, "+0x%" PRIx64, offset);
	return true;
}

/* ------- the program's own ------- */

/* Whether its file says that only the program itself knows it by this name. */
static bool is_local(Dwfl_Module *module, const struct symbol *wanted)
{
	int count = module ? dwfl_module_getsymtab(module) : 0;

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr addr;
		const char *name = file_symbol(module, i, &symbol, &addr,
					       NULL);

		if (name && addr == wanted->addr &&
		    symbol_is_called(wanted, name) &&
		    GELF_ST_BIND(symbol.st_info) != STB_LOCAL)
			return false;
	}
	return count > 1;
}

bool lines_own_variable(struct lines *lines, uint64_t t, const char *name,
			uint64_t *addr)
{
	uint64_t bias;
	const struct symbols *program = names_own(lines->names, t, &bias);

	for (size_t i = 0; program && i < program->count; i++) {
		const struct symbol *symbol = &program->list[i];

		if (symbol->type != SYMBOL_OBJECT ||
		    !symbol_is_called(symbol, name) ||
		    is_local(debug_files_find(&lines->files, program), symbol))
			continue;
		*addr = symbol->addr + bias;
		return true;
	}
	return false;
}

bool lines_is_hidden(struct lines *lines, uint64_t t, uint64_t addr)
{
	uint64_t bias;
	const struct symbols *own = names_own(lines->names, t, &bias),
			     *module = names_module(lines->names, t, addr,
						    &bias);
	const struct symbol *symbol = module && module != own ?
		symbols_at(module, addr - bias) : NULL;

	return symbol && is_local(debug_files_find(&lines->files, module),
				  symbol);
}

/* ------- functions by name ------- */

/* In a file; `*is_local` if only the module itself knows it by this name. */
static bool find_in_file(Dwfl_Module *module, const char *name, uint64_t *addr,
			 bool *is_local)
{
	int count = module ? dwfl_module_getsymtab(module) : 0;
	bool is_found = false;

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		GElf_Word section;
		const struct symbol called = {
			.name = file_symbol(module, i, &symbol, &at, &section),
		};

		if (!called.name || section == SHN_UNDEF ||
		    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
		    !symbol_is_called(&called, name))
			continue;
		is_found = true;
		*addr = at;
		*is_local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
		if (!*is_local)
			break;
	}
	return is_found;
}

/* In a module: as its file has it, else as the recording does. */
static bool find_function(struct lines *lines, const struct symbols *symbols,
			  const char *name, uint64_t *addr, bool *is_local)
{
	const struct symbol *symbol;

	*is_local = false;
	if (find_in_file(debug_files_find(&lines->files, symbols), name, addr,
			 is_local))
		return true;
	symbol = symbols_find(symbols, name);
	if (!symbol || symbol->type != SYMBOL_FUNCTION)
		return false;
	*addr = symbol->addr;
	return true;
}

bool lines_function(struct lines *lines, uint64_t t, const char *name,
		    uint64_t *addr)
{
	const struct symbols *symbols;
	bool is_found = false, is_local;
	uint64_t bias, at;

	names_complete(lines->names, t);
	for (size_t i = 0; (symbols = names_mapped(lines->names, t, i, &bias));
	     i++) {
		if (!find_function(lines, symbols, name, &at, &is_local) ||
		    (is_found && is_local))
			continue;
		is_found = true;
		*addr = at + bias;
		if (!is_local)
			break;
	}
	return is_found;
}

/* ------- variables of each thread ------- */

/* What a relocation is relative to. */
static uint64_t value_of(Elf *elf, const GElf_Shdr *header, size_t number)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	return number && data && gelf_getsym(data, (int)number, &symbol) ?
		       symbol.st_value : 0;
}

/*
 * Where the loader stores an offset from the thread's pointer, of the relocation's
 * place.  Source: System V ABI, AMD64 supplement; ELF for the Arm 64-bit
 * Architecture.
 */
static const struct {
	unsigned machine, type, at;
} thread_offsets[] = {
	{ EM_X86_64, R_X86_64_TPOFF64, 0 },
	{ EM_AARCH64, R_AARCH64_TLS_TPREL, 0 },
	/* Behind a function that returns it. */
	{ EM_AARCH64, R_AARCH64_TLSDESC, 8 },
};

static bool is_thread_offset(Elf *elf, unsigned type, uint64_t *place)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf, &header))
		return false;
	for (size_t i = 0; i < sizeof(thread_offsets) /
				       sizeof(*thread_offsets); i++)
		if (thread_offsets[i].machine == header.e_machine &&
		    thread_offsets[i].type == type) {
			*place += thread_offsets[i].at;
			return true;
		}
	return false;
}

static bool find_thread_offset(Elf *elf, Elf_Scn *section, uint64_t *place,
			       uint64_t *inside)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Rela entry;

	if (!data || !gelf_getshdr(section, &header) ||
	    header.sh_type != SHT_RELA)
		return false;
	for (int i = 0; gelf_getrela(data, i, &entry); i++) {
		*place = entry.r_offset;
		if (!is_thread_offset(elf, GELF_R_TYPE(entry.r_info), place))
			continue;
		*inside = (uint64_t)entry.r_addend +
			  value_of(elf, &header, GELF_R_SYM(entry.r_info));
		return true;
	}
	return false;
}

bool lines_thread_block(struct lines *lines, uint64_t t, size_t number,
			uint64_t *place, uint64_t *inside)
{
	uint64_t bias;
	const struct symbols *symbols = names_mapped(lines->names, t, number,
						     &bias);
	Dwfl_Module *module = symbols ?
		debug_files_find(&lines->files, symbols) : NULL;
	GElf_Addr more;
	Elf *elf = module ? dwfl_module_getelf(module, &more) : NULL;
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section))) {
		if (find_thread_offset(elf, section, place, inside)) {
			*place += bias;
			return true;
		}
	}
	return false;
}

/* How many symbols say so, and what the last one says. */
static size_t find_thread_local(Dwfl_Module *module, const char *wanted,
				uint64_t *inside)
{
	int count = module ? dwfl_module_getsymtab(module) : 0;
	size_t found = 0;

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr addr;
		const struct symbol called = {
			.name = file_symbol(module, i, &symbol, &addr, NULL),
		};

		if (called.name && GELF_ST_TYPE(symbol.st_info) == STT_TLS &&
		    symbol_is_called(&called, wanted)) {
			*inside = symbol.st_value;
			found++;
		}
	}
	return found;
}

bool lines_thread_symbol(struct lines *lines, uint64_t t, size_t number,
			 const char *name, uint64_t *inside)
{
	uint64_t bias;
	const struct symbols *symbols = names_mapped(lines->names, t, number,
						     &bias);

	return symbols && find_thread_local(
		debug_files_find(&lines->files, symbols), name, inside) == 1;
}

const char *lines_thread_local(struct lines *lines, uint64_t t,
			       const char *name)
{
	const struct symbols *symbols;
	uint64_t bias, inside;

	for (size_t i = 0; (symbols = names_mapped(lines->names, t, i, &bias));
	     i++)
		if (find_thread_local(debug_files_find(&lines->files, symbols),
				      name, &inside))
			return symbols->path;
	return NULL;
}

/* ------- all symbols ------- */

bool module_is_called(const char *file, const char *library)
{
	size_t length = strlen(library);

	if (strncmp(file, library, length) != 0)
		return false;
	file += length;
	return !*file || (*file == '.' && !file[strspn(file, ".0123456789")]);
}

/* One module's. */
struct listing {
	const struct symbols *symbols;
	struct lines_symbol symbol;
	uint64_t bias;
	struct number_map resolvers;	/* addresses as in the file */
	int (*visit)(void *context, const struct lines_symbol *symbol);
	void *context;
};

/* The recording does not tell them from functions. */
static int find_resolvers(struct listing *listing, Dwfl_Module *module)
{
	int count = module ? dwfl_module_getsymtab(module) : 0, rc = 0;

	for (int i = 1; i < count && !rc; i++) {
		GElf_Sym symbol;
		GElf_Addr addr;
		GElf_Word section;

		if (file_symbol(module, i, &symbol, &addr, &section) &&
		    section != SHN_UNDEF &&
		    GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
			rc = number_map_set(&listing->resolvers, addr, 1);
	}
	return rc;
}

static int tell(struct listing *listing, uint64_t addr)
{
	listing->symbol.addr = addr + listing->bias;
	listing->symbol.is_resolver =
		number_map_find(&listing->resolvers, addr) != NULL;
	return listing->visit(listing->context, &listing->symbol);
}

static int list_recorded(struct listing *listing)
{
	int rc = 0;

	for (size_t i = 0; i < listing->symbols->count && !rc; i++) {
		const struct symbol *symbol = &listing->symbols->list[i];

		listing->symbol.name = symbol->name;
		listing->symbol.size = symbol->size;
		listing->symbol.type = symbol->type;
		rc = tell(listing, symbol->addr);
	}
	return rc;
}

/* Whether the recording has one that begins there. */
static bool is_recorded(const struct listing *listing, uint64_t addr)
{
	const struct symbol *symbol = symbols_at(listing->symbols, addr);

	return symbol && symbol->addr == addr;
}

static int list_of_file(struct listing *listing, Dwfl_Module *module)
{
	int count = module ? dwfl_module_getsymtab(module) : 0, rc = 0;

	for (int i = 1; i < count && !rc; i++) {
		GElf_Sym symbol;
		GElf_Addr addr;
		GElf_Word section;
		const char *name = file_symbol(module, i, &symbol, &addr,
					       &section);
		unsigned type = GELF_ST_TYPE(symbol.st_info);

		if (!name || !*name || section == SHN_UNDEF ||
		    (type != STT_FUNC && type != STT_OBJECT &&
		     type != STT_GNU_IFUNC) || is_recorded(listing, addr))
			continue;
		listing->symbol.name = name;
		listing->symbol.size = symbol.st_size;
		listing->symbol.type = type == STT_OBJECT ? SYMBOL_OBJECT :
							    SYMBOL_FUNCTION;
		rc = tell(listing, addr);
	}
	return rc;
}

int lines_each_symbol_of(struct lines *lines, uint64_t t, size_t number,
			 int (*visit)(void *context,
				      const struct lines_symbol *symbol),
			 void *context, struct failure *why)
{
	const struct symbols *program;
	struct listing listing = { .visit = visit, .context = context };
	int rc = names_program(lines->names, t, &program, why);
	Dwfl_Module *file;

	if (rc)
		return rc;
	listing.symbols = names_mapped(lines->names, t, number, &listing.bias);
	if (!listing.symbols)
		return 0;
	listing.symbol.module = last_part(listing.symbols->path);
	listing.symbol.is_program = listing.symbols == program;
	file = debug_files_find(&lines->files, listing.symbols);
	if (find_resolvers(&listing, file))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = list_recorded(&listing);
	if (!rc)
		rc = list_of_file(&listing, file);
	number_map_release(&listing.resolvers);
	return rc;
}

int lines_each_symbol(struct lines *lines, uint64_t t,
		      int (*visit)(void *context,
				   const struct lines_symbol *symbol),
		      void *context, struct failure *why)
{
	uint64_t bias;
	int rc = 0;

	names_complete(lines->names, t);
	for (size_t i = 0; !rc && names_mapped(lines->names, t, i, &bias); i++)
		rc = lines_each_symbol_of(lines, t, i, visit, context, why);
	return rc;
}

/* ------- lines ------- */

static const char *linkage_name(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(entry, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(entry, DW_AT_MIPS_linkage_name, &attribute))
		return NULL;
	return dwarf_formstring(&attribute);
}

const char *lines_linkage_name(Dwarf_Die *entry)
{
	const char *name = linkage_name(entry);

	return name ? name : dwarf_diename(entry);
}

void lines_set_function(struct source_line *line, Dwarf_Die *function)
{
	const char *name = dwarf_diename(function);
	const char *linkage = linkage_name(function);

	if (!name)
		return;
	demangle_into(line->function, sizeof(line->function),
		      linkage ? linkage : name);
	*line->linkage_name = '\0';
	if (linkage && strcmp(linkage, line->function) != 0)
		snprintf(line->linkage_name, sizeof(line->linkage_name), "%s",
			 linkage);
}

size_t lines_scopes(struct lines *lines, Dwarf_Die *unit, uint64_t addr,
		    Dwarf_Die out[SCOPES_MOST])
{
	return scopes_find(&lines->scopes, unit, addr, out);
}

int lines_each_function(struct lines *lines, Dwarf_Die *unit,
			int (*visit)(void *context, Dwarf_Die *function),
			void *context)
{
	return scopes_each_function(&lines->scopes, unit, visit, context);
}

struct call_sites *lines_call_sites(struct lines *lines, Dwarf_Die *function)
{
	return call_sites_of(&lines->sites, function);
}

static const char *directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(unit, DW_AT_comp_dir, &attribute) ?
		       dwarf_formstring(&attribute) : NULL;
}

static void find_line(struct lines *lines, Dwfl_Module *module, uint64_t addr,
		      struct source_line *out)
{
	uint64_t bias;
	Dwarf_Die *unit = lines_unit(lines, module, addr, &bias);
	struct code_row row;

	if (!unit || !row_tables_find(&lines->rows, unit, addr - bias, &row))
		return;
	out->directory = directory_of(unit);
	out->file = row.file;
	out->line = row.line;
}

/* The symbol behind a demangled one. */
static void set_linkage_name(struct lines *lines, uint64_t t, uint64_t addr,
			     struct source_line *out)
{
	uint64_t bias;
	const struct symbols *module = names_module(lines->names, t, addr,
						    &bias);
	const struct symbol *symbol = module ? symbols_at(module, addr - bias) :
					       NULL;
	char *plain = symbol ? demangle(symbol->name) : NULL;

	if (plain)
		snprintf(out->linkage_name, sizeof(out->linkage_name), "%s",
			 symbol->name);
	free(plain);
}

/* "+0x1f" at the end of a name, or NULL. */
static char *last_offset(char *name)
{
	char *mark = strrchr(name, '+');

	return mark && !strncmp(mark, "+0x", 3) ? mark : NULL;
}

/* "NAME+0x1f", as the recording has it, in two parts. */
static void name_by_symbols(struct lines *lines, uint64_t t, uint64_t addr,
			    struct source_line *out)
{
	char *mark;

	if (!lines_symbol(lines, t, addr, out->function,
			  sizeof(out->function)))
		return;
	set_linkage_name(lines, t, addr, out);
	mark = last_offset(out->function);
	if (mark) {
		out->offset = strtoull(mark + 3, NULL, 16);
		*mark = '\0';
	}
}

static void name_module(struct lines *lines, uint64_t t, uint64_t addr,
			struct source_line *out)
{
	uint64_t bias;
	const struct symbols *symbols = names_module(lines->names, t, addr,
						     &bias);
	const char *slash = symbols ? strrchr(symbols->path, '/') : NULL;

	if (!symbols)
		return;
	snprintf(out->module, sizeof(out->module), "%s",
		 slash ? slash + 1 : symbols->path);
	if (!out->function[0])
		out->offset = addr - bias;
}

/*
 * Of closures, methods of local classes and static functions, only the symbol
 * has the scopes; that of a copy that an optimizer made names the copy.
 */
void lines_name_function(struct lines *lines, uint64_t t, uint64_t addr,
			 Dwarf_Die *function, struct source_line *out)
{
	uint64_t bias;
	const struct symbols *module = names_module(lines->names, t, addr,
						    &bias);
	const struct symbol *symbol = module ? symbols_at(module, addr - bias) :
					       NULL;
	char *plain = NULL;

	if (symbol && dwarf_tag(function) == DW_TAG_subprogram &&
	    !linkage_name(function))
		plain = demangle(symbol->name);
	if (!plain || strstr(plain, " [clone ")) {
		free(plain);
		lines_set_function(out, function);
		return;
	}
	snprintf(out->function, sizeof(out->function), "%s", plain);
	snprintf(out->linkage_name, sizeof(out->linkage_name), "%s",
		 symbol->name);
	free(plain);
}

/* The function or inlined function that the address is in. */
static void name_function(struct lines *lines, uint64_t t, uint64_t addr,
			  struct source_line *out)
{
	uint64_t bias, more;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	Dwarf_Die *unit = lines_unit(lines, module, addr - bias, &more);
	Dwarf_Die scopes[SCOPES_MOST];
	size_t count = unit ? lines_scopes(lines, unit, addr - bias - more,
					   scopes) : 0;

	while (count-- > 0)
		if (dwarf_tag(&scopes[count]) != DW_TAG_lexical_block &&
		    dwarf_diename(&scopes[count])) {
			lines_name_function(lines, t, addr, &scopes[count],
					    out);
			return;
		}
}

void lines_find(struct lines *lines, uint64_t t, uint64_t addr,
		struct source_line *out)
{
	Dwfl_Module *module;
	uint64_t bias;

	*out = (struct source_line) { 0 };
	name_by_symbols(lines, t, addr, out);
	name_module(lines, t, addr, out);
	module = lines_module(lines, t, addr, &bias);
	if (!module)
		return;
	find_line(lines, module, addr - bias, out);
	if (out->line)
		name_function(lines, t, addr, out);
}

bool lines_row(struct lines *lines, uint64_t t, uint64_t addr,
	       struct code_row *out)
{
	uint64_t bias, more;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	Dwarf_Die *unit = lines_unit(lines, module, addr - bias, &more);

	if (!unit)
		return false;
	bias += more;
	if (!row_tables_find(&lines->rows, unit, addr - bias, out))
		return false;
	out->start += bias;
	out->end += bias;
	out->first += bias;
	return true;
}

/* ------- code ------- */

static int each_range(Dwarf_Die *unit, uint64_t bias,
		      int (*visit)(void *context, uint64_t start,
				   uint64_t end), void *context)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int rc = 0;

	while (!rc && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0)
		rc = visit(context, start + bias, end + bias);
	return rc;
}

/* Whether a file has the C library in itself; it may load others. */
static bool is_whole(const struct symbols *symbols)
{
	return symbols_find(symbols, "__libc_start_main") != NULL;
}

int lines_each_code(struct lines *lines, uint64_t t,
		    int (*visit)(void *context, uint64_t start, uint64_t end),
		    void *context)
{
	uint64_t bias, other;
	const struct symbols *symbols = names_mapped(
		lines->names, t, 0, &bias);
	Dwarf_CU *unit = NULL;
	uint64_t more;
	Dwarf *dwarf;
	Dwarf_Die die;
	int rc = 0;

	if (!symbols || (names_mapped(lines->names, t, 1,
						 &other) &&
			 !is_whole(symbols)))
		return 0;
	dwarf = debug_files_dwarf(&lines->files, symbols, &more);
	while (!rc && dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL,
						&die, NULL))
		rc = each_range(&die, bias + more, visit, context);
	return rc;
}

/* ------- variables ------- */

struct atomics {
	uint64_t bias;
	int (*visit)(void *context, uint64_t addr, uint64_t size);
	void *context;
};

static int visit_atomic(void *context, uint64_t addr, uint64_t size)
{
	const struct atomics *atomics = context;

	return atomics->visit(atomics->context, addr + atomics->bias, size);
}

Dwarf *lines_dwarf(struct lines *lines, uint64_t t, size_t number,
		   uint64_t *bias, bool *is_last)
{
	const struct symbols *symbols = names_mapped(
		lines->names, t, number, bias);
	uint64_t more;
	Dwarf *dwarf;

	*is_last = !symbols;
	if (!symbols)
		return NULL;
	dwarf = debug_files_dwarf(&lines->files, symbols, &more);
	*bias += more;
	return dwarf;
}

/* The same, but NULL if nobody wants to know of the file. */
static Dwarf *wanted_dwarf(struct lines *lines, uint64_t t, size_t number,
			   lines_wanted *wanted, uint64_t *bias, bool *is_last)
{
	const struct symbols *symbols = names_mapped(lines->names, t, number,
						     bias);

	*is_last = !symbols;
	return symbols && wanted(symbols->path) ?
		       lines_dwarf(lines, t, number, bias, is_last) : NULL;
}

int lines_each_atomic(struct lines *lines, uint64_t t, lines_wanted *wanted,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context)
{
	struct atomics atomics = { .visit = visit, .context = context };
	bool is_last = false;
	int rc = 0;

	for (size_t i = 0; !rc && !is_last; i++) {
		Dwarf *dwarf = wanted_dwarf(lines, t, i, wanted,
					    &atomics.bias, &is_last);

		if (dwarf)
			rc = dwarf_each_atomic(dwarf, visit_atomic, &atomics);
	}
	return rc;
}

int lines_add_places(struct lines *lines, uint64_t t, lines_wanted *wanted,
		     struct dwarf_places *out)
{
	bool is_last = false;
	int rc = 0;

	for (size_t i = 0; !rc && !is_last; i++) {
		uint64_t bias;
		Dwarf *dwarf = wanted_dwarf(lines, t, i, wanted, &bias,
					    &is_last);

		if (dwarf)
			rc = dwarf_places_add(out, dwarf, bias);
	}
	return rc;
}

/* ------- frames ------- */

/* An operation that is a register and an offset. */
static bool is_based(const Dwarf_Op *op, unsigned *reg, uint64_t *offset)
{
	bool is_short = DW_OP_breg0 <= op->atom && op->atom <= DW_OP_breg31;

	*reg = is_short ? op->atom - (unsigned)DW_OP_breg0 :
			  (unsigned)op->number;
	*offset = is_short ? op->number : op->number2;
	return is_short || op->atom == DW_OP_bregx;
}

/* Whether `cfi` says it for the address, as in the module's file. */
static bool find_frame(Dwarf_CFI *cfi, uint64_t addr, bool is_stored,
		       unsigned *reg, uint64_t *offset)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	bool found;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr, &frame))
		return false;
	found = !dwarf_frame_cfa(frame, &ops, &count) &&
		count == (is_stored ? 2 : 1) &&
		(is_stored ? ops[1].atom == DW_OP_deref :
			     ops[0].atom == DW_OP_bregx) &&
		is_based(&ops[0], reg, offset);
	free(frame);
	return found;
}

static bool find_in_module(struct lines *lines, uint64_t t, uint64_t addr,
			   bool is_stored, unsigned *reg, uint64_t *offset)
{
	uint64_t bias;
	Dwfl_Module *module = lines_module(lines, t, addr, &bias);
	Dwarf_Addr more;
	Dwarf_CFI *cfi;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &more);
	if (cfi && find_frame(cfi, addr - bias - more, is_stored, reg, offset))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &more);
	return find_frame(cfi, addr - bias - more, is_stored, reg, offset);
}

bool lines_frame(struct lines *lines, uint64_t t, uint64_t addr,
		 unsigned *reg, uint64_t *offset)
{
	return find_in_module(lines, t, addr, false, reg, offset);
}

bool lines_frame_stored(struct lines *lines, uint64_t t, uint64_t addr,
			unsigned *reg, uint64_t *offset)
{
	return find_in_module(lines, t, addr, true, reg, offset);
}

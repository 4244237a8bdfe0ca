/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file_symbols.c - see file_symbols.h */
#include "replayer/symbols/file_symbols.h"

#include <gelf.h>
#include <stdbool.h>

static bool has_thumb(Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	GElf_Ehdr header;

	return elf && gelf_getehdr(elf, &header) && header.e_machine == EM_ARM;
}

static bool is_function(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

const char *file_symbol(Dwfl_Module *module, int i, GElf_Sym *symbol,
			GElf_Addr *addr, GElf_Word *section)
{
	const char *name = dwfl_module_getsym_info(module, i, symbol, addr,
						   section, NULL, NULL);

	if (name && *addr & 1 && is_function(symbol) && has_thumb(module))
		--*addr;
	return name;
}

/* An odd address is in functions of both kinds of code. */
const char *file_symbol_at(struct symbol_tables *tables, Dwfl_Module *module,
			   GElf_Addr addr, GElf_Off *offset, GElf_Sym *symbol)
{
	bool thumb = has_thumb(module);
	const char *name = symbol_tables_find(tables, module,
					      thumb ? addr | 1 : addr,
					      offset, symbol);

	if (name && thumb && is_function(symbol))
		*offset -= !(addr & 1) && !(symbol->st_value & 1);
	else if (name && thumb)
		*offset -= !(addr & 1);
	return name;
}

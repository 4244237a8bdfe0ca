/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sections.c - see sections.h */
#include "replayer/symbols/sections.h"

#include <gelf.h>

/* Data of threads is where others are, too. */
static bool is_there(const GElf_Shdr *header, uint64_t addr)
{
	return header->sh_flags & SHF_ALLOC &&
	       !(header->sh_flags & SHF_TLS) &&
	       addr - header->sh_addr < header->sh_size;
}

bool section_find(Dwfl_Module *module, uint64_t addr, struct section *out)
{
	GElf_Addr bias = 0;
	size_t names;

	out->elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	out->handle = NULL;
	if (!out->elf || elf_getshdrstrndx(out->elf, &names))
		return false;
	while ((out->handle = elf_nextscn(out->elf, out->handle))) {
		if (!gelf_getshdr(out->handle, &out->header) ||
		    !is_there(&out->header, addr - bias))
			continue;
		out->offset = addr - bias - out->header.sh_addr;
		out->name = elf_strptr(out->elf, names, out->header.sh_name);
		return out->name != NULL;
	}
	return false;
}

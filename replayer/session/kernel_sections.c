/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_sections.c - see kernel_sections.h
 *
 * Source: Linux, kernel/module/sysfs.c: a list of pointers to attributes, the
 * last one NULL.  The address is behind the attribute, or since Linux 6.14, in
 * it.
 */
#include "replayer/session/kernel_sections.h"

#include <stdlib.h>
#include <string.h>

#include "replayer/session/kernel_internal.h"

#define SECTIONS_MOST 512u
#define NAME 64u		/* of a section, with its end */

enum place { SECTIONS, ATTRIBUTES, SECTION_NAME, ADDRESS, PLACES };

static const struct kernel_place kinds[][PLACES] = {
	{ { "module", "sect_attrs" }, { "module_sect_attrs", "grp.bin_attrs" },
	  { "module_sect_attr", "battr.attr.name" },
	  { "module_sect_attr", "address" } },
	{ { "module", "sect_attrs" }, { "module_sect_attrs", "grp.bin_attrs" },
	  { "bin_attribute", "attr.name" }, { "bin_attribute", "private" } },
	{ { "module", "sect_attrs" },
	  { "module_sect_attrs", "grp.bin_attrs_new" },
	  { "bin_attribute", "attr.name" }, { "bin_attribute", "private" } },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool take_section(struct kernel *kernel, uint64_t attribute,
			 const uint32_t at[PLACES],
			 struct module_section *out)
{
	uint64_t name = kernel_pointer(kernel, attribute + at[SECTION_NAME]);
	char text[NAME];

	if (!kernel_read(kernel, name, text, sizeof(text)) ||
	    !memchr(text, 0, sizeof(text)) || !*text)
		return false;
	out->addr = kernel_pointer(kernel, attribute + at[ADDRESS]);
	out->name = out->addr ? strdup(text) : NULL;
	return out->name;
}

void kernel_sections_read(struct kernel *kernel, uint64_t module,
			  struct module_sections *out)
{
	uint32_t at[PLACES];
	uint64_t list;
	size_t kind = 0;

	*out = (struct module_sections){ 0 };
	while (kind < KINDS &&
	       kernel_places(kernel, kinds[kind], PLACES, at) != PLACES)
		kind++;
	if (kind == KINDS)
		return;
	list = kernel_pointer(kernel, module + at[SECTIONS]);
	list = list ? kernel_pointer(kernel, list + at[ATTRIBUTES]) : 0;
	out->list = list ? calloc(SECTIONS_MOST, sizeof(*out->list)) : NULL;
	for (; out->list && out->count < SECTIONS_MOST; list += 8) {
		uint64_t attribute = kernel_pointer(kernel, list);

		if (!attribute || !take_section(kernel, attribute, at,
						&out->list[out->count]))
			break;
		out->count++;
	}
}

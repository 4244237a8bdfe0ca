/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mappings.c - see mappings.h */
#include "replayer/session/mappings.h"

#include <string.h>

#include "replayer/replayer.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

static const char *name_of(const struct region *region)
{
	return region->name ? region->name : "";
}

static bool continues(const struct region *a, const struct region *b)
{
	return a->end == b->start && a->prot == b->prot && a->kind == b->kind &&
	       !strcmp(name_of(a), name_of(b)) &&
	       (a->kind == REGION_ANON ||
		a->offset + (a->end - a->start) == b->offset);
}

int mappings_each(struct replayer *replayer,
		  int (*visit)(void *context, const struct region *mapping),
		  void *context)
{
	struct region whole = { 0 };
	size_t count = 0;
	struct vm *vm = replayer_vm(replayer);
	const struct region *list = vm ? memory_regions(vm_memory(vm), &count) :
					 NULL;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		if (whole.end && continues(&whole, &list[i])) {
			whole.end = list[i].end;
			continue;
		}
		if (whole.end)
			rc = visit(context, &whole);
		whole = list[i];
	}
	return whole.end && !rc ? visit(context, &whole) : rc;
}

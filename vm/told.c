/* SPDX-License-Identifier: GPL-2.0-or-later */
/* told.c - which accesses an observer is told of */
#include "vm/vm.h"

static bool is_in(const struct vm_range *range,
		  const struct vm_access_told *access)
{
	return access->addr <= range->last &&
	       access->addr + access->size - 1 >= range->first;
}

static bool is_for(const struct vm_observer *observer,
		   const struct vm_access_told *access)
{
	bool is = !observer->parts;

	if (!(observer->accesses & (access->writes ? VM_WRITES : VM_READS)) ||
	    !is_in(&observer->data, access))
		return false;
	for (size_t i = 0; i < observer->part_count && !is; i++)
		is = is_in(&observer->parts[i], access);
	return is;
}

void vm_observer_tell(const struct vm_observer *observer,
		      const struct vm_access_told *list, size_t count)
{
	size_t from = 0, to = 0;

	if (observer->data.first == 0 && observer->data.last == UINT64_MAX &&
	    !(VM_ALL & ~observer->accesses) && !observer->parts) {
		observer->accessed(observer->context, list, count);
		return;
	}
	while (from < count) {
		while (from < count && !is_for(observer, &list[from]))
			from++;
		for (to = from; to < count && is_for(observer, &list[to]);)
			to++;
		if (to > from)
			observer->accessed(observer->context, list + from,
					   to - from);
		from = to;
	}
}

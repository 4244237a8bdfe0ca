/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt_follow.c - devices that follow a recording, to be those of a live machine
 *
 * What the guest wrote to them makes their state; what it read tells the rest:
 * which interrupt it took, what the clock said.  What they stored in memory is
 * there already.
 */
#include "vm/board/virt_internal.h"

void virt_follow_read(struct virt *virt, uint64_t addr, uint64_t value)
{
	if (addr == VIRT_GIC_PROCESSOR + GIC_ACKNOWLEDGE)
		gic_follow(&virt->gic, (unsigned)value);
	else if (addr == VIRT_CLOCK)
		pl031_follow(&virt->clock, value);
}

void virt_follow_write(struct virt *virt, uint64_t addr, unsigned size,
		       uint64_t value)
{
	virt_write_device(virt, addr, size, value);
}

void virt_follow_stores(struct virt *virt)
{
	for (unsigned i = 0; i < virt->virtio_count; i++)
		virtio_follow(&virt->virtio[i]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt_follow.c - devices that follow a recording, to become a live machine's
 *
 * A key frame has their state.  From there on, what the guest wrote to them
 * makes it; what it read tells the rest: which interrupt it took, what the clock
 * said.  What they stored in memory is there already.
 */
#include "vm/board/virt_internal.h"

void virt_state(struct virt *virt, struct state *state)
{
	virt_set_lines(virt);
	gic_state(&virt->gic, state);
	psci_state(&virt->psci, state);
	pl011_state(&virt->console, state);
	pl031_state(&virt->clock, state);
	for (unsigned i = 0; i < virt->virtio_count; i++)
		virtio_state(&virt->virtio[i], i, state);
}

unsigned virt_disks(const struct virt *virt)
{
	return virt->disk_count;
}

bool virt_next_written(struct virt *virt, unsigned disk, uint64_t *block,
		    uint8_t bytes[GUEST_PAGE])
{
	return disk_next_written(&virt->disks[disk], block, bytes);
}

void virt_follow_block(struct virt *virt, unsigned disk, uint64_t block,
		       const uint8_t bytes[GUEST_PAGE])
{
	disk_follow_block(&virt->disks[disk], block, bytes);
}

void virt_follow_read(struct virt *virt, uint64_t addr, uint64_t value)
{
	const uint64_t number = (addr - VIRT_VIRTIO) / VIRT_VIRTIO_SIZE;

	virt->gic.present = board_core(virt->board);
	if (addr == VIRT_GIC_PROCESSOR + GIC_ACKNOWLEDGE)
		gic_follow(&virt->gic, value);
	else if (addr == VIRT_CLOCK)
		pl031_follow(&virt->clock, value);
	else if (number < virt->virtio_count)
		virtio_follow_read(&virt->virtio[number],
				   addr % VIRT_VIRTIO_SIZE, value);
	virt_set_lines(virt);
}

void virt_follow_write(struct virt *virt, uint64_t addr, unsigned size,
		       uint64_t value)
{
	virt_write_device(virt, addr, size, value);
	virt_set_lines(virt);
}

void virt_follow_stores(struct virt *virt, bool begins)
{
	if (begins)
		virt->psci.processors[board_core(virt->board)].starts = false;
	for (unsigned i = 0; i < virt->virtio_count; i++)
		virtio_follow(&virt->virtio[i]);
	virt_set_lines(virt);
}

void virt_follow_call(struct virt *virt)
{
	uint64_t x0;

	if (virt_called(virt, &x0) == VIRT_RESET)
		virt_reset(virt);
}

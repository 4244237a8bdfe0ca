/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * given_tree.h - a device tree of the user's for the machine "virt"
 *
 * It is used as it is, but for what only this start knows: the kernel's command
 * line, and where the initial file system is.
 *
 * Errors:     ERR_INPUT: it is none, or has memory that is not there;
 *             ERR_NO_MEMORY.
 */
#ifndef CPREC_VM_BOARD_GIVEN_TREE_H
#define CPREC_VM_BOARD_GIVEN_TREE_H

#include "formats/region.h"
#include "vm/board/start_file.h"
#include "vm/board/virt_tree.h"

/* Devices and cores of a tree that this machine does not have. */
struct tree_absent {
	unsigned count;
	char first[80];		/* what the tree calls it */
};

int given_tree_make(struct output *out, struct tree_absent *absent,
		    const struct virt_tree *about,
		    const struct start_file *file, struct failure *why);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_sections.h - where a kernel has put the sections of its modules' files
 *
 * It tells in sysfs, and has a list of them.
 *
 * Ownership:  module_sections_release() ends the list.
 * Errors:     none: a kernel that has no such list has no sections.
 */
#ifndef CPREC_REPLAYER_SESSION_KERNEL_SECTIONS_H
#define CPREC_REPLAYER_SESSION_KERNEL_SECTIONS_H

#include <stdint.h>

struct kernel;
struct module_sections;

/* Of the module at an address, where the replay stands. */
void kernel_sections_read(struct kernel *kernel, uint64_t module,
			  struct module_sections *out);

#endif

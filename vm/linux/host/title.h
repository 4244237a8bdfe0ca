/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * title.h - the guest's name, arguments and environment where the host has a
 * process's: ps(1), pgrep(1) and the like find it there
 *
 * What is shown is as the program was given it: what it writes over its
 * arguments later is not seen.
 *
 * Errors:     none: where the kernel refuses (it was built without
 *             CONFIG_CHECKPOINT_RESTORE), cprec's own arguments stay there.
 * Threads:    the first time before any is started; later by any one.
 */
#ifndef CPREC_VM_LINUX_HOST_TITLE_H
#define CPREC_VM_LINUX_HOST_TITLE_H

struct program;

/* The process becomes this program, with a NULL-ended environment. */
void title_show(const struct program *program, char *const *envp);

/* A process that is none of the guest's is shown as cprec's; allocates nothing. */
void title_show_own(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guest_processes.h - the processes of a machine's kernel, for `cprec ps --at`
 */
#ifndef CPREC_TOOLS_GUEST_PROCESSES_H
#define CPREC_TOOLS_GUEST_PROCESSES_H

struct failure;
struct view;

/* What a view shows at its time. */
int guest_processes_show(struct view *view, struct failure *why);

#endif

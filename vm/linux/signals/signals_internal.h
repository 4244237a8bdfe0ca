/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signals_internal.h - the files of signals/, for each other */
#ifndef CPREC_VM_LINUX_SIGNALS_SIGNALS_INTERNAL_H
#define CPREC_VM_LINUX_SIGNALS_SIGNALS_INTERNAL_H

#include "vm/linux/signals/signals.h"

#define UNBLOCKABLE (MASK_OF(SIGKILL) | MASK_OF(SIGSTOP))

/* ------- host_signals.c ------- */

/* Makes the host do with a signal what the guest wants done. */
void signals_install(const struct guest_action *action, int number);

/*
 * Asks another process of the guest to end as by SIGKILL; whether a process
 * that has handlers for these signals may be one that understands.
 */
void signals_end_process(int pid);
bool signals_can_end(uint64_t caught);

/* A SIGSEGV or SIGBUS that the guest has sent to one of its threads. */
void signals_send_own(struct linux_thread *thread, const siginfo_t *info);

/* The first of signals->own that is not blocked; 0 if there is none. */
int signals_own_number(const struct signals *signals);

/* Takes the first of signals->own that is in `set`; 0 if none is. */
int signals_take_own(struct signals *signals, uint64_t set, siginfo_t *info);

/* Takes the signal that is to be delivered; there is one. */
void signals_take(struct linux_process *process, siginfo_t *info);

/* ------- signals.c ------- */

enum default_action { DEFAULT_END, DEFAULT_NOTHING, DEFAULT_STOP };

/* What a signal does whose disposition is SIG_DFL. */
enum default_action signals_default(int number);

#endif

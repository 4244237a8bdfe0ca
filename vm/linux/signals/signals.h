/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - the parts of signals, for each other
 *
 * The host's handler keeps what comes (host_signals.c); between instructions
 * of the guest it is delivered (signal_delivery.c), as dispositions and masks
 * say (signals.c).
 */
#ifndef CPREC_VM_LINUX_SIGNALS_SIGNALS_H
#define CPREC_VM_LINUX_SIGNALS_SIGNALS_H

#include "vm/linux/process.h"

#define MASK_OF(number) (UINT64_C(1) << ((number) - 1))
#define UNBLOCKABLE (MASK_OF(SIGKILL) | MASK_OF(SIGSTOP))

/* ------- host_signals.c ------- */

/* Makes the host do with a signal what the guest wants done. */
void signals_install(const struct guest_action *action, int number);

/* Puts a signal back into the host's kernel, to come again. */
void signals_queue_again(int number, const siginfo_t *info);

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

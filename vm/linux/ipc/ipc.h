/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipc.h - shared memory, semaphores and message queues of System V, and who is
 * told of messages in POSIX's queues
 *
 * The objects are the host's own, so that programs that are not recorded can
 * have them too.  This room performs the calls that need code; what is
 * attached is mapped by memory/, and the room itself remembers nothing.
 *
 * Errors:     negative errnos.
 */
#ifndef CPREC_VM_LINUX_IPC_IPC_H
#define CPREC_VM_LINUX_IPC_IPC_H

#include "vm/linux/kernel.h"

/* shm.c */
syscall_handler sys_shmget;
syscall_handler sys_shmat;
syscall_handler sys_shmdt;
syscall_handler sys_shmctl;

/* sysv.c */
syscall_handler sys_semctl;
syscall_handler sys_msgsnd;
syscall_handler sys_msgrcv;
syscall_handler sys_msgctl;

/* notify.c */
syscall_handler sys_mq_notify;

#endif

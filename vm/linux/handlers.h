/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handlers.h - the system calls that need code of their own
 *
 * Each is called with the row of the call and its six arguments, and returns
 * what the kernel would: see process.h.
 */
#ifndef CPREC_VM_LINUX_HANDLERS_H
#define CPREC_VM_LINUX_HANDLERS_H

#include "vm/linux/abi/syscall_table.h"

/* transfer.c */
syscall_handler sys_read;
syscall_handler sys_write;
syscall_handler sys_pread64;
syscall_handler sys_pwrite64;
syscall_handler sys_readv;
syscall_handler sys_writev;
syscall_handler sys_preadv;
syscall_handler sys_pwritev;
syscall_handler sys_preadv2;
syscall_handler sys_pwritev2;

/* files.c */
syscall_handler sys_open;
syscall_handler sys_openat;
syscall_handler sys_openat2;
syscall_handler sys_about;
syscall_handler sys_readlink;
syscall_handler sys_readlinkat;
syscall_handler sys_getdents;
syscall_handler sys_sendfile;
syscall_handler sys_splice;
syscall_handler sys_tee;
syscall_handler sys_copy_file_range;
syscall_handler sys_resize;
syscall_handler sys_truncate;
syscall_handler sys_creat;

/* descriptors.c */
syscall_handler sys_close;
syscall_handler sys_close_range;
syscall_handler sys_make;
syscall_handler sys_pipe;
syscall_handler sys_socketpair;
syscall_handler sys_dup;
syscall_handler sys_dup2;
syscall_handler sys_dup3;
syscall_handler sys_fcntl;

/* ioctl.c */
syscall_handler sys_ioctl;

/* rlimits.c */
syscall_handler sys_getrlimit;
syscall_handler sys_setrlimit;
syscall_handler sys_prlimit64;

/* memory_calls.c */
syscall_handler sys_mmap;
syscall_handler sys_mprotect;
syscall_handler sys_pkey_mprotect;
syscall_handler sys_munmap;
syscall_handler sys_brk;

/* mremap.c */
syscall_handler sys_mremap;

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

/* advice.c */
syscall_handler sys_msync;
syscall_handler sys_mincore;
syscall_handler sys_madvise;
syscall_handler sys_mlock;

/* peaks.c */
syscall_handler sys_getrusage;

/* process_vm.c */
syscall_handler sys_process_vm_readv;
syscall_handler sys_process_vm_writev;

/* signals.c */
syscall_handler sys_rt_sigaction;
syscall_handler sys_rt_sigprocmask;
syscall_handler sys_rt_sigpending;

/* signal_wait.c */
syscall_handler sys_rt_sigtimedwait;

/* alternate_stack.c */
syscall_handler sys_sigaltstack;

/* signal_frame.c */
syscall_handler sys_rt_sigreturn;

/* kill.c */
syscall_handler sys_kill;
syscall_handler sys_tkill;
syscall_handler sys_tgkill;
syscall_handler sys_rt_sigqueueinfo;
syscall_handler sys_rt_tgsigqueueinfo;
syscall_handler sys_pidfd_send_signal;

/* poll.c */
syscall_handler sys_poll;
syscall_handler sys_ppoll;
syscall_handler sys_select;
syscall_handler sys_pselect6;

/* sockets.c */
syscall_handler sys_sendto;
syscall_handler sys_sendmsg;
syscall_handler sys_recvmsg;
syscall_handler sys_sendmmsg;
syscall_handler sys_recvmmsg;

/* fork.c */
syscall_handler sys_clone;
syscall_handler sys_clone3;
syscall_handler sys_fork;
syscall_handler sys_vfork;

/* exec.c */
syscall_handler sys_execve;
syscall_handler sys_execveat;

/* futex.c */
syscall_handler sys_futex;

/* threads.c */
syscall_handler sys_exit;
syscall_handler sys_exit_group;
syscall_handler sys_set_tid_address;
syscall_handler sys_set_robust_list;
syscall_handler sys_get_robust_list;
syscall_handler sys_sched_yield;

/* process_calls.c */
syscall_handler sys_prctl;
syscall_handler sys_set_rights;
syscall_handler sys_arch_prctl;
syscall_handler sys_sched_getaffinity;
syscall_handler sys_getcpu;
syscall_handler sys_nothing;
syscall_handler sys_missing;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_linux.h - structures of Linux 6.1, with the members that are looked at
 */
#ifndef SMALL_LINUX_H
#define SMALL_LINUX_H

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct list_head {
	struct list_head *next, *prev;
};

/* ------- processes ------- */

struct pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
	u64 orig_x0;
	int syscallno;
	u32 unused2;
	u64 sdei_ttbr1, pmr_save;
	u64 stackframe[2];
	u64 lockdep_hardirqs, exit_rcu;
};

struct signal_struct {
	u32 flags;
};

struct kernel_siginfo {
	int si_signo, si_errno, si_code;
	int rest[29];
};

struct ksignal {
	u64 ka[4];
	struct kernel_siginfo info;
	int sig;
};

struct mm_struct {
	u64 *pgd;
};

struct task_struct {
	u32 __state;
	void *stack;
	struct list_head tasks;
	struct mm_struct *mm;
	int exit_state;
	int pid;
	struct task_struct *real_parent, *group_leader;
	char comm[16];
	struct signal_struct *signal;
};

/* ------- the log ------- */

struct prb_data_blk_lpos {
	u64 begin, next;
};

struct prb_desc {
	u64 state_var;
	struct prb_data_blk_lpos text_blk_lpos;
};

struct printk_info {
	u64 seq, ts_nsec;
	u16 text_len;
	u8 facility;
	u8 flags : 5, level : 3;
	u32 caller_id;
};

struct prb_desc_ring {
	u32 count_bits;
	struct prb_desc *descs;
	struct printk_info *infos;
	u64 head_id, tail_id;
};

struct prb_data_ring {
	u32 size_bits;
	char *data;
	u64 head_lpos, tail_lpos;
};

struct printk_ringbuffer {
	struct prb_desc_ring desc_ring;
	struct prb_data_ring text_data_ring;
	u64 fail;
};

struct prb_reserved_entry {
	struct printk_ringbuffer *rb;
	u64 irqflags, id;
	u32 text_space;
};

/* ------- modules ------- */

struct attribute {
	const char *name;
	u16 mode;
};

struct bin_attribute {
	struct attribute attr;
	u64 size;
	void *private;
};

struct module_sect_attr {
	struct bin_attribute battr;
	u64 address;
};

struct attribute_group {
	const char *name;
	struct bin_attribute **bin_attrs;
};

struct module_sect_attrs {
	struct attribute_group grp;
	u32 nsections;
};

struct mod_kallsyms {
	void *symtab;
	u32 num_symtab;
	char *strtab;
};

struct module_layout {
	void *base;
	u32 size;
};

struct module {
	u32 state;
	struct list_head list;
	char name[56];
	struct mod_kallsyms *kallsyms;
	struct module_layout core_layout;
	struct module_sect_attrs *sect_attrs;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_linux.c - a kernel of its own that keeps what it knows as Linux does
 *
 * It has a log, a module and one process, which makes system calls.  What it
 * does is in functions with Linux's names, small as they are.
 */
#include "small_linux.h"

#define APART __attribute__((noinline))
#define UART ((volatile u32 *)0xffffff8009000000)
#define MODULE ((struct module *)0xffffff8007100000)
#define MODULE_AT 0xffffff8007000000
#define USER_AT 0x400000
#define STACK 0x4000
#define ESR_SVC 0x15

#ifndef FORGETS
#define FORGETS 0	/* whether an exec has the number of its call forgotten */
#endif

enum { NR_WRITE = 64, NR_EXIT_GROUP = 94, NR_KILL = 129, NR_SIGRETURN = 139,
       NR_GETPID = 172, NR_EXECVE = 221 };

/* Of the script that links it: symbols, sections and code. */
extern const u8 module_code[], module_code_end[], module_symbols[];
extern const u32 module_symbol_count;
extern const char module_names[];
extern const u8 user_code[], user_code_end[];
extern const u64 module_write, module_report;
extern const struct {
	const char *name;
	u64 addr;
} module_sections[];
extern const u32 module_section_count;
extern const u64 user_exec, user_handler;
extern u64 low_1[];

/* ------- a library ------- */

/* Compilers call them, too. */
void *memcpy(void *to, const void *from, u64 size)
{
	for (u64 i = 0; i < size; i++)
		((volatile u8 *)to)[i] = ((const u8 *)from)[i];
	return to;
}

void *memset(void *to, int value, u64 size)
{
	for (u64 i = 0; i < size; i++)
		((volatile u8 *)to)[i] = (u8)value;
	return to;
}

static u64 length(const char *text)
{
	u64 size = 0;

	while (text[size])
		size++;
	return size;
}

/* ------- the log ------- */

#define DESC_BITS 5
#define TEXT_BITS 12
#define IDS ((1ul << 62) - 1)
#define FIRST_ID (-(1ul << DESC_BITS) - 1 & IDS)

static struct prb_desc descs[1 << DESC_BITS] = {
	[(1 << DESC_BITS) - 1] = { .state_var = FIRST_ID | 3ul << 62,
				   .text_blk_lpos = { 1, 1 } },
};
static struct printk_info infos[1 << DESC_BITS];
static char texts[1 << TEXT_BITS];
static struct printk_ringbuffer printk_rb_static = {
	.desc_ring = { DESC_BITS, descs, infos, FIRST_ID, FIRST_ID },
	.text_data_ring = { TEXT_BITS, texts, 0, 0 },
};
const char linux_banner[] = "Linux version 6.1.0-small (of a test)";

APART void prb_reserve(struct prb_reserved_entry *entry,
		       struct printk_ringbuffer *rb, u32 size)
{
	struct prb_desc_ring *ring = &rb->desc_ring;
	u64 id = (ring->head_id + 1) & IDS, at = rb->text_data_ring.head_lpos;
	struct prb_desc *desc = &ring->descs[id % (1 << DESC_BITS)];

	if (((id - ring->tail_id) & IDS) >= 1 << DESC_BITS)
		ring->tail_id = (ring->tail_id + 1) & IDS;
	ring->head_id = id;
	desc->state_var = id;
	ring->infos[id % (1 << DESC_BITS)].seq =
		(id - FIRST_ID - 1) & IDS;
	desc->text_blk_lpos.begin = at;
	at = (at + 8 + size + 7) & ~7ul;
	desc->text_blk_lpos.next = at;
	rb->text_data_ring.head_lpos = at;
	entry->rb = rb;
	entry->id = id;
}

APART void prb_commit(struct prb_reserved_entry *entry)
{
	struct prb_desc_ring *ring = &entry->rb->desc_ring;

	*(volatile u64 *)&ring->descs[entry->id % (1 << DESC_BITS)].state_var =
		entry->id | 1ul << 62;
}

APART void prb_final_commit(struct prb_reserved_entry *entry)
{
	struct prb_desc_ring *ring = &entry->rb->desc_ring;

	*(volatile u64 *)&ring->descs[entry->id % (1 << DESC_BITS)].state_var =
		entry->id | 2ul << 62;
}

/* The texts never come to their end. */
APART void printk(const char *text)
{
	struct prb_reserved_entry entry;
	struct printk_info *info;
	u64 size = length(text);

	prb_reserve(&entry, &printk_rb_static, (u32)size);
	info = &infos[entry.id % (1 << DESC_BITS)];
	info->text_len = (u16)size;
	info->level = 6;
	memcpy(texts + descs[entry.id % (1 << DESC_BITS)].text_blk_lpos.begin + 8,
	     text, size);
	if (info->seq % 2)
		prb_commit(&entry);
	else
		prb_final_commit(&entry);
}

/* ------- processes ------- */

static u8 stacks[2][STACK] __attribute__((aligned(STACK)));
static struct signal_struct signals;
static struct mm_struct memory = { low_1 };
struct task_struct program;
struct task_struct init_task = {
	.stack = stacks[0], .comm = "swapper/0", .real_parent = &init_task,
	.group_leader = &init_task, .signal = &signals,
	.tasks = { &program.tasks, &program.tasks },
};
struct task_struct program = {
	.stack = stacks[1], .comm = "first", .pid = 1, .mm = &memory,
	.real_parent = &init_task, .group_leader = &program,
	.signal = &signals, .tasks = { &init_task.tasks, &init_task.tasks },
};

APART void do_exit(long code)
{
	(void)code;
	asm volatile("ldr	w0, =0x84000008\n"
		     "hvc	#0\n" ::: "x0");
	for (;;)
		;
}

APART void do_group_exit(int code)
{
	signals.flags = 4;
	asm volatile("" ::: "memory");
	do_exit(code);
}

APART void do_coredump(const struct kernel_siginfo *info)
{
	asm volatile("" : : "r"(info) : "memory");
}

APART void signal_setup_done(int failed, struct ksignal *ksig, int stepping)
{
	asm volatile("" : : "r"(failed), "r"(ksig), "r"(stepping) : "memory");
}

static struct pt_regs interrupted;
static struct ksignal caught = { .sig = 10, .info = { .si_signo = 10 } };

/* As the kernel would on its way back; here, at once. */
static void interrupt(struct pt_regs *regs)
{
	regs->regs[0] = 0;
	interrupted = *regs;
	regs->regs[0] = 10;
	regs->pc = user_handler;
	signal_setup_done(0, &caught, 0);
}

static void start_thread(struct pt_regs *regs)
{
	int number = regs->syscallno;

	*regs = (struct pt_regs){ 0 };
	regs->syscallno = FORGETS ? -1 : number;
	regs->pc = user_exec;
	regs->sp = USER_AT + 0x300000;
	memcpy(program.comm, "second", 7);
}

static long write(u64 file, const char *text, u64 size)
{
	if (file == 9)
		return ((long (*)(const char *, u64))module_write)(text, size);
	for (u64 i = 0; i < size; i++)
		*UART = (u8)text[i];
	return (long)size;
}

static long call(struct pt_regs *regs)
{
	switch (regs->syscallno) {
	case NR_WRITE:
		return write(regs->regs[0], (const char *)regs->regs[1],
			     regs->regs[2]);
	case NR_KILL:
		interrupt(regs);
		return (long)regs->regs[0];
	case NR_SIGRETURN:
		*regs = interrupted;
		regs->syscallno = -1;
		return (long)regs->regs[0];
	case NR_GETPID:
		return program.pid;
	case NR_EXECVE:
		printk("executes");
		start_thread(regs);
		return 0;
	case NR_EXIT_GROUP:
		do_group_exit((int)regs->regs[0] << 8);
	}
	return -38;
}

APART void do_el0_svc(struct pt_regs *regs)
{
	regs->orig_x0 = regs->regs[0];
	regs->syscallno = (int)regs->regs[8];
	regs->regs[0] = (u64)call(regs);
	asm volatile("" ::: "memory");
}

APART void el0t_64_sync_handler(struct pt_regs *regs)
{
	do_el0_svc(regs);
	asm volatile("" ::: "memory");
}

/* ------- the module ------- */

static struct list_head modules = { &MODULE->list, &MODULE->list };
static struct mod_kallsyms kallsyms;
static struct module_sect_attr section_list[8];
static struct bin_attribute *section_pointers[9];
static struct module_sect_attrs sections = {
	.grp = { "sections", section_pointers },
};

APART void report(int total)
{
	printk(total ? "the module has some" : "the module has none");
}

static void load_module(void)
{
	memcpy((void *)MODULE_AT, module_code,
	     (u64)(module_code_end - module_code));
	*(void **)module_report = report;
	kallsyms.symtab = (void *)module_symbols;
	kallsyms.num_symtab = module_symbol_count;
	kallsyms.strtab = (char *)module_names;
	for (u32 i = 0; i < module_section_count; i++) {
		section_list[i].battr.attr.name = module_sections[i].name;
		section_list[i].address = module_sections[i].addr;
		section_pointers[i] = &section_list[i].battr;
	}
	sections.nsections = module_section_count;
	memcpy(MODULE->name, "small_module", 13);
	MODULE->kallsyms = &kallsyms;
	MODULE->core_layout.base = (void *)MODULE_AT;
	MODULE->core_layout.size = 0x100000;
	MODULE->sect_attrs = &sections;
	MODULE->list.next = MODULE->list.prev = &modules;
	printk("a module is loaded");
}

/* ------- the beginning ------- */

void enter_user(u64 pc, u64 sp, void *stack);

void start_kernel(void)
{
	printk(linux_banner);
	load_module();
	memcpy((void *)USER_AT, user_code, (u64)(user_code_end - user_code));
	asm volatile("dsb	sy\n"
		     "ic	iallu\n"
		     "dsb	sy\n"
		     "isb");
	printk("enters the program");
	enter_user(USER_AT, USER_AT + 0x300000, stacks[1] + STACK);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.c - runs a program on the engine and on nothing else: the reference
 *
 * One arena, a virtual TLB that is answered from a page table, and system
 * calls passed to the host: what is left of the engine's speed behind that is
 * what `cprec run` is measured by.  No code is shared with cprec, on purpose.
 *
 * It does what the programs of `bench` need and no more.  Programs may be
 * linked statically or dynamically; they get one thread, no children and no
 * signals, and are trusted.  What is not known says so and is refused.
 *
 * The engine's TLB is mapped directly, so that speed depends on where things
 * lie: addresses are Linux's without randomization, as in cprec.
 */
#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unicorn/unicorn.h>
#include <unistd.h>

/* The arena holds an address by its low bits: no two of the below meet. */
#define ARENA_SIZE (UINT64_C(1) << 40)
#define PAGE_SHIFT 12
#define PAGE (UINT64_C(1) << PAGE_SHIFT)

#define PIE_BASE UINT64_C(0x555555554000)
#define USER_END UINT64_C(0x7ffffffff000)
#define STACK_SIZE (UINT64_C(8) << 20)
#define STACK_GAP UINT64_C(0x8000000)

/* Nothing is ever mapped here: the engine runs "until" it. */
#define NEVER UINT64_C(0x7ffffffffff000)

enum { WORDS_MOST = 4096, SEGMENTS_MOST = 32 };

static uc_engine *uc;
static uint8_t *arena;
static uint8_t *page_table;	/* by page: PROT_READ, PROT_WRITE, PROT_EXEC */
static uint64_t heap_start, heap_end;

/*
 * The lowest mapping.  What is unmapped is not handed out again, so that no
 * translation of code that was there once is found.
 */
static uint64_t lowest = USER_END - STACK_GAP;

__attribute__((noreturn)) static void die(const char *what, const char *why)
{
	fprintf(stderr, "bare: %s: %s\n", what, why);
	exit(125);
}

static void check(uc_err err)
{
	if (err)
		die("the engine", uc_strerror(err));
}

/* ------- memory ------- */

static uint64_t page_up(uint64_t value)
{
	return (value + PAGE - 1) & -PAGE;
}

static void *host(uint64_t addr)
{
	return arena + addr % ARENA_SIZE;
}

static uint8_t *page_of(uint64_t addr)
{
	return page_table + addr % ARENA_SIZE / PAGE;
}

static bool on_tlb_miss(uc_engine *engine, uint64_t addr, uc_mem_type type,
			uc_tlb_entry *entry, void *user)
{
	unsigned prot = *page_of(addr);
	unsigned need = type == UC_MEM_WRITE ? PROT_WRITE :
			type == UC_MEM_FETCH ? PROT_EXEC : PROT_READ;

	(void)engine;
	(void)user;
	if (!(prot & need))
		return false;
	entry->paddr = addr % ARENA_SIZE & -PAGE;
	entry->perms = prot;	/* the engine's bits are the host's */
	return true;
}

/* Edits the page table. */
static void set_pages(uint64_t addr, uint64_t size, unsigned prot)
{
	memset(page_of(addr), (int)prot, page_up(size) / PAGE);
	uc_ctl_flush_tlb(uc);
}

static int64_t map(uint64_t addr, uint64_t size, unsigned prot, unsigned flags,
		   int fd, uint64_t offset)
{
	size = page_up(size);
	if (!(flags & MAP_FIXED))
		addr = lowest -= size;
	/* Nobody else looks at what is shared. */
	flags = (flags & MAP_ANONYMOUS) | MAP_PRIVATE | MAP_FIXED |
		MAP_NORESERVE;
	if (mmap(host(addr), size, PROT_READ | PROT_WRITE, (int)flags, fd,
		 (off_t)offset) == MAP_FAILED)
		return -errno;
	set_pages(addr, size, prot);
	return (int64_t)addr;
}

static int64_t map_zeros(uint64_t addr, uint64_t size, unsigned prot)
{
	return map(addr, size, prot, MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int64_t move(uint64_t addr, uint64_t size, uint64_t new_size,
		    uint64_t flags)
{
	unsigned prot = *page_of(addr);
	uint64_t to = lowest - page_up(new_size);

	if (flags != MREMAP_MAYMOVE)
		return -ENOMEM;
	if (mremap(host(addr), size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   host(to)) == MAP_FAILED)
		return -errno;
	lowest = to;
	map_zeros(addr, size, PROT_NONE);
	set_pages(to, new_size, prot);
	return (int64_t)to;
}

static int64_t set_heap_end(uint64_t end)
{
	uint64_t from = page_up(heap_end), to = page_up(end);

	if (end < heap_start)
		return (int64_t)heap_end;
	if (to > from)
		map_zeros(from, to - from, PROT_READ | PROT_WRITE);
	else if (to < from)
		map_zeros(to, from - to, PROT_NONE);
	heap_end = end;
	return (int64_t)end;
}

/* ------- system calls ------- */

/* Calls that go to the host, by number, and which arguments are pointers. */
enum { PASSED = 0x80, A0 = 1, A1 = 2, A2 = 4, A3 = 8 };

static const uint8_t calls[] = {
	[SYS_access] = PASSED | A0,
	[SYS_clock_gettime] = PASSED | A1,
	[SYS_close] = PASSED,
	[SYS_connect] = PASSED | A1,
	[SYS_dup] = PASSED,
	[SYS_dup2] = PASSED,
	[SYS_exit_group] = PASSED,
	[SYS_faccessat2] = PASSED | A1,
	[SYS_fadvise64] = PASSED,
	[SYS_fcntl] = PASSED,	/* no locks */
	[SYS_fstat] = PASSED | A1,
	[SYS_futex] = PASSED | A0 | A3,	/* nobody to wait for */
	[SYS_getcwd] = PASSED | A0,
	[SYS_getdents64] = PASSED | A1,
	[SYS_getegid] = PASSED,
	[SYS_geteuid] = PASSED,
	[SYS_getgid] = PASSED,
	[SYS_getpid] = PASSED,
	[SYS_getpgrp] = PASSED,
	[SYS_getppid] = PASSED,
	[SYS_getrandom] = PASSED | A0,
	[SYS_getrusage] = PASSED | A1,
	[SYS_gettid] = PASSED,
	[SYS_gettimeofday] = PASSED | A0 | A1,
	[SYS_getuid] = PASSED,
	[SYS_ioctl] = PASSED | A2,
	[SYS_lseek] = PASSED,
	[SYS_madvise] = PASSED | A0,
	[SYS_newfstatat] = PASSED | A1 | A2,
	[SYS_open] = PASSED | A0,
	[SYS_openat] = PASSED | A1,
	[SYS_pipe2] = PASSED | A0,
	[SYS_poll] = PASSED | A0,
	[SYS_pread64] = PASSED | A1,
	[SYS_prlimit64] = PASSED | A2 | A3,
	[SYS_pwrite64] = PASSED | A1,
	[SYS_read] = PASSED | A1,
	[SYS_readlink] = PASSED | A0 | A1,
	[SYS_sched_getaffinity] = PASSED | A2,
	[SYS_socket] = PASSED,
	[SYS_stat] = PASSED | A0 | A1,
	[SYS_sysinfo] = PASSED | A0,
	[SYS_tgkill] = PASSED,
	[SYS_time] = PASSED | A0,
	[SYS_uname] = PASSED | A0,
	[SYS_unlink] = PASSED | A0,
	[SYS_write] = PASSED | A1,
};

static int64_t pass(uint64_t number, const uint64_t *args)
{
	uint64_t passed[6];
	long result;

	for (unsigned i = 0; i < 6; i++)
		passed[i] = calls[number] & 1u << i && args[i] ?
				    (uintptr_t)host(args[i]) : args[i];
	result = syscall((long)number, passed[0], passed[1], passed[2],
			 passed[3], passed[4], passed[5]);
	return result < 0 ? -errno : result;
}

static int64_t set_thread_pointer(uint64_t code, uint64_t value)
{
	if (code != ARCH_SET_FS)
		return -EINVAL;
	check(uc_reg_write(uc, UC_X86_REG_FS_BASE, &value));
	return 0;
}

static int64_t refuse(uint64_t number)
{
	fprintf(stderr, "bare: no system call %llu\n",
		(unsigned long long)number);
	return -ENOSYS;
}

static int64_t call(uint64_t number, const uint64_t *a)
{
	switch (number) {
	case SYS_mmap:
		return map(a[0], a[1], (unsigned)a[2], (unsigned)a[3],
			   (int)a[4], a[5]);
	case SYS_munmap:
		map_zeros(a[0], a[1], PROT_NONE);
		return 0;
	case SYS_mprotect:
		set_pages(a[0], a[1], (unsigned)a[2]);
		return 0;
	case SYS_mremap:
		return move(a[0], a[1], a[2], a[3]);
	case SYS_brk:
		return set_heap_end(a[0]);
	case SYS_arch_prctl:
		return set_thread_pointer(a[0], a[1]);
	case SYS_set_tid_address:
		return getpid();
	case SYS_rt_sigaction:
	case SYS_rt_sigprocmask:
	case SYS_sigaltstack:
	case SYS_set_robust_list:
		return 0;	/* there are no signals and no threads */
	case SYS_clone:
	case SYS_clone3:
	case SYS_rseq:
		return -ENOSYS;
	default:
		return number < sizeof(calls) && calls[number] ?
			       pass(number, a) : refuse(number);
	}
}

static void on_syscall(uc_engine *engine, void *user)
{
	static int regs[] = {
		UC_X86_REG_RAX, UC_X86_REG_RDI, UC_X86_REG_RSI, UC_X86_REG_RDX,
		UC_X86_REG_R10, UC_X86_REG_R8,	UC_X86_REG_R9,
	};
	uint64_t values[7];
	void *at[7];
	int64_t result;

	(void)user;
	for (unsigned i = 0; i < 7; i++)
		at[i] = &values[i];
	check(uc_reg_read_batch(engine, regs, at, 7));
	result = call(values[0], values + 1);
	check(uc_reg_write(engine, UC_X86_REG_RAX, &result));
}

/* ------- the program ------- */

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MOST];
	uint64_t bias;
	uint64_t end;		/* of the last segment */
	char interpreter[256];	/* empty if there is none */
};

static void read_at(int fd, void *out, uint64_t size, uint64_t offset,
		    const char *path)
{
	if (pread(fd, out, size, (off_t)offset) != (ssize_t)size)
		die(path, "cannot be read");
}

static void read_image(struct image *image, int fd, const char *path)
{
	Elf64_Ehdr *header = &image->header;

	read_at(fd, header, sizeof(*header), 0, path);
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_machine != EM_X86_64 || header->e_phnum > SEGMENTS_MOST)
		die(path, "not an x86-64 program");
	read_at(fd, image->segments, header->e_phnum * sizeof(Elf64_Phdr),
		header->e_phoff, path);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_LOAD)
			image->end = segment->p_vaddr + segment->p_memsz;
		if (segment->p_type == PT_INTERP &&
		    segment->p_filesz <= sizeof(image->interpreter))
			read_at(fd, image->interpreter, segment->p_filesz,
				segment->p_offset, path);
	}
}

static void map_segment(const struct image *image, const Elf64_Phdr *segment,
			int fd, const char *path)
{
	uint64_t addr = image->bias + segment->p_vaddr;
	uint64_t start = addr & -PAGE, more = addr - start;
	uint64_t in_file = addr + segment->p_filesz;
	uint64_t end = page_up(addr + segment->p_memsz);
	unsigned prot = 0;

	prot |= segment->p_flags & PF_R ? PROT_READ : 0;
	prot |= segment->p_flags & PF_W ? PROT_WRITE : 0;
	prot |= segment->p_flags & PF_X ? PROT_EXEC : 0;
	if (map(start, segment->p_filesz + more, prot, MAP_FIXED, fd,
		segment->p_offset - more) < 0)
		die(path, strerror(errno));
	if (segment->p_memsz == segment->p_filesz)
		return;
	memset(host(in_file), 0, page_up(in_file) - in_file);
	if (end > page_up(in_file))
		map_zeros(page_up(in_file), end - page_up(in_file), prot);
}

static void load(struct image *image, const char *path, bool is_interpreter)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path, strerror(errno));
	read_image(image, fd, path);
	if (is_interpreter)
		image->bias = lowest -= page_up(image->end);
	else if (image->header.e_type == ET_DYN)
		image->bias = PIE_BASE;
	for (unsigned i = 0; i < image->header.e_phnum; i++)
		if (image->segments[i].p_type == PT_LOAD)
			map_segment(image, &image->segments[i], fd, path);
	close(fd);
}

/* ------- its stack ------- */

struct stack {
	uint64_t sp;
	uint64_t words[WORDS_MOST];
	unsigned count;
};

static void add(struct stack *stack, uint64_t word)
{
	if (stack->count == WORDS_MOST)
		die("the program", "too many arguments");
	stack->words[stack->count++] = word;
}

static uint64_t put(struct stack *stack, const void *bytes, size_t size)
{
	if (size > STACK_SIZE / 2 - (USER_END - stack->sp))
		die("the program", "arguments are too long");
	stack->sp -= size;
	memcpy(host(stack->sp), bytes, size);
	return stack->sp;
}

static void add_strings(struct stack *stack, char *const *vector)
{
	for (; *vector; vector++)
		add(stack, put(stack, *vector, strlen(*vector) + 1));
	add(stack, 0);
}

static void add_auxiliary(struct stack *stack, const struct image *image,
			  uint64_t base, const char *path)
{
	static const uint8_t random[16] = "bare, not random";
	const Elf64_Ehdr *header = &image->header;
	const uint64_t pairs[][2] = {
		{ AT_PAGESZ, PAGE },
		{ AT_PHDR, image->bias + image->segments[0].p_vaddr -
				   image->segments[0].p_offset +
				   header->e_phoff },
		{ AT_PHENT, sizeof(Elf64_Phdr) },
		{ AT_PHNUM, header->e_phnum },
		{ AT_BASE, base },
		{ AT_ENTRY, image->bias + header->e_entry },
		{ AT_UID, getuid() },
		{ AT_EUID, geteuid() },
		{ AT_GID, getgid() },
		{ AT_EGID, getegid() },
		{ AT_CLKTCK, 100 },
		{ AT_SECURE, 0 },
		{ AT_RANDOM, put(stack, random, sizeof(random)) },
		{ AT_EXECFN, put(stack, path, strlen(path) + 1) },
		{ AT_NULL, 0 },
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		add(stack, pairs[i][0]);
		add(stack, pairs[i][1]);
	}
}

/* Returns the stack pointer at the program's first instruction. */
static uint64_t make_stack(const struct image *image, uint64_t base,
			   char **argv)
{
	static struct stack stack = { .sp = USER_END - 8 };
	unsigned argc = 0;

	map_zeros(USER_END - STACK_SIZE, STACK_SIZE, PROT_READ | PROT_WRITE);
	while (argv[argc])
		argc++;
	add(&stack, argc);
	add_strings(&stack, argv);
	add_strings(&stack, environ);
	add_auxiliary(&stack, image, base, argv[0]);
	stack.sp = (stack.sp - stack.count * 8) & -UINT64_C(16);
	memcpy(host(stack.sp), stack.words, stack.count * 8);
	return stack.sp;
}

/* ------- the engine ------- */

static void *reserve(uint64_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		die("memory", strerror(errno));
	return at;
}

/* What Linux sets and the engine does not. */
static void set_up_processor(void)
{
	uint64_t cr4 = 0;
	uint32_t mxcsr = 0x1f80;
	uint16_t control = 0x37f, tags = 0xffff;

	check(uc_reg_read(uc, UC_X86_REG_CR4, &cr4));
	cr4 |= 0x600;		/* OSFXSR, OSXMMEXCPT */
	check(uc_reg_write(uc, UC_X86_REG_CR4, &cr4));
	check(uc_reg_write(uc, UC_X86_REG_MXCSR, &mxcsr));
	check(uc_reg_write(uc, UC_X86_REG_FPCW, &control));
	check(uc_reg_write(uc, UC_X86_REG_FPTAG, &tags));
}

static void open_engine(void)
{
	uc_hook hook;

	arena = reserve(ARENA_SIZE);
	page_table = reserve(ARENA_SIZE / PAGE);
	check(uc_open(UC_ARCH_X86, UC_MODE_64, &uc));
	check(uc_ctl_set_cpu_model(uc, UC_CPU_X86_WESTMERE));
	check(uc_mem_map_ptr(uc, 0, ARENA_SIZE, UC_PROT_ALL, arena));
	check(uc_ctl_tlb_mode(uc, UC_TLB_VIRTUAL));
	check(uc_hook_add(uc, &hook, UC_HOOK_TLB_FILL, (void *)on_tlb_miss,
			  NULL, 1, 0));
	check(uc_hook_add(uc, &hook, UC_HOOK_INSN, (void *)on_syscall, NULL, 1,
			  0, UC_X86_INS_SYSCALL));
	set_up_processor();
}

/* usage: bare PROGRAM [ARGUMENT...] */
int main(int argc, char **argv)
{
	static struct image image, interpreter;
	const struct image *first = &image;
	uint64_t sp, pc = 0;
	uc_err err;

	if (argc < 2)
		die("usage", "bare PROGRAM [ARGUMENT...]");
	open_engine();
	load(&image, argv[1], false);
	heap_start = heap_end = page_up(image.bias + image.end);
	if (*image.interpreter) {
		load(&interpreter, image.interpreter, true);
		first = &interpreter;
	}
	sp = make_stack(&image, interpreter.bias, argv + 1);
	check(uc_reg_write(uc, UC_X86_REG_RSP, &sp));
	err = uc_emu_start(uc, first->bias + first->header.e_entry, NEVER, 0,
			   0);
	uc_reg_read(uc, UC_X86_REG_RIP, &pc);
	fprintf(stderr, "bare: stopped at 0x%llx: %s\n",
		(unsigned long long)pc, uc_strerror(err));
	return 125;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare.c - runs a program on the engine and on nothing else: the reference
 *
 * One arena, a virtual TLB that is answered from a page table, and system
 * calls passed to the host: what is left of the engine's speed behind that is
 * what `cprec run` is measured by.  No code is shared with cprec, on purpose.
 *
 * It does what the programs of `bench` and of `foreign` need and no more.
 * Programs, of the architectures of bare_guests.c, may be linked statically or
 * dynamically; they get one thread, no children and no signals, and are
 * trusted.  What is not known says so and is refused.
 *
 * The engine's TLB is mapped directly, so that speed depends on where things
 * lie: addresses are Linux's without randomization, as in cprec.  Its pages
 * have 4 KiB, but those of AArch64 1 KiB: the engine allows no other.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bare.h"

/* The arena holds an address by its low bits: no two of the below meet. */
#define ARENA_SIZE (UINT64_C(1) << 40)

#define STACK_SIZE (UINT64_C(8) << 20)
#define STACK_GAP UINT64_C(0x8000000)

enum { WORDS_MOST = 4096, SEGMENTS_MOST = 32 };

uc_engine *uc;
const struct guest *guest;

static uint8_t *arena;
static uint8_t *page_table; /* by page: PROT_READ, PROT_WRITE, PROT_EXEC */
static uint64_t heap_start, heap_end;

/*
 * The lowest mapping.  What is unmapped is not handed out again, so that no
 * translation of code that was there once is found.
 */
static uint64_t lowest;

void die(const char *what, const char *why)
{
	fprintf(stderr, "bare: %s: %s\n", what, why);
	exit(125);
}

void check(uc_err err)
{
	if (err)
		die("the engine", uc_strerror(err));
}

/* ------- memory ------- */

static uint64_t page_up(uint64_t value)
{
	return (value + PAGE - 1) & -PAGE;
}

void *host(uint64_t addr)
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
	unsigned need = type == UC_MEM_WRITE   ? PROT_WRITE
			: type == UC_MEM_FETCH ? PROT_EXEC
					       : PROT_READ;

	(void)engine;
	(void)user;
	if (!(prot & need))
		return false;
	entry->paddr = addr % ARENA_SIZE;
	entry->perms = prot; /* the engine's bits are the host's */
	return true;
}

/* Edits the page table. */
void set_pages(uint64_t addr, uint64_t size, unsigned prot)
{
	memset(page_of(addr), (int)prot, page_up(size) / PAGE);
	uc_ctl_flush_tlb(uc);
}

/* Room for a mapping below all others. */
static uint64_t take(uint64_t size)
{
	if (size > lowest - heap_end)
		die("the program", "no addresses are left");
	return lowest -= size;
}

int64_t map(uint64_t addr, uint64_t size, unsigned prot, unsigned flags, int fd,
	    uint64_t offset)
{
	size = page_up(size);
	if (!(flags & MAP_FIXED))
		addr = take(size);
	/* Nobody else looks at what is shared. */
	flags = (flags & MAP_ANONYMOUS) | MAP_PRIVATE | MAP_FIXED |
		MAP_NORESERVE;
	if (mmap(host(addr), size, PROT_READ | PROT_WRITE, (int)flags, fd,
		 (off_t)offset) == MAP_FAILED)
		return -errno;
	set_pages(addr, size, prot);
	return (int64_t)addr;
}

int64_t map_zeros(uint64_t addr, uint64_t size, unsigned prot)
{
	return map(addr, size, prot, MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int64_t move(uint64_t addr, uint64_t size, uint64_t new_size, uint64_t flags)
{
	unsigned prot = *page_of(addr);
	uint64_t to;

	if (flags != MREMAP_MAYMOVE)
		return -ENOMEM;
	to = take(page_up(new_size));
	if (mremap(host(addr), size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		   host(to)) == MAP_FAILED)
		return -errno;
	map_zeros(addr, size, PROT_NONE);
	set_pages(to, new_size, prot);
	return (int64_t)to;
}

int64_t set_heap_end(uint64_t end)
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

/* ------- the program ------- */

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MOST];
	const struct guest *guest;
	uint64_t bias;
	uint64_t end;	       /* of the last segment */
	char interpreter[256]; /* empty if there is none */
};

static void read_at(int fd, void *out, uint64_t size, uint64_t offset,
		    const char *path)
{
	if (pread(fd, out, size, (off_t)offset) != (ssize_t)size)
		die(path, "cannot be read");
}

/* Of a program of 32 bits, as of one of 64. */
static void widen_header(Elf64_Ehdr *header)
{
	Elf32_Ehdr narrow;

	memcpy(&narrow, header, sizeof(narrow));
	header->e_entry = narrow.e_entry;
	header->e_phoff = narrow.e_phoff;
	header->e_phnum = narrow.e_phnum;
	header->e_phentsize = narrow.e_phentsize;
}

static Elf64_Phdr read_segment(const Elf64_Ehdr *header, unsigned number,
			       int fd, const char *path)
{
	uint64_t offset = header->e_phoff + number * header->e_phentsize;
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (header->e_ident[EI_CLASS] == ELFCLASS64) {
		read_at(fd, &wide, sizeof(wide), offset, path);
		return wide;
	}
	read_at(fd, &narrow, sizeof(narrow), offset, path);
	return (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
	};
}

static void read_image(struct image *image, int fd, const char *path)
{
	Elf64_Ehdr *header = &image->header;

	read_at(fd, header, sizeof(*header), 0, path);
	if (header->e_ident[EI_CLASS] == ELFCLASS32)
		widen_header(header);
	image->guest = guest_of(header->e_ident[EI_CLASS], header->e_machine);
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || !image->guest ||
	    header->e_phnum > SEGMENTS_MOST)
		die(path, "not a program that it knows");
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr *segment = &image->segments[i];

		*segment = read_segment(header, i, fd, path);
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

static int open_image(struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path, strerror(errno));
	read_image(image, fd, path);
	return fd;
}

static void load(struct image *image, int fd, const char *path)
{
	for (unsigned i = 0; i < image->header.e_phnum; i++)
		if (image->segments[i].p_type == PT_LOAD)
			map_segment(image, &image->segments[i], fd, path);
	close(fd);
}

static void load_interpreter(struct image *image, const char *name)
{
	const char *path = path_found(name);
	int fd = open_image(image, path);

	if (image->guest != guest)
		die(path, "of another architecture");
	image->bias = take(page_up(image->end));
	load(image, fd, path);
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
	if (size > STACK_SIZE / 2 - (guest->user_end - stack->sp))
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
	static const uint8_t random[] = "bare, not random";	/* 16 bytes */
	const Elf64_Ehdr *header = &image->header;
	const uint64_t pairs[][2] = {
		{ AT_PAGESZ, PAGE },
		{ AT_PHDR, image->bias + image->segments[0].p_vaddr -
				   image->segments[0].p_offset +
				   header->e_phoff },
		{ AT_PHENT, header->e_phentsize },
		{ AT_PHNUM, header->e_phnum },
		{ AT_BASE, base },
		{ AT_ENTRY, image->bias + header->e_entry },
		{ AT_UID, getuid() },
		{ AT_EUID, geteuid() },
		{ AT_GID, getgid() },
		{ AT_EGID, getegid() },
		{ AT_CLKTCK, 100 },
		{ AT_HWCAP, guest->hwcap },
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
	static struct stack stack;
	unsigned argc = 0, size = word_size(guest);

	stack.sp = guest->user_end - 8;
	map_zeros(guest->user_end - STACK_SIZE, STACK_SIZE,
		  PROT_READ | PROT_WRITE);
	while (argv[argc])
		argc++;
	add(&stack, argc);
	add_strings(&stack, argv);
	add_strings(&stack, environ);
	add_auxiliary(&stack, image, base, argv[0]);
	stack.sp = (stack.sp - stack.count * size) & -UINT64_C(16);
	for (unsigned i = 0; i < stack.count; i++)
		memcpy(host(stack.sp + i * size), &stack.words[i], size);
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

static void on_syscall(uc_engine *engine, void *user)
{
	(void)engine;
	(void)user;
	perform_call();
}

/* Where the guest stands, and why it does not go on. */
__attribute__((noreturn)) static void give_up(const char *why, unsigned number)
{
	uint64_t pc = 0;

	uc_reg_read(uc, guest->pc, &pc);
	fprintf(stderr, "bare: stopped at 0x%llx: %s (%u)\n",
		(unsigned long long)pc, why, number);
	exit(125);
}

static void on_exception(uc_engine *engine, uint32_t number, void *user)
{
	(void)engine;
	(void)user;
	if (number != guest->exception)
		give_up("an exception", number);
	perform_call();
}

static void hook(int type, void *function, int instruction)
{
	uc_hook made;

	check(uc_hook_add(uc, &made, type, function, NULL, 1, 0, instruction));
}

static void open_engine(void)
{
	check(uc_open(guest->arch, guest->mode, &uc));
	check(uc_ctl_set_cpu_model(uc, guest->model));
	if (guest->arch == UC_ARCH_ARM)
		/* The engine takes it for half of what it is then. */
		check(uc_ctl_set_page_size(uc, PAGE / 2));
	check(uc_mem_map_ptr(uc, 0, ARENA_SIZE, UC_PROT_ALL, arena));
	check(uc_ctl_tlb_mode(uc, UC_TLB_VIRTUAL));
	hook(UC_HOOK_TLB_FILL, (void *)on_tlb_miss, 0);
	if (guest->exception)
		hook(UC_HOOK_INTR, (void *)on_exception, 0);
	else
		hook(UC_HOOK_INSN, (void *)on_syscall, UC_X86_INS_SYSCALL);
	guest->set_up();
}

/* usage: bare [-L SYSROOT] PROGRAM [ARGUMENT...] */
int main(int argc, char **argv)
{
	static struct image image, interpreter;
	const struct image *first = &image;
	uint64_t sp;
	int fd;

	if (argc > 2 && !strcmp(argv[1], "-L")) {
		sysroot = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2)
		die("usage", "bare [-L SYSROOT] PROGRAM [ARGUMENT...]");
	fd = open_image(&image, argv[1]);
	guest = image.guest;
	lowest = guest->user_end - STACK_GAP;
	arena = reserve(ARENA_SIZE);
	page_table = reserve(ARENA_SIZE / PAGE);
	open_engine();
	if (image.header.e_type == ET_DYN)
		image.bias = guest->pie_base;
	load(&image, fd, argv[1]);
	heap_start = heap_end = page_up(image.bias + image.end);
	if (*image.interpreter) {
		load_interpreter(&interpreter, image.interpreter);
		first = &interpreter;
	}
	sp = make_stack(&image, interpreter.bias, argv + 1);
	check(uc_reg_write(uc, guest->sp, &sp));
	give_up(uc_strerror(uc_emu_start(uc,
					 first->bias + first->header.e_entry,
					 guest->never, 0, 0)),
		0);
}

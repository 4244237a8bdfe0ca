/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.c - see image_internal.h */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/error.h"
#include "vm/linux/abi/abi.h"
#include "vm/linux/host/host.h"
#include "vm/linux/load/image_internal.h"
#include "vm/memory/memory.h"

#define SEGMENTS_MOST (65536 / sizeof(Elf64_Phdr))	/* as Linux */
#define LARGEST (UINT64_C(1) << 36)	/* address space of one image */

static const struct machine {
	uint16_t number;
	const char *name;
} machines[] = {
	{ EM_386, "a 32-bit x86" },
	{ EM_X86_64, "an x86-64" },
	{ EM_ARM, "a 32-bit ARM" },
	{ EM_AARCH64, "an AArch64" },
	{ EM_RISCV, "a RISC-V" },
	{ EM_PPC, "a 32-bit PowerPC" },
	{ EM_PPC64, "a PowerPC64" },
	{ EM_S390, "an s390" },
	{ EM_MIPS, "a MIPS" },
	{ EM_SPARC, "a SPARC" },
	{ EM_SPARCV9, "a SPARC64" },
	{ EM_68K, "an m68k" },
	{ EM_ALPHA, "an Alpha" },
	{ EM_LOONGARCH, "a LoongArch" },
};

static int damaged(const struct image *image, struct failure *why,
		   const char *what)
{
	return failed(why, ERR_INPUT, "cannot run '%s': damaged ELF file: %s",
		      image->path, what);
}

static int wrong_machine(const struct image *image, struct failure *why)
{
	const Elf64_Ehdr *header = &image->header;
	bool is_big = header->e_ident[EI_DATA] == ELFDATA2MSB;
	unsigned number = header->e_machine;

	if (is_big)
		number = (number >> 8 | number << 8) & 0xffff;
	if (!is_big && header->e_ident[EI_CLASS] == ELFCLASS32 &&
	    linux_abi_of_machine(number, ELFCLASS64))
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is an %s program",
			      image->path, number == EM_X86_64 ? "x32" :
			      "ILP32");
	if (is_big && linux_abi_of_machine(number, header->e_ident[EI_CLASS]))
		return failed(why, ERR_INPUT, "cannot run '%s': it is for a "
			      "machine that has the highest byte first",
			      image->path);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].number == number)
			return failed(why, ERR_INPUT,
				      "cannot run '%s': it is %s program, not %s",
				      image->path, machines[i].name,
				      image->abi->elf_name);
	return failed(why, ERR_INPUT,
		      "cannot run '%s': it is a program for another machine "
		      "(ELF number %u), not %s",
		      image->path, number, image->abi->elf_name);
}

/* ------- files of 32 bits, as those of 64 ------- */

static bool is_32(const struct image *image)
{
	return image->abi->elf_class == ELFCLASS32;
}

static void widen_header(Elf64_Ehdr *header)
{
	Elf32_Ehdr from;

	memcpy(&from, header, sizeof(from));
	header->e_entry = from.e_entry;
	header->e_phoff = from.e_phoff;
	header->e_shoff = from.e_shoff;
	header->e_flags = from.e_flags;
	header->e_ehsize = from.e_ehsize;
	header->e_phentsize = from.e_phentsize;
	header->e_phnum = from.e_phnum;
	header->e_shentsize = from.e_shentsize;
	header->e_shnum = from.e_shnum;
	header->e_shstrndx = from.e_shstrndx;
}

static Elf64_Phdr widen_segment(const Elf32_Phdr *from)
{
	return (Elf64_Phdr){
		.p_type = from->p_type, .p_flags = from->p_flags,
		.p_offset = from->p_offset, .p_vaddr = from->p_vaddr,
		.p_paddr = from->p_paddr, .p_filesz = from->p_filesz,
		.p_memsz = from->p_memsz, .p_align = from->p_align,
	};
}

/* In place, from the last one on: they get larger. */
static void widen_segments(struct image *image)
{
	const uint8_t *bytes = (const uint8_t *)image->segments;

	for (unsigned i = image->header.e_phnum; i-- > 0;) {
		Elf32_Phdr from;

		memcpy(&from, bytes + i * sizeof(from), sizeof(from));
		image->segments[i] = widen_segment(&from);
	}
}

/* ------- headers ------- */

/* Of 32-bit ARM: the first ABI whose system calls are not in SVC itself. */
#define EABI_AT 24
#define EABI_LEAST 4

static int read_header(struct image *image, struct failure *why)
{
	Elf64_Ehdr *header = &image->header;
	const ssize_t size = is_32(image) ? sizeof(Elf32_Ehdr) :
					    sizeof(Elf64_Ehdr);
	ssize_t got = pread(image->fd, header, (size_t)size, 0);

	if (got < 0)
		return failed(why, ERR_SYSTEM, "cannot read '%s': %s",
			      image->path, strerror(errno));
	if (!got)
		return failed(why, ERR_INPUT, "cannot run '%s': it is empty",
			      image->path);
	if (got < SELFMAG || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is not an ELF file",
			      image->path);
	if (got < (ssize_t)offsetof(Elf64_Ehdr, e_version))
		return damaged(image, why, "it ends in its header");
	if (header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_ident[EI_CLASS] != image->abi->elf_class ||
	    header->e_machine != image->abi->elf_machine)
		return wrong_machine(image, why);
	if (got < size)
		return damaged(image, why, "it ends in its header");
	if (is_32(image))
		widen_header(header);
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it is an ELF file, but %s",
			      image->path,
			      header->e_type == ET_REL  ? "an object file" :
			      header->e_type == ET_CORE ? "a core dump" :
							  "not a program");
	if (header->e_machine == EM_ARM &&
	    header->e_flags >> EABI_AT < EABI_LEAST)
		return failed(why, ERR_INPUT, "cannot run '%s': it is an ARM "
			      "program without EABI", image->path);
	image->is_relative = header->e_type == ET_DYN;
	return 0;
}

static int read_segments(struct image *image, struct failure *why)
{
	const Elf64_Ehdr *header = &image->header;
	size_t each = is_32(image) ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
	size_t size = header->e_phnum * each;

	if (header->e_phentsize != each || !header->e_phnum ||
	    header->e_phnum > SEGMENTS_MOST)
		return damaged(image, why, "it has no usable program headers");
	if (header->e_phoff > image->file_size ||
	    size > image->file_size - header->e_phoff)
		return damaged(image, why,
			       "its program headers are beyond its end");
	image->segments = calloc(header->e_phnum, sizeof(Elf64_Phdr));
	if (!image->segments)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (pread(image->fd, image->segments, size, (off_t)header->e_phoff) !=
	    (ssize_t)size)
		return failed(why, ERR_SYSTEM,
			      "cannot read the program headers of '%s'",
			      image->path);
	if (is_32(image))
		widen_segments(image);
	return 0;
}

static int check_load(struct image *image, const Elf64_Phdr *segment,
		      struct failure *why)
{
	guest_addr start = segment->p_vaddr & ~(guest_addr)(GUEST_PAGE - 1);
	guest_addr end;

	if (segment->p_filesz > segment->p_memsz)
		return damaged(image, why, "a segment is smaller than its file part");
	if (segment->p_vaddr > image->abi->user_end ||
	    segment->p_memsz > image->abi->user_end - segment->p_vaddr)
		return damaged(image, why, "a segment is outside of memory");
	if ((segment->p_vaddr - segment->p_offset) % GUEST_PAGE)
		return damaged(image, why, "a segment is not aligned");
	if (segment->p_offset > image->file_size ||
	    segment->p_filesz > image->file_size - segment->p_offset)
		return damaged(image, why, "a segment is beyond its end");
	end = segment->p_vaddr + segment->p_memsz + GUEST_PAGE - 1;
	end &= ~(guest_addr)(GUEST_PAGE - 1);
	if (start < image->low)
		image->low = start;
	if (end > image->high)
		image->high = end;
	if (segment->p_align > image->alignment &&
	    !(segment->p_align & (segment->p_align - 1)))
		image->alignment = segment->p_align;
	return 0;
}

static int read_interpreter(struct image *image, const Elf64_Phdr *segment,
			    struct failure *why)
{
	uint64_t size = segment->p_filesz;

	if (image->interpreter)
		return 0;	/* Linux heeds the first */
	if (size < 2 || size > PATH_MAX)
		return damaged(image, why, "the name of its interpreter");
	image->interpreter = calloc(1, size);
	if (!image->interpreter)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (segment->p_offset > image->file_size ||
	    pread(image->fd, image->interpreter, size,
		  (off_t)segment->p_offset) != (ssize_t)size ||
	    image->interpreter[size - 1] != '\0')
		return damaged(image, why, "the name of its interpreter");
	return 0;
}

static int check_segments(struct image *image, struct failure *why)
{
	int rc = 0;

	image->low = UINT64_MAX;
	image->alignment = GUEST_PAGE;
	for (unsigned i = 0; i < image->header.e_phnum && !rc; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_memsz)
			rc = check_load(image, segment, why);
		else if (segment->p_type == PT_INTERP)
			rc = read_interpreter(image, segment, why);
		else if (segment->p_type == PT_GNU_STACK)
			image->exec_stack = segment->p_flags & PF_X;
	}
	if (rc)
		return rc;
	if (image->low > image->high)
		return damaged(image, why, "it has nothing to load");
	if (image->high - image->low > LARGEST || image->alignment > LARGEST)
		return failed(why, ERR_INPUT,
			      "cannot run '%s': it wants too much memory",
			      image->path);
	if (!image->is_relative && image->low < UINT64_C(0x10000))
		return damaged(image, why, "a segment is at the zero page");
	return 0;
}

int image_read(struct image *out, const struct linux_abi *abi, int fd,
	       const char *path, const char *name, struct failure *why)
{
	struct stat file;
	int rc;

	*out = (struct image){
		.abi = abi, .fd = fd, .path = path, .name = name,
	};
	if (fstat(fd, &file))
		return failed(why, ERR_SYSTEM, "cannot look at '%s': %s", path,
			      strerror(errno));
	out->file_size = (uint64_t)file.st_size;
	rc = read_header(out, why);
	if (!rc)
		rc = read_segments(out, why);
	return rc ? rc : check_segments(out, why);
}

void image_release(struct image *image)
{
	free(image->segments);
	free(image->interpreter);
	image->segments = NULL;
	image->interpreter = NULL;
}

/* ------- mapping ------- */

static unsigned protection(const Elf64_Phdr *segment)
{
	unsigned prot = 0;

	if (segment->p_flags & PF_R)
		prot |= MAY_READ;
	if (segment->p_flags & PF_W)
		prot |= MAY_READ | MAY_WRITE;
	if (segment->p_flags & PF_X)
		prot |= MAY_EXEC;
	return prot;
}

static guest_addr whole_pages(guest_addr addr)
{
	return (addr + GUEST_PAGE - 1) & ~(guest_addr)(GUEST_PAGE - 1);
}

/* The part that is in the file; then zeros up to the end of its last page. */
static int map_file_part(const struct image *image, struct memory *memory,
			 const Elf64_Phdr *segment, guest_addr start)
{
	static const uint8_t zeros[GUEST_PAGE];
	guest_addr file_end = start + segment->p_filesz;
	uint64_t ahead = start % GUEST_PAGE;
	const struct region region = {
		.start = start - ahead,
		.end = whole_pages(file_end),
		.prot = protection(segment),
		.kind = REGION_FILE,
		.offset = segment->p_offset - ahead,
		.name = image->name,
	};
	int rc = memory_map(memory, &region, image->fd, NULL);

	if (rc || segment->p_memsz == segment->p_filesz ||
	    !(region.prot & MAY_WRITE))
		return rc;
	return memory_poke(memory, file_end, zeros, region.end - file_end);
}

static int map_segment(const struct image *image, struct memory *memory,
		       const Elf64_Phdr *segment)
{
	guest_addr start = segment->p_vaddr + image->bias;
	struct region rest = {
		.start = start & ~(guest_addr)(GUEST_PAGE - 1),
		.end = whole_pages(start + segment->p_memsz),
		.prot = protection(segment),
		.kind = REGION_ANON,
		.name = "",
	};
	int rc;

	if (segment->p_filesz) {
		rc = map_file_part(image, memory, segment, start);
		if (rc)
			return rc;
		rest.start = whole_pages(start + segment->p_filesz);
	}
	return rest.start < rest.end ? memory_map(memory, &rest, -1, NULL) : 0;
}

int image_map(struct image *image, struct memory *memory, uint64_t bias,
	      struct failure *why)
{
	image->bias = bias;
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type != PT_LOAD || !segment->p_memsz)
			continue;
		if (map_segment(image, memory, segment))
			return failed(why, ERR_SYSTEM,
				      "cannot map segment %u of '%s'", i,
				      image->path);
	}
	return 0;
}

guest_addr image_headers(const struct image *image)
{
	uint64_t at = image->header.e_phoff;

	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_offset <= at &&
		    at - segment->p_offset < segment->p_filesz)
			return at - segment->p_offset + segment->p_vaddr +
			       image->bias;
	}
	return 0;
}

guest_addr image_end(const struct image *image)
{
	guest_addr end = 0;

	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		guest_addr stop = segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_LOAD && stop > end)
			end = stop;
	}
	return end + image->bias;
}

uint64_t image_data_size(const struct image *image)
{
	uint64_t size = 0;

	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W)
			size += whole_pages(segment->p_vaddr % GUEST_PAGE +
					    segment->p_memsz);
	}
	return size;
}

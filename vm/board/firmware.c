/* SPDX-License-Identifier: GPL-2.0-or-later */
/* firmware.c - see firmware.h */
#include "vm/board/firmware.h"

#include <elf.h>
#include <string.h>

#include "formats/error.h"

#define MOST (UINT64_C(256) << 20)

static int is_wrong(const struct firmware *firmware, const char *what,
		    struct failure *why)
{
	return failed(why, ERR_INPUT, "'%s' is no firmware of this machine: %s",
		      firmware->file.path, what);
}

static bool is_there(const struct board_ram *rams, unsigned count,
		     uint64_t addr, uint64_t size)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = addr - rams[i].base;

		if (offset < rams[i].size && size <= rams[i].size - offset)
			return true;
	}
	return false;
}

static int check_place(const struct firmware *firmware,
		       const struct board_ram *rams, unsigned count,
		       uint64_t addr, uint64_t size, struct failure *why)
{
	if (is_there(rams, count, addr, size))
		return 0;
	return failed(why, ERR_INPUT, "'%s' has %llu bytes for 0x%llx, where"
		      " this machine has no memory for them",
		      firmware->file.path, (unsigned long long)size,
		      (unsigned long long)addr);
}

/* ------- ELF ------- */

static Elf32_Phdr segment_of(const struct firmware *firmware, unsigned i)
{
	Elf32_Ehdr head;
	Elf32_Phdr segment;

	memcpy(&head, firmware->file.bytes, sizeof(head));
	memcpy(&segment, firmware->file.bytes + head.e_phoff +
	       (size_t)i * sizeof(segment), sizeof(segment));
	return segment;
}

static unsigned segments_of(const struct firmware *firmware)
{
	Elf32_Ehdr head;

	memcpy(&head, firmware->file.bytes, sizeof(head));
	return head.e_phnum;
}

static int check_head(struct firmware *firmware, struct failure *why)
{
	Elf32_Ehdr head;

	if (firmware->file.size < sizeof(head))
		return is_wrong(firmware, "it is an ELF file that is cut off",
				why);
	memcpy(&head, firmware->file.bytes, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS32 ||
	    head.e_machine != EM_ARM)
		return is_wrong(firmware, "it is an ELF file of another"
				" architecture than 32-bit ARM", why);
	if (head.e_ident[EI_DATA] != ELFDATA2LSB)
		return is_wrong(firmware, "it has the other byte order", why);
	if (head.e_type != ET_EXEC)
		return is_wrong(firmware, "it is not an executable file: what"
				" the linker makes of all parts is one", why);
	if (head.e_phentsize != sizeof(Elf32_Phdr) ||
	    head.e_phoff > firmware->file.size ||
	    head.e_phnum > (firmware->file.size - head.e_phoff) /
				   sizeof(Elf32_Phdr))
		return is_wrong(firmware, "it is an ELF file that is cut off",
				why);
	firmware->entry = head.e_entry;
	return 0;
}

static int check_segments(const struct firmware *firmware,
			  const struct board_ram *rams, unsigned count,
			  struct failure *why)
{
	bool has_any = false;

	for (unsigned i = 0; i < segments_of(firmware); i++) {
		Elf32_Phdr segment = segment_of(firmware, i);
		int rc;

		if (segment.p_type != PT_LOAD || !segment.p_filesz)
			continue;
		has_any = true;
		if (segment.p_offset > firmware->file.size ||
		    segment.p_filesz >
			    firmware->file.size - segment.p_offset)
			return is_wrong(firmware, "it is an ELF file that is"
					" cut off", why);
		rc = check_place(firmware, rams, count, segment.p_paddr,
				 segment.p_filesz, why);
		if (rc)
			return rc;
	}
	return has_any ? 0 : is_wrong(firmware, "nothing of it is loaded", why);
}

/* ------- both ------- */

static int check(struct firmware *firmware, const struct board_ram *rams,
		 unsigned count, struct failure *why)
{
	const struct start_file *file = &firmware->file;
	int rc;

	if (!file->size)
		return is_wrong(firmware, "it is empty", why);
	firmware->is_elf = file->size >= SELFMAG &&
			   !memcmp(file->bytes, ELFMAG, SELFMAG);
	if (!firmware->is_elf)
		return check_place(firmware, rams, count, 0, file->size, why);
	rc = check_head(firmware, why);
	return rc ? rc : check_segments(firmware, rams, count, why);
}

int firmware_read(struct firmware *out, const char *path,
		  const struct board_ram *rams, unsigned ram_count,
		  struct failure *why)
{
	int rc;

	*out = (struct firmware){ 0 };
	rc = start_file_read(&out->file, path, "the firmware", MOST, why);
	if (!rc)
		rc = check(out, rams, ram_count, why);
	if (rc)
		firmware_release(out);
	return rc;
}

void firmware_release(struct firmware *firmware)
{
	start_file_release(&firmware->file);
}

void firmware_load(const struct firmware *firmware,
		   void (*store)(void *context, uint64_t addr,
				 const void *bytes, size_t size),
		   void *context)
{
	const struct start_file *file = &firmware->file;

	if (!firmware->is_elf) {
		store(context, 0, file->bytes, file->size);
		return;
	}
	for (unsigned i = 0; i < segments_of(firmware); i++) {
		Elf32_Phdr segment = segment_of(firmware, i);

		if (segment.p_type == PT_LOAD)
			store(context, segment.p_paddr,
			      file->bytes + segment.p_offset,
			      segment.p_filesz);
	}
}

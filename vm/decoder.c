/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decoder.c - instructions as text, without a guest that has them */
#include "vm/arch/arch.h"

#include <stdlib.h>

#include "formats/error.h"

struct vm_decoder {
	struct cpu cpu;		/* without an engine */
};

int vm_decoder_create(struct vm_decoder **out, enum arch arch,
		      struct failure *why)
{
	struct vm_decoder *decoder = calloc(1, sizeof(*decoder));
	int rc;

	if (!decoder)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	decoder->cpu.arch = arch_find(arch & ~ARCH_MACHINE);
	rc = decoder->cpu.arch->start(&decoder->cpu, why);
	if (rc) {
		vm_decoder_destroy(decoder);
		return rc;
	}
	*out = decoder;
	return 0;
}

void vm_decoder_destroy(struct vm_decoder *decoder)
{
	if (!decoder)
		return;
	decoder->cpu.arch->end(&decoder->cpu);
	free(decoder);
}

void vm_decoder_show(struct vm_decoder *decoder, guest_addr pc,
		     const uint8_t *code, size_t size, enum vm_syntax syntax,
		     struct vm_instruction *out)
{
	*out = (struct vm_instruction){ 0 };
	decoder->cpu.arch->show(&decoder->cpu, pc, code, size, syntax, out);
}

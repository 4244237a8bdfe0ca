/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classes.c - instructions that the engine gets wrong, or that need attention
 *
 * The one table of what the engine would execute wrongly in silence (VEX forms,
 * privileged instructions, which it allows), what depends on the machine, what
 * ends a block, what has to do with flags of exceptions, and which operands
 * must be aligned.  The first row that fits counts.
 *
 * Source: Intel 64 SDM volume 2, chapters 2 (prefixes; 2.4 has the exception
 * types 1, 2 and 4) and 3 to 5; AMD64 APM volume 3 for EXTRQ and INSERTQ.
 */
#include "vm/arch/x86/insn.h"

#include <pthread.h>

/* What else must be so for a row to count. */
enum condition {
	ALWAYS,
	IF_32,			/* in code of 32 bits */
	IF_LOCKED,
	IF_ONE_REGISTER,	/* both operands */
	IF_ORDERED,		/* PCMPxSTRx: "equal ordered" */
};

struct row {
	enum x86_map map;
	uint8_t first, last;		/* opcodes */
	uint8_t behind, behind_last;	/* the byte that follows */
	uint8_t groups;			/* bits by its middle field */
	enum condition condition;
	struct x86_class class;
};

#define ANY 0x00, 0xff, 0xff
#define MEMORY(groups) 0x00, 0xbf, groups
#define REGISTER(groups) 0xc0, 0xff, groups
#define GROUPS(groups) 0x00, 0xff, groups
#define EXACTLY(byte) byte, byte, 0xff
#define BYTES(first, last) first, last, 0xff

#define ENDS { .ends_block = true }
#define GATE(what) { .gate = GATE_##what }
#define GATE_ENDS(what) { .gate = GATE_##what, .ends_block = true }
#define FLOAT(what) { .kind = FLOAT_##what }
#define HOST_X87 { .gate = GATE_HOST, .kind = FLOAT_X87 }

#define ONE MAP_ONE
#define OF MAP_0F
#define OF38 MAP_0F38
#define OF3A MAP_0F3A

static const struct row rows[] = {
	/* ------- one byte ------- */
	/* PUSH and POP of selectors */
	{ ONE, 0x06, 0x06, ANY, IF_32, GATE(EMULATE) },
	{ ONE, 0x07, 0x07, ANY, IF_32, GATE_ENDS(EMULATE) },
	{ ONE, 0x0e, 0x0e, ANY, IF_32, GATE(EMULATE) },
	{ ONE, 0x16, 0x16, ANY, IF_32, GATE(EMULATE) },
	{ ONE, 0x17, 0x17, ANY, IF_32, GATE_ENDS(EMULATE) },
	{ ONE, 0x1e, 0x1e, ANY, IF_32, GATE(EMULATE) },
	{ ONE, 0x1f, 0x1f, ANY, IF_32, GATE_ENDS(EMULATE) },
	{ ONE, 0x62, 0x62, MEMORY(0xff), IF_32, { 0 } }, /* BOUND */
	{ ONE, 0x62, 0x62, ANY, 0, GATE(INVALID) }, /* EVEX */
	{ ONE, 0x6c, 0x6f, ANY, 0, /* INS, OUTS */
	  { .gate = GATE_PRIVILEGE, .is_string = true } },
	{ ONE, 0x70, 0x7f, ANY, 0, ENDS }, /* Jcc */
	{ ONE, 0x8c, 0x8c, GROUPS(0x3f), 0, GATE(EMULATE) }, /* MOV from */
	{ ONE, 0x8c, 0x8c, ANY, 0, GATE(INVALID) }, /* a selector */
	/* MOV to a selector: ES, SS, DS; null ones are known to the engine. */
	{ ONE, 0x8e, 0x8e, GROUPS(0x0d), 0, GATE_ENDS(EMULATE) },
	{ ONE, 0x8e, 0x8e, GROUPS(0x30), IF_32, GATE_ENDS(EMULATE) },
	{ ONE, 0x8e, 0x8e, GROUPS(0x30), 0, ENDS }, /* FS, GS */
	{ ONE, 0x8e, 0x8e, ANY, 0, GATE_ENDS(INVALID) },
	{ ONE, 0x8f, 0x8f, GROUPS(0xfe), 0, GATE(INVALID) }, /* XOP */
	{ ONE, 0x9a, 0x9a, ANY, IF_32, GATE(PRIVILEGE) }, /* CALL, far */
	{ ONE, 0x9b, 0x9b, ANY, 0, FLOAT(X87) }, /* FWAIT */
	{ ONE, 0x9d, 0x9d, ANY, 0, GATE_ENDS(EMULATE) }, /* POPF */
	{ ONE, 0xa4, 0xa7, ANY, 0, { .is_string = true } },
	{ ONE, 0xaa, 0xaf, ANY, 0, { .is_string = true } },
	{ ONE, 0xc2, 0xc3, ANY, 0, ENDS }, /* RET */
	{ ONE, 0xc4, 0xc5, MEMORY(0xff), IF_32, GATE(PRIVILEGE) }, /* LES, LDS */
	{ ONE, 0xc4, 0xc5, ANY, 0, GATE(INVALID) }, /* VEX */
	{ ONE, 0xca, 0xcb, ANY, 0, GATE(INVALID) }, /* RETF */
	{ ONE, 0xcd, 0xcd, EXACTLY(0x80), IF_32, ENDS }, /* a system call */
	{ ONE, 0xcc, 0xcd, ANY, 0, GATE(INT) }, /* INT3, INT n */
	{ ONE, 0xce, 0xce, ANY, IF_32, GATE(INT) }, /* INTO */
	{ ONE, 0xcf, 0xcf, ANY, 0, GATE(INVALID) }, /* IRET */
	/* F2XM1, FYL2X, FPTAN, FPATAN, FXTRACT, FPREM1; FPREM, FYL2XP1;
	 * FSINCOS; FSCALE, FSIN, FCOS: the engine has 53 bits for them. */
	{ ONE, 0xd9, 0xd9, BYTES(0xf0, 0xf5), 0, HOST_X87 },
	{ ONE, 0xd9, 0xd9, BYTES(0xf8, 0xf9), 0, HOST_X87 },
	{ ONE, 0xd9, 0xd9, EXACTLY(0xfb), 0, HOST_X87 },
	{ ONE, 0xd9, 0xd9, BYTES(0xfd, 0xff), 0, HOST_X87 },
	{ ONE, 0xd9, 0xd9, MEMORY(0x10), 0, FLOAT(LOADS) }, /* FLDENV */
	{ ONE, 0xd9, 0xd9, MEMORY(0x20), 0, FLOAT(CONTROLS) }, /* FLDCW */
	{ ONE, 0xd9, 0xd9, MEMORY(0x40), 0, FLOAT(SHOWS) }, /* FNSTENV */
	{ ONE, 0xd9, 0xd9, MEMORY(0x80), 0, FLOAT(OTHER) }, /* FNSTCW */
	{ ONE, 0xdb, 0xdb, BYTES(0xe2, 0xe3), 0, FLOAT(CLEARS) },
	{ ONE, 0xdd, 0xdd, MEMORY(0x10), 0, FLOAT(LOADS) }, /* FRSTOR */
	{ ONE, 0xdd, 0xdd, MEMORY(0x40), 0, FLOAT(CLEARS) }, /* FNSAVE */
	{ ONE, 0xdd, 0xdd, MEMORY(0x80), 0, FLOAT(SHOWS) }, /* FNSTSW */
	{ ONE, 0xdf, 0xdf, EXACTLY(0xe0), 0, FLOAT(SHOWS) }, /* FNSTSW */
	{ ONE, 0xd8, 0xdf, ANY, 0, FLOAT(X87) },
	{ ONE, 0xe0, 0xe3, ANY, 0, ENDS }, /* LOOP, JRCXZ */
	{ ONE, 0xe4, 0xe7, ANY, 0, GATE(PRIVILEGE) }, /* IN, OUT */
	{ ONE, 0xe8, 0xe9, ANY, 0, ENDS }, /* CALL, JMP */
	{ ONE, 0xea, 0xea, ANY, IF_32, GATE(PRIVILEGE) }, /* JMP, far */
	{ ONE, 0xeb, 0xeb, ANY, 0, ENDS },
	{ ONE, 0xec, 0xef, ANY, 0, GATE(PRIVILEGE) }, /* IN, OUT */
	{ ONE, 0xf1, 0xf1, ANY, 0, GATE(INT) }, /* INT1 */
	{ ONE, 0xf4, 0xf4, ANY, 0, GATE(PRIVILEGE) }, /* HLT */
	/* NEG: its flags are of the old value. */
	{ ONE, 0xf6, 0xf7, GROUPS(0x08), IF_LOCKED, GATE(EMULATE) },
	{ ONE, 0xfa, 0xfa, ANY, 0, GATE(PRIVILEGE) }, /* CLI */
	{ ONE, 0xfb, 0xfb, ANY, 0, GATE_ENDS(PRIVILEGE) }, /* STI */
	{ ONE, 0xff, 0xff, MEMORY(0x28), 0, GATE_ENDS(INVALID) }, /* far */
	{ ONE, 0xff, 0xff, GROUPS(0x3c), 0, ENDS }, /* CALL, JMP */

	/* ------- 0F ------- */
	{ OF, 0x00, 0x00, GROUPS(0x0c), 0, GATE(PRIVILEGE) }, /* LLDT, LTR */
	{ OF, 0x00, 0x00, GROUPS(0xf0), 0, GATE(INVALID) }, /* VERR, VERW */
	/* LGDT, LIDT, LMSW, INVLPG; SWAPGS; SMSW is allowed. */
	{ OF, 0x01, 0x01, MEMORY(0xcc), 0, GATE(PRIVILEGE) },
	{ OF, 0x01, 0x01, EXACTLY(0xf8), 0, GATE(PRIVILEGE) },
	{ OF, 0x01, 0x01, EXACTLY(0xf9), 0, GATE(TSCP) }, /* RDTSCP */
	{ OF, 0x01, 0x01, REGISTER(0xef), 0, GATE(INVALID) },
	{ OF, 0x02, 0x03, ANY, 0, GATE(INVALID) }, /* LAR, LSL */
	{ OF, 0x05, 0x05, ANY, IF_32, GATE(INVALID) },
	{ OF, 0x05, 0x05, ANY, 0, ENDS }, /* SYSCALL */
	/* CLTS, SYSRET, INVD, WBINVD */
	{ OF, 0x06, 0x09, ANY, 0, GATE(PRIVILEGE) },
	{ OF, 0x0b, 0x0b, ANY, 0, GATE(INVALID) }, /* UD2 */
	{ OF, 0x20, 0x23, ANY, 0, GATE(PRIVILEGE) }, /* MOV CR, DR */
	{ OF, 0x2a, 0x2a, ANY, 0, FLOAT(SSE) }, /* CVTSI2SS, CVTPI2PS */
	{ OF, 0x2c, 0x2d, ANY, 0, FLOAT(SSE) },
	{ OF, 0x2e, 0x2f, ANY, 0, FLOAT(SSE) }, /* UCOMISS, COMISS */
	{ OF, 0x30, 0x30, ANY, 0, GATE(PRIVILEGE) }, /* WRMSR */
	{ OF, 0x31, 0x31, ANY, 0, GATE(TSC) }, /* RDTSC */
	{ OF, 0x32, 0x33, ANY, 0, GATE(PRIVILEGE) }, /* RDMSR, RDPMC */
	{ OF, 0x34, 0x34, ANY, 0, GATE(INVALID) }, /* SYSENTER */
	{ OF, 0x35, 0x35, ANY, 0, GATE(PRIVILEGE) }, /* SYSEXIT */
	{ OF, 0x37, 0x37, ANY, 0, GATE(INVALID) }, /* GETSEC */
	{ OF, 0x51, 0x51, ANY, 0, FLOAT(SSE) }, /* SQRTPS */
	{ OF, 0x58, 0x5f, ANY, 0, FLOAT(SSE) }, /* ADDPS ... MAXPS */
	{ OF, 0x78, 0x79, ANY, 0, GATE(INVALID) }, /* VMREAD; EXTRQ */
	{ OF, 0x7c, 0x7d, ANY, 0, FLOAT(SSE) }, /* HADDPS, HSUBPS */
	{ OF, 0x80, 0x8f, ANY, 0, ENDS }, /* Jcc */
	{ OF, 0xa0, 0xa0, ANY, IF_32, GATE(EMULATE) }, /* PUSH FS */
	{ OF, 0xa1, 0xa1, ANY, IF_32, GATE_ENDS(EMULATE) },
	{ OF, 0xa1, 0xa1, ANY, 0, ENDS }, /* POP FS */
	{ OF, 0xa2, 0xa2, ANY, 0, GATE(CPUID) },
	{ OF, 0xa8, 0xa8, ANY, IF_32, GATE(EMULATE) }, /* PUSH GS */
	{ OF, 0xa9, 0xa9, ANY, IF_32, GATE_ENDS(EMULATE) },
	{ OF, 0xa9, 0xa9, ANY, 0, ENDS }, /* POP GS */
	{ OF, 0xaa, 0xaa, ANY, 0, GATE(INVALID) }, /* RSM */
	{ OF, 0xae, 0xae, MEMORY(0x01), 0, FLOAT(SHOWS) }, /* FXSAVE */
	{ OF, 0xae, 0xae, MEMORY(0x02), 0, FLOAT(LOADS_ALL) }, /* FXRSTOR */
	{ OF, 0xae, 0xae, MEMORY(0x04), 0, FLOAT(LOADS_SSE) }, /* LDMXCSR */
	{ OF, 0xae, 0xae, MEMORY(0x08), 0, FLOAT(SHOWS_SSE) }, /* STMXCSR */
	/* XSAVE, XSAVEOPT */
	{ OF, 0xae, 0xae, MEMORY(0x50), 0, GATE(INVALID) },
	{ OF, 0xae, 0xae, REGISTER(0x0f), 0, GATE(INVALID) }, /* RDFSBASE ... */
	{ OF, 0xb2, 0xb2, ANY, IF_32, GATE(PRIVILEGE) },
	{ OF, 0xb2, 0xb2, ANY, 0, ENDS }, /* LSS */
	{ OF, 0xb4, 0xb5, ANY, IF_32, GATE(PRIVILEGE) },
	{ OF, 0xb4, 0xb5, ANY, 0, ENDS }, /* LFS, LGS */
	{ OF, 0xb9, 0xb9, ANY, 0, GATE(INVALID) }, /* UD1 */
	{ OF, 0xc2, 0xc2, ANY, 0, FLOAT(SSE) }, /* CMPPS */
	/* CMPXCHG8B, CMPXCHG16B; RDRAND, RDSEED, VMPTRLD, XSAVES */
	{ OF, 0xc7, 0xc7, MEMORY(0x02), 0, GATE(EMULATE) },
	{ OF, 0xc7, 0xc7, ANY, 0, GATE(INVALID) },
	{ OF, 0xd0, 0xd0, ANY, 0, FLOAT(SSE) }, /* ADDSUBPS */
	{ OF, 0xe6, 0xe6, ANY, 0, FLOAT(SSE) }, /* CVTPD2DQ */
	{ OF, 0xff, 0xff, ANY, 0, GATE(INVALID) }, /* UD0 */

	/* ------- 0F 38 and 0F 3A ------- */
	/* PHADDW, PHADDD, PHADDSW, PHSUBW, PHSUBD, PHSUBSW of a register and
	 * itself: the engine overwrites what it has not read yet.  Registers
	 * that differ by 8 are taken for the same one, which does no harm. */
	{ OF38, 0x01, 0x03, REGISTER(0xff), IF_ONE_REGISTER, GATE(HOST) },
	{ OF38, 0x05, 0x07, REGISTER(0xff), IF_ONE_REGISTER, GATE(HOST) },
	{ OF3A, 0x08, 0x0b, ANY, 0, FLOAT(SSE) }, /* ROUNDPS ... */
	{ OF3A, 0x40, 0x41, ANY, 0, FLOAT(SSE) }, /* DPPS, DPPD */
	/* PCMPESTRM, PCMPESTRI, PCMPISTRM, PCMPISTRI */
	{ OF3A, 0x60, 0x63, ANY, IF_ORDERED, GATE(HOST) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ------- operands that must be aligned ------- */

/* Behind 0F, without prefix: PS and MOVAPS; not the conversions of 64 bits. */
static const opcode_rows plain = {
	[0x1] = 0x0030, [0x2] = 0x0b00, [0x5] = 0xfbfe, [0xc] = 0x0044,
};

/* With 66: PD, MOVAPD, MOVDQA, integers. */
static const opcode_rows prefix_66 = {
	[0x1] = 0x0030, [0x2] = 0x3b00, [0x5] = 0xfff2, [0x6] = 0xbfff,
	[0x7] = 0xb071, [0xc] = 0x0044, [0xd] = 0xff3f, [0xe] = 0xffff,
	[0xf] = 0x7f7e,
};

/* With F3: MOVSLDUP, MOVSHDUP, CVTTPS2DQ, PSHUFHW. */
static const opcode_rows prefix_f3 = {
	[0x1] = 0x0044, [0x5] = 0x0800, [0x7] = 0x0001,
};

/* With F2: PSHUFLW, HADDPS, HSUBPS, ADDSUBPS, CVTPD2DQ. */
static const opcode_rows prefix_f2 = {
	[0x7] = 0x3001, [0xd] = 0x0001, [0xe] = 0x0040,
};

/* Behind 0F 38 with 66: but for PMOVSX and PMOVZX. */
static const opcode_rows behind_38 = {
	[0x0] = 0x0fff, [0x1] = 0x70b1, [0x2] = 0x0f00, [0x3] = 0xff80,
	[0x4] = 0x0003, [0xd] = 0xf800,
};

/* Behind 0F 3A with 66: those of whole vectors, but for PCMPxSTRx. */
static const opcode_rows behind_3a = {
	[0x0] = 0xf300, [0x4] = 0x0017, [0xd] = 0x8000,
};

static const uint16_t *rows_of(const struct x86_parts *insn)
{
	static const opcode_rows none;

	switch (insn->map) {
	case MAP_0F:
		return insn->simd == 0x66 ? prefix_66 :
		       insn->simd == 0xf3 ? prefix_f3 :
		       insn->simd == 0xf2 ? prefix_f2 : plain;
	case MAP_0F38:
		return insn->simd == 0x66 ? behind_38 : none;
	case MAP_0F3A:
		return insn->simd == 0x66 ? behind_3a : none;
	default:
		return none;
	}
}

static bool is_aligned(const struct x86_parts *insn)
{
	return insn->behind_at < insn->known && !insn_names_register(insn) &&
	       rows_of(insn)[insn->opcode >> 4] >> (insn->opcode & 15) & 1;
}

/* ------- looking up ------- */

/* The first row that an opcode may have; ROWS: none. */
static uint8_t first_row[MAP_COUNT][256];

static void index_rows(void)
{
	_Static_assert(ROWS < UINT8_MAX, "numbers of rows are bytes");

	for (unsigned map = 0; map < MAP_COUNT; map++) {
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			uint8_t row = 0;

			while (row < ROWS && (rows[row].map != map ||
					      opcode < rows[row].first ||
					      opcode > rows[row].last))
				row++;
			first_row[map][opcode] = row;
		}
	}
}

static bool is_met(const struct x86_parts *insn, enum condition condition)
{
	switch (condition) {
	case IF_32:
		return insn->is_32;
	case IF_LOCKED:
		return insn->lock;
	case IF_ONE_REGISTER:
		return insn_group(insn) == (insn->behind & 7u);
	case IF_ORDERED:
		return insn->immediate_at &&
		       insn->immediate_at < insn->known &&
		       (insn->code[insn->immediate_at] >> 2 & 3) == 3;
	default:
		return true;
	}
}

static bool fits(const struct row *row, const struct x86_parts *insn)
{
	return insn->opcode >= row->first &&
	       insn->opcode <= row->last && insn->behind >= row->behind &&
	       insn->behind <= row->behind_last &&
	       row->groups >> insn_group(insn) & 1 &&
	       is_met(insn, row->condition);
}

struct x86_class x86_classify(const struct x86_parts *insn)
{
	static pthread_once_t indexed = PTHREAD_ONCE_INIT;
	struct x86_class class = { 0 };
	unsigned row;

	pthread_once(&indexed, index_rows);
	row = first_row[insn->map][insn->opcode];
	while (row < ROWS && rows[row].map == insn->map &&
	       !fits(&rows[row], insn))
		row++;
	if (row < ROWS && rows[row].map == insn->map)
		class = rows[row].class;
	class.is_aligned = is_aligned(insn);
	return class;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - see target.h */
#include "debugger/target.h"

#include <elf.h>
#include <string.h>

#include "debugger/moves.h"

/* ------- x86-64 and i386 ------- */

#define NUMBER(name) { name, name, 64, "int64", NULL, NULL, false }
#define SELECTOR(name) { name, name, 32, "int32", NULL, NULL, false }
#define FLOAT(name) { name, name, 80, "i387_ext", NULL, NULL, false }
#define CONTROL(name, ours) { name, ours, 32, "int", NULL, NULL, false }
#define VECTOR(name) { name, name, 128, "vec128", NULL, NULL, false }

static const char flags_types[] =
	"<flags id=\"i386_eflags\" size=\"4\">"
	"<field name=\"CF\" start=\"0\" end=\"0\"/>"
	"<field name=\"\" start=\"1\" end=\"1\"/>"
	"<field name=\"PF\" start=\"2\" end=\"2\"/>"
	"<field name=\"AF\" start=\"4\" end=\"4\"/>"
	"<field name=\"ZF\" start=\"6\" end=\"6\"/>"
	"<field name=\"SF\" start=\"7\" end=\"7\"/>"
	"<field name=\"TF\" start=\"8\" end=\"8\"/>"
	"<field name=\"IF\" start=\"9\" end=\"9\"/>"
	"<field name=\"DF\" start=\"10\" end=\"10\"/>"
	"<field name=\"OF\" start=\"11\" end=\"11\"/>"
	"<field name=\"NT\" start=\"14\" end=\"14\"/>"
	"<field name=\"RF\" start=\"16\" end=\"16\"/>"
	"<field name=\"VM\" start=\"17\" end=\"17\"/>"
	"<field name=\"AC\" start=\"18\" end=\"18\"/>"
	"<field name=\"VIF\" start=\"19\" end=\"19\"/>"
	"<field name=\"VIP\" start=\"20\" end=\"20\"/>"
	"<field name=\"ID\" start=\"21\" end=\"21\"/>"
	"</flags>";

static const char vector_types[] =
	"<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
	"<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	"<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"
	"<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
	"<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"
	"<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
	"<union id=\"vec128\">"
	"<field name=\"v4_float\" type=\"v4f\"/>"
	"<field name=\"v2_double\" type=\"v2d\"/>"
	"<field name=\"v16_int8\" type=\"v16i8\"/>"
	"<field name=\"v8_int16\" type=\"v8i16\"/>"
	"<field name=\"v4_int32\" type=\"v4i32\"/>"
	"<field name=\"v2_int64\" type=\"v2i64\"/>"
	"<field name=\"uint128\" type=\"uint128\"/>"
	"</union>"
	"<flags id=\"i386_mxcsr\" size=\"4\">"
	"<field name=\"IE\" start=\"0\" end=\"0\"/>"
	"<field name=\"DE\" start=\"1\" end=\"1\"/>"
	"<field name=\"ZE\" start=\"2\" end=\"2\"/>"
	"<field name=\"OE\" start=\"3\" end=\"3\"/>"
	"<field name=\"UE\" start=\"4\" end=\"4\"/>"
	"<field name=\"PE\" start=\"5\" end=\"5\"/>"
	"<field name=\"DAZ\" start=\"6\" end=\"6\"/>"
	"<field name=\"IM\" start=\"7\" end=\"7\"/>"
	"<field name=\"DM\" start=\"8\" end=\"8\"/>"
	"<field name=\"ZM\" start=\"9\" end=\"9\"/>"
	"<field name=\"OM\" start=\"10\" end=\"10\"/>"
	"<field name=\"UM\" start=\"11\" end=\"11\"/>"
	"<field name=\"PM\" start=\"12\" end=\"12\"/>"
	"<field name=\"FZ\" start=\"15\" end=\"15\"/>"
	"</flags>";

/* Of x87, in gdb's order; which segments its last operands were in is not kept. */
#define FLOATS                                                                 \
	FLOAT("st0"), FLOAT("st1"), FLOAT("st2"), FLOAT("st3"), FLOAT("st4"),  \
	FLOAT("st5"), FLOAT("st6"), FLOAT("st7"),                              \
	CONTROL("fctrl", "fctrl"), CONTROL("fstat", "fstat"),                  \
	CONTROL("ftag", "ftag"), CONTROL("fiseg", NULL),                       \
	CONTROL("fioff", "fioff"), CONTROL("foseg", NULL),                     \
	CONTROL("fooff", "fooff"), CONTROL("fop", NULL)

#define SELECTORS                                                              \
	SELECTOR("cs"), SELECTOR("ss"), SELECTOR("ds"), SELECTOR("es"),        \
	SELECTOR("fs"), SELECTOR("gs")

#define EIGHT_VECTORS                                                          \
	{ "xmm0", "xmm0", 128, "vec128", "org.gnu.gdb.i386.sse",               \
	  vector_types, false },                                               \
	VECTOR("xmm1"), VECTOR("xmm2"), VECTOR("xmm3"), VECTOR("xmm4"),        \
	VECTOR("xmm5"), VECTOR("xmm6"), VECTOR("xmm7")

#define EFLAGS { "eflags", "eflags", 32, "i386_eflags", NULL, NULL, false }
#define MXCSR { "mxcsr", "mxcsr", 32, "i386_mxcsr", NULL, NULL, false }

static const struct target_register x86_64_registers[] = {
	{ "rax", "rax", 64, "int64", "org.gnu.gdb.i386.core", flags_types,
	  false },
	NUMBER("rbx"), NUMBER("rcx"), NUMBER("rdx"), NUMBER("rsi"),
	NUMBER("rdi"),
	{ "rbp", "rbp", 64, "data_ptr", NULL, NULL, false },
	{ "rsp", "rsp", 64, "data_ptr", NULL, NULL, false },
	NUMBER("r8"), NUMBER("r9"), NUMBER("r10"), NUMBER("r11"),
	NUMBER("r12"), NUMBER("r13"), NUMBER("r14"), NUMBER("r15"),
	{ "rip", "rip", 64, "code_ptr", NULL, NULL, false },
	EFLAGS, SELECTORS, FLOATS, EIGHT_VECTORS, VECTOR("xmm8"),
	VECTOR("xmm9"), VECTOR("xmm10"), VECTOR("xmm11"), VECTOR("xmm12"),
	VECTOR("xmm13"), VECTOR("xmm14"), VECTOR("xmm15"), MXCSR,
	{ "orig_rax", NULL, 64, "int64", "org.gnu.gdb.i386.linux", NULL,
	  true },
	{ "fs_base", "fs_base", 64, "int64", "org.gnu.gdb.i386.segments",
	  NULL, false },
	NUMBER("gs_base"),
};

#define NARROW(name) { name, name, 32, "int32", NULL, NULL, false }

/* gdb knows no bases of segments here: they are cprec's own. */
static const struct target_register i386_registers[] = {
	{ "eax", "eax", 32, "int32", "org.gnu.gdb.i386.core", flags_types,
	  false },
	NARROW("ecx"), NARROW("edx"), NARROW("ebx"),
	{ "esp", "esp", 32, "data_ptr", NULL, NULL, false },
	{ "ebp", "ebp", 32, "data_ptr", NULL, NULL, false },
	NARROW("esi"), NARROW("edi"),
	{ "eip", "eip", 32, "code_ptr", NULL, NULL, false },
	EFLAGS, SELECTORS, FLOATS, EIGHT_VECTORS, MXCSR,
	{ "orig_eax", NULL, 32, "int", "org.gnu.gdb.i386.linux", NULL, true },
	{ "fs_base", "fs_base", 32, "int32", "cprec.i386.segments", NULL,
	  false },
	NARROW("gs_base"),
};

/* ------- AArch64 ------- */

#define X(name) { name, name, 64, "int", NULL, NULL, false }
#define V(name) { name, name, 128, "aarch64v", NULL, NULL, false }

static const char cpsr_types[] =
	"<flags id=\"cpsr_flags\" size=\"4\">"
	"<field name=\"SP\" start=\"0\" end=\"0\"/>"
	"<field name=\"EL\" start=\"2\" end=\"3\"/>"
	"<field name=\"nRW\" start=\"4\" end=\"4\"/>"
	"<field name=\"F\" start=\"6\" end=\"6\"/>"
	"<field name=\"I\" start=\"7\" end=\"7\"/>"
	"<field name=\"A\" start=\"8\" end=\"8\"/>"
	"<field name=\"D\" start=\"9\" end=\"9\"/>"
	"<field name=\"BTYPE\" start=\"10\" end=\"11\"/>"
	"<field name=\"SSBS\" start=\"12\" end=\"12\"/>"
	"<field name=\"IL\" start=\"20\" end=\"20\"/>"
	"<field name=\"SS\" start=\"21\" end=\"21\"/>"
	"<field name=\"PAN\" start=\"22\" end=\"22\"/>"
	"<field name=\"UAO\" start=\"23\" end=\"23\"/>"
	"<field name=\"DIT\" start=\"24\" end=\"24\"/>"
	"<field name=\"TCO\" start=\"25\" end=\"25\"/>"
	"<field name=\"V\" start=\"28\" end=\"28\"/>"
	"<field name=\"C\" start=\"29\" end=\"29\"/>"
	"<field name=\"Z\" start=\"30\" end=\"30\"/>"
	"<field name=\"N\" start=\"31\" end=\"31\"/>"
	"</flags>";

static const char aarch64_vector_types[] =
	"<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	"<vector id=\"v2u\" type=\"uint64\" count=\"2\"/>"
	"<vector id=\"v2i\" type=\"int64\" count=\"2\"/>"
	"<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
	"<vector id=\"v4u\" type=\"uint32\" count=\"4\"/>"
	"<vector id=\"v4i\" type=\"int32\" count=\"4\"/>"
	"<vector id=\"v8f\" type=\"ieee_half\" count=\"8\"/>"
	"<vector id=\"v8u\" type=\"uint16\" count=\"8\"/>"
	"<vector id=\"v8i\" type=\"int16\" count=\"8\"/>"
	"<vector id=\"v16u\" type=\"uint8\" count=\"16\"/>"
	"<vector id=\"v16i\" type=\"int8\" count=\"16\"/>"
	"<vector id=\"v1u\" type=\"uint128\" count=\"1\"/>"
	"<vector id=\"v1i\" type=\"int128\" count=\"1\"/>"
	"<union id=\"vnd\"><field name=\"f\" type=\"v2d\"/>"
	"<field name=\"u\" type=\"v2u\"/><field name=\"s\" type=\"v2i\"/></union>"
	"<union id=\"vns\"><field name=\"f\" type=\"v4f\"/>"
	"<field name=\"u\" type=\"v4u\"/><field name=\"s\" type=\"v4i\"/></union>"
	"<union id=\"vnh\"><field name=\"f\" type=\"v8f\"/>"
	"<field name=\"u\" type=\"v8u\"/><field name=\"s\" type=\"v8i\"/></union>"
	"<union id=\"vnb\"><field name=\"u\" type=\"v16u\"/>"
	"<field name=\"s\" type=\"v16i\"/></union>"
	"<union id=\"vnq\"><field name=\"u\" type=\"v1u\"/>"
	"<field name=\"s\" type=\"v1i\"/></union>"
	"<union id=\"aarch64v\"><field name=\"d\" type=\"vnd\"/>"
	"<field name=\"s\" type=\"vns\"/><field name=\"h\" type=\"vnh\"/>"
	"<field name=\"b\" type=\"vnb\"/><field name=\"q\" type=\"vnq\"/></union>";

#define AARCH64_COMMON							\
	{ "x0", "x0", 64, "int", "org.gnu.gdb.aarch64.core", cpsr_types,	\
	  false },							\
	X("x1"), X("x2"), X("x3"), X("x4"), X("x5"), X("x6"), X("x7"), X("x8"),	\
	X("x9"), X("x10"), X("x11"), X("x12"), X("x13"), X("x14"), X("x15"),	\
	X("x16"), X("x17"), X("x18"), X("x19"), X("x20"), X("x21"), X("x22"),	\
	X("x23"), X("x24"), X("x25"), X("x26"), X("x27"), X("x28"), X("x29"),	\
	X("x30"),							\
	{ "sp", "sp", 64, "data_ptr", NULL, NULL, false },		\
	{ "pc", "pc", 64, "code_ptr", NULL, NULL, false },		\
	{ "cpsr", "cpsr", 32, "cpsr_flags", NULL, NULL, false },	\
	{ "v0", "v0", 128, "aarch64v", "org.gnu.gdb.aarch64.fpu",	\
	  aarch64_vector_types, false },				\
	V("v1"), V("v2"), V("v3"), V("v4"), V("v5"), V("v6"), V("v7"), V("v8"),	\
	V("v9"), V("v10"), V("v11"), V("v12"), V("v13"), V("v14"), V("v15"),	\
	V("v16"), V("v17"), V("v18"), V("v19"), V("v20"), V("v21"), V("v22"),	\
	V("v23"), V("v24"), V("v25"), V("v26"), V("v27"), V("v28"), V("v29"),	\
	V("v30"), V("v31"),						\
	CONTROL("fpsr", "fpsr"), CONTROL("fpcr", "fpcr")

static const struct target_register aarch64_registers[] = {
	AARCH64_COMMON,
	{ "tpidr", "tpidr", 64, "data_ptr", "org.gnu.gdb.aarch64.tls", NULL,
	  false },
};

/* Of a machine, also registers of the system. */
#define S(name) { name, name, 64, "int", NULL, NULL, false }

static const struct target_register aarch64_machine_registers[] = {
	AARCH64_COMMON,
	{ "tpidr", "tpidr", 64, "data_ptr", "org.gnu.gdb.aarch64.tls", NULL,
	  false },
	{ "sp_el0", "sp_el0", 64, "int", "cprec.aarch64.system", NULL, false },
	S("sp_el1"), S("elr_el1"), S("spsr_el1"), S("esr_el1"), S("far_el1"),
	S("vbar_el1"), S("sctlr_el1"), S("cpacr_el1"), S("ttbr0_el1"),
	S("ttbr1_el1"), S("tcr_el1"), S("mair_el1"), S("par_el1"),
	S("contextidr_el1"), S("tpidrro_el0"), S("tpidr_el1"), S("mdscr_el1"),
	S("cntkctl_el1"), S("cntv_ctl_el0"), S("cntv_cval_el0"),
	S("cntp_ctl_el0"), S("cntp_cval_el0"),
};

/* ------- 32-bit ARM ------- */

#define R(name) { name, name, 32, "uint32", NULL, NULL, false }
#define D(name) { name, name, 64, "ieee_double", NULL, NULL, false }

static const struct target_register arm_registers[] = {
	{ "r0", "r0", 32, "uint32", "org.gnu.gdb.arm.core", NULL, false },
	R("r1"), R("r2"), R("r3"), R("r4"), R("r5"), R("r6"), R("r7"),
	R("r8"), R("r9"), R("r10"), R("r11"), R("r12"),
	{ "sp", "sp", 32, "data_ptr", NULL, NULL, false },
	R("lr"),
	{ "pc", "pc", 32, "code_ptr", NULL, NULL, false },
	R("cpsr"),
	{ "d0", "d0", 64, "ieee_double", "org.gnu.gdb.arm.vfp", NULL, false },
	D("d1"), D("d2"), D("d3"), D("d4"), D("d5"), D("d6"), D("d7"), D("d8"),
	D("d9"), D("d10"), D("d11"), D("d12"), D("d13"), D("d14"), D("d15"),
	D("d16"), D("d17"), D("d18"), D("d19"), D("d20"), D("d21"), D("d22"),
	D("d23"), D("d24"), D("d25"), D("d26"), D("d27"), D("d28"), D("d29"),
	D("d30"), D("d31"),
	CONTROL("fpscr", "fpscr"),
	{ "tpidruro", "tpidruro", 32, "data_ptr", "org.gnu.gdb.arm.tls", NULL,
	  false },
};

/* ------- ARMv7-M ------- */

/* Without floating point its registers are 0. */
static const struct target_register cortex_m_registers[] = {
	{ "r0", "r0", 32, "uint32", "org.gnu.gdb.arm.m-profile", NULL, false },
	R("r1"), R("r2"), R("r3"), R("r4"), R("r5"), R("r6"), R("r7"),
	R("r8"), R("r9"), R("r10"), R("r11"), R("r12"),
	{ "sp", "sp", 32, "data_ptr", NULL, NULL, false },
	R("lr"),
	{ "pc", "pc", 32, "code_ptr", NULL, NULL, false },
	R("xpsr"),
	{ "d0", "d0", 64, "ieee_double", "org.gnu.gdb.arm.vfp", NULL, false },
	D("d1"), D("d2"), D("d3"), D("d4"), D("d5"), D("d6"), D("d7"), D("d8"),
	D("d9"), D("d10"), D("d11"), D("d12"), D("d13"), D("d14"), D("d15"),
	CONTROL("fpscr", "fpscr"),
	{ "msp", "msp", 32, "data_ptr", "org.gnu.gdb.arm.m-system", NULL,
	  false },
	{ "psp", "psp", 32, "data_ptr", NULL, NULL, false },
	{ "primask", "primask", 32, "uint32", "cprec.arm.m-system", NULL,
	  false },
	R("basepri"), R("faultmask"), R("control"), R("vtor"), R("aircr"),
	R("scr"), R("ccr"), R("shcsr"), R("cfsr"), R("hfsr"), R("mmfar"),
	R("bfar"), R("cpacr"), R("fpccr"), R("fpcar"),
};

/* ------- all of them ------- */

/* fork, vfork, clone, clone3 */
static const uint64_t x86_64_forks[] = { 57, 58, 56, 435, CALL_NONE };
static const uint64_t x86_64_vforks[] = { 58, CALL_NONE };

/* fork, vfork, clone, clone3 */
static const uint64_t i386_forks[] = { 2, 190, 120, 435, CALL_NONE };
static const uint64_t i386_vforks[] = { 190, CALL_NONE };

/* fork, vfork, clone, clone3 */
static const uint64_t arm_forks[] = { 2, 190, 120, 435, CALL_NONE };
static const uint64_t arm_vforks[] = { 190, CALL_NONE };

/* clone, clone3 */
static const uint64_t aarch64_forks[] = { 220, 435, CALL_NONE };
static const uint64_t aarch64_vforks[] = { CALL_NONE };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const struct target targets[] = {
	{
		.arch = "x86_64", .name = "i386:x86-64", .osabi = "GNU/Linux",
		.machine = EM_X86_64, .word = 8, .moves = &moves_x86_64,
		.registers = x86_64_registers,
		.count = COUNT(x86_64_registers),
		.pc = "rip", .sp = "rsp", .fp = "rbp",
		.tls = "fs_base", .tls_number = R_X86_64_DTPMOD64,
		.tls_offset = R_X86_64_TPOFF64, .tls_code = R_X86_64_TLSDESC,
		.vector = 8,
		.details = "rsi", .call = "rax",
		.forks = x86_64_forks, .vforks = x86_64_vforks,
	},
	{
		.arch = "i386", .name = "i386", .osabi = "GNU/Linux",
		.machine = EM_386, .word = 4, .moves = &moves_i386,
		.registers = i386_registers,
		.count = COUNT(i386_registers),
		.pc = "eip", .sp = "esp", .fp = "ebp",
		.tls = "gs_base", .tls_number = R_386_TLS_DTPMOD32,
		.tls_offset = R_386_TLS_TPOFF, .tls_code = R_386_TLS_DESC,
		.vector = 4,
		.details = "edx", .call = "eax",
		.forks = i386_forks, .vforks = i386_vforks,
	},
	{
		.arch = "aarch64", .name = "aarch64", .osabi = "GNU/Linux",
		.machine = EM_AARCH64, .word = 8, .moves = &moves_arm64,
		.registers = aarch64_registers,
		.count = COUNT(aarch64_registers),
		.pc = "pc", .sp = "sp", .fp = "x29",
		.tls = "tpidr", .tls_number = R_AARCH64_TLS_DTPMOD,
		.tls_offset = R_AARCH64_TLS_TPREL,
		.tls_code = R_AARCH64_TLSDESC,
		.vector = 0, .tls_head = 16,
		.watches_before = true,
		.details = "x1", .call = "x8",
		.forks = aarch64_forks, .vforks = aarch64_vforks,
	},
	{
		.arch = "aarch64-machine", .name = "aarch64", .osabi = "none",
		.machine = EM_AARCH64, .word = 8, .moves = &moves_arm64,
		.registers = aarch64_machine_registers,
		.count = COUNT(aarch64_machine_registers),
		.pc = "pc", .sp = "sp", .fp = "x29", .tls = "tpidr",
		.watches_before = true, .details = "x1", .call = "x8",
		.forks = aarch64_vforks, .vforks = aarch64_vforks,
		.is_machine = true,
	},
	{
		.arch = "arm", .name = "arm", .osabi = "GNU/Linux",
		.machine = EM_ARM, .word = 4, .moves = &moves_arm,
		.flags = EF_ARM_EABI_VER5 | EF_ARM_ABI_FLOAT_HARD,
		.registers = arm_registers,
		.count = COUNT(arm_registers),
		.pc = "pc", .sp = "sp", .fp = "r11",
		.tls = "tpidruro", .tls_number = R_ARM_TLS_DTPMOD32,
		.tls_offset = R_ARM_TLS_TPOFF32, .tls_code = R_ARM_TLS_DESC,
		.vector = 0, .tls_head = 8,
		.watches_before = true,
		.details = "r1", .call = "r7",
		.forks = arm_forks, .vforks = arm_vforks,
	},
	{
		.arch = "cortex-m", .name = "arm", .osabi = "none",
		.machine = EM_ARM, .word = 4, .moves = &moves_arm,
		.flags = EF_ARM_EABI_VER5,
		.registers = cortex_m_registers,
		.count = COUNT(cortex_m_registers),
		.pc = "pc", .sp = "sp", .fp = "r7", .tls = "r9",
		.watches_before = true, .details = "r1", .call = "r7",
		.forks = aarch64_vforks, .vforks = aarch64_vforks,
		.is_machine = true,
	},
};

const struct target *target_find(const char *arch)
{
	for (size_t i = 0; i < COUNT(targets); i++)
		if (!strcmp(targets[i].arch, arch))
			return &targets[i];
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.c - see target.h */
#include "debugger/target.h"

#include <elf.h>
#include <string.h>

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
	{ "eflags", "eflags", 32, "i386_eflags", NULL, NULL, false },
	SELECTOR("cs"), SELECTOR("ss"), SELECTOR("ds"), SELECTOR("es"),
	SELECTOR("fs"), SELECTOR("gs"),
	FLOAT("st0"), FLOAT("st1"), FLOAT("st2"), FLOAT("st3"), FLOAT("st4"),
	FLOAT("st5"), FLOAT("st6"), FLOAT("st7"),
	CONTROL("fctrl", "fctrl"), CONTROL("fstat", "fstat"),
	CONTROL("ftag", "ftag"), CONTROL("fiseg", NULL),
	CONTROL("fioff", "fioff"), CONTROL("foseg", NULL),
	CONTROL("fooff", "fooff"), CONTROL("fop", NULL),
	{ "xmm0", "xmm0", 128, "vec128", "org.gnu.gdb.i386.sse",
	  vector_types, false },
	VECTOR("xmm1"), VECTOR("xmm2"), VECTOR("xmm3"), VECTOR("xmm4"),
	VECTOR("xmm5"), VECTOR("xmm6"), VECTOR("xmm7"), VECTOR("xmm8"),
	VECTOR("xmm9"), VECTOR("xmm10"), VECTOR("xmm11"), VECTOR("xmm12"),
	VECTOR("xmm13"), VECTOR("xmm14"), VECTOR("xmm15"),
	{ "mxcsr", "mxcsr", 32, "i386_mxcsr", NULL, NULL, false },
	{ "orig_rax", NULL, 64, "int64", "org.gnu.gdb.i386.linux", NULL,
	  true },
	{ "fs_base", "fs_base", 64, "int64", "org.gnu.gdb.i386.segments",
	  NULL, false },
	NUMBER("gs_base"),
};

/* fork, vfork, clone, clone3 */
static const uint64_t x86_64_forks[] = { 57, 58, 56, 435, CALL_NONE };
static const uint64_t x86_64_vforks[] = { 58, CALL_NONE };

static const struct target targets[] = {
	{ "x86_64", "i386:x86-64", "GNU/Linux", x86_64_registers,
	  sizeof(x86_64_registers) / sizeof(*x86_64_registers),
	  "rip", "rsp", "rbp", "fs_base",
	  R_X86_64_TPOFF64, R_X86_64_DTPMOD64, "rsi",
	  "rax", x86_64_forks, x86_64_vforks },
};

const struct target *target_find(const char *arch)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i].arch, arch))
			return &targets[i];
	return NULL;
}

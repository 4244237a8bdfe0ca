/* SPDX-License-Identifier: GPL-2.0-or-later */
/* accesses_arm.c - 32-bit ARM: what is replaced so that accesses are logged */
#include "vm/engine/build/accesses.h"

extern op1_fn tcg_gen_op1_arm;
extern op2_fn tcg_gen_op2_arm;
extern op6_fn tcg_gen_op6_arm;
extern new_fn tcg_temp_new_internal_arm;
extern free_fn tcg_temp_free_internal_arm;
extern find_block_fn tcg_tb_lookup_arm;
extern restore_fn cpu_restore_state_arm;
extern leave_fn cpu_loop_exit_arm;

/* The engine says here, too, that an instruction begins. */
REPLACES(op3_fn, tcg_gen_op3_arm);
void tcg_gen_op3_arm(void *context, int op, uintptr_t a, uintptr_t b,
		     uintptr_t c)
{
	accesses_insn(op, a);
	engine_tcg_gen_op3_arm(context, op, a, b, c);
}

const struct generator generator_arm = {
	.op1 = tcg_gen_op1_arm,
	.op2 = tcg_gen_op2_arm,
	.op3 = engine_tcg_gen_op3_arm,
	.op6 = tcg_gen_op6_arm,
	.new = tcg_temp_new_internal_arm,
	.free = tcg_temp_free_internal_arm,
	.find_block = tcg_tb_lookup_arm,
	.restore = cpu_restore_state_arm,
	.leave = cpu_loop_exit_arm,
};

DEFINE_EMIT(tcg_emit_op_arm)
DEFINE_ASK(check_exit_request_arm)
DEFINE_CALL(tcg_gen_callN_arm)

/* ------- loads ------- */

REPLACES(load_fn, tcg_gen_qemu_ld_i32_arm);

static void load(void *context, name value, name addr, uintptr_t index,
		 unsigned access)
{
	if (!direct_load(context, value, addr, access, OP_STORE_32_OF_32))
		engine_tcg_gen_qemu_ld_i32_arm(context, value, addr, index,
					       access);
}

/* A load of the word behind one, only to see whether it faults. */
static void try_next(void *context, name addr, uintptr_t index, unsigned access)
{
	uintptr_t next = (uintptr_t)generator_arm.new(context, TYPE_32, false);
	uintptr_t four = (uintptr_t)generator_arm.new(context, TYPE_32, false);

	tcg_gen_op2_arm(context, OP_CONSTANT_32, four, 4);
	engine_tcg_gen_op3_arm(context, OP_ADD_32, next,
			       (uintptr_t)context + addr, four);
	load(context, four - (uintptr_t)context, next - (uintptr_t)context,
	     index, access);
	generator_arm.free(context, (void *)four);
	generator_arm.free(context, (void *)next);
}

/*
 * The engine keeps the first of two words before it loads the second.  If that
 * faults the instruction has not taken place, and its base must be as before.
 */
void tcg_gen_qemu_ld_i32_arm(void *context, name value, name addr,
			     uintptr_t index, unsigned access)
{
	access = aligned_access(access);
	accesses_before(context, addr, access, value, 0);
	load(context, value, addr, index, access);
	if (access_takes_base() && engine_entered &&
	    engine_entered->kind == &engine_kind_arm)
		try_next(context, addr, index, access);
	accesses_behind(context, value, OP_STORE_32_OF_32);
}

DEFINE_LOAD(tcg_gen_qemu_ld_i64_arm, OP_STORE_64,
	    access = aligned_access(access))
DEFINE_STORE(tcg_gen_qemu_st_i32_arm, OP_STORE_32_OF_32,
	     access = aligned_access(access))
DEFINE_STORE(tcg_gen_qemu_st_i64_arm, OP_STORE_64,
	     access = aligned_access(access))

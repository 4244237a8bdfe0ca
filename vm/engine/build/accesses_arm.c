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

DEFINE_LOAD(tcg_gen_qemu_ld_i32_arm, OP_STORE_32_OF_32,
	    access = aligned_access(access))
DEFINE_LOAD(tcg_gen_qemu_ld_i64_arm, OP_STORE_64,
	    access = aligned_access(access))
DEFINE_STORE(tcg_gen_qemu_st_i32_arm, OP_STORE_32_OF_32,
	     access = aligned_access(access))
DEFINE_STORE(tcg_gen_qemu_st_i64_arm, OP_STORE_64,
	     access = aligned_access(access))

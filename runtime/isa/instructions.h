/* The instructions that contexts execute, one line each: rv32i, m, f, zicsr, zfh, zba, zbb and the
 * tile instructions of isa.h. All code that knows instructions expands this table: encoding.h, the
 * disassembler, the analysis of stacks (libarchive-ipu), the interpreter, control code, the
 * translator, tests.
 *
 *   X(identifier, mnemonic, mask, match, format, cost class, what)
 *
 * A word is an instruction if (word & mask) == match. Encodings: "The RISC-V Instruction Set
 * Manual, Volume I", chapter "RV32/64G Instruction Set Listings", and its chapters "Zfh", "Zba",
 * "Zbb". Instructions of one major opcode (bits 0-6) stand together, as isa_find expects.
 *
 * There is a list for each kind of `what`. A and B are the registers rs1 and rs2, IMM is a
 * uint32_t; code that expands the list defines them. INSTRUCTIONS is all of them. */
#ifndef ISA_INSTRUCTIONS_H
#define ISA_INSTRUCTIONS_H

/* Formats say where the operands are and what a decoded operation's `imm` means:
 *   R       rd, rs1, rs2                        I, SHIFT  rd, rs1, imm
 *   R_RM    rd, rs1, rs2; imm = rounding mode   S, B      rs1, rs2, imm
 *   F       the same as R, but rd is a float    U, J      rd, imm
 *   F_RM    register (or, in tile.run, sync     CSR       rd, rs1 (or 5-bit value), imm = number
 *   F_I     and sans, numbers): 0 is one too    R4        F_RM and imm = rounding mode | rs3 << 8
 *   NONE    no operands                                                                        */
#define INSTRUCTION_FORMATS(X)                                                                     \
  X(NONE)                                                                                          \
  X(R)                                                                                             \
  X(R_RM)                                                                                          \
  X(R4)                                                                                            \
  X(F)                                                                                             \
  X(F_RM)                                                                                          \
  X(F_I)                                                                                           \
  X(I)                                                                                             \
  X(SHIFT)                                                                                         \
  X(S)                                                                                             \
  X(B)                                                                                             \
  X(U)                                                                                             \
  X(J)                                                                                             \
  X(CSR)

/* load (0x03): rd = memory at A + IMM as this type, extended to 32 bits. */
#define LOADS(X)                                                                                   \
  X(LB, "lb", 0x0000707f, 0x00000003, I, LOAD, int8_t)                                             \
  X(LH, "lh", 0x0000707f, 0x00001003, I, LOAD, int16_t)                                            \
  X(LW, "lw", 0x0000707f, 0x00002003, I, LOAD, uint32_t)                                           \
  X(LBU, "lbu", 0x0000707f, 0x00004003, I, LOAD, uint8_t)                                          \
  X(LHU, "lhu", 0x0000707f, 0x00005003, I, LOAD, uint16_t)

/* load-fp (0x07): the same with a float register; a half is boxed. */
#define FLOAT_LOADS(X)                                                                             \
  X(FLH, "flh", 0x0000707f, 0x00001007, F_I, LOAD, uint16_t)                                       \
  X(FLW, "flw", 0x0000707f, 0x00002007, F_I, LOAD, uint32_t)

/* load-fp (0x07) and store-fp (0x27) of both words of a register; the address is a multiple of
 * 4. */
#define WIDE_LOADS(X) X(FLD, "fld", 0x0000707f, 0x00003007, F_I, LOAD, uint64_t)
#define WIDE_STORES(X) X(FSD, "fsd", 0x0000707f, 0x00003027, S, STORE, uint64_t)

/* store (0x23): memory at A + IMM = B, as many bytes as the type has. */
#define STORES(X)                                                                                  \
  X(SB, "sb", 0x0000707f, 0x00000023, S, STORE_BYTE, uint8_t)                                      \
  X(SH, "sh", 0x0000707f, 0x00001023, S, STORE_HALF, uint16_t)                                     \
  X(SW, "sw", 0x0000707f, 0x00002023, S, STORE, uint32_t)

/* store-fp (0x27): the same with a float register. */
#define FLOAT_STORES(X)                                                                            \
  X(FSH, "fsh", 0x0000707f, 0x00001027, S, STORE_HALF, uint16_t)                                   \
  X(FSW, "fsw", 0x0000707f, 0x00002027, S, STORE, uint32_t)

/* rd = the expression, with the functions of integer.h. auipc's IMM includes the pc. */
#define VALUES(X)                                                                                  \
  /* op-imm 0x13 */                                                                                \
  X(ADDI, "addi", 0x0000707f, 0x00000013, I, ALU, A + IMM)                                         \
  X(SLTI, "slti", 0x0000707f, 0x00002013, I, ALU, (int32_t)A < (int32_t)IMM)                       \
  X(SLTIU, "sltiu", 0x0000707f, 0x00003013, I, ALU, A < IMM)                                       \
  X(XORI, "xori", 0x0000707f, 0x00004013, I, ALU, A ^ IMM)                                         \
  X(ORI, "ori", 0x0000707f, 0x00006013, I, ALU, A | IMM)                                           \
  X(ANDI, "andi", 0x0000707f, 0x00007013, I, ALU, (A & IMM))                                       \
  X(SLLI, "slli", 0xfe00707f, 0x00001013, SHIFT, ALU, A << IMM)                                    \
  X(SRLI, "srli", 0xfe00707f, 0x00005013, SHIFT, ALU, A >> IMM)                                    \
  X(SRAI, "srai", 0xfe00707f, 0x40005013, SHIFT, ALU, shift_right_arithmetic(A, IMM))              \
  X(CLZ, "clz", 0xfff0707f, 0x60001013, R, ALU, count_leading_zeros(A))                            \
  X(CTZ, "ctz", 0xfff0707f, 0x60101013, R, ALU, count_trailing_zeros(A))                           \
  X(CPOP, "cpop", 0xfff0707f, 0x60201013, R, ALU, (uint32_t)__builtin_popcount(A))                 \
  X(SEXT_B, "sext.b", 0xfff0707f, 0x60401013, R, ALU, (uint32_t)(int8_t)A)                         \
  X(SEXT_H, "sext.h", 0xfff0707f, 0x60501013, R, ALU, (uint32_t)(int16_t)A)                        \
  X(RORI, "rori", 0xfe00707f, 0x60005013, SHIFT, ALU, rotate_right(A, IMM))                        \
  X(ORC_B, "orc.b", 0xfff0707f, 0x28705013, R, ALU, or_combine_bytes(A))                           \
  X(REV8, "rev8", 0xfff0707f, 0x69805013, R, ALU, __builtin_bswap32(A))                            \
  /* auipc 0x17 */                                                                                 \
  X(AUIPC, "auipc", 0x0000007f, 0x00000017, U, ALU, IMM)                                           \
  /* op-imm-32 0x1b, which rv32 leaves free: isa.h, steps, repeats */                              \
  X(STEP, "tile.step", 0x0000707f, 0x0000001b, I, STEP, A + IMM)                                   \
  X(COUNT, "tile.count", 0x0000707f, 0x0000201b, I, STEP, A + IMM)                                 \
  /* op 0x33 */                                                                                    \
  X(ADD, "add", 0xfe00707f, 0x00000033, R, ALU, A + B)                                             \
  X(SUB, "sub", 0xfe00707f, 0x40000033, R, ALU, A - B)                                             \
  X(SLL, "sll", 0xfe00707f, 0x00001033, R, ALU, A << (B & 31))                                     \
  X(SLT, "slt", 0xfe00707f, 0x00002033, R, ALU, (int32_t)A < (int32_t)B)                           \
  X(SLTU, "sltu", 0xfe00707f, 0x00003033, R, ALU, A < B)                                           \
  X(XOR, "xor", 0xfe00707f, 0x00004033, R, ALU, A ^ B)                                             \
  X(SRL, "srl", 0xfe00707f, 0x00005033, R, ALU, A >> (B & 31))                                     \
  X(SRA, "sra", 0xfe00707f, 0x40005033, R, ALU, shift_right_arithmetic(A, B & 31))                 \
  X(OR, "or", 0xfe00707f, 0x00006033, R, ALU, A | B)                                               \
  X(AND, "and", 0xfe00707f, 0x00007033, R, ALU, (A & B))                                           \
  X(MUL, "mul", 0xfe00707f, 0x02000033, R, MUL, (A * B))                                           \
  X(MULH, "mulh", 0xfe00707f, 0x02001033, R, MUL, high_product((int32_t)A, (int32_t)B))            \
  X(MULHSU, "mulhsu", 0xfe00707f, 0x02002033, R, MUL, high_product((int32_t)A, B))                 \
  X(MULHU, "mulhu", 0xfe00707f, 0x02003033, R, MUL, high_product_unsigned(A, B))                   \
  X(DIV, "div", 0xfe00707f, 0x02004033, R, DIV, divide_signed(A, B))                               \
  X(DIVU, "divu", 0xfe00707f, 0x02005033, R, DIV, B ? A / B : UINT32_MAX)                          \
  X(REM, "rem", 0xfe00707f, 0x02006033, R, DIV, remainder_signed(A, B))                            \
  X(REMU, "remu", 0xfe00707f, 0x02007033, R, DIV, B ? A % B : A)                                   \
  X(SH1ADD, "sh1add", 0xfe00707f, 0x20002033, R, ALU, (A << 1) + B)                                \
  X(SH2ADD, "sh2add", 0xfe00707f, 0x20004033, R, ALU, (A << 2) + B)                                \
  X(SH3ADD, "sh3add", 0xfe00707f, 0x20006033, R, ALU, (A << 3) + B)                                \
  X(ANDN, "andn", 0xfe00707f, 0x40007033, R, ALU, A & ~B)                                          \
  X(ORN, "orn", 0xfe00707f, 0x40006033, R, ALU, A | ~B)                                            \
  X(XNOR, "xnor", 0xfe00707f, 0x40004033, R, ALU, ~(A ^ B))                                        \
  X(MIN, "min", 0xfe00707f, 0x0a004033, R, ALU, (int32_t)A < (int32_t)B ? A : B)                   \
  X(MINU, "minu", 0xfe00707f, 0x0a005033, R, ALU, A < B ? A : B)                                   \
  X(MAX, "max", 0xfe00707f, 0x0a006033, R, ALU, (int32_t)A > (int32_t)B ? A : B)                   \
  X(MAXU, "maxu", 0xfe00707f, 0x0a007033, R, ALU, A > B ? A : B)                                   \
  X(ROL, "rol", 0xfe00707f, 0x60001033, R, ALU, rotate_right(A, -B))                               \
  X(ROR, "ror", 0xfe00707f, 0x60005033, R, ALU, rotate_right(A, B))                                \
  X(ZEXT_H, "zext.h", 0xfff0707f, 0x08004033, R, ALU, A & 0xffff)                                  \
  /* lui 0x37 */                                                                                   \
  X(LUI, "lui", 0x0000007f, 0x00000037, U, ALU, IMM)

/* branch (0x63): jumps by IMM if the condition holds. */
#define BRANCHES(X)                                                                                \
  X(BEQ, "beq", 0x0000707f, 0x00000063, B, BRANCH, A == B)                                         \
  X(BNE, "bne", 0x0000707f, 0x00001063, B, BRANCH, A != B)                                         \
  X(BLT, "blt", 0x0000707f, 0x00004063, B, BRANCH, (int32_t)A < (int32_t)B)                        \
  X(BGE, "bge", 0x0000707f, 0x00005063, B, BRANCH, (int32_t)A >= (int32_t)B)                       \
  X(BLTU, "bltu", 0x0000707f, 0x00006063, B, BRANCH, A < B)                                        \
  X(BGEU, "bgeu", 0x0000707f, 0x00007063, B, BRANCH, A >= B)

/* op-p (0x77), funct3 0 and 1 (isa.h): the operation on each element. */
#define PACKED(X)                                                                                  \
  X(F32V2_ADD, "f32v2add", 0xfe00707f, 0x00000077, F, FLOAT, FADD_S)                               \
  X(F32V2_SUB, "f32v2sub", 0xfe00707f, 0x02000077, F, FLOAT, FSUB_S)                               \
  X(F32V2_MUL, "f32v2mul", 0xfe00707f, 0x04000077, F, FLOAT, FMUL_S)                               \
  X(F32V2_MIN, "f32v2min", 0xfe00707f, 0x06000077, F, FLOAT, FMIN_S)                               \
  X(F32V2_MAX, "f32v2max", 0xfe00707f, 0x08000077, F, FLOAT, FMAX_S)                               \
  X(F16V4_ADD, "f16v4add", 0xfe00707f, 0x00001077, F, FLOAT, FADD_H)                               \
  X(F16V4_SUB, "f16v4sub", 0xfe00707f, 0x02001077, F, FLOAT, FSUB_H)                               \
  X(F16V4_MUL, "f16v4mul", 0xfe00707f, 0x04001077, F, FLOAT, FMUL_H)                               \
  X(F16V4_MIN, "f16v4min", 0xfe00707f, 0x06001077, F, FLOAT, FMIN_H)                               \
  X(F16V4_MAX, "f16v4max", 0xfe00707f, 0x08001077, F, FLOAT, FMAX_H)

/* The same, funct3 2. (fsgnj.d of one register, by which LLVM copies both words, is in op-fp.) */
#define WORD_MOVES(X)                                                                              \
  X(TILE_PAIR, "tile.pair", 0xfe00707f, 0x00002077, F, WORD_MOVE, )                                \
  X(TILE_HIGH, "tile.high", 0xfff0707f, 0x02002077, F, WORD_MOVE, )                                \
  X(TILE_LOW, "tile.low", 0xfff0707f, 0x06002077, F, WORD_MOVE, )                                  \
  X(SORT4X16LO, "sort4x16lo", 0xfe00707f, 0x04002077, F, FLOAT, )

/* op-p, funct3 3 (isa.h): a function of one single, by its name in function_values.h. */
#define FUNCTIONS(X)                                                                               \
  X(F32EXP, "f32exp", 0xfff0707f, 0x00003077, F, FLOAT_EXP, exp)                                   \
  X(F32EXP2, "f32exp2", 0xfff0707f, 0x02003077, F, FLOAT_EXP, exp2)                                \
  X(F32LN, "f32ln", 0xfff0707f, 0x04003077, F, FLOAT_LOG, ln)                                      \
  X(F32LOG2, "f32log2", 0xfff0707f, 0x06003077, F, FLOAT_LOG, log2)                                \
  X(F32TANH, "f32tanh", 0xfff0707f, 0x08003077, F, FLOAT_TANH, tanh)                               \
  X(F32SIGM, "f32sigm", 0xfff0707f, 0x0a003077, F, FLOAT_TANH, sigm)                               \
  X(F32OORX, "f32oorx", 0xfff0707f, 0x0c003077, F, FLOAT_RSQRT, oorx)

/* funct3 4 and 5: the same of two singles, of four halves. On the chip these are two instructions,
 * and cost twice what the class says. */
#define PAIR_FUNCTIONS(X)                                                                          \
  X(F32V2EXP, "f32v2exp", 0xfff0707f, 0x00004077, F, FLOAT_EXP, exp)                               \
  X(F32V2EXP2, "f32v2exp2", 0xfff0707f, 0x02004077, F, FLOAT_EXP, exp2)                            \
  X(F32V2LN, "f32v2ln", 0xfff0707f, 0x04004077, F, FLOAT_LOG, ln)                                  \
  X(F32V2LOG2, "f32v2log2", 0xfff0707f, 0x06004077, F, FLOAT_LOG, log2)                            \
  X(F32V2TANH, "f32v2tanh", 0xfff0707f, 0x08004077, F, FLOAT_TANH, tanh)                           \
  X(F32V2SIGM, "f32v2sigm", 0xfff0707f, 0x0a004077, F, FLOAT_TANH, sigm)                           \
  X(F32V2OORX, "f32v2oorx", 0xfff0707f, 0x0c004077, F, FLOAT_RSQRT, oorx)                          \
  X(F16V4EXP, "f16v4exp", 0xfff0707f, 0x00005077, F, HALF_EXP, exp)                                \
  X(F16V4EXP2, "f16v4exp2", 0xfff0707f, 0x02005077, F, HALF_EXP, exp2)                             \
  X(F16V4LN, "f16v4ln", 0xfff0707f, 0x04005077, F, HALF_EXP, ln)                                   \
  X(F16V4LOG2, "f16v4log2", 0xfff0707f, 0x06005077, F, HALF_EXP, log2)                             \
  X(F16V4TANH, "f16v4tanh", 0xfff0707f, 0x08005077, F, HALF_TANH, tanh)                            \
  X(F16V4SIGM, "f16v4sigm", 0xfff0707f, 0x0a005077, F, HALF_EXP, sigm)

/* custom-1 (0x2b), funct3 0: isa.h says what they do. */
#define TILE_INSTRUCTIONS(X)                                                                       \
  X(TILE_SYNC, "tile.sync", 0xfffffe7f, 0x0000002b, F, TILE, )                                     \
  X(TILE_SANS, "tile.sans", 0xfe007e7f, 0x1a00002b, F, TILE, )                                     \
  X(TILE_HOST_SYNC, "tile.hostsync", 0xfe00707f, 0x0200002b, R, TILE, )                            \
  X(TILE_RUN, "tile.run", 0xfe00707f, 0x0400002b, F, TILE, )                                       \
  X(TILE_RUN_ALL, "tile.runall", 0xfe00707f, 0x1c00002b, F, TILE, )                                \
  X(TILE_WAIT, "tile.wait", 0xffffffff, 0x0600002b, NONE, TILE, )                                  \
  X(TILE_EXIT, "tile.exit", 0xffffffff, 0x0800002b, NONE, TILE, )                                  \
  X(TILE_CONTEXT, "tile.context", 0xfffff07f, 0x0a00002b, R, TILE, )                               \
  X(TILE_CALL, "tile.call", 0xfe007fff, 0x0c00002b, R, TILE, )                                     \
  X(TILE_EXCHANGE, "tile.exchange", 0xfff07e7f, 0x0e00002b, F, TILE, )                             \
  X(TILE_NUMBER, "tile.number", 0xfffff07f, 0x1000002b, R, TILE, )                                 \
  X(TILE_TRAP, "tile.trap", 0xfff07fff, 0x1200002b, R, TILE, )                                     \
  X(TILE_PRINT, "tile.print", 0xfe00707f, 0x1400002b, R, TILE, )                                   \
  X(TILE_COPY, "tile.copy", 0xfff0707f, 0x1600002b, R, TILE, )                                     \
  X(TILE_COPY_ROWS, "tile.copyrows", 0xfff0707f, 0x1800002b, R, TILE, )

/* What they do: machine/interpret.c. */
#define OTHER_INSTRUCTIONS(X)                                                                      \
  /* misc-mem 0x0f */                                                                              \
  X(FENCE, "fence", 0x0000707f, 0x0000000f, NONE, ALU, )                                           \
  /* madd 0x43, msub 0x47, nmsub 0x4b, nmadd 0x4f */                                               \
  X(FMADD_S, "fmadd.s", 0x0600007f, 0x00000043, R4, FLOAT, )                                       \
  X(FMADD_H, "fmadd.h", 0x0600007f, 0x04000043, R4, FLOAT, )                                       \
  X(FMSUB_S, "fmsub.s", 0x0600007f, 0x00000047, R4, FLOAT, )                                       \
  X(FMSUB_H, "fmsub.h", 0x0600007f, 0x04000047, R4, FLOAT, )                                       \
  X(FNMSUB_S, "fnmsub.s", 0x0600007f, 0x0000004b, R4, FLOAT, )                                     \
  X(FNMSUB_H, "fnmsub.h", 0x0600007f, 0x0400004b, R4, FLOAT, )                                     \
  X(FNMADD_S, "fnmadd.s", 0x0600007f, 0x0000004f, R4, FLOAT, )                                     \
  X(FNMADD_H, "fnmadd.h", 0x0600007f, 0x0400004f, R4, FLOAT, )                                     \
  /* op-fp 0x53, single */                                                                         \
  X(FADD_S, "fadd.s", 0xfe00007f, 0x00000053, F_RM, FLOAT, )                                       \
  X(FSUB_S, "fsub.s", 0xfe00007f, 0x08000053, F_RM, FLOAT, )                                       \
  X(FMUL_S, "fmul.s", 0xfe00007f, 0x10000053, F_RM, FLOAT, )                                       \
  X(FDIV_S, "fdiv.s", 0xfe00007f, 0x18000053, F_RM, FLOAT_DIV, )                                   \
  X(FSQRT_S, "fsqrt.s", 0xfff0007f, 0x58000053, F_RM, FLOAT_SQRT, )                                \
  X(FSGNJ_S, "fsgnj.s", 0xfe00707f, 0x20000053, F, FLOAT, )                                        \
  X(FSGNJN_S, "fsgnjn.s", 0xfe00707f, 0x20001053, F, FLOAT, )                                      \
  X(FSGNJX_S, "fsgnjx.s", 0xfe00707f, 0x20002053, F, FLOAT, )                                      \
  X(FMIN_S, "fmin.s", 0xfe00707f, 0x28000053, F, FLOAT, )                                          \
  X(FMAX_S, "fmax.s", 0xfe00707f, 0x28001053, F, FLOAT, )                                          \
  X(FCVT_W_S, "fcvt.w.s", 0xfff0007f, 0xc0000053, R_RM, INT_OF_FLOAT, )                            \
  X(FCVT_WU_S, "fcvt.wu.s", 0xfff0007f, 0xc0100053, R_RM, INT_OF_FLOAT, )                          \
  X(FMV_X_W, "fmv.x.w", 0xfff0707f, 0xe0000053, R, FLOAT, )                                        \
  X(FCLASS_S, "fclass.s", 0xfff0707f, 0xe0001053, R, FLOAT, )                                      \
  X(FEQ_S, "feq.s", 0xfe00707f, 0xa0002053, R, FLOAT_COMPARE, )                                    \
  X(FLT_S, "flt.s", 0xfe00707f, 0xa0001053, R, FLOAT_COMPARE, )                                    \
  X(FLE_S, "fle.s", 0xfe00707f, 0xa0000053, R, FLOAT_COMPARE, )                                    \
  X(FCVT_S_W, "fcvt.s.w", 0xfff0007f, 0xd0000053, F_RM, FLOAT_OF_INT, )                            \
  X(FCVT_S_WU, "fcvt.s.wu", 0xfff0007f, 0xd0100053, F_RM, FLOAT_OF_INT, )                          \
  X(FMV_W_X, "fmv.w.x", 0xfff0707f, 0xf0000053, F, FLOAT, )                                        \
  X(FSGNJ_D, "fsgnj.d", 0xfe00707f, 0x22000053, F, FLOAT, )                                        \
  /* op-fp 0x53, half */                                                                           \
  X(FADD_H, "fadd.h", 0xfe00007f, 0x04000053, F_RM, FLOAT, )                                       \
  X(FSUB_H, "fsub.h", 0xfe00007f, 0x0c000053, F_RM, FLOAT, )                                       \
  X(FMUL_H, "fmul.h", 0xfe00007f, 0x14000053, F_RM, FLOAT, )                                       \
  X(FDIV_H, "fdiv.h", 0xfe00007f, 0x1c000053, F_RM, FLOAT_DIV, )                                   \
  X(FSQRT_H, "fsqrt.h", 0xfff0007f, 0x5c000053, F_RM, FLOAT_SQRT, )                                \
  X(FSGNJ_H, "fsgnj.h", 0xfe00707f, 0x24000053, F, FLOAT, )                                        \
  X(FSGNJN_H, "fsgnjn.h", 0xfe00707f, 0x24001053, F, FLOAT, )                                      \
  X(FSGNJX_H, "fsgnjx.h", 0xfe00707f, 0x24002053, F, FLOAT, )                                      \
  X(FMIN_H, "fmin.h", 0xfe00707f, 0x2c000053, F, FLOAT, )                                          \
  X(FMAX_H, "fmax.h", 0xfe00707f, 0x2c001053, F, FLOAT, )                                          \
  X(FCVT_S_H, "fcvt.s.h", 0xfff0007f, 0x40200053, F_RM, FLOAT, )                                   \
  X(FCVT_H_S, "fcvt.h.s", 0xfff0007f, 0x44000053, F_RM, FLOAT, )                                   \
  X(FCVT_W_H, "fcvt.w.h", 0xfff0007f, 0xc4000053, R_RM, INT_OF_FLOAT, )                            \
  X(FCVT_WU_H, "fcvt.wu.h", 0xfff0007f, 0xc4100053, R_RM, INT_OF_FLOAT, )                          \
  X(FMV_X_H, "fmv.x.h", 0xfff0707f, 0xe4000053, R, FLOAT, )                                        \
  X(FCLASS_H, "fclass.h", 0xfff0707f, 0xe4001053, R, FLOAT, )                                      \
  X(FEQ_H, "feq.h", 0xfe00707f, 0xa4002053, R, FLOAT_COMPARE, )                                    \
  X(FLT_H, "flt.h", 0xfe00707f, 0xa4001053, R, FLOAT_COMPARE, )                                    \
  X(FLE_H, "fle.h", 0xfe00707f, 0xa4000053, R, FLOAT_COMPARE, )                                    \
  X(FCVT_H_W, "fcvt.h.w", 0xfff0007f, 0xd4000053, F_RM, FLOAT_OF_INT, )                            \
  X(FCVT_H_WU, "fcvt.h.wu", 0xfff0007f, 0xd4100053, F_RM, FLOAT_OF_INT, )                          \
  X(FMV_H_X, "fmv.h.x", 0xfff0707f, 0xf4000053, F, FLOAT, )                                        \
  /* jalr 0x67, jal 0x6f */                                                                        \
  X(JALR, "jalr", 0x0000707f, 0x00000067, I, JUMP, )                                               \
  X(JAL, "jal", 0x0000007f, 0x0000006f, J, JUMP, )                                                 \
  /* system 0x73 */                                                                                \
  X(ECALL, "ecall", 0xffffffff, 0x00000073, NONE, TILE, )                                          \
  X(EBREAK, "ebreak", 0xffffffff, 0x00100073, NONE, TILE, )                                        \
  X(CSRRW, "csrrw", 0x0000707f, 0x00001073, CSR, CSR, )                                            \
  X(CSRRS, "csrrs", 0x0000707f, 0x00002073, CSR, CSR, )                                            \
  X(CSRRC, "csrrc", 0x0000707f, 0x00003073, CSR, CSR, )                                            \
  X(CSRRWI, "csrrwi", 0x0000707f, 0x00005073, CSR, CSR, )                                          \
  X(CSRRSI, "csrrsi", 0x0000707f, 0x00006073, CSR, CSR, )                                          \
  X(CSRRCI, "csrrci", 0x0000707f, 0x00007073, CSR, CSR, )

#define INSTRUCTIONS(X)                                                                            \
  LOADS(X)                                                                                         \
  FLOAT_LOADS(X)                                                                                   \
  WIDE_LOADS(X)                                                                                    \
  STORES(X)                                                                                        \
  FLOAT_STORES(X)                                                                                  \
  WIDE_STORES(X)                                                                                   \
  VALUES(X)                                                                                        \
  BRANCHES(X)                                                                                      \
  TILE_INSTRUCTIONS(X)                                                                             \
  PACKED(X)                                                                                        \
  WORD_MOVES(X)                                                                                    \
  FUNCTIONS(X)                                                                                     \
  PAIR_FUNCTIONS(X)                                                                                \
  OTHER_INSTRUCTIONS(X)

typedef enum isa_op {
#define ISA_OP_ENUMERATOR(id, ...) OP_##id,
  INSTRUCTIONS(ISA_OP_ENUMERATOR)
#undef ISA_OP_ENUMERATOR
      ISA_NUM_OPS
} isa_op;

typedef enum isa_format {
#define ISA_FORMAT_ENUMERATOR(id) FORMAT_##id,
  INSTRUCTION_FORMATS(ISA_FORMAT_ENUMERATOR)
#undef ISA_FORMAT_ENUMERATOR
} isa_format;

/* CSRs: "Zicsr", "Zicntr", "F". The counters are read-only. */
enum {
  CSR_FFLAGS = 0x001,
  CSR_FRM = 0x002,
  CSR_FCSR = 0x003,
  CSR_FLOAT_CONTROL = 0x800, /* isa.h: CONTROL REGISTERS */
  CSR_FLOAT_INITIAL = 0x801,
  CSR_RANDOM = 0x802, /* the first of NUM_RANDOM_WORDS */
  CSR_CYCLE = 0xc00,
  CSR_INSTRET = 0xc02,
  CSR_CYCLEH = 0xc80,
  CSR_INSTRETH = 0xc82
};
enum { NUM_RANDOM_WORDS = 4 };

#endif

/* The tile's instruction set: rv32imf_zicsr_zfh_zba_zbb, four-byte instructions only, and the tile
 * and packed instructions below. This page is the contract of its users: the emitter (compiler/)
 * builds the words, the machine executes them, the exchange planner times them.
 *
 * TILE INSTRUCTIONS, opcode custom-1 (0x2b), funct3 0, funct7 selects (R-type fields):
 *
 *   funct7  name            effect
 *   0       tile.sync       rd(zone; the field, not a register): wait for a sync of the zone: 0
 *                           internal, of all tiles of the IPU; 1 external, of all IPUs; 2 of all
 *                           replicas, which are loaded with the same images. Tiles that meet must all
 *                           ask for the same zone, and IPUs for as many syncs between two external
 *                           ones. 3: wait until all syncs that this tile has acknowledged by
 *                           tile.sans have happened; if they have, it goes on at once
 *   1       tile.hostsync   rd, rs1, rs2: sync with the host; reports rs1, rd receives the host's
 *                           answer. rs2: address of host exchange code, or 0
 *   2       tile.run        rd(number), rs1, rs2: start worker number rd (0-5; the field, not a
 *                           register) at pc = rs1 with a0 = rs2; fault if that worker is running
 *   3       tile.wait       supervisor: wait until every worker has exited
 *   4       tile.exit       worker: end
 *   5       tile.context    rd = number of this context: worker 0-5, supervisor 6
 *   6       tile.call       rs1, rs2: ra = pc + 4, a0 = rs2, pc = rs1: calls the vertex whose state
 *                           is at rs2; the machine remembers it for faults and profiles until the
 *                           next tile.call, tile.exit or sync of the context. Workers that a vertex
 *                           of the supervisor starts are in that vertex until their own first
 *                           tile.call.
 *   7       tile.exchange   rd(zone), rs1: tile.sync of the zone, then the exchange code at address rs1
 *                           runs; all tiles of the zone that take part start it in the same cycle
 *                           (t = 0). Zone 0: exchange code, between tiles of the IPU; zones 1 and 2:
 *                           global exchange code, between IPUs, between replicas
 *   8       tile.number     rd = number of this tile, 0-based over all IPUs
 *   9       tile.trap       rs1: fault TRAP with the value of rs1
 *   10      tile.print      rd, rs1, rs2: the host prints the format of printf at address rs1 with
 *                           the arguments at rs2, as the calling convention puts variable ones in
 *                           memory; rd = bytes of text. The host formats: a tile has no room for it
 *   11      tile.copy       rd, rs1: copies within the tile's memory. The descriptor at address rs1 has
 *                           three words: source, destination, bytes, of any alignment. rd = rs1 + 12,
 *                           where the next descriptor would be
 *   12      tile.copyrows   rd, rs1: the same for rows, one after the other. The descriptor has six
 *                           words: source, destination, bytes of a row; number of rows, bytes from
 *                           one row to the next in the source, and in the destination. rd = rs1 + 24.
 *                           If all rows together are more than a tile's memory: INVALID_OPERAND
 *   13      tile.sans       rd(zone), rs2:rs1(number n, 1 to 1023; fields, not registers): acknowledges
 *                           the next n syncs of the zone, in which the tile has no part, and goes on.
 *                           The tile asks for the first one now, and for each of the others as soon as
 *                           the one before has happened. tile.sync 3 must wait for them before the
 *                           tile asks for anything else: INVALID_OPERAND
 *   14      tile.runall     rd(count), rs1, rs2: tile.run of workers 0 to rd - 1 (the field, not a
 *                           register; at least one) in one cycle: at pc = rs1, worker n with
 *                           a0 = rs2 + 8 n, its row of a table; faults before any is started
 *
 * A block copy is checked as a whole before anything is copied: a fault leaves memory as it was. If
 * source and destination of a run overlap, the destination gets the source's bytes from before that
 * run.
 *
 * sync, sans, hostsync, run, runall, wait and exchange are the supervisor's, exit the workers'.
 * Elsewhere they are INVALID_INSTRUCTION. Both may execute tile.call.
 *
 * PACKED INSTRUCTIONS, opcode op-p (0x77), which RISC-V reserves for packed instructions, R-type.
 * The chip's data path is 64 bits wide. It loads and stores 64 bits in a slot (ld64, st64), and
 * computes two floats or four halves in one (f32v2add, f16v4add …; "Tile Vertex ISA", public;
 * poplibs' assembly is written in them). So a floating-point register has a high word besides the
 * 32 bits of F and Zfh, which neither read nor write it:
 *
 *   funct3  funct7          effect
 *   0       0 1 2 3 4       f32v2add, sub, mul, min, max    rd = rs1 op rs2, of both words as singles
 *   1       0 1 2 3 4       f16v4add, sub, mul, min, max    the same of four halves, the first in the
 *                                                           lowest bits
 *   2       0               tile.pair       rd = low word of rs1, low word of rs2
 *   2       1               tile.high       low word of rd = high word of rs1
 *   2       2               sort4x16lo      low word of rd = low halves of rs1 and rs2
 *   2       3               tile.low        low word of rd = low word of rs1
 *
 * They round to nearest even whatever frm says. Each element is computed as by fadd.s, fadd.h …:
 * NaNs, flags, float control. Of RISC-V's D there are fld and fsd, whose address is a multiple of
 * 4, and fsgnj.d: they move both words, and nothing is boxed. All of them cost a slot, as F's
 * instructions do. Only tile.pair, tile.high and tile.low cost none: on the chip a pair is two
 * registers with names of their own, so it has no such instructions.
 *
 * STEPS, opcode op-imm-32 (0x1b), which rv32 leaves free, funct3 0, I-type with rs1 = rd and not
 * zero. tile.step rd, rd, imm does what addi rd, rd, imm does, and takes no slot. It is half of an
 * instruction of the chip, whose loads and stores step the pointer that they use (ld32step,
 * st64step …, "Tile Vertex ISA"; its compiler uses them in loops), and which has a branch that
 * counts down the register that it tests (brnzdec). Here these are two words, so that an
 * instruction writes one register and tools for RISC-V can read the other half. popc finds the
 * additions that the chip would do so (libarchive-ipu/object_steps.c). In assembly addi is written,
 * and becomes a step in the same way. (Tools that read rv64 show it as addiw, those for rv32 as
 * unknown.)
 *
 * JOINED operations have a cost class of their own, because the chip can do a float operation in
 * the slot of an instruction on integer registers, memory or control: two in a bundle, which its
 * compiler makes. All instructions that compute floats of floats in a slot have such a form, except
 * fmadd.s and its kin, and except copies and fcvt.s.h, which tools should show as such. Loads and
 * stores of a word or two have one, too; they go beside instructions that take several slots. A
 * joined form does what the other form does, and differs from it
 *
 *   fadd, fsub, fmul, fcvt.h.s      by its rounding mode, to nearest even; the other form has frm's
 *   fsgnjn, fsgnjx, fmin, fmax      by its opcode, op-v (0x57), which is free here, instead of op-fp
 *   packed instructions             by its funct3, 6 and 7 instead of 0 and 1
 *   loads, stores                   by its funct3, 6 and 7 instead of 2 and 3
 *
 * So most are RISC-V's own, and its tools show "fadd.s …, rne"; compilers leave the mode to frm.
 * popc finds the operations that would share slots on the chip, for assembly too
 * (libarchive-ipu/object_joins.c), but not where the code changes frm. target.c says what they cost
 * on a target.
 *
 * REPEATS. The chip has loops without a branch: rpt executes the bundles behind it a number of
 * times. Its compiler uses it for an innermost loop of one block whose trip count fits into rpt's
 * register, 65,535 (4,095 on ipu1), whatever type counts it ("Writing efficient C++"; public fork
 * of LLVM, isHardwareLoopProfitable of ColossusTTIImpl, ColossusCountedLoopMIR). Here such a loop
 * has a branch, but takes no more slots than without it:
 *
 *   tile.count rd, rd, -1    op-imm-32 (0x1b), funct3 2: a step, so it takes no slot. This opcode says
 *                            that the loop's branch, bnez rd, counts few enough rounds
 *                            (popc/pairs/loops.c)
 *
 * Where the chip's compiler would use rpt, popc joins a load or a store of the loop
 * (libarchive-ipu/object_joins.c): its slot is the branch's. So each round has a branch with a
 * slot, and a runaway loop takes time. rpt itself takes a slot once; in exchange the chip needs no
 * branch around a loop that may have no round, which is there here.
 *
 * FUNCTIONS, op-p too, rs2 = 0. The chip has these for floats and for two halves; poplibs' assembly
 * and comments name them:
 *
 *   funct7          0    1     2   3     4     5                      6
 *                   exp  exp2  ln  log2  tanh  sigm: 1 / (1 + e^-x)   oorx: 1 / the root of x
 *
 *   funct3  effect
 *   3       f32exp …        low word of rd = the function of the low word of rs1, a single
 *   4       f32v2exp …      rd = the function of both words of rs1
 *   5       f16v4exp …      the same of four halves, each as a single, then rounded as fcvt.h.s rounds;
 *                           there is no f16v4oorx
 *
 * function_values.h defines their results to the bit. Errors are at most, in units in the last
 * place: exp, exp2, ln .8, log2 1, oorx 1.5, tanh, sigm 2.5 (and 0 for sigm of less than -88.7); of
 * halves .501. NaNs are the canonical one. fflags are those of the operations by which they are
 * defined. Under float control a NaN result of a number is an invalid operation. An infinite result
 * is a division by zero if the operand was 0, and an overflow if it was another finite number.
 * Functions of pairs take twice what the cost class says: they are two instructions on the chip,
 * where a pair is two registers.
 *
 * EXCHANGE INSTRUCTIONS run only in exchange code, one per cycle, strictly in order; an exchange
 * code word that is none of these is INVALID_INSTRUCTION, and so is one of these outside:
 *
 *   custom-0 (0x0b)             send            bits 7-24 word offset of the data from the base of
 *                               tile memory, bits 25-31 number of words - 1 (1 to 128). Issued in
 *                               cycle t it puts word i on the tile's bus in cycle t + i; the next
 *                               instruction issues in cycle t + 1. A send while the bus is busy is
 *                               an error.
 *   custom-2 (0x5b)             receiveMux      bits 7-23 sending tile of the same IPU, bits 24-31
 *                               words - 1 (1 to 256). Issued in t: the words that arrive in cycles t + 1 …
 *                               t + words are stored at the receive pointer, which moves on. A word
 *                               that tile S sends in cycle c arrives everywhere in cycle c + L, L =
 *                               target.exchange_latency_cycles. In each of these cycles a word of
 *                               the sending tile must arrive. Not before the last receive is done:
 *                               t >= the cycle of its last arrival.
 *   custom-1, funct3 2          receiveAddress  imm22 = word offset: sets the receive pointer for
 *                               words that arrive in t + 1 or later; not while a receive is open.
 *   custom-1, funct3 1          delay           imm22 = cycles >= 1 that the instruction takes
 *   custom-1, funct3 3          end             ends the code when everything sent and received has
 *                               left and arrived; otherwise an error. The tile's exchange took
 *                               (cycle of end) + 1 cycles.
 *
 *   imm22 = bits 7-11 (low 5) and bits 15-31 (high 17).
 *
 * No word may be received twice, or both sent and received, by one tile in one exchange. So the
 * order of the copies does not matter, and a verified exchange may run as plain copies.
 *
 * GLOBAL EXCHANGE CODE sends packets to tiles of other IPUs. It consists of packets, then end:
 *
 *   custom-1, funct3 6          globalSend      imm22 = word offset of a packet header: address on the
 *                               tile, words; a bit for each IPU that it goes to, of 32 that follow
 *                               each other; the number of the first of these 32 divided by 32
 *   custom-1, funct3 7          globalReceive   imm22 = word offset of a packet header: address on the
 *                               tile, words; the sending tile; which of its globalSends it is, from 0
 *   custom-1, funct3 3          end
 *
 * Any number of tiles of a receiving IPU may receive a packet, all of it. No tile receives a packet
 * of its own IPU, or one that is not sent to its IPU. As above, no word is received twice or both
 * sent and received. All tiles that take part finish at the same time. It is
 *
 *   the most instructions of a tile + target.global_latency_cycles +
 *   the longest of: bytes with headers that an IPU sends, or gets, at target.global_bytes_per_cycle (a
 *   packet counts once for each IPU that it goes to); bytes that a tile sends, or receives, at
 *   target.exchange_bytes_per_cycle
 *
 * If a packet goes from one link domain to another one, the latency is
 * target.gateway_latency_cycles, and the longest is also of: bytes of such packets that an IPU
 * sends, or gets, at target.gateway_bytes_per_cycle. (target.link_domain_ipus; IPU i of replica r
 * of k IPUs has the number k r + i.) If there is no packet, they finish with `end`.
 *
 * Headers are read at the sync, from memory that the program may write.
 *
 * Between replicas (zone 2) the packets of replica r go to replica map[r]. IPUs and tiles are those
 * of that replica, its own number included. All tiles have the same map, in front of all packets:
 *
 *   custom-1, funct3 2          replicaMap      imm22 = word offset of map: a word for each replica,
 *                               another one for each, or 0xffffffff: its packets go nowhere
 *
 * A replica to which none goes receives nothing.
 *
 * HOST EXCHANGE CODE says which parts of the tile's memory are exchanged with which parts of the
 * host's while the tile waits in tile.hostsync. The host offers windows, each of one or more
 * records of equal size. Packets, then end:
 *
 *   custom-3 (0x7b)             hostRecord      bits 7-24 word offset of a word with the number of a
 *                               record, or 0: record 0; bits 25-31 number of a window. The packets
 *                               behind it are about this record; those before the first one about
 *                               record 0 of window 0.
 *   custom-1, funct3 4          hostRead        imm22 = word offset of a packet header: the tile's
 *                               memory receives what the host's holds
 *   custom-1, funct3 5          hostWrite       the other way round
 *   custom-1, funct3 3          end
 *
 * A packet header is six words: address on the tile, bytes of a row, number of rows, bytes from one
 * row to the next on the tile; offset in the record, bytes from one row to the next there. Rows may
 * be read several times, but not written over each other. Each instruction takes one cycle. A
 * packet also takes the time for its bytes at target.host_bytes_per_cycle, which the tiles of an
 * IPU share.
 *
 * CONTROL REGISTERS, beside fcsr and the counters, are CSRs of each context:
 *
 *   0x800   float control: bit 0 faults on invalid operations, 1 on division by zero, 2 on overflow;
 *           19 rounds halves at random if the mode is to nearest even; 20 makes halves that overflow
 *           NaN (and invalid) instead of infinity. 0 for the supervisor when its tile is loaded
 *   0x801   float control of workers when they start. One for the tile; only the supervisor may
 *           write it
 *   0x802 … 0x805   the state of the context's random numbers, xoroshiro128aox, which is kept when the
 *           worker ends; low words first. If all are 0, it starts from the numbers of tile and context
 *
 * A fault comes before the instruction has written anything. Rounding at random: the nearest
 * single-precision result lies between two halves; the probability of each is the result's distance
 * from the other one, in steps of single precision.
 *
 * TIME. The barrel gives each context one slot in `num_worker_contexts` tile cycles (round-robin).
 * An instruction of cost c (target.cost) takes c * num_worker_contexts cycles, on workers and on
 * the supervisor alike.
 *
 * tile.copy and tile.copyrows take one slot more for each aligned double word that a run reads, and
 * for each that it writes. Memory is 64 bits wide, as the chip's, which has one instruction for a
 * load of 64 bits and one for a store. So six workers together copy 4 bytes in a cycle (target.c
 * has measurements of chips).
 *
 * A worker starts in the cycle in which tile.run or tile.runall ends. tile.wait ends when the last
 * worker has ended, or at once.
 *
 * Syncs align all tiles of the zone: all go on at max(request) + sync_cycles, or + host_sync_cycles
 * if the sync is external or with the host. tile.sans makes its request when it ends. A tile that
 * waits in tile.sync 3 goes on with those that took part in the last of its syncs, or when that
 * instruction ends, if it is later.
 *
 * Custom-2 and -3 are used beside the design's custom-0 and -1 because an instruction with an 18-bit
 * address and a count needs a major opcode of its own.
 */
#ifndef ISA_ISA_H
#define ISA_ISA_H

#include "isa/instructions.h"
#include <stdint.h>

/* Workers of a tile: contexts 0 to 5; the supervisor is context 6. */
enum { ISA_MAX_WORKERS = 6 };

enum { ISA_CUSTOM_0 = 0x0b, ISA_CUSTOM_1 = 0x2b, ISA_CUSTOM_2 = 0x5b, ISA_CUSTOM_3 = 0x7b };

/* funct7 of custom-1, funct3 0 */
typedef enum isa_tile_op {
#define ISA_TILE_OP_ENUMERATOR(id, mnemonic, mask, match, ...) id = (match) >> 25,
  TILE_INSTRUCTIONS(ISA_TILE_OP_ENUMERATOR)
#undef ISA_TILE_OP_ENUMERATOR
} isa_tile_op;

enum {
  ISA_FUNCT3_TILE = 0,
  ISA_FUNCT3_DELAY = 1,
  ISA_FUNCT3_RECEIVE_ADDRESS = 2,
  ISA_FUNCT3_REPLICA_MAP = ISA_FUNCT3_RECEIVE_ADDRESS, /* in code between replicas */
  ISA_FUNCT3_END = 3,
  ISA_FUNCT3_HOST_READ = 4,
  ISA_FUNCT3_HOST_WRITE = 5,
  ISA_FUNCT3_GLOBAL_SEND = 6,
  ISA_FUNCT3_GLOBAL_RECEIVE = 7
};

/* What a block copy reads, or writes, in a slot; words of its descriptors. */
enum { ISA_COPY_UNIT_BYTES = 8, ISA_COPY_WORDS = 3, ISA_COPY_ROWS_WORDS = 6 };

enum { ISA_SYNC_INTERNAL = 0, ISA_SYNC_EXTERNAL = 1, ISA_SYNC_REPLICAS = 2 }; /* zones */
enum { ISA_SYNC_ANS = 3, ISA_SANS_MAX_SYNCS = 1023 }; /* tile.sync's; tile.sans */

enum { ISA_PACKET_HEADER_WORDS = 6, ISA_GLOBAL_HEADER_WORDS = 4, ISA_HOST_MAX_WINDOWS = 128 };
enum { ISA_GLOBAL_IPUS = 32 }; /* that a packet can go to at once */

enum {
  ISA_SEND_MAX_WORDS = 128,
  ISA_RECEIVE_MAX_WORDS = 256,
  ISA_MAX_TILES = 1 << 17,       /* of an IPU, that receiveMux can name */
  ISA_MAX_WORD_OFFSET = 1 << 18, /* that send and receiveAddress can name: 1 MiB of memory */
  ISA_DELAY_MAX_CYCLES = (1 << 22) - 1
};

static inline uint32_t isa_tile_op_word(isa_tile_op op, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
  return (uint32_t)op << 25 | rs2 << 20 | rs1 << 15 | (uint32_t)ISA_FUNCT3_TILE << 12 | rd << 7 |
         ISA_CUSTOM_1;
}

static inline uint32_t isa_sans_word(uint32_t zone, uint32_t syncs)
{
  return isa_tile_op_word(TILE_SANS, zone, syncs & 31, syncs >> 5);
}

static inline uint32_t isa_imm22_word(uint32_t funct3, uint32_t imm)
{
  return (imm >> 5) << 15 | funct3 << 12 | (imm & 31) << 7 | ISA_CUSTOM_1;
}

static inline uint32_t isa_imm22(uint32_t word)
{
  return (word >> 15) << 5 | (word >> 7 & 31);
}

static inline uint32_t isa_send_word(uint32_t word_offset, uint32_t words)
{
  return (words - 1) << 25 | word_offset << 7 | ISA_CUSTOM_0;
}

static inline uint32_t isa_host_record_word(uint32_t window, uint32_t word_offset)
{
  return window << 25 | word_offset << 7 | ISA_CUSTOM_3;
}

static inline uint32_t isa_receive_mux_word(uint32_t tile, uint32_t words)
{
  return (words - 1) << 24 | tile << 7 | ISA_CUSTOM_2;
}

#endif

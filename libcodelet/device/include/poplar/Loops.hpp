// rptsize_t: a trip count. The chip's counter has 12 or 16 bits. Here it is a full word, and a loop
// that is too long for the chip's counter runs as written.
#ifndef POPLAR_LOOPS_HPP
#define POPLAR_LOOPS_HPP

using rptsize_t = unsigned;

#endif

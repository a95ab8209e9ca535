// rptsize_t: a number of iterations. The chip's counter has 12 or 16 bits; here it is a full word,
// and a loop that a chip could not count runs as written.
#ifndef POPLAR_LOOPS_HPP
#define POPLAR_LOOPS_HPP

using rptsize_t = unsigned;

#endif

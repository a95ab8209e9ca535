/*
 * truncf. Compilers compute it in place. Calls through pointers need a function, and that of
 * Debian's build of picolibc loses bits of numbers from 2^32 on: 1e10f becomes 8589934592.
 */
float truncf(float x);
float truncf(float x)
{
  return __builtin_truncf(x);
}

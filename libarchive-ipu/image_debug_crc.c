/* The checksum in .gnu_debuglink, by which tools tell whether a file with debug information is the
 * one that was meant: CRC-32 as in zlib and Ethernet (ISO-HDLC), bits reflected.
 *
 * Source: GDB manual, "Debugging Information in Separate Files". */
#include <populus/image.h>

#define POLYNOMIAL 0xedb88320u /* 0x04c11db7, lowest bit first */

uint32_t pop_image_debug_crc(const void *bytes, size_t size)
{
  uint32_t of_byte[256];
  for (uint32_t i = 0; i < 256; i++) {
    of_byte[i] = i;
    for (int bit = 0; bit < 8; bit++)
      of_byte[i] = of_byte[i] >> 1 ^ (of_byte[i] & 1 ? POLYNOMIAL : 0);
  }
  const uint8_t *at = bytes;
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) crc = crc >> 8 ^ of_byte[(crc ^ at[i]) & 0xff];
  return ~crc;
}

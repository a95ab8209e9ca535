// How program::PrintTensor prints (populus/program.h: pop_print_format).
#ifndef POPLAR_PRINTTENSOR_HPP
#define POPLAR_PRINTTENSOR_HPP

#include <climits>
#include <populus/program.h>

namespace poplar
{

class PrintTensorFmt
{
public:
  enum class FloatFormat { Auto, Fixed, Scientific, None };

  PrintTensorFmt(unsigned summariseThreshold = 1000, unsigned edgeItems = 3,
                 unsigned maxLineWidth = 75, unsigned digits = 8,
                 FloatFormat floatFormat = FloatFormat::Auto, char separator = ' ',
                 char openBracket = '[', char closeBracket = ']')
      : format{summariseThreshold,
               edgeItems,
               maxLineWidth,
               digits,
               floatFormat == FloatFormat::Auto         ? POP_FLOAT_AUTO
               : floatFormat == FloatFormat::Fixed      ? POP_FLOAT_FIXED
               : floatFormat == FloatFormat::Scientific ? POP_FLOAT_SCIENTIFIC
                                                        : POP_FLOAT_NONE,
               separator,
               openBracket,
               closeBracket}
  {
  }
  // Prints all elements, on lines of any length, each without formatting.
  static PrintTensorFmt disableFormatting()
  {
    return PrintTensorFmt(UINT_MAX, 0, 0, 8, FloatFormat::None);
  }
  const pop_print_format &c() const { return format; }

private:
  pop_print_format format;
};

} // namespace poplar

#endif

#ifndef POPLAR_CODELETFILETYPE_HPP
#define POPLAR_CODELETFILETYPE_HPP

namespace poplar
{

// What a file of codelets is. Auto: its name's extension says so.
enum class CodeletFileType {
  PreprocessedAsmSource,
  AsmSource,
  CSource,
  CppSource,
  IrSource,
  Object,
  Auto
};

} // namespace poplar

#endif

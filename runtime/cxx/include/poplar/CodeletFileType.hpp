#ifndef POPLAR_CODELETFILETYPE_HPP
#define POPLAR_CODELETFILETYPE_HPP

namespace poplar
{

// The kind of a file of codelets. Auto, IrSource and Object: its name's extension says it.
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

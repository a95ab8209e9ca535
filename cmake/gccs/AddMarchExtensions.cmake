# TargetAddMarchExtensions(<target>): instructions of x86-64-v3, where there are such and the compiler knows them.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-march=x86-64-v3 GCCS_HAS_X86_64_V3)

function(TargetAddMarchExtensions target)
  if(GCCS_HAS_X86_64_V3 AND GCCS_MARCH_EXTENSIONS)
    target_compile_options(${target} PRIVATE -march=x86-64-v3)
  endif()
endfunction()
option(GCCS_MARCH_EXTENSIONS "compile for processors with x86-64-v3" OFF)

// What codelets include: every header, the types, functions and builtins, with results that are
// known. A vertex writes the line of the first check that fails, 0 if none does.
#include <poplar/Alignment.hpp>
#include <poplar/AvailableVTypes.h>
#include <poplar/HalfFloat.hpp>
#include <poplar/IeeeHalf.hpp>
#include <poplar/Loops.hpp>
#include <poplar/QuarterFloat.hpp>
#include <poplar/StackSizeDefs.hpp>
#include <poplar/TileConstants.hpp>
#include <poplar/TypeTraits.hpp>
#include <poplar/VectorListTypes.hpp>
#include <poplar/VectorTypes.hpp>
#include <poplar/Vertex.hpp>

#include <HalfFloat.hpp>
#include <StackSizeDefs.hpp>
#include <TileConstants.hpp>
#include <Vertex.hpp>
#include <arch/gc_tile_defines.h>
#include <ipu_builtins.h>
#include <ipu_intrinsics>
#include <ipu_memory_intrinsics>
#include <ipu_vector_math>
#include <ipudef.h>
#include <ipuvectormath>
#include <print.h>

#include <cmath>
#include <limits>

DEF_STACK_USAGE(128, "headersStack");
DEF_FUNC_CALL_PTRS("headersStack", "memcpy,memset");

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return __LINE__;                                                             \
  } while (0)

static bool near(float is, float wanted)
{
  return std::fabs(is - wanted) <= 1e-5f * std::fabs(wanted);
}

// Keeps the compiler from knowing the value.
template <typename T> static T hidden(T value)
{
  volatile T copy = value;
  return copy;
}

static int types()
{
  CHECK(sizeof(half2) == 4 && sizeof(half8) == 16 && sizeof(float4) == 16 && sizeof(uchar4) == 4);
  CHECK(sizeof(short4) == 8 && sizeof(uint2) == 8 && sizeof(longlong2) == 16);
  float two = hidden(2.0f);
  float2 a = {1, two}, b = {10, 20};
  float2 c = a * two + b;
  CHECK(c[0] == 12 && c[1] == 24);
  int2 less = a < float2{1, 5};
  CHECK(less[0] == 0 && less[1] == -1);
  half4 h = {1, 2, 3, 4};
  h += half4{half(two), 0, 0, 0};
  CHECK(h[0] == 3 && (h * h)[3] == 16);
  uchar4 bytes = {250, 1, 2, 3};
  bytes += (unsigned char)(two * 5);
  CHECK(bytes[0] == 4 && bytes[3] == 13);
  CHECK((unsigned)(uchar4{1, 2, 3, 4}) == 0x04030201);
  ushort2 shuffled = __builtin_shufflevector(ushort2{1, 2}, ushort2{3, 4}, 1, 2);
  CHECK(shuffled[0] == 2 && shuffled[1] == 3);
  CHECK(std::numeric_limits<half>::max() == 65504 && std::numeric_limits<half>::is_specialized);
  CHECK(std::numeric_limits<half>::epsilon() == 0.0009765625_h);
  CHECK(std::sqrt(half(hidden(9.0f))) == 3 && std::isnan(std::numeric_limits<half>::quiet_NaN()));
  half least = std::numeric_limits<half>::denorm_min(), sum = 1000 * least;
  CHECK(std::isnormal(2 * sum) && !std::isnormal(sum) && !std::isnormal(1 / half(hidden(0.0f))));
  CHECK(std::signbit(half(hidden(-0.0f))) && !std::signbit(sum));
  CHECK(std::asinh(half(hidden(0.0f))) == 0 && std::erfc(half(hidden(0.0f))) == 1);
  CHECK(std::fdim(half(3), half(1)) == 2 && std::remainder(half(7.5f), half(2)) == -0.5_h);
  CHECK((poplar::TypeTraits::make<half>().isFloat) && poplar::TypeTraits::make<int>().size == 4);
  CHECK(poplar::alignUp<8>(13) == 16 && poplar::isAligned<4>(&two));
  CHECK(CTXT_WORKERS == 6 && TMEM_ELEMSIZE == 16384);
  rptsize_t count = 3;
  CHECK(count - 1 == 2);
  return 0;
}

static int halves()
{
  CHECK(poplar::IeeeHalf(hidden(1.5f)).bit16() == 0x3e00);
  CHECK(float(poplar::IeeeHalf::fromBits(0xc000)) == -2);
  CHECK(poplar::IeeeHalf(70000.0f).bit16() == 0x7c00);
  return 0;
}

template <typename Field, typename T> static Field fieldOf(T &value)
{
  Field field;
  field.pointer = &value;
  return field;
}

// Fields of one element in expressions: as their elements, with the types that these give.
static int fieldsInExpressions()
{
  using namespace poplar;
  half two = hidden(half(2)), sum = 1;
  float ten = hidden(10.0f);
  const auto in = fieldOf<Input<half>>(two), other = fieldOf<Input<half>>(two);
  const auto number = fieldOf<Input<float>>(ten);
  auto out = fieldOf<InOut<half>>(sum);
  CHECK(in + 1 == 3 && 1 - in == -1 && in * other == 4 && in / two == 1 && two * in == 4);
  CHECK(in < number && in >= two && in != 3 && out <= in && !(in > 2) && in == other);
  CHECK(-in == -2 && +in == 2 && in + number == 12 && number / in == 5 && 2.5f * in == 5);
  static_assert(std::is_same<decltype(in + other), half>::value, "half");
  static_assert(std::is_same<decltype(in * number), float>::value, "float");
  out += in;
  out *= 4;
  out -= number;
  CHECK(sum == 2);
  out = out / in;
  float total = 1;
  total += in;
  CHECK(sum == 1 && total == 3 && (in ? in : sum) == 2);
  CHECK(out++ == 1 && ++out == 3 && out-- == 3 && --out == 1);
  // A field of another type, and a half.
  int three = hidden(3);
  const auto whole = fieldOf<Input<int>>(three);
  auto result = fieldOf<InOut<float>>(total);
  CHECK(two * number == 20 && number - two == 8 && two + whole == 5 && two < number);
  CHECK(two != whole && number == half(10));
  static_assert(std::is_same<decltype(two * number), float>::value, "float");
  static_assert(std::is_same<decltype(whole * two), half>::value, "half");
  result += two;
  sum += number;
  sum *= whole;
  CHECK(total == 5 && sum == 33);
  return 0;
}

// A field that is assigned to another one of its type gives its element, not its place.
static int fieldsAssigned()
{
  using namespace poplar;
  float numbers[] = {hidden(1.0f), 2};
  half halves[] = {hidden(half(3)), 4};
  quarter quarters[] = {{hidden<unsigned char>(5)}, {6}};
  const auto number = fieldOf<InOut<float>>(numbers[0]);
  const auto other = fieldOf<Output<half>>(halves[0]);
  auto out = fieldOf<InOut<float>>(numbers[1]);
  auto result = fieldOf<Output<half>>(halves[1]);
  populus_detail::Stored<InOut<quarter>>::type rows[2];
  rows[0].pointer = &quarters[0];
  rows[1].pointer = &quarters[1];
  out = number;
  result = other;
  rows[1] = rows[0];
  CHECK(numbers[1] == 1 && halves[1] == 3 && quarters[1].value == 5);
  numbers[0] = 7;
  CHECK(*out == 1);
  return 0;
}

// A field of many elements is a vector.
static unsigned sizeOf(const poplar::Vector<int> &vector)
{
  return vector.size();
}
static int fieldsAreVectors()
{
  int data[2] = {1, 2};
  auto field = fieldOf<poplar::InOut<poplar::Vector<int>>>(data[0]);
  field.count = 2;
  CHECK(sizeOf(field) == 2 && field[1] == 2 && field->size() == 2);
  return 0;
}

static int quarters()
{
#ifdef __IPU__
  constexpr unsigned STEP = 32;
#else
  constexpr unsigned STEP = 1;
#endif
  using namespace poplar;
  const quarter_metadata f143 = {quarter_metadata::f143, 0}, f152 = {quarter_metadata::f152, 0},
                         scaled = {quarter_metadata::f143, -3};
  CHECK(toQuarter(hidden(1.0f), f143).value == 0x40 && toFloat(quarter{0x40}, f143) == 1);
  CHECK(toQuarter(hidden(1.0f), f152).value == 0x40 && toFloat(quarter{0xc0}, f152) == -1);
  CHECK(toFloat(quarter{0x7f}, f143) == 240 && toFloat(quarter{0x7f}, f152) == 57344);
  CHECK(toFloat(quarter{1}, f143) == 0x1p-10f && toFloat(quarter{1}, f152) == 0x1p-17f);
  CHECK(toFloat(quarter{0x80}, f143) != toFloat(quarter{0x80}, f143)); // not a number
  CHECK(toQuarter(1000.0f, f143).value == 0x80 && toQuarter(-1000.0f, f143, false).value == 0xff);
  CHECK(toQuarter(1.0625f, f143).value == 0x40 && toQuarter(1.1875f, f143).value == 0x42); // ties
  CHECK(toFloat(toQuarter(half(5), scaled), scaled) == 5 &&
        toHalf(quarter{0x40}, scaled) == 0.125f);
  // Fields of graphs' quarters know where it says what these are; rows are as long as others.
  Vector<Input<Vector<quarter, VectorLayout::ONE_PTR>>, VectorLayout::ONE_PTR> rows = {};
  Output<Vector<quarter, VectorLayout::SHORT_SPAN>> vector;
  InOut<quarter> one;
  const unsigned char packed = 0x80;
  rows.metadata = vector.metadata = one.metadata = &packed;
  CHECK(*rows.getMetadata() == packMetadata(f143) &&
        unpackMetadata(vector.getMetadata()).scale == 0 && *one.getMetadata() == 0x80);
  CHECK(sizeof rows == 2 * sizeof(void *) && sizeof one == sizeof rows &&
        sizeof rows[0] == sizeof(void *));
  CHECK(packMetadata(unpackMetadata(MetadataType(0xbd))) == 0xbd &&
        unpackMetadata(0x3d).scale == -3);
  // Numbers survive; the tile, which is slower, looks at some of them.
  for (unsigned format = 0; format < 2; ++format)
    for (unsigned code = 0; code < 256; code += STEP) {
      quarter value = {(unsigned char)code};
      quarter_metadata metadata = {format ? quarter_metadata::f143 : quarter_metadata::f152, 5};
      CHECK(toQuarter(toFloat(value, metadata), metadata).value == code);
    }
  return 0;
}

static int functions()
{
  float2 v = {hidden(0.25f), 4};
  CHECK(ipu::sqrt(v)[0] == 0.5f && ipu::rsqrt(v)[1] == 0.5f && ipu::fabs(-v)[1] == 4);
  CHECK(near(ipu::exp(hidden(1.0f)), 2.71828183f) && near(ipu::log(v)[1], 1.38629436f));
  CHECK(near(ipu::tanh(v)[0], 0.244918662f) && near(ipu::sigmoid(hidden(0.0f)), 0.5f));
  CHECK(near(ipu::erf(hidden(0.5f)), 0.520499878f) && near(ipu::sin(v)[1], -0.756802495f));
  CHECK(float2_fmax(v, float2{1, 1})[0] == 1 && ipu::fmin(v, float2{1, 1})[1] == 1);
  CHECK(ipu::floor(half2{half(1.5f), half(-1.5f)})[1] == -2 && ipu::pow(v, v)[1] == 256);
  CHECK(ipu::copysign(hidden(3.0f), -0.0f) == -3 && ipu::fmod(hidden(7.5f), 2.0f) == 1.5f);
  CHECK(ipu::exp2(half4{0, 1, 2, 3})[3] == 8 && ipu::sum(float4{1, 2, 3, 4}) == 10);
  CHECK(ipu::sum(half4{1, 2, 3, 4})[1] == 7 && ipu::sum(half2{1, 2}) == 3 && ipu::sum(v) == 4.25f);
  CHECK(ipu::clamp(v, float2{1, 2})[0] == 1 && ipu::clamp(hidden(3.0f), float2{1, 2}) == 2);
  CHECK(ipu::clamp(half4{0, 1, 2, 3}, half2{1, 2})[3] == 2 &&
        ipu::clamp(half(0), half2{1, 2}) == 1);
  CHECK(ipu::fma(v, v, v)[1] == 20 && ipu::clz(1) == 31);
  // Rounded once: by way of float it would be 1.5.
  half x = half(hidden(0x1.004p0f)), y = half(hidden(0x1.7fcp0f)), z = half(hidden(0x1.1p-20f));
  CHECK(ipu::fma(x, y, z) == half(0x1.804p0f) && std::fma(x, y, z) == half(0x1.804p0f));

  float data[4] = {1, 2, 3, 4}, *out = data;
  const float *in = data;
  CHECK(ipu::load_postinc(&in, 2) == 1 && ipu::load_postinc(&in, 1) == 3);
  ipu::store_postinc(&out, 9.0f, 3);
  CHECK(data[0] == 9 && out == data + 3);
  return 0;
}

static unsigned bitsOf(float value)
{
  return __builtin_bit_cast(unsigned, value);
}

// The sign of a NaN is as good as that of a number.
static int signs()
{
  const float2 numbers = {__builtin_nanf(""), -1};
  half none = half(hidden(numbers[0])), less = half(hidden(numbers[1]));
  none = __builtin_copysignf16(none, less);
  half positive = 3, result = ipu::copysign(positive, none), second = std::copysign(positive, none);
  half2 both = ipu::copysign(half2{positive, positive}, half2{none, positive});
  CHECK(result == -3 && second == -3 && both[0] == -3 && both[1] == 3);
  return 0;
}

static int builtins()
{
  float one = hidden(1.0f), two = hidden(2.0f);
  CHECK(__builtin_ipu_max(one, two) == 2 && __builtin_ipu_f32min(one, two) == 1);
  CHECK(__builtin_ipu_absadd(-one, -two) == 3 && __builtin_ipu_absmax(one, -two) == 2);
  CHECK(__builtin_ipu_f32v2max(float2{one, 5}, float2{3, two})[1] == 5);
  CHECK(__builtin_ipu_min(half4{1, 2, 3, 4}, half4{4, 3, 2, half(one)})[3] == 1);
  CHECK(bitsOf(__builtin_ipu_cmplt(one, two)) == 0xffffffff &&
        bitsOf(__builtin_ipu_cmpeq(one, two)) == 0);
  CHECK(__builtin_bit_cast(unsigned, __builtin_ipu_f16v2cmpge(half2{1, 2}, half2{2, 2})) ==
        0xffff0000);
  CHECK(__builtin_ipu_clamp(hidden(7.0f), float2{-1, two}) == 2);
  CHECK(near(__builtin_ipu_ln(two), 0.693147181f) && __builtin_ipu_exp2(half2{1, 3})[1] == 8);
  CHECK(__builtin_ipu_f16tof32(half(one)) == 1 &&
        __builtin_ipu_f16v4sum(half4{1, 2, 3, 4})[1] == 7);
  float infinity = hidden(__builtin_inff());
  CHECK(__builtin_ipu_isinf(infinity) && !__builtin_ipu_isnan(infinity));
  CHECK(__builtin_ipu_isfinite(float2{infinity, one})[1] && !__builtin_ipu_isfinite(infinity));
  CHECK(__builtin_ipu_isnan(float2{infinity - infinity, one})[0] == -1);
  half4 halves = {half(infinity), half(-infinity), half(infinity - infinity), half(-one)};
  short4 finite = __builtin_ipu_isfinite(halves), infinite = __builtin_ipu_isinf(halves);
  short4 none = __builtin_ipu_isnan(halves);
  for (int i = 0; i < 4; ++i)
    CHECK(finite[i] == -(i == 3) && infinite[i] == -(i < 2) && none[i] == -(i == 2));
  CHECK(__builtin_ipu_andc_f32(hidden(-1.0f), -0.0f) == 1 && __builtin_ipu_and(6, 3) == 2);
  CHECK(bitsOf(__builtin_ipu_not(one)) == ~bitsOf(one) &&
        __builtin_ipu_or(float2{one, 0}, float2{0, 1})[1] == 1);
  unsigned a = hidden(0x04030201u), b = hidden(0x14131211u);
  CHECK(__builtin_ipu_shuf8x8lo(a, b) == 0x12021101 && __builtin_ipu_shuf8x8hi(a, b) == 0x14041303);
  CHECK(__builtin_ipu_sort8x8lo(a, b) == 0x13110301 && __builtin_ipu_sort8x8hi(a, b) == 0x14120402);
  CHECK(__builtin_ipu_sort8(a) == 0x04020301 && __builtin_ipu_swap8(a) == 0x03040102);
  CHECK(__builtin_ipu_bitrev8(a) == 0x20c04080);
  CHECK(__builtin_ipu_roll32(float2{1, two}, float2{3, 4})[1] == 3);
  CHECK(__builtin_ipu_sort4x32hi(float2{1, two}, float2{3, 4})[0] == 2);
  return 0;
}

class Portable : public poplar::Vertex
{
public:
  poplar::InOut<int> out;

  bool compute()
  {
    static int (*const all[])() = {
        types, halves,  fieldsInExpressions, fieldsAssigned, fieldsAreVectors, quarters, functions,
        signs, builtins};
    for (unsigned i = 0; i < sizeof all / sizeof *all && *out == 0; ++i) *out = all[i]();
    return true;
  }
};

#ifdef __IPU__

static int registers()
{
  CHECK(__builtin_ipu_get_tile_id() == 1 && __builtin_ipu_get(CSR_S_TILE_ID__INDEX) == 1);
  CHECK((__builtin_ipu_get(CSR_W_WSR__INDEX) & CSR_W_WSR__CTXTID_M1__MASK) == 0);
  CHECK(__builtin_ipu_is_worker_mode() && __builtin_ipu_get_worker_id() == 0);
  unsigned before = __builtin_ipu_get_scount_l();
  CHECK(__builtin_ipu_get_scount_l() > before && __builtin_ipu_get_scount_u() == 0);
  // The register has no other bits than those that mean something.
  const unsigned round = CSR_W_FP_CTL__ESR__MASK << CSR_W_FP_CTL__ESR__SHIFT;
  __builtin_ipu_uput(round | 0x120, CSR_W_FP_CTL__INDEX & CSR_UPPER_MASK);
  CHECK(__builtin_ipu_uget(CSR_W_FP_CTL__INDEX & CSR_UPPER_MASK) == round);
  __builtin_ipu_uput(0, CSR_W_FP_CTL__INDEX & CSR_UPPER_MASK);
  __builtin_ipu_uput(7, CSR_W_FP_CLR__INDEX & CSR_UPPER_MASK);
  CHECK(__builtin_ipu_uget(CSR_W_FP_STS__INDEX & CSR_UPPER_MASK) == 0);
  hidden(hidden(1.0f) / hidden(0.0f));
  CHECK(__builtin_ipu_uget(CSR_W_FP_STS__INDEX & CSR_UPPER_MASK) == 2);
  // To ask what a number is is no invalid operation.
  __builtin_ipu_uput(7, CSR_W_FP_CLR__INDEX & CSR_UPPER_MASK);
  const float infinity = hidden(__builtin_inff());
  const half2 halves = {half(-infinity), half(infinity)};
  CHECK(__builtin_ipu_isfinite(float2{infinity, 1})[1] && !__builtin_ipu_isfinite(halves)[1]);
  CHECK(__builtin_ipu_isinf(float2{infinity, 1})[0] && __builtin_ipu_isinf(halves)[0]);
  CHECK(__builtin_ipu_uget(CSR_W_FP_STS__INDEX & CSR_UPPER_MASK) == 0);
  return 0;
}

static int accumulators()
{
  const unsigned clear = CSR_W_FP_CLR__INDEX & CSR_UPPER_MASK;
  const unsigned zero = CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT;
  __builtin_ipu_uput(zero, clear);
  __builtin_ipu_uput(3.0f, CSR_W_TAS__INDEX & CSR_UPPER_MASK);
  CHECK(__builtin_ipu_f32v2axpy(float2{1, 2}, float2{10, 20})[0] == 0);
  float2 result = __builtin_ipu_f32v2axpy(float2{0, 0}, float2{0, 0});
  CHECK(result[0] == 31 && result[1] == 62);
  __builtin_ipu_uput(zero, clear);
  __builtin_ipu_f32v2aop(float2{1, 2}, float2{3, 4}, 0);
  __builtin_ipu_f32v2aop(float2{1, 2}, float2{3, 4}, 0);
  float2 first = __builtin_ipu_f32v2gina(float2{0, 0}, 0),
         second = __builtin_ipu_gina(float2{0, 0}, 0);
  CHECK(first[0] == 6 && first[1] == 12 && second[0] == 8 && second[1] == 16);
  return 0;
}

static int randomNumbers()
{
  float sum = 0, squares = 0;
  const int n = 20;
  for (int i = 0; i < n; ++i) {
    float uniform = __builtin_ipu_urand_f32();
    CHECK(uniform >= -0.5f && uniform < 0.5f);
    float2 normal = __builtin_ipu_f32v2grand();
    sum += normal[0] + normal[1];
    squares += normal[0] * normal[0] + normal[1] * normal[1];
  }
  CHECK(std::fabs(sum / (2 * n)) < 0.4f && std::fabs(squares / (2 * n) - 1) < 0.5f);
  CHECK(__builtin_ipu_urand64() != __builtin_ipu_urand64());
  __builtin_ipu_uput(1u,
                     CSR_W_PRNG_0_0__INDEX & CSR_UPPER_MASK); // the same state, the same numbers
  __builtin_ipu_uput(0u, CSR_W_PRNG_0_1__INDEX & CSR_UPPER_MASK);
  __builtin_ipu_uput(2u, CSR_W_PRNG_1_0__INDEX & CSR_UPPER_MASK);
  __builtin_ipu_uput(0u, CSR_W_PRNG_1_1__INDEX & CSR_UPPER_MASK);
  CHECK(__builtin_ipu_urand32() == 3); // s0 ^ s1, and no bit in both
  return 0;
}

#else
static int registers()
{
  return __LINE__;
}
static int accumulators()
{
  return __LINE__;
}
static int randomNumbers()
{
  return __LINE__;
}
#endif

class OnTile : public poplar::Vertex
{
public:
  poplar::InOut<int> out;

  void compute()
  {
    *out = registers();
    if (*out == 0) *out = accumulators();
  }
};

class Random : public poplar::Vertex
{
public:
  poplar::InOut<int> out;

  void compute() { *out = randomNumbers(); }
};

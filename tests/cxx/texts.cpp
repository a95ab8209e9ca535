// Text output and input of the libraries' types.
#include "check.hpp"

#include <gcl/Collectives.hpp>
#include <poplin/ConvParams.hpp>
#include <popnn/NonLinearityDefUtil.hpp>
#include <popops/ExprOpUtils.hpp>
#include <popops/Operation.hpp>
#include <sstream>
#include <typeinfo>

template <typename T> static std::string text(const T &value)
{
  std::ostringstream os;
  os << value;
  return os.str();
}

template <typename T> static T read(const char *words)
{
  std::istringstream is(words);
  T value{};
  is >> value;
  return value;
}

int main()
{
  CHECK(text(popops::Operation::SQUARE_ADD) == "SQUARE_ADD");
  CHECK(read<popops::Operation>(" LOG_ADD MUL") == popops::Operation::LOG_ADD);
  CHECK_THROWS(poplar::poplar_error, "no popops::Operation 'SUM': ADD, SQUARE_ADD, MUL",
               read<popops::Operation>("SUM"));
  CHECK(text(popops::expr::UnaryOpType::RELU) == "RELU");
  CHECK(text(popops::expr::BinaryOpType::ATAN2) == "ATAN2");
  CHECK(text(popops::expr::TernaryOpType::CLAMP) == "CLAMP");
  CHECK(text(popnn::NonLinearityType::HARD_SIGMOID) == "hard sigmoid");
  CHECK(std::string("gelu_erf") == asString(popnn::NonLinearityType::GELU_ERF));
  CHECK(text(popnn::NonLinearityType::SOFTMAX_SCALED) == "softmax (scaled, stable)");
  CHECK(read<popnn::NonLinearityType>("softmax_stable") == popnn::NonLinearityType::SOFTMAX_STABLE);
  CHECK(text(gcl::CollectiveOperator::LOCAL) == "LOCAL" &&
        text(gcl::CollectiveOperator::MEAN) == "MEAN");
  CHECK(read<gcl::CollectiveOperator>("SQUARE_ADD") == gcl::CollectiveOperator::SQUARE_ADD);

  poplin::ConvParams params(poplar::HALF, poplar::FLOAT, 2, {5, 6}, {3, 1}, 4, 7, 1), same = params;
  params.inputTransform.paddingLower = {1, 0};
  params.kernelTransform.flip = {false, true};
  const std::string said = text(params);
  for (const char *line :
       {"inputType: half\noutputType: float\nbatchSize: 2\n", "\nkernelShape: {3,1}\n",
        "\ninputPaddingLower: {1,0}\n", "\nkernelFlip: {0,1}\n", "\nstride: {1,1}\n",
        "\noutputFieldShape: {4,6}\n"})
    CHECK(said.find(line) != std::string::npos);
  CHECK(same < params && !(params < same) && !(same < same));
  return failures != 0;
}

// The solver of populus/solver.h with the names that the libraries' planners use. C++17.
//
//     gccs::popsolver::Model m;
//     const auto x = m.addVariable(1, 64), y = m.addVariable(1, 64);
//     m.lessOrEqual(gccs::popsolver::DataType{1000}, m.product({x, y}));
//     const auto s = m.minimize(m.sum({x, y}));
//     if (s.validSolution()) ... s[x].getAs<unsigned>()
//
// Names are for those who read the program. Nothing shows them.
#ifndef GCCS_POPSOLVER_MODEL_HPP
#define GCCS_POPSOLVER_MODEL_HPP

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <exception>
#include <functional>
#include <istream>
#include <limits>
#include <list>
#include <memory>
#include <ostream>
#include <populus/solver.h>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gccs
{
namespace popsolver
{

// 0 to max(), which stands for "too large to count". Sums and products that overflow are max(). A
// difference below 0 wraps around; a division by 0 is undefined.
class DataType
{
  std::uint64_t value;

public:
  using UnderlyingType = std::uint64_t;

  constexpr DataType() : value(0) {}
  template <typename T, typename = typename std::enable_if<std::is_integral<T>::value>::type>
  constexpr explicit DataType(T number) : value(static_cast<std::uint64_t>(number))
  {
  }
  // The fraction is cut off. A number below 1, or a NaN, is 0; 2^64 and above is max().
  constexpr explicit DataType(double number)
      : value(number >= 1 ? number < 0x1p64 ? static_cast<std::uint64_t>(number) : ~std::uint64_t(0)
                          : 0)
  {
  }

  explicit constexpr operator std::uint64_t() const { return value; }
  constexpr std::uint64_t operator*() const { return value; }
  // The nearest number that a T can hold; of bool, true for all but 0.
  template <typename T> constexpr T getAs() const
  {
    if constexpr (std::is_same<T, DataType>::value) {
      return *this;
    } else if constexpr (std::is_same<T, bool>::value) {
      return value != 0;
    } else if constexpr (std::is_floating_point<T>::value) {
      return static_cast<T>(value);
    } else {
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
      return static_cast<T>(value < most ? value : most);
    }
  }
  static constexpr DataType min() { return DataType(std::uint64_t(0)); }
  static constexpr DataType max() { return DataType(~std::uint64_t(0)); }

  DataType &operator+=(DataType b)
  {
    if (__builtin_add_overflow(value, b.value, &value)) *this = max();
    return *this;
  }
  DataType &operator-=(DataType b)
  {
    value -= b.value;
    return *this;
  }
  DataType &operator*=(DataType b)
  {
    if (__builtin_mul_overflow(value, b.value, &value)) *this = max();
    return *this;
  }
  DataType &operator/=(DataType b)
  {
    value /= b.value;
    return *this;
  }
  friend DataType operator+(DataType a, DataType b) { return a += b; }
  friend DataType operator-(DataType a, DataType b) { return a -= b; }
  friend DataType operator*(DataType a, DataType b) { return a *= b; }
  friend DataType operator/(DataType a, DataType b) { return a /= b; }
  friend DataType operator%(DataType a, DataType b) { return DataType(a.value % b.value); }
  friend constexpr bool operator==(DataType a, DataType b) { return a.value == b.value; }
  friend constexpr bool operator!=(DataType a, DataType b) { return a.value != b.value; }
  friend constexpr bool operator<(DataType a, DataType b) { return a.value < b.value; }
  friend constexpr bool operator>(DataType a, DataType b) { return a.value > b.value; }
  friend constexpr bool operator<=(DataType a, DataType b) { return a.value <= b.value; }
  friend constexpr bool operator>=(DataType a, DataType b) { return a.value >= b.value; }
  friend std::ostream &operator<<(std::ostream &os, DataType d) { return os << d.value; }
  friend std::istream &operator>>(std::istream &is, DataType &d) { return is >> d.value; }
};

class Variable
{
  pop_solver_variable index = ~pop_solver_variable(0);
  friend class Model;
  friend class Solution;
  explicit Variable(pop_solver_variable i) : index(i) {}

public:
  Variable() = default; // none
  friend bool operator==(Variable a, Variable b) { return a.index == b.index; }
  friend bool operator!=(Variable a, Variable b) { return a.index != b.index; }
  friend bool operator<(Variable a, Variable b) { return a.index < b.index; }
};

// How much a search evaluated.
struct ConstraintEvaluationSummary {
  std::uint64_t call = 0;  // calls of functions
  std::uint64_t other = 0; // evaluations of other expressions and relations

  std::uint64_t total() const { return call + other; }
  ConstraintEvaluationSummary &operator+=(const ConstraintEvaluationSummary &b)
  {
    call += b.call;
    other += b.other;
    return *this;
  }
  friend std::ostream &operator<<(std::ostream &os, const ConstraintEvaluationSummary &s)
  {
    return os << "total=" << s.total() << " call=" << s.call << " other=" << s.other;
  }
};

// The result of Model::minimize: a value for each variable, or none (validSolution).
class Solution
{
  std::vector<std::uint64_t> values;
  bool valid = false;
  ConstraintEvaluationSummary evaluated;
  friend class Model;

public:
  bool validSolution() const { return valid; }
  // 0 for Variable(), since planners ask for variables that they have left out. Throws
  // std::out_of_range if there is no solution.
  DataType operator[](Variable v) const
  {
    if (v == Variable()) return DataType(0);
    if (!valid) throw std::out_of_range("popsolver::Solution: there is none");
    return DataType(values.at(v.index));
  }
  ConstraintEvaluationSummary constraintsEvaluated() const { return evaluated; }
};

// Variables of the higher-priority group are chosen first.
class PriorityGroup
{
  std::size_t index;
  friend class Model;
  explicit PriorityGroup(std::size_t i) : index(i) {}
};

class Model
{
  struct Free {
    void operator()(pop_solver *s) const { pop_solver_free(s); }
  };
  static bool take(DataType value, std::uint64_t *result)
  {
    *result = *value;
    return true;
  }
  template <typename Optional> static bool take(const Optional &value, std::uint64_t *result)
  {
    return value && take(*value, result);
  }
  struct Function {
    std::function<bool(const std::uint64_t *, std::size_t, std::uint64_t *)> f;
    Model *model;
  };
  std::unique_ptr<pop_solver, Free> solver;
  std::list<Function> functions;
  std::exception_ptr thrown;        // by a function, during a search
  std::vector<int> levels{0};       // of each group
  std::vector<std::size_t> groupOf; // of each variable that was given one, and those before it
  std::vector<std::pair<std::size_t, std::size_t>> order; // of groups: first, then

  // Variables of the default group, 0, have level 0.
  void setLevel(std::size_t variable)
  {
    pop_solver_set_level(solver.get(), static_cast<pop_solver_variable>(variable),
                         levels[groupOf[variable]] - levels[0]);
  }
  static bool callFunction(void *user, const std::uint64_t *values, std::size_t count,
                           std::uint64_t *result)
  {
    auto &function = *static_cast<Function *>(user);
    if (function.model->thrown) return false;
    try {
      return function.f(values, count, result);
    } catch (...) {
      function.model->thrown = std::current_exception();
      return false;
    }
  }
  Variable expression(pop_solver_operation operation, const std::vector<Variable> &vars)
  {
    std::vector<pop_solver_variable> operands;
    for (Variable v : vars) operands.push_back(v.index);
    return Variable(
        pop_solver_add_expression(solver.get(), operation, operands.data(), operands.size()));
  }
  void require(pop_solver_relation relation, Variable a, Variable b)
  {
    pop_solver_require(solver.get(), relation, a.index, b.index);
  }
  template <typename T> static T argument(std::uint64_t value)
  {
    return DataType(value).getAs<T>();
  }

public:
  Model() : solver(pop_solver_create()) {}
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  // ---- variables ----
  Variable addVariable(DataType min, DataType max, const std::string & /*name*/ = "")
  {
    return Variable(pop_solver_add_variable(solver.get(), *min, *max));
  }
  template <typename A, typename B,
            typename = typename std::enable_if<std::is_integral<A>::value &&
                                               std::is_integral<B>::value>::type>
  Variable addVariable(A min, B max, const std::string &name = "")
  {
    return addVariable(DataType(min), DataType(max), name);
  }
  Variable addVariable(const std::string &name = "")
  {
    return addVariable(DataType::min(), DataType::max(), name);
  }
  Variable addConstant(DataType value, const std::string & /*name*/ = "")
  {
    return Variable(pop_solver_add_constant(solver.get(), *value));
  }
  template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  Variable addConstant(T value, const std::string &name = "")
  {
    return addConstant(DataType(static_cast<std::uint64_t>(value)), name);
  }
  Variable zero() { return addConstant(0); }
  Variable one() { return addConstant(1); }

  // ---- expressions ----
  Variable sum(const std::vector<Variable> &vars, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_SUM, vars);
  }
  Variable product(const std::vector<Variable> &vars, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_PRODUCT, vars);
  }
  Variable max(const std::vector<Variable> &vars, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_MAX, vars);
  }
  Variable min(const std::vector<Variable> &vars, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_MIN, vars);
  }
  // Requires right <= left.
  Variable sub(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_DIFFERENCE, {left, right});
  }
  Variable floordiv(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_FLOOR_DIVIDE, {left, right});
  }
  Variable ceildiv(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_CEIL_DIVIDE, {left, right});
  }
  // The same. It also requires `right` to be the least divisor that gives this quotient.
  Variable ceildivConstrainDivisor(Variable left, Variable right, const std::string &name = "")
  {
    const Variable result = ceildiv(left, right, name);
    less(product({result, sub(right, one())}), left);
    return result;
  }
  Variable mod(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_REMAINDER, {left, right});
  }
  Variable reifiedLess(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_IS_LESS, {left, right});
  }
  Variable reifiedLessOrEqual(Variable left, Variable right, const std::string & /*name*/ = "")
  {
    return expression(POP_SOLVER_IS_LESS_EQUAL, {left, right});
  }
  // Booleans: 0 is false, anything else is true. Results are 0 or 1.
  Variable booleanNot(Variable x, const std::string &name = "")
  {
    return reifiedLess(x, one(), name);
  }
  Variable booleanAnd(Variable left, Variable right, const std::string &name = "")
  {
    return reifiedLessOrEqual(one(), min({left, right}), name);
  }
  Variable booleanOr(Variable left, Variable right, const std::string &name = "")
  {
    return reifiedLessOrEqual(one(), max({left, right}), name);
  }
  // The result of f, which minimize calls with a std::vector<T> of the variables' values, often.
  // f returns a DataType, or an optional one (none: the values are no solution). minimize throws
  // the first exception of f.
  template <typename T, typename F>
  Variable call(const std::vector<Variable> &vars, F f, const std::string & /*name*/ = "")
  {
    functions.push_back(
        {[f](const std::uint64_t *values, std::size_t count, std::uint64_t *result) {
           std::vector<T> arguments;
           arguments.reserve(count);
           for (std::size_t i = 0; i < count; ++i) arguments.push_back(argument<T>(values[i]));
           return take(f(arguments), result);
         },
         this});
    std::vector<pop_solver_variable> operands;
    for (Variable v : vars) operands.push_back(v.index);
    return Variable(pop_solver_add_call(solver.get(), operands.data(), operands.size(),
                                        callFunction, &functions.back()));
  }

  // ---- requirements ----
  void less(Variable left, Variable right) { require(POP_SOLVER_LESS, left, right); }
  void less(Variable left, DataType right) { less(left, addConstant(right)); }
  void less(DataType left, Variable right) { less(addConstant(left), right); }
  void lessOrEqual(Variable left, Variable right)
  {
    require(POP_SOLVER_LESS_OR_EQUAL, left, right);
  }
  void lessOrEqual(Variable left, DataType right) { lessOrEqual(left, addConstant(right)); }
  void lessOrEqual(DataType left, Variable right) { lessOrEqual(addConstant(left), right); }
  void equal(Variable left, Variable right) { require(POP_SOLVER_EQUAL, left, right); }
  void equal(Variable left, DataType right) { equal(left, addConstant(right)); }
  void equal(DataType left, Variable right) { equal(addConstant(left), right); }
  // Requires that right divides left.
  void factorOf(Variable left, Variable right) { equal(mod(left, right), DataType(0)); }
  void factorOf(DataType left, Variable right) { factorOf(addConstant(left), right); }

  // ---- the order of the search: groups of higher priority first ----
  PriorityGroup getDefaultPriorityGroup() const { return PriorityGroup(0); }
  PriorityGroup addPriorityGroup()
  {
    levels.push_back(0);
    return PriorityGroup(levels.size() - 1);
  }
  void setPriorityGroup(Variable v, PriorityGroup group)
  {
    pop_solver_set_level(solver.get(), v.index, 0); // notes that there is no such variable
    if (v.index >= pop_solver_num_variables(solver.get())) return;
    if (v.index >= groupOf.size()) groupOf.resize(std::size_t(v.index) + 1);
    groupOf[v.index] = group.index;
    setLevel(v.index);
  }
  void prioritiseOver(PriorityGroup first, PriorityGroup then)
  {
    order.emplace_back(first.index, then.index);
    std::fill(levels.begin(), levels.end(), 0);
    for (std::size_t round = 1; round < levels.size(); ++round)
      for (const auto &pair : order)
        levels[pair.first] = std::max(levels[pair.first], levels[pair.second] + 1);
    for (std::size_t variable = 0; variable < groupOf.size(); ++variable) setLevel(variable);
  }

  // The solution that minimises the first objective; among these, the second, and so on.
  Solution minimize(const std::vector<Variable> &objectives)
  {
    std::vector<pop_solver_variable> wanted;
    for (Variable v : objectives) wanted.push_back(v.index);
    Solution s;
    s.values.resize(pop_solver_num_variables(solver.get()));
    thrown = nullptr;
    s.valid = pop_solver_minimize(solver.get(), wanted.data(), wanted.size(), s.values.data());
    if (thrown) std::rethrow_exception(thrown);
    const auto statistics = pop_solver_get_statistics(solver.get());
    s.evaluated.call = statistics.calls;
    s.evaluated.other = statistics.propagations;
    return s;
  }
  Solution minimize(Variable objective) { return minimize(std::vector<Variable>{objective}); }
};

} // namespace popsolver
} // namespace gccs

#endif

// Vectors of 64 bits in registers of 64 bits: what clang runs behind its optimizer (-fpass-plugin) when it compiles for tiles.
//
// The tile has loads, stores and arithmetic on pairs of floats and on four halves (isa.h: PACKED), which LLVM does not know;
// it would take each element alone. What it does know is a register of 64 bits that holds a double. So a <2 x float> or
// <4 x half> that is loaded, stored, added, subtracted, multiplied or compared becomes a double here, on which inline assembly
// operates, and the function gets the feature "d": LLVM then has these registers, loads, stores and copies of them.
//
// That is done where it helps: around arithmetic. Everything else that is made of such a vector (elements, shuffles, calls)
// gets its elements. A function that computes with doubles is left alone, as the tile has no instructions for those.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>

using namespace llvm;

namespace
{

const Align pair_align(8);

bool is_floats(Type *type)
{
  auto *v = dyn_cast<FixedVectorType>(type);
  return v && v->getNumElements() == 2 && v->getElementType()->isFloatTy();
}

bool is_halves(Type *type)
{
  auto *v = dyn_cast<FixedVectorType>(type);
  return v && v->getNumElements() == 4 && v->getElementType()->isHalfTy();
}

bool is_pair(Type *type)
{
  return is_floats(type) || is_halves(type);
}

// funct7 of the instruction that does what `i` does; -1: none
int operation(const Instruction &i)
{
  if (!is_pair(i.getType())) return -1;
  auto *intrinsic = dyn_cast<IntrinsicInst>(&i);
  switch (intrinsic ? intrinsic->getIntrinsicID() : Intrinsic::not_intrinsic) {
  case Intrinsic::minnum:
    return 3;
  case Intrinsic::maxnum:
    return 4;
  default:
    break;
  }
  switch (i.getOpcode()) {
  case Instruction::FAdd:
    return 0;
  case Instruction::FSub:
    return 1;
  case Instruction::FMul:
    return 2;
  default:
    return -1;
  }
}

bool is_wide_store(const User *user)
{
  auto *store = dyn_cast<StoreInst>(user);
  return store && store->isSimple() && is_pair(store->getValueOperand()->getType()) &&
         store->getAlign() >= pair_align;
}

bool is_wide_load(const Instruction &i)
{
  auto *load = dyn_cast<LoadInst>(&i);
  return load && load->isSimple() && load->getAlign() >= pair_align;
}

// Can be a pair, and is one where what it is made of, or what is made of it, is.
bool may_be_pair(const Instruction &i)
{
  if (!is_pair(i.getType())) return false;
  if (auto *select = dyn_cast<SelectInst>(&i))
    return !select->getCondition()->getType()->isVectorTy();
  return isa<PHINode>(i) || isa<FreezeInst>(i) || is_wide_load(i);
}

class Pairs
{
public:
  explicit Pairs(Function &function)
      : f(function), single(Type::getFloatTy(f.getContext())),
        wide(Type::getDoubleTy(f.getContext()))
  {
  }

  bool run()
  {
    for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&f)) blocks.push_back(block);
    if (f.hasFnAttribute(Attribute::StrictFP) || uses_doubles() || !choose()) return false;
    for (BasicBlock *block : blocks)
      for (Instruction &i : make_early_inc_range(*block))
        if (chosen.count(&i)) made[&i] = make(i);
    for (Instruction *i : order)
      if (auto *phi = dyn_cast<PHINode>(i)) fill(*phi);
    for (Instruction *i : order) replace(*i);
    for (Instruction *i : order) i->replaceAllUsesWith(PoisonValue::get(i->getType()));
    for (Instruction *i : order) i->eraseFromParent();
    std::string features = f.getFnAttribute("target-features").getValueAsString().str();
    f.addFnAttr("target-features", features.empty() ? "+d" : features + ",+d");
    return true;
  }

private:
  Function &f;
  Type *single, *wide;
  std::vector<BasicBlock *> blocks;
  SmallPtrSet<const Value *, 32> chosen;
  std::vector<Instruction *> order;      // the same, in the blocks' order
  DenseMap<const Value *, Value *> made; // pairs of vectors

  static bool is_double(const Value *value)
  {
    return value->getType()->getScalarType()->isDoubleTy();
  }

  bool uses_doubles() const
  {
    for (BasicBlock *block : blocks)
      for (Instruction &i : *block) {
        if (is_double(&i)) return true;
        for (const Value *operand : i.operands())
          if (is_double(operand)) return true;
      }
    return false;
  }

  bool is_wanted(const Instruction &i) const
  {
    if (operation(i) >= 0) return true;
    if (!may_be_pair(i)) return false;
    for (const User *user : i.users())
      if (chosen.count(user) || (is_wide_load(i) && is_wide_store(user))) return true;
    return !is_wide_load(i) &&
           any_of(i.operands(), [this](const Use &use) { return chosen.count(use.get()) != 0; });
  }

  bool choose()
  {
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock *block : blocks)
        for (Instruction &i : *block)
          if (!chosen.count(&i) && is_wanted(i)) {
            chosen.insert(&i);
            changed = true;
          }
    }
    for (BasicBlock *block : blocks)
      for (Instruction &i : *block)
        if (chosen.count(&i)) order.push_back(&i);
    return !order.empty();
  }

  static Value *assembly(IRBuilder<> &at, Type *type, const Twine &text, ArrayRef<Value *> operands)
  {
    SmallVector<Type *, 2> types;
    std::string constraints = "=f";
    for (Value *operand : operands) {
      types.push_back(operand->getType());
      constraints += ",f";
    }
    auto *signature = FunctionType::get(type, types, false);
    CallInst *call = at.CreateCall(
        signature, InlineAsm::get(signature, text.str(), constraints, false), operands);
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    call->addFnAttr(Attribute::WillReturn);
    call->addFnAttr(Attribute::Speculatable);
    return call;
  }

  // opcode op-p, which RISC-V keeps for packed arithmetic
  static Value *packed(IRBuilder<> &at, Type *type, int funct3, int funct7, Value *a, Value *b)
  {
    return assembly(
        at, type, ".insn r 0x77, " + Twine(funct3) + ", " + Twine(funct7) + ", $0, $1, $2", {a, b});
  }

  Value *pair_of_elements(IRBuilder<> &at, Value *vector) const
  {
    SmallVector<Value *, 4> elements;
    unsigned count = cast<FixedVectorType>(vector->getType())->getNumElements();
    for (unsigned i = 0; i < count; i++) {
      Value *element = at.CreateExtractElement(vector, i);
      if (isa<UndefValue>(element)) element = Constant::getNullValue(element->getType());
      elements.push_back(element);
    }
    if (count == 4) // sort4x16lo
      for (unsigned i = 0; i < 2; i++)
        elements[i] = packed(at, single, 2, 2, elements[2 * i], elements[2 * i + 1]);
    return packed(at, wide, 2, 0, elements[0], elements[1]);
  }

  Value *vector_of_pair(IRBuilder<> &at, Value *pair, Type *type) const
  {
    Value *words[] = {assembly(at, single, "fmv.s $0, $1", {pair}),
                      assembly(at, single, ".insn r 0x77, 2, 1, $0, $1, f0", {pair})};
    Value *vector = PoisonValue::get(type);
    for (unsigned i = 0; i < 2; i++) {
      if (is_floats(type)) {
        vector = at.CreateInsertElement(vector, words[i], i);
        continue;
      }
      Value *bits = at.CreateBitCast(words[i], at.getInt32Ty());
      for (unsigned half = 0; half < 2; half++) {
        Value *one = at.CreateTrunc(half ? at.CreateLShr(bits, 16) : bits, at.getInt16Ty());
        vector =
            at.CreateInsertElement(vector, at.CreateBitCast(one, at.getHalfTy()), 2 * i + half);
      }
    }
    return vector;
  }

  // The pair of any vector: constants and arguments where the function begins, others right behind them.
  Value *pair(Value *vector)
  {
    Value *&known = made[vector];
    if (known) return known;
    BasicBlock &entry = f.getEntryBlock();
    IRBuilder<> at(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    if (auto *i = dyn_cast<Instruction>(vector))
      at.SetInsertPoint(&**i->getInsertionPointAfterDef());
    Value *built = pair_of_elements(at, vector);
    return made[vector] = built;
  }

  Value *make(Instruction &i)
  {
    IRBuilder<> at(&i);
    int number = operation(i);
    if (number >= 0)
      return packed(at, wide, is_halves(i.getType()), number, pair(i.getOperand(0)),
                    pair(i.getOperand(1)));
    if (auto *phi = dyn_cast<PHINode>(&i)) return at.CreatePHI(wide, phi->getNumIncomingValues());
    if (auto *select = dyn_cast<SelectInst>(&i))
      return at.CreateSelect(select->getCondition(), pair(select->getTrueValue()),
                             pair(select->getFalseValue()));
    if (isa<FreezeInst>(i)) return at.CreateFreeze(pair(i.getOperand(0)));
    auto &load = cast<LoadInst>(i);
    LoadInst *result = at.CreateAlignedLoad(wide, load.getPointerOperand(), load.getAlign());
    result->copyMetadata(load, {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias});
    return result;
  }

  void fill(PHINode &phi)
  {
    auto *result = cast<PHINode>(made[&phi]);
    for (unsigned i = 0; i < phi.getNumIncomingValues(); i++)
      result->addIncoming(pair(phi.getIncomingValue(i)), phi.getIncomingBlock(i));
  }

  // What stores the vector, stores the pair; what else is not a pair gets the elements.
  void replace(Instruction &i)
  {
    Value *own = made[&i], *vector = nullptr;
    for (Use &use : make_early_inc_range(i.uses())) {
      User *user = use.getUser();
      if (chosen.count(user)) continue;
      if (is_wide_store(user)) {
        use.set(own);
        continue;
      }
      if (!vector) {
        auto *after = cast<Instruction>(own);
        IRBuilder<> at(&**after->getInsertionPointAfterDef());
        vector = vector_of_pair(at, own, i.getType());
      }
      use.set(vector);
    }
  }
};

class PairsPass : public PassInfoMixin<PairsPass>
{
public:
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &analyses)
  {
    if (!Pairs(f).run()) return PreservedAnalyses::all();
    analyses.invalidate(f, PreservedAnalyses::none());
    if (!f.hasOptNone()) EarlyCSEPass().run(f, analyses);
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

void add_to(PassBuilder &builder)
{
  builder.registerOptimizerLastEPCallback([](ModulePassManager &passes, OptimizationLevel) {
    passes.addPass(createModuleToFunctionPassAdaptor(PairsPass()));
  });
}

} // namespace

extern "C" PassPluginLibraryInfo llvmGetPassPluginInfo()
{
  return {LLVM_PLUGIN_API_VERSION, "popc-pairs", "1", add_to};
}

"""How kernels are compiled: what only other kernels call is linked, and LLVM runs once for a kernel and all it calls.

Left alone, numba optimises every function together with all that it calls and makes machine code of it, although only
its callers will ever run it, and they do the same again. That, and passes for what no kernel of ours contains, took
most of the time. Loops that hold no references need not let go of any either. What is left out changes no result.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite import ir
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites.registry import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.typing.context import Context
from numba.core.untyped_passes import DeadBranchPrune, FixupArgs, GenericRewrites, ReconstructSSA, TranslateByteCode

ENVIRONMENT = "_ZN08NumbaEnv"
"""How numba begins the names of the places where functions look for their Python objects."""
WRAPPER = "_ZN7cpython"
"""How it begins the names of what unpacks the arguments of a kernel that is called from Python."""
LARGE = 400
"""Functions of more instructions are not copied into their callers: that takes long, and a call costs them nothing."""
LEVEL = 2
"""Of LLVM's optimisation: at level 3 kernels take a fifth longer to compile, and run no faster."""


class _Part(JITCodeLibrary):
    """The code of one function, for others to be linked with."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take in code; named tuples handed on by their place never change, so that loops need not read them anew."""
        for function in ir_module.functions:
            if sum(len(block.instructions) for block in function.blocks) > LARGE:
                function.attributes.add("noinline")
            for argument in function.args[2:] if function.blocks else ():  # behind the result and the exception
                if isinstance(getattr(argument.type, "pointee", None), ir.LiteralStructType):
                    argument.add_attribute("noalias")
        super().add_ir_module(ir_module)

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """For callers that are no kernels of ours: the function with all that it calls."""
        module = JITCodeLibrary(self._codegen, self.name)._final_module
        _link(module, [self], "linkonce_odr")
        return module


class _Whole(JITCodeLibrary):
    """A kernel and all that it calls."""

    def add_llvm_module(self, ll_module: Any) -> None:
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        module = self._final_module
        module.data_layout = self._codegen._data_layout
        # Internal functions would still be found by their names, for a stranger's module that has them too, although
        # LLVM may have changed how they take their arguments.
        for library in _link(module, self._linking_libraries, "private"):
            self._reload_init.update(library._reload_init)
        for function in module.functions:
            if function.name.startswith(WRAPPER) and not function.is_declaration:
                for attribute in ("noinline", "optnone"):
                    function.add_function_attribute(attribute)
        passes, builder = self._codegen._module_pass_manager(opt=LEVEL)
        passes.run(module, builder)
        module.verify()
        self._finalize_final_module()
        for place in module.global_variables:
            if place.name.startswith(ENVIRONMENT) and (environment := lookup_environment(place.name)) is not None:
                self._codegen.set_env(place.name, environment)  # type: ignore[attr-defined]


def _link(module: Any, libraries: Iterable[Any], linkage: str) -> Iterable[Any]:
    """Add some libraries with all that they call to a module: which."""
    own = {function.name for function in module.functions if not function.is_declaration}
    linked = _with_callees(libraries)
    for library in linked:
        is_part = isinstance(library, _Part)
        module.link_in(library._final_module if is_part else library._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if function.name not in own and not function.is_declaration:
            function.linkage = linkage  # or LLVM would keep a copy of each for callers that there are not
    return linked


def _with_callees(libraries: Iterable[Any]) -> dict[Any, None]:
    """Some libraries and what the parts among them are linked with, each once."""
    found, waiting = dict[Any, None](), list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            waiting += library._linking_libraries if isinstance(library, _Part) else ()
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """Turns a function into code for LLVM, and no further."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered, description = state.cr, state.cr.fndesc
        state.library._ensure_finalized()
        # Callers are linked by this object. It has no machine code behind it, and nothing outside kernels calls it.
        name = description.qualname.rpartition(".")[2]
        entry = _dynfunc.make_function(description.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(entry, description, [state.library])
        state.cr = _LowerResult(description, lowered.call_helper, cfunc=entry, env=lowered.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _RewriteLoop(GenericRewrites):
    """Makes constants of places in tuples; what numba's own pass does besides is to look for the uses of variables."""

    _name = "loop_rewrites"

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite = kind(state)
            for at in blocks:
                while rewrite.match(state.func_ir, blocks[at], state.typemap, state.calltypes):
                    blocks[at] = rewrite.apply()
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _SingleAssignments(ReconstructSSA):
    """Gives every assignment of a variable a variable of its own."""

    _name = "loop_ssa"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _FewAssignments(PreLowerStripPhis):
    """Puts them together again."""

    _name = "loop_phis"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        return True


class _Loop(Lower):
    """The code of a loop in which no reference is counted, so that variables are never let go."""

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars and not self._disable_sroa_like_opt:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def pre_block(self, block: Any) -> None:
        self._cur_ir_block = block


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerLoop(_LowerPart):
    """Turns a loop into code for LLVM."""

    _name = "loop_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Loop


FEW_PASSES = (
    TranslateByteCode,
    FixupArgs,
    DeadBranchPrune,
    _RewriteLoop,
    _SingleAssignments,
    NopythonTypeInference,
    _FewAssignments,
    _LowerLoop,
    NoPythonBackend,
)
"""What plain loops need: no closures, no comprehensions, no array expressions, no with blocks, nothing to inline."""


class _FewPasses(PassManager):
    """Runs passes one after the other; numba would look for the uses of every variable after each of them."""

    def _runPass(self, index: int, each: Any, state: Any) -> None:  # noqa: N802 - numba's name
        each.analysis = self._analysis
        each.run_pass(state)


class _Flags(Flags):
    """The options of a compilation; numba compares them at every step of type inference, property by property."""

    NAMES = hash(tuple(sorted(Flags.options)))

    def __hash__(self) -> int:
        return self.NAMES

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Flags) else super().__eq__(other)


class _Remembering(Context):
    """What numba knows of the types of calls, and which calls of numbers it has resolved: most recur hundreds of times.

    Otherwise it would try, each time, all that might be meant by a plus, and write down why the rest is not.
    """

    __slots__ = ("resolved",)  # its own; all else is the context's

    def __init__(self, context: Context) -> None:
        self.__dict__ = context.__dict__
        self.resolved: dict[tuple[int, tuple[types.Type, ...]], tuple[Any, Any]] = {}

    @classmethod
    @cache
    def of(cls, context: Context) -> _Remembering:
        """The same context, with a memory: one only, because numba tells by it what it has compiled."""
        return cls(context)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The types that a call takes and returns."""
        if kws or not all(isinstance(each, (types.Number, types.Boolean)) for each in args):
            return super().resolve_function_type(func, args, kws)
        key = id(func), tuple(args)
        if key not in self.resolved:  # what is called is kept as well, so that nothing else gets its identity
            self.resolved[key] = func, super().resolve_function_type(func, args, kws)
        return self.resolved[key][1]


@contextmanager
def _uncollected() -> Iterator[None]:
    """No garbage is looked for meanwhile, which took a tenth of the time: 1.4 of 13 s of a first annealed tree."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Compiler(CompilerBase):
    def _compile_core(self) -> Any:
        self.state.flags = _Flags(self.state.flags)
        self.state.typingctx = _Remembering.of(self.state.typingctx)
        with _uncollected():
            return super()._compile_core()


class LoopCompiler(_Compiler):
    """Compiles a plain loop that only kernels call."""

    def define_pipelines(self) -> list[PassManager]:
        """The few passes."""
        return [_manager(_FewPasses("loop"), ((each, each.__name__) for each in FEW_PASSES))]


class PartCompiler(_Compiler):
    """Compiles whatever numba can, to be called by kernels only."""

    def define_pipelines(self) -> list[PassManager]:
        """All passes of numba, the last of them replaced."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
        passes = ((_LowerPart if each is NativeLowering else each, name) for each, name in usual)
        return [_manager(PassManager("part"), passes)]


class KernelCompiler(_Compiler):
    """Compiles a kernel."""

    def define_pipelines(self) -> list[PassManager]:
        """All passes of numba, into a library of ours."""
        self.state.library = _Whole(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def _manager(manager: PassManager, passes: Iterable[tuple[Any, str]]) -> PassManager:
    for each, name in passes:
        manager.add_pass(each, name)
    manager.finalize()
    return manager

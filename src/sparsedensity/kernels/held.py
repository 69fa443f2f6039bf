"""Named tuples that kernels hand on by their place: one pointer, not every number of every array in them.

A tuple of twenty arrays would be 140 arguments of every function that passes it on, and half of all code would pack
and unpack them. What is held is read like the tuple, field by field; it cannot be unpacked, and lives as long as the
call of the function that holds it.
"""

from __future__ import annotations

import hashlib
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.core.datamodel.registry import register_default
from numba.core.extending import intrinsic, lower_builtin, lower_getattr_generic
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer, infer_getattr, signature


class Held(types.Type):
    """A named tuple by its place."""

    def __init__(self, whole: Any) -> None:
        self.whole, self.fields, self.types = whole, whole.fields, tuple(whole.types)
        self.instance_class = whole.instance_class
        digest = hashlib.sha256(str(whole).encode()).hexdigest()
        super().__init__(f"Held{whole.instance_class.__name__}{digest[:16]}")

    @property
    def key(self) -> Any:
        """What tells two of them apart."""
        return self.whole

    def read(self, at: int) -> Any:
        """The type of a field that is read: of a named tuple inside, its place."""
        return Held(self.types[at]) if isinstance(self.types[at], types.BaseNamedTuple) else self.types[at]


@register_default(Held)
class _HeldModel(PrimitiveModel):
    def __init__(self, manager: Any, held: Held) -> None:
        super().__init__(manager, held, manager.lookup(held.whole).get_value_type().as_pointer())


@infer_getattr
class _HeldFields(AttributeTemplate):
    key = Held

    def generic_resolve(self, held: Held, name: str) -> Any:  # type: ignore[override]
        """The type of a field."""
        return held.read(held.fields.index(name)) if name in held.fields else None


@infer
class _HeldItems(AbstractTemplate):
    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        """The type of the field at a known place."""
        held, at = args
        return signature(held.read(at), *args) if isinstance(held, Held) and isinstance(at, int) else None


@lower_getattr_generic(Held)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, held: Held, place: Any, name: str) -> Any:
    return _read(context, builder, held, place, held.fields.index(name))


@lower_builtin("static_getitem", Held, types.IntegerLiteral)  # type: ignore[untyped-decorator]
def _item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _read(context, builder, signature.args[0], *arguments)


def _read(context: Any, builder: Any, held: Held, place: Any, at: int) -> Any:
    field = cgutils.gep_inbounds(builder, place, 0, at % len(held.types))
    if isinstance(held.types[at], types.BaseNamedTuple):
        return field
    return impl_ret_borrowed(context, builder, held.types[at], builder.load(field))


@intrinsic
def held(typing: Any, value: Any) -> Any:
    """A named tuple by its place; anything else as it is."""

    def keep(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once_value(builder, arguments[0])

    def hand_on(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return impl_ret_borrowed(context, builder, value, arguments[0])

    return (Held(value)(value), keep) if isinstance(value, types.BaseNamedTuple) else (value(value), hand_on)


@intrinsic
def whole(typing: Any, value: Any) -> Any:
    """The named tuple itself that is held; anything else as it is."""
    inside = value.whole if isinstance(value, Held) else value

    def read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        read = builder.load(arguments[0]) if isinstance(value, Held) else arguments[0]
        return impl_ret_borrowed(context, builder, inside, read)

    return inside(value), read

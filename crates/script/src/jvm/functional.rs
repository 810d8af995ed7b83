//! Interfaces with one method, which closures and lambda expressions implement.

/// Package, simple name, and the method.
pub(super) const INTERFACES: &[(&str, &str, &str)] = &[
    ("java.lang", "Runnable", "run"),
    ("java.util", "Comparator", "compare"),
    ("java.util.concurrent", "Callable", "call"),
    ("java.util.function", "Function", "apply"),
    ("java.util.function", "BiFunction", "apply"),
    ("java.util.function", "UnaryOperator", "apply"),
    ("java.util.function", "BinaryOperator", "apply"),
    ("java.util.function", "Predicate", "test"),
    ("java.util.function", "BiPredicate", "test"),
    ("java.util.function", "Consumer", "accept"),
    ("java.util.function", "BiConsumer", "accept"),
    ("java.util.function", "Supplier", "get"),
    ("java.util.function", "IntFunction", "apply"),
    ("java.util.function", "IntPredicate", "test"),
    ("java.util.function", "IntUnaryOperator", "applyAsInt"),
    ("java.util.function", "IntBinaryOperator", "applyAsInt"),
    ("java.util.function", "ToIntFunction", "applyAsInt"),
    ("java.util.function", "ToLongFunction", "applyAsLong"),
    ("java.util.function", "ToDoubleFunction", "applyAsDouble"),
];

/// Whether the class is one of the interfaces.
pub(super) fn is_interface(class: &str) -> bool {
    INTERFACES.iter().any(|(_, name, _)| *name == class)
}

/// Whether one of the interfaces has the method.
pub(super) fn is_method(name: &str) -> bool {
    INTERFACES.iter().any(|(.., method)| *method == name)
}

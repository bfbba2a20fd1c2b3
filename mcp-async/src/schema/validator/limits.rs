//! Limits of the cost of schemas and values.

/// The limits of the schemas and values that a [`Validator`](crate::schema::Validator) accepts.
///
/// The defaults let any schema pass that people write, and hold what a hostile one costs under
/// a second or so of one processor. An *evaluation* is one schema checked against one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    /// The bytes of a schema's text; 1 MiB.
    pub bytes: usize,
    /// The levels to which objects and arrays nest in a schema; 64.
    pub depth: usize,
    /// The subschemas that are compiled, those that several references lead to counted as often
    /// as the compiler looks at them; 20,000. Each takes a few microseconds and a kilobyte.
    pub subschemas: usize,
    /// The subschemas that one of them leads to on the same value, one by the other, through
    /// `$ref`, `allOf` and their like; 128. Each takes a few hundred bytes of stack.
    pub chained: usize,
    /// The bytes of one pattern; 8 KiB.
    pub pattern: usize,
    /// The bytes of all patterns when compiled; 16 MiB, at most 1 MiB each.
    pub patterns: usize,
    /// The parts of a value: its members, elements, and itself; a million, of about 50 bytes each.
    pub values: usize,
    /// The evaluations to find out whether a value fits, and what else takes as long: sixteen
    /// values of an `enum`, 64 bytes against a pattern that is small and 32 times as many steps
    /// against one that is large; a million.
    pub evaluations: u64,
    /// The evaluations up to which what does not fit is described; 10,000. Each may keep a few
    /// kilobytes until the description is done.
    pub described: u64,
    /// The subschemas that are open at once while a value is checked; 1 024, which stay below
    /// a megabyte of stack.
    pub nested: u32,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            depth: 64,
            subschemas: 20_000,
            chained: 128,
            pattern: 8 << 10,
            patterns: 16 << 20,
            values: 1_000_000,
            evaluations: 1_000_000,
            described: 10_000,
            nested: 1024,
        }
    }
}

//! Notes which members a struct has while it is serialized.

/// Which of some members the struct has that a writer serialized last.
///
/// Of a value that is written in another way, as a map or as text of its own, nothing is known. Firmware
/// notes nothing, for want of flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldNotes([Struct; ROOM]);

#[derive(Clone, Copy, Debug)]
struct Struct {
    /// The names of the members, at most eight.
    names: &'static [&'static str],
    found: Fields,
    /// The place of the struct in what the writer has written.
    start: usize,
    end: usize,
}

/// A bit for each of the names that were asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields(u8);

impl FieldNotes {
    /// Notes members of these names.
    #[inline]
    pub(super) const fn new(names: &'static [&'static str]) -> Self {
        let unwritten = Struct {
            names,
            found: Fields(0),
            start: 0,
            end: 0,
        };
        Self([unwritten; ROOM])
    }

    /// A struct begins here.
    #[inline]
    pub(super) fn begin(&mut self, start: usize) {
        if let Some(noted) = self.0.first_mut() {
            (noted.found, noted.start, noted.end) = (Fields(0), start, start);
        }
    }

    /// The struct has a member of this name.
    #[inline]
    pub(super) fn note(&mut self, name: &str) {
        if let Some(noted) = self.0.first_mut()
            && let Some(index) = noted.names.iter().position(|noted| *noted == name)
        {
            noted.found.0 |= bit(index);
        }
    }

    /// The struct ends here.
    #[inline]
    pub(super) fn finish(&mut self, end: usize) {
        if let Some(noted) = self.0.first_mut() {
            noted.end = end;
        }
    }

    /// The members of the value at this place, if it is the struct.
    #[inline]
    pub(super) fn of(&self, start: usize, end: usize) -> Option<Fields> {
        let noted = self.0.first()?;
        (noted.start == start && noted.end == end).then_some(noted.found)
    }
}

impl Fields {
    /// Returns true if the name at this index is that of a member.
    pub(crate) const fn has(self, index: usize) -> bool {
        self.0 & bit(index) != 0
    }
}

const fn bit(index: usize) -> u8 {
    1 << (index & 7)
}

const ROOM: usize = if cfg!(feature = "alloc") { 1 } else { 0 };

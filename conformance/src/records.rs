//! The driver's side of standard input: records of chunks, with lengths in front.

use std::io::{self, Read};

/// The inputs of one record, each as one read would have given it.
pub(crate) type Chunks = Vec<Vec<u8>>;

/// The next record; `None` at the end of the stream.
///
/// # Errors
///
/// The stream's own, and [`io::ErrorKind::UnexpectedEof`] when it ends inside a record.
pub(crate) fn next(input: &mut impl Read) -> io::Result<Option<Chunks>> {
    let Some(count) = number(input)? else {
        return Ok(None);
    };
    let mut chunks = Chunks::new();
    for _ in 0..count {
        let length = number(input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut chunk = Vec::new();
        // The length is only believed as far as bytes follow it.
        input.by_ref().take(length.into()).read_to_end(&mut chunk)?;
        if chunk.len() as u64 != u64::from(length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        chunks.push(chunk);
    }
    Ok(Some(chunks))
}

/// Four bytes, the highest first; `None` if the stream ends before the first.
fn number(input: &mut impl Read) -> io::Result<Option<u32>> {
    let mut bytes = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut bytes)?;
    match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(bytes) => Ok(Some(u32::from_be_bytes(bytes))),
        Err(_) if bytes.is_empty() => Ok(None),
        Err(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[&[&[u8]]]) {
        let mut input = bytes;
        for chunks in expected {
            assert_eq!(next(&mut input).unwrap().unwrap(), *chunks);
        }
        assert!(next(&mut input).unwrap().is_none());
    }

    #[test]
    fn records() {
        check(b"", &[]);
        check(b"\0\0\0\0", &[&[]]);
        check(b"\0\0\0\x01\0\0\0\x02ab", &[&[b"ab"]]);
        check(
            b"\0\0\0\x02\0\0\0\0\0\0\0\x01a\0\0\0\0",
            &[&[b"", b"a"], &[]],
        );
    }

    #[test]
    fn cut_records() {
        let whole = b"\0\0\0\x02\0\0\0\x01a\0\0\0\x01b";
        for length in 1..whole.len() {
            let cut = whole.get(..length).unwrap();
            assert_eq!(
                next(&mut &*cut).unwrap_err().kind(),
                io::ErrorKind::UnexpectedEof
            );
        }
    }
}

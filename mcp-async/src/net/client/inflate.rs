use std::io::{self, Write as _};

use bytes::{Buf as _, Bytes};
use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use http::HeaderValue;

use super::SendFailed;

/// Decompresses a body in small portions, so that the caller can stop at its limit.
pub(super) struct Inflater {
    decoder: Decoder,
    packed: Bytes,
}

enum Decoder {
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Zlib(Zlib),
}

/// Without the decoder of the crate, some of whose implementations do not notice that the end is
/// missing.
struct Zlib {
    state: Decompress,
    unpacked: Vec<u8>,
    ended: bool,
}

/// The bytes that are unpacked in one go. The format swells at most 1,032-fold (zlib's technical
/// details), so this makes no more than half a megabyte.
const STEP: usize = 512;

impl Inflater {
    /// By the name of an encoding (RFC 9110 8.4.1); `None` for one that changes nothing.
    pub(super) fn new(coding: &HeaderValue) -> Result<Option<Self>, SendFailed> {
        let coding = String::from_utf8_lossy(coding.as_bytes())
            .trim()
            .to_ascii_lowercase();
        let decoder = match coding.as_str() {
            "gzip" | "x-gzip" => Decoder::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            "deflate" => Decoder::Zlib(Zlib {
                state: Decompress::new(true),
                unpacked: Vec::new(),
                ended: false,
            }),
            "identity" | "" => return Ok(None),
            _ => return Err(SendFailed::Coding(coding)),
        };
        let packed = Bytes::new();
        Ok(Some(Self { decoder, packed }))
    }

    /// Leaves bytes to be unpacked. Those before them are.
    pub(super) fn feed(&mut self, packed: Bytes) {
        self.packed = packed;
    }

    /// Some of what the bytes hold; `None` once it needs more of them.
    pub(super) fn inflate(&mut self) -> io::Result<Option<Bytes>> {
        while !self.packed.is_empty() {
            let step = self.packed.slice(..self.packed.len().min(STEP));
            let read = match &mut self.decoder {
                Decoder::Gzip(decoder) => {
                    decoder.write(&step).and_then(|read| flushed(read, decoder))
                }
                Decoder::Zlib(decoder) => decoder.write(&step),
            }?;
            if read == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "something follows what was packed",
                ));
            }
            self.packed.advance(read.min(self.packed.len()));
            let unpacked = self.take();
            if !unpacked.is_empty() {
                return Ok(Some(unpacked));
            }
        }
        Ok(None)
    }

    /// The rest, if what was packed is complete.
    pub(super) fn finish(mut self) -> io::Result<Bytes> {
        match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Zlib(decoder) if decoder.ended => Ok(()),
            Decoder::Zlib(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }?;
        Ok(self.take())
    }

    fn take(&mut self) -> Bytes {
        let unpacked = match &mut self.decoder {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => &mut decoder.unpacked,
        };
        core::mem::take(unpacked).into()
    }
}

impl Zlib {
    /// Unpacks these bytes, as far as they belong to it; how many that are.
    fn write(&mut self, packed: &[u8]) -> io::Result<usize> {
        let mut read = 0;
        while !self.ended {
            let before = (self.state.total_in(), self.state.total_out());
            let rest = packed.get(read..).unwrap_or_default();
            self.unpacked.reserve(ROOM);
            let status =
                self.state
                    .decompress_vec(rest, &mut self.unpacked, FlushDecompress::None)?;
            self.ended = status == Status::StreamEnd;
            read += usize::try_from(self.state.total_in() - before.0).unwrap_or(0);
            if before == (self.state.total_in(), self.state.total_out()) {
                break;
            }
        }
        Ok(read)
    }
}

/// Room for what a few bytes hold, made again as long as more comes out.
const ROOM: usize = 8 << 10;

/// Out with what the decoder holds back: an event must not wait for the next one.
fn flushed(read: usize, decoder: &mut impl io::Write) -> io::Result<usize> {
    decoder.flush()?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn inflater(coding: &'static str) -> Inflater {
        let coding = HeaderValue::from_static(coding);
        Inflater::new(&coding).unwrap().unwrap()
    }

    /// Returns the bytes that the pieces unpack to, or the error that they end with.
    fn check(
        coding: &'static str,
        pieces: impl IntoIterator<Item = Vec<u8>>,
    ) -> io::Result<Vec<u8>> {
        let mut inflater = inflater(coding);
        let mut unpacked = Vec::new();
        for piece in pieces {
            inflater.feed(piece.into());
            while let Some(bytes) = inflater.inflate()? {
                unpacked.extend_from_slice(&bytes);
            }
        }
        unpacked.extend_from_slice(&inflater.finish()?);
        Ok(unpacked)
    }

    #[test]
    fn unpacks_whatever_the_cuts() {
        let text = b"data: one\n\ndata: two\n\n".repeat(100);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(&text).unwrap();
        for (coding, packed) in [("gzip", gzip(&text)), ("deflate", zlib.finish().unwrap())] {
            assert_eq!(check(coding, [packed.clone()]).unwrap(), text);
            let bytes = packed.iter().map(|byte| vec![*byte]);
            assert_eq!(check(coding, bytes).unwrap(), text);
            for end in 0..packed.len() {
                let short = packed.get(..end).unwrap().to_vec();
                assert!(check(coding, [short]).is_err(), "{coding} cut at {end}");
            }
        }
    }

    #[test]
    fn an_event_does_not_wait_for_the_next() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(b"data: one\n\n").unwrap();
        encoder.flush().unwrap();
        let mut inflater = inflater("gzip");
        inflater.feed(encoder.get_ref().clone().into());
        let mut unpacked = Vec::new();
        while let Some(bytes) = inflater.inflate().unwrap() {
            unpacked.extend_from_slice(&bytes);
        }
        assert_eq!(unpacked, b"data: one\n\n");
    }

    #[test]
    fn what_swells_comes_in_bounded_steps() {
        let packed = gzip(&vec![b' '; 64 << 20]);
        let mut inflater = inflater("gzip");
        inflater.feed(packed.into());
        let mut read = 0;
        while let Some(bytes) = inflater.inflate().unwrap() {
            assert!(bytes.len() <= STEP * 1040, "{}", bytes.len());
            read += bytes.len();
        }
        assert_eq!(read, 64 << 20);
    }

    #[test]
    fn nothing_else_is_taken() {
        for coding in ["br", "zstd", "gzip, gzip", "compress"] {
            let coding = HeaderValue::from_static(coding);
            assert!(matches!(Inflater::new(&coding), Err(SendFailed::Coding(_))));
        }
        let mut more = gzip(b"text");
        more.extend_from_slice(b"more");
        assert!(check("gzip", [more]).is_err());
        assert!(check("gzip", [b"plain text".to_vec()]).is_err());
        assert!(check("deflate", [b"plain text".to_vec()]).is_err());
    }
}

//! The smallest picture and the smallest sound.

/// One red pixel, as a PNG.
pub(super) const PNG: &[u8] = b"\x89PNG\r\n\x1A\n\
    \0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90\x77\x53\xDE\
    \0\0\0\x0CIDAT\x78\x9C\x63\xF8\xCF\xC0\0\0\x03\x01\x01\0\xC9\xFE\x92\xEF\
    \0\0\0\0IEND\xAE\x42\x60\x82";

/// One silent sample at 8 kHz, as a WAV.
pub(super) const WAV: &[u8] = b"RIFF\x26\0\0\0WAVE\
    fmt \x10\0\0\0\x01\0\x01\0\x40\x1F\0\0\x80\x3E\0\0\x02\0\x10\0\
    data\x02\0\0\0\0\0";

/// A circle.
pub(super) const ICON: &str = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'\
    %20viewBox='0%200%202%202'%3E%3Ccircle%20cx='1'%20cy='1'%20r='1'/%3E%3C/svg%3E";

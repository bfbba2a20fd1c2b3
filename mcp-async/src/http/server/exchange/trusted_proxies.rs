//! The client that a proxy names.

use core::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};

/// Proxies whose fields name the address of the client.
#[derive(Clone, Debug, Default)]
pub(in crate::http::server) struct TrustedProxies(Vec<AddressRange>);

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug)]
struct AddressRange {
    address: IpAddr,
    bits: u8,
}

impl AddressRange {
    /// Reads an address, or an address and a number of bits: `10.0.0.0/8`.
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(all);
        (bits <= all).then_some(Self { address, bits })
    }

    fn contains(self, address: IpAddr) -> bool {
        let same = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        same >= self.bits.into()
    }
}

impl TrustedProxies {
    /// Adds an address or a range; false if the text is neither.
    pub(in crate::http::server) fn add(&mut self, text: &str) -> bool {
        let range = AddressRange::parse(text);
        self.0.extend(range);
        range.is_some()
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(address))
    }

    /// The address of the client of a request that came from this peer.
    ///
    /// A client can send both fields itself, and a proxy appends to one of them. So they are read from the end, up
    /// to the first address that is not one of a proxy. If both are there and differ, the proxy has not written one
    /// of them, and the request counts for the proxy.
    pub(in crate::http::server) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.contains(peer) {
            return peer;
        }
        let named = |field: HeaderName, read: fn(&str) -> Option<IpAddr>| {
            let has_field = headers.contains_key(&field);
            has_field.then(|| self.nearest_client(peer, &elements(headers, &field), read))
        };
        match (
            named(FORWARDED, forwarded_for),
            named(X_FORWARDED_FOR, address),
        ) {
            (Some(one), Some(other)) if one != other => peer,
            (Some(client), _) | (None, Some(client)) => client,
            (None, None) => peer,
        }
    }

    fn nearest_client(
        &self,
        peer: IpAddr,
        elements: &[String],
        read: fn(&str) -> Option<IpAddr>,
    ) -> IpAddr {
        let mut nearest = peer;
        for element in elements.iter().rev() {
            match read(element) {
                Some(proxy) if self.contains(proxy) => nearest = proxy,
                Some(client) => return client,
                // The proxy hides its address (RFC 7239, section 6), or the text is no address.
                None => break,
            }
        }
        nearest
    }
}

/// The elements of all lines of a field.
fn elements(headers: &HeaderMap, field: &HeaderName) -> Vec<String> {
    let lines = headers.get_all(field).iter();
    lines
        .flat_map(|line| split(&String::from_utf8_lossy(line.as_bytes()), ','))
        .collect()
}

/// The parts of a text between separators that do not stand in quotes.
fn split(text: &str, separator: char) -> Vec<String> {
    let mut is_quoted = false;
    let parts = text.split(|c| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

/// The parameter `for` of an element of `Forwarded` (RFC 7239, section 5.2).
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = split(element, ';');
    let mut pairs = pairs.iter().filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(value.trim_matches('"'))
}

/// An address, in brackets or not, with a port or without.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let address = bare.unwrap_or(text).parse::<IpAddr>().ok();
    let address = address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, fields: &[(&'static str, &'static str)], client: &str) {
        let mut proxies = TrustedProxies::default();
        assert!(proxies.add("10.0.0.0/8") && proxies.add("2001:db8:1::1"));
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let found = proxies.client(peer.parse().unwrap(), &headers);
        assert_eq!(found.to_string(), client, "{peer} {fields:?}");
    }

    #[test]
    fn only_a_proxy_names_the_client() {
        let x = |value| ("x-forwarded-for", value);
        check("192.0.2.9", &[x("198.51.100.1")], "192.0.2.9");
        check("10.1.2.3", &[], "10.1.2.3");
        check("10.1.2.3", &[x("198.51.100.1")], "198.51.100.1");
        check("::ffff:10.1.2.3", &[x("198.51.100.1:80")], "198.51.100.1");
        check("2001:db8:1::1", &[x("[2001:db8::7]:80")], "2001:db8::7");
        check("2001:db8:1::2", &[x("198.51.100.1")], "2001:db8:1::2");
    }

    #[test]
    fn the_end_of_the_fields_counts() {
        let x = |value| ("x-forwarded-for", value);
        let own = x("203.0.113.1, 198.51.100.1, 10.7.7.7");
        check("10.1.2.3", &[own], "198.51.100.1");
        check(
            "10.1.2.3",
            &[x("203.0.113.1"), x("198.51.100.1")],
            "198.51.100.1",
        );
        check(
            "10.1.2.3",
            &[x("198.51.100.1, unknown, 10.7.7.7")],
            "10.7.7.7",
        );
        check("10.1.2.3", &[x("198.51.100.1, ")], "10.1.2.3");
        check("10.1.2.3", &[x("10.7.7.7")], "10.7.7.7");
    }

    #[test]
    fn the_standard_field_is_read() {
        let f = |value| ("forwarded", value);
        let text = r#"for=203.0.113.1, proto=https;For="[2001:db8::7]:80";by="a,b;c""#;
        check("10.1.2.3", &[f(text)], "2001:db8::7");
        check("10.1.2.3", &[f("for=_hidden")], "10.1.2.3");
        let both = [f("for=203.0.113.1"), ("x-forwarded-for", "198.51.100.1")];
        check("10.1.2.3", &both, "10.1.2.3");
        let same = [f("for=198.51.100.1"), ("x-forwarded-for", "198.51.100.1")];
        check("10.1.2.3", &same, "198.51.100.1");
    }

    #[test]
    fn ranges_are_checked() {
        for text in ["", "proxy", "10.0.0.0/33", "10.0.0.1/", "::1/129", "1.2.3"] {
            assert!(!TrustedProxies::default().add(text), "{text}");
        }
    }
}

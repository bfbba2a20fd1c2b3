//! The addresses that a URL may lead to if the user did not give it.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Judges the addresses of URLs that come from a server: metadata documents, endpoints of
/// authorization servers, redirects.
///
/// A server could otherwise make the client send requests to its own machine or network
/// (server-side request forgery). The guard judges the address that a connection is made to,
/// each time one is made: a name may resolve to another address later.
///
/// ```
/// use mcp_async::net::AddressGuard;
///
/// let guard = AddressGuard::public_only();
/// assert!(guard.judge("93.184.215.14".parse()?).is_ok());
/// assert!(guard.judge("169.254.169.254".parse()?).is_err());
/// assert!(guard.judge("::ffff:10.0.0.1".parse()?).is_err());
///
/// let guard = AddressGuard::near("127.0.0.1".parse()?);
/// assert!(guard.judge("::1".parse()?).is_ok());
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressGuard {
    loopback: bool,
    private: bool,
    shared: bool,
}

impl AddressGuard {
    /// Allows public addresses only.
    pub const fn public_only() -> Self {
        Self {
            loopback: false,
            private: false,
            shared: false,
        }
    }

    /// Allows, in addition to public addresses, those of the network that the user's server is in:
    /// this machine, private networks, or shared ones. `server` is the address that the connection
    /// to the server has. Link-local addresses are never allowed.
    pub fn near(server: IpAddr) -> Self {
        let class = AddressClass::of(server);
        Self {
            loopback: class == AddressClass::Loopback,
            private: class == AddressClass::Private,
            shared: class == AddressClass::Shared,
        }
    }

    /// Allows private networks, too: for a public server whose authorization server is not public.
    #[must_use]
    pub const fn allow_private(mut self) -> Self {
        self.private = true;
        self
    }

    /// The guard [near](Self::near) the address that a host states, and of public addresses only for
    /// a name.
    pub(crate) fn near_host(host: &str) -> Self {
        literal(host).map_or_else(Self::public_only, Self::near)
    }

    /// Judges an address.
    ///
    /// # Errors
    /// [`AddressRefused`] if no connection may be made to it.
    pub fn judge(&self, address: IpAddr) -> Result<(), AddressRefused> {
        let class = AddressClass::of(address);
        let is_allowed = match class {
            AddressClass::Public => true,
            AddressClass::Loopback => self.loopback,
            AddressClass::Private => self.private,
            AddressClass::Shared => self.shared,
            AddressClass::LinkLocal
            | AddressClass::Platform
            | AddressClass::Unspecified
            | AddressClass::Multicast
            | AddressClass::Documentation
            | AddressClass::Benchmarking
            | AddressClass::Reserved => false,
        };
        match is_allowed {
            true => Ok(()),
            false => Err(AddressRefused { address, class }),
        }
    }

    /// Judges the host of a URL if it states an address: for connections through a proxy, which
    /// resolves names itself. Other names are allowed.
    ///
    /// # Errors
    /// [`AddressRefused`] if no connection may be made to the address.
    pub fn judge_host(&self, host: &str) -> Result<(), AddressRefused> {
        match literal(host) {
            Some(address) => self.judge(address),
            None => Ok(()),
        }
    }
}

/// An address that no connection may be made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRefused {
    address: IpAddr,
    class: AddressClass,
}

impl AddressRefused {
    /// Returns the address.
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns what the address belongs to.
    pub const fn class(&self) -> AddressClass {
        self.class
    }
}

impl fmt::Display for AddressRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is a {} address; a URL that comes from a server must lead to a public one",
            self.address, self.class
        )
    }
}

impl core::error::Error for AddressRefused {}

/// Classes of addresses (the registries of IANA for special-purpose addresses).
///
/// An IPv6 address that contains an IPv4 address (mapped, translated, 6to4, Teredo, ISATAP) belongs
/// to the class of the IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// The public internet.
    Public,
    /// This machine.
    Loopback,
    /// Private networks (RFC 1918), unique local addresses (RFC 4193), site-local ones (RFC 3879).
    Private,
    /// Networks behind the address translation of a provider (RFC 6598).
    Shared,
    /// Addresses of the local link; among them are the services of cloud platforms that hand out
    /// credentials.
    LinkLocal,
    /// Services of cloud platforms at addresses that are not link-local.
    Platform,
    /// No address, or "this network" (RFC 791), which leads to this machine.
    Unspecified,
    /// Groups of receivers.
    Multicast,
    /// Examples in texts.
    Documentation,
    /// Measurements in laboratories (RFC 2544, RFC 5180).
    Benchmarking,
    /// Everything else that is not public.
    Reserved,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link-local",
            Self::Platform => "platform",
            Self::Unspecified => "unspecified",
            Self::Multicast => "multicast",
            Self::Documentation => "documentation",
            Self::Benchmarking => "benchmarking",
            Self::Reserved => "reserved",
        })
    }
}

impl AddressClass {
    /// Returns what an address belongs to.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    const fn of_v4(address: Ipv4Addr) -> Self {
        match address.octets() {
            // Azure, Alibaba, Oracle.
            [168, 63, 129, 16] | [100, 100, 100, 200] | [192, 0, 0, 192] => Self::Platform,
            [0, ..] => Self::Unspecified,
            [127, ..] => Self::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Self::Private,
            [100, 64..=127, ..] => Self::Shared,
            [169, 254, ..] => Self::LinkLocal,
            [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Self::Documentation,
            [198, 18 | 19, ..] => Self::Benchmarking,
            [224..=239, ..] => Self::Multicast,
            // Protocol assignments, relays of 6to4, AS112, and the former class E with the
            // broadcast address.
            [192, 0, 0, _]
            | [192, 88, 99, _]
            | [192, 31, 196, _]
            | [192, 175, 48, _]
            | [192, 52, 193, _]
            | [240..=255, ..] => Self::Reserved,
            _ => Self::Public,
        }
    }

    const fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 0] => Self::Unspecified,
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            // Mapped (RFC 4291), translated (RFC 2765), of a translator for all (RFC 6052).
            [0, 0, 0, 0, 0, 0xFFFF, high, low]
            | [0, 0, 0, 0, 0xFFFF, 0, high, low]
            | [0x64, 0xFF9B, 0, 0, 0, 0, high, low] => Self::of_embedded(high, low),
            // Compatible (RFC 4291), which no network routes any more.
            [0, 0, 0, 0, 0, 0, high, low] => Self::of_embedded(high, low).unless_public(),
            // 6to4 (RFC 3056).
            [0x2002, high, low, ..] => Self::of_embedded(high, low),
            // Teredo (RFC 4380): its server, and its client in inverted bits.
            [0x2001, 0, high, low, _, _, client_high, client_low] => {
                match Self::of_embedded(high, low) {
                    Self::Public => Self::of_embedded(!client_high, !client_low),
                    class => class,
                }
            }
            // Amazon.
            [0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0x254] => Self::Platform,
            [0xFC00..=0xFDFF, ..] | [0xFEC0..=0xFEFF, ..] => Self::Private,
            [0xFE80..=0xFEBF, ..] => Self::LinkLocal,
            [0xFF00..=0xFFFF, ..] => Self::Multicast,
            [0x2001, 0xDB8, ..] | [0x3FFF, 0..=0xFFF, ..] => Self::Documentation,
            [0x2001, 2, 0, ..] => Self::Benchmarking,
            // Protocol assignments (RFC 2928), AS112.
            [0x2001, 0..=0x1FF, ..] | [0x2620, 0x4F, 0x8000, ..] => Self::Reserved,
            // ISATAP (RFC 5214), within any prefix.
            [0x2000..=0x3FFF, _, _, _, 0 | 0x200, 0x5EFE, high, low] => {
                Self::of_embedded(high, low)
            }
            [0x2000..=0x3FFF, ..] => Self::Public,
            _ => Self::Reserved,
        }
    }

    const fn of_embedded(high: u16, low: u16) -> Self {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Self::of_v4(Ipv4Addr::new(a, b, c, d))
    }

    const fn unless_public(self) -> Self {
        match self {
            Self::Public => Self::Reserved,
            class => class,
        }
    }
}

/// Returns true if a host is this machine: `localhost`, a name below it, or a loopback address in any
/// form.
pub(super) fn is_loopback(host: &str) -> bool {
    literal(host).is_some_and(|address| AddressClass::of(address) == AddressClass::Loopback)
}

/// The address that a host states, in every form that a resolver or a proxy may understand:
/// `[::1]`, `127.0.0.1`, `127.1`, `0x7f000001`, `localhost`.
fn literal(host: &str) -> Option<IpAddr> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if let Some(inner) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        // Without the zone of a link.
        let address = inner.split_once('%').map_or(inner, |(address, _)| address);
        return address.parse().ok().map(IpAddr::V6);
    }
    if let Ok(address) = host.parse() {
        return Some(address);
    }
    let is_local = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    match is_local {
        true => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        false => numbers(host).map(IpAddr::V4),
    }
}

/// The forms of `inet_aton`: up to four numbers, decimal, octal or hexadecimal, of which the last
/// fills the bytes that are left.
fn numbers(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    let bits = 32 - 8 * u32::try_from(first.len()).ok()?;
    let fits = bits == 32 || *last < 1 << bits;
    let begin = first
        .iter()
        .fold(0_u32, |begin, part| begin << 8 | part)
        .checked_shl(bits)
        .unwrap_or(0);
    fits.then(|| Ipv4Addr::from(begin | last))
}

fn number(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = match (digits, text) {
        (Some(digits), _) => (digits, 16),
        (None, "0") => ("0", 10),
        (None, _) => match text.strip_prefix('0') {
            Some(digits) => (digits, 8),
            None => (text, 10),
        },
    };
    // `from_str_radix` accepts a sign.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match digits.is_empty() {
        true => (radix == 16).then_some(0),
        false if is_number => u32::from_str_radix(digits, radix).ok(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    /// First and last address of each range, and their neighbours.
    #[test]
    fn classes() {
        use AddressClass::{
            Benchmarking, Documentation, LinkLocal, Loopback, Multicast, Platform, Private, Public,
            Reserved, Shared, Unspecified,
        };
        let table: &[(&str, AddressClass)] = &[
            ("0.0.0.0", Unspecified),
            ("0.255.255.255", Unspecified),
            ("1.0.0.0", Public),
            ("9.255.255.255", Public),
            ("10.0.0.0", Private),
            ("10.255.255.255", Private),
            ("11.0.0.0", Public),
            ("100.63.255.255", Public),
            ("100.64.0.0", Shared),
            ("100.100.100.200", Platform),
            ("100.127.255.255", Shared),
            ("100.128.0.0", Public),
            ("126.255.255.255", Public),
            ("127.0.0.0", Loopback),
            ("127.0.0.1", Loopback),
            ("127.255.255.255", Loopback),
            ("128.0.0.0", Public),
            ("168.63.129.16", Platform),
            ("169.253.255.255", Public),
            ("169.254.0.0", LinkLocal),
            ("169.254.169.254", LinkLocal),
            ("169.254.255.255", LinkLocal),
            ("169.255.0.0", Public),
            ("172.15.255.255", Public),
            ("172.16.0.0", Private),
            ("172.31.255.255", Private),
            ("172.32.0.0", Public),
            ("192.0.0.0", Reserved),
            ("192.0.0.192", Platform),
            ("192.0.1.0", Public),
            ("192.0.2.0", Documentation),
            ("192.0.2.255", Documentation),
            ("192.0.3.0", Public),
            ("192.88.99.1", Reserved),
            ("192.167.255.255", Public),
            ("192.168.0.0", Private),
            ("192.168.255.255", Private),
            ("192.169.0.0", Public),
            ("198.17.255.255", Public),
            ("198.18.0.0", Benchmarking),
            ("198.19.255.255", Benchmarking),
            ("198.20.0.0", Public),
            ("198.51.100.7", Documentation),
            ("198.51.101.0", Public),
            ("203.0.113.7", Documentation),
            ("203.0.114.0", Public),
            ("223.255.255.255", Public),
            ("224.0.0.0", Multicast),
            ("239.255.255.255", Multicast),
            ("240.0.0.0", Reserved),
            ("255.255.255.255", Reserved),
            ("::", Unspecified),
            ("::1", Loopback),
            ("::2", Unspecified),
            ("::127.0.0.1", Loopback),
            ("::8.8.8.8", Reserved),
            ("::ffff:127.0.0.1", Loopback),
            ("::ffff:169.254.169.254", LinkLocal),
            ("::ffff:8.8.8.8", Public),
            ("::ffff:0:10.0.0.1", Private),
            ("::ffff:0:8.8.8.8", Public),
            ("64:ff9b::7f00:1", Loopback),
            ("64:ff9b::a9fe:a9fe", LinkLocal),
            ("64:ff9b::808:808", Public),
            ("64:ff9b:1::808:808", Reserved),
            ("100::1", Reserved),
            ("2001::1", Unspecified),
            ("2001:0:808:808:0:0:f7f7:f7f7", Public),
            ("2001:0:808:808:0:0:80ff:fffe", Loopback),
            ("2001:0:a00:1:0:0:f7f7:f7f7", Private),
            ("2001:2::1", Benchmarking),
            ("2001:2:1::1", Reserved),
            ("2001:20::1", Reserved),
            ("2001:200::1", Public),
            ("2001:db7::1", Public),
            ("2001:db8::1", Documentation),
            ("2001:db9::1", Public),
            ("2002:7f00:1::1", Loopback),
            ("2002:c0a8:101::", Private),
            ("2002:808:808::1", Public),
            ("2606:2800:21f::1", Public),
            ("2606:2800:21f::5efe:10.0.0.1", Private),
            ("2606:2800:21f:0:200:5efe:7f00:1", Loopback),
            ("3ffe::1", Public),
            ("3fff:fff::1", Documentation),
            ("3fff:1000::1", Public),
            ("4000::1", Reserved),
            ("5f00::1", Reserved),
            ("fbff::1", Reserved),
            ("fc00::1", Private),
            ("fd00:ec2::254", Platform),
            ("fdff:ffff::1", Private),
            ("fe00::1", Reserved),
            ("fe80::1", LinkLocal),
            ("febf::1", LinkLocal),
            ("fec0::1", Private),
            ("ff02::1", Multicast),
        ];
        for (address, class) in table {
            assert_eq!(AddressClass::of(at(address)), *class, "{address}");
        }
    }

    #[test]
    fn what_is_near_the_server() {
        // server, then: public, loopback, private, shared, link-local, platform
        let targets = [
            "8.8.8.8",
            "127.0.0.1",
            "10.1.2.3",
            "100.64.0.1",
            "169.254.169.254",
            "fd00:ec2::254",
        ];
        for (server, allowed) in [
            ("8.8.4.4", [true, false, false, false, false, false]),
            ("::1", [true, true, false, false, false, false]),
            ("::ffff:127.0.0.1", [true, true, false, false, false, false]),
            ("192.168.1.1", [true, false, true, false, false, false]),
            ("fd12::1", [true, false, true, false, false, false]),
            ("100.100.1.1", [true, false, false, true, false, false]),
            ("169.254.169.254", [true, false, false, false, false, false]),
            ("0.0.0.0", [true, false, false, false, false, false]),
        ] {
            let guard = AddressGuard::near(at(server));
            let found = targets.map(|target| guard.judge(at(target)).is_ok());
            assert_eq!(found, allowed, "{server}");
        }
        let guard = AddressGuard::public_only().allow_private();
        assert!(guard.judge(at("10.0.0.1")).is_ok());
        assert_eq!(
            guard.judge(at("127.0.0.1")).unwrap_err().to_string(),
            "127.0.0.1 is a loopback address; a URL that comes from a server must lead to a public one"
        );
    }

    #[test]
    fn hosts_that_state_an_address() {
        for (host, address) in [
            ("127.0.0.1", "127.0.0.1"),
            ("127.0.0.1.", "127.0.0.1"),
            ("127.1", "127.0.0.1"),
            ("0", "0.0.0.0"),
            ("2130706433", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"),
            ("0X7F.1", "127.0.0.1"),
            ("0177.0.0.01", "127.0.0.1"),
            ("10.65535", "10.0.255.255"),
            ("10.1.65535", "10.1.255.255"),
            ("4294967295", "255.255.255.255"),
            ("0x", "0.0.0.0"),
            ("[::1]", "::1"),
            ("[fe80::1%25eth0]", "fe80::1"),
            ("localhost", "127.0.0.1"),
            ("LOCALHOST.", "127.0.0.1"),
            ("a.localhost", "127.0.0.1"),
        ] {
            assert_eq!(literal(host), Some(at(address)), "{host}");
        }
        for name in [
            "example.com",
            "localhost.example",
            "notlocalhost",
            "1.2.3.4.5",
            "256.256.256.256",
            "4294967296",
            "10.16777216",
            "08",
            "1.2.3.x",
            "+1",
            "",
            ".",
            "1..2",
            "0x7g",
            "[::g]",
        ] {
            assert_eq!(literal(name), None, "{name}");
            assert!(AddressGuard::public_only().judge_host(name).is_ok());
        }
        assert!(AddressGuard::public_only().judge_host("0x7f.1").is_err());
    }

    #[test]
    fn hosts_that_are_this_machine() {
        for host in [
            "localhost.",
            "a.localhost",
            "127.1",
            "[::1]",
            "::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "10.1", "0.0.0.0", "::2"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}

//! Owned types of the payloads that `mcp-proto` declares.

/// The owned type of a kind.
macro_rules! owned_type {
    ($borrowed:tt [$owned:ty] $rule:tt) => {
        $owned
    };
}

/// The function that returns a name.
macro_rules! owned_name {
    ($value:ident $b:lifetime { $(Self::$arm:ident => $text:literal,)* }) => {
        /// Returns the name in JSON.
        pub fn as_str(&$value) -> &str {
            match $value {
                $(Self::$arm => $text,)*
                Self::Other(name) => name,
            }
        }
    };
}

/// Declares the owned types.
macro_rules! owned {
    ($($declarations:tt)*) => {
        mcp_proto::payload_types! {
            (
                owned owned_type owned_name 'static
                [] [] [<'de>] [PartialEq] [PartialEq Eq Hash] [RawBuf, String]
            )
            { $($declarations)* }
        }
    };
}

pub(super) use {owned, owned_name, owned_type};

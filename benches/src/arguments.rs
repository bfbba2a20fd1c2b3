//! The work that turns the arguments of a tool, whose text was validated with its message, into a type.

use std::fmt::Write as _;
use std::hint::black_box;

use mcp_proto::json::{MAX_DEPTH, Raw};
use serde::{Deserialize, Serialize};

/// The arguments of a tool that stores measurements of a city.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct Arguments {
    pub city: String,
    pub days: u8,
    pub metric: bool,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub rows: Vec<Row>,
}

/// One measurement.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub struct Row {
    pub id: u64,
    pub name: String,
    pub value: f64,
}

/// A contestant: its name and its work.
pub trait ArgumentPeer {
    const NAME: &'static str;

    /// The buffers that are kept from one call to the next.
    type State: Default;

    fn decode(state: &mut Self::State, raw: Raw<'_>) -> Option<Arguments>;
}

/// `Raw::decode`, the decoder of the core.
pub struct McpProto;

impl ArgumentPeer for McpProto {
    const NAME: &'static str = "mcp-proto";
    type State = Vec<u8>;

    fn decode(_: &mut Vec<u8>, raw: Raw<'_>) -> Option<Arguments> {
        raw.decode(&mut []).ok()
    }
}

/// The arguments of this name.
pub fn named(name: &str) -> Option<String> {
    match name {
        "small arguments" => Some(arguments("")),
        "large arguments" => {
            let mut rows = String::new();
            for id in 0..200 {
                let comma = if id == 0 { "" } else { "," };
                let value = f64::from(id) / 8.0;
                let row = format!(r#"{{"id":{id},"name":"station {id}","value":{value}}}"#);
                write!(rows, "{comma}{row}").expect("a text grows");
            }
            Some(arguments(&format!(r#","rows":[{rows}]"#)))
        }
        "escaped arguments" => {
            let line = r"first\tsecond\n";
            Some(arguments(&format!(r#","note":"{}""#, line.repeat(650))))
        }
        _ => None,
    }
}

fn arguments(more: &str) -> String {
    format!(r#"{{"city":"Kyoto","days":3,"metric":true{more}}}"#)
}

pub(crate) fn repeat<P: ArgumentPeer>(text: &str, times: u32) {
    let raw = Raw::parse(text.as_bytes(), MAX_DEPTH).expect("valid JSON");
    let mut state = P::State::default();
    for _ in 0..times {
        assert!(black_box(P::decode(&mut state, black_box(raw))).is_some());
    }
}

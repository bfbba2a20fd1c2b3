//! Messages as they cross a wire, by size.

/// A name for the tables and the message itself.
pub struct Input {
    pub name: &'static str,
    pub message: Vec<u8>,
    /// Who receives it: decides which of rmcp's two message types it is.
    pub to: Receiver,
}

/// The role that reads a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Receiver {
    Server,
    Client,
}

/// All inputs, smallest first.
pub fn all() -> Vec<Input> {
    vec![
        input("ping", Receiver::Server, ping()),
        input("tools/call", Receiver::Server, tools_call()),
        input("initialize", Receiver::Server, initialize()),
        input("tools/list", Receiver::Client, tools_list()),
        input("escaped text", Receiver::Client, escaped_text()),
    ]
}

/// Texts of 1 MB in other scripts, and calls with longer texts: for instructions and CPU only.
pub fn more() -> Vec<Input> {
    let text = |name, sample: &str| {
        input(
            name,
            Receiver::Client,
            text_result(&sample.repeat(1_000_000 / sample.len())),
        )
    };
    vec![
        text(
            "latin text",
            "Die Königin fährt über die Brücke, où l’été dure. ",
        ),
        text("emoji text", "😀🎉 sun 🌞 and rain 🌧️ all day long 🙂 "),
        text(
            "cyrillic text",
            "Съешь же ещё этих мягких французских булок, да выпей чаю. ",
        ),
        text(
            "chinese text",
            "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏，",
        ),
        input("1 kB", Receiver::Server, echo(&plain_text(1_000))),
        input("64 kB", Receiver::Server, echo(&plain_text(64_000))),
        input("1 MB", Receiver::Server, echo(&plain_text(1_000_000))),
    ]
}

/// The input of this name.
pub fn named(name: &str) -> Option<Input> {
    let inputs = all().into_iter().chain(more());
    inputs.into_iter().find(|input| input.name == name)
}

/// A text of so many bytes as a model writes it, without anything to escape.
pub fn plain_text(bytes: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all. ";
    let mut text = line.repeat(bytes / line.len());
    text.extend(std::iter::repeat_n('.', bytes - text.len()));
    text
}

/// A call of a tool that says a text again.
pub fn echo(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}}}}}}"#
    )
}

fn input(name: &'static str, to: Receiver, message: String) -> Input {
    Input {
        name,
        message: message.into_bytes(),
        to,
    }
}

/// 43 bytes.
pub fn ping() -> String {
    r#"{"jsonrpc":"2.0","id":1234,"method":"ping"}"#.to_owned()
}

/// About 200 bytes, as a model writes them: a few short arguments and a progress token.
pub fn tools_call() -> String {
    concat!(
        r#"{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"get_forecast","arguments":"#,
        r#"{"city":"Kyoto","country":"Japan","days":5,"units":"metric","hourly":false},"#,
        r#""_meta":{"progressToken":"p-42"}}}"#
    )
    .to_owned()
}

/// About 300 bytes.
pub fn initialize() -> String {
    concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}},"#,
        r#""clientInfo":{"name":"example-client","title":"Example Client","version":"1.0.0","#,
        r#""websiteUrl":"https://example.com/client"}}}"#
    )
    .to_owned()
}

/// 50 tools with a schema each, about 54 kB.
pub fn tools_list() -> String {
    let tools: Vec<String> = (0..50).map(tool).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{}]}}}}"#,
        tools.join(",")
    )
}

fn tool(number: usize) -> String {
    let properties: Vec<String> = (0..6)
        .map(|field| {
            format!(
                r#""parameter_{field}":{{"type":"string","description":"Parameter {field} of tool {number}: what it means, what its default is, when to skip it.","minLength":1,"maxLength":200}}"#
            )
        })
        .collect();
    format!(
        r#"{{"name":"tool_{number}","title":"Tool number {number}","description":"Does one useful thing and says \"done\" at its end.","inputSchema":{{"type":"object","properties":{{{}}},"required":["parameter_0"]}}}}"#,
        properties.join(",")
    )
}

/// One text of 1 MB as source code comes in it: a line break or a quote every few dozen characters.
pub fn escaped_text() -> String {
    let line = r#"    println!(\"{}: {}\", name, value);\n"#;
    text_result(&line.repeat(1_000_000 / line.len()))
}

fn text_result(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":8,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

/// So many messages with a newline behind each, of the kinds and sizes of a busy connection: 155 bytes in the mean.
pub fn stream(messages: usize) -> Vec<u8> {
    let kinds = [
        ping(),
        tools_call(),
        r#"{"jsonrpc":"2.0","id":42,"result":{"content":[{"type":"text","text":"Sunny, 21 degrees, wind from the north-west.\nTomorrow: rain."}],"isError":false}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p-42","progress":0.5,"total":1,"message":"halfway"}}"#.to_owned(),
        tools_call(),
        r#"{"jsonrpc":"2.0","id":43,"result":{"content":[{"type":"text","text":"Done."}],"structuredContent":{"city":"Kyoto","temperature":21.5,"conditions":["sun","wind"],"source":"model"}}}"#.to_owned(),
    ];
    kinds
        .iter()
        .cycle()
        .take(messages)
        .flat_map(|message| [message.as_bytes(), b"\n"].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn mean_of_the_stream() {
        let mean = super::stream(600).len() / 600;
        assert!((150..=160).contains(&mean), "{mean}");
    }

    #[test]
    fn sizes() {
        let sizes = super::all()
            .into_iter()
            .map(|input| (input.name, input.message.len()))
            .collect::<Vec<_>>();
        println!("{sizes:?}");
        let bounds = [
            (43, 43),
            (190, 220),
            (290, 320),
            (52_000, 56_000),
            (990_000, 1_010_000),
        ];
        for ((name, size), (least, most)) in sizes.into_iter().zip(bounds) {
            assert!((least..=most).contains(&size), "{name}: {size}");
        }
    }
}

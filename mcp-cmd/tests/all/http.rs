//! Servers over HTTP for one test each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::run::member;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and target, such as `POST /mcp`.
    pub(crate) line: String,
    /// The fields, in lower case.
    pub(crate) fields: String,
    pub(crate) body: String,
}

/// The status with fields, one a line, and the body.
pub(crate) type Answer = (&'static str, String);

/// A server that runs until the tests end.
pub(crate) struct Site {
    /// Without a path.
    pub(crate) origin: String,
    seen: Arc<Mutex<Vec<Asked>>>,
}

impl Site {
    /// Serves every request with what `answer` makes of it; `ORIGIN` in it is the site's own.
    pub(crate) fn new(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let site = Self {
            origin: origin.clone(),
            seen: Arc::clone(&seen),
        };
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, seen, origin) = (answer.clone(), seen.clone(), origin.clone());
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(asked) = read(&stream) else { return };
                    seen.lock().unwrap().push(asked.clone());
                    let (head, body) = answer(&asked);
                    let head = head.replace('\n', "\r\n").replace("ORIGIN", &origin);
                    let body = body.replace("ORIGIN", &origin);
                    let length = body.len();
                    let _ = write!(
                        stream,
                        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                    );
                });
            }
        });
        site
    }

    /// A server of MCP at `/mcp`.
    pub(crate) fn mcp() -> Self {
        Self::new(serve)
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// The number of requests with this in their line or body.
    pub(crate) fn count(&self, text: &str) -> usize {
        let seen = self.seen.lock().unwrap();
        let has = |asked: &&Asked| asked.line.contains(text) || asked.body.contains(text);
        seen.iter().filter(has).count()
    }
}

/// Answers as a server of 2026-07-28 with one tool.
pub(crate) fn serve(asked: &Asked) -> Answer {
    assert!(asked.fields.contains("accept: application/json"));
    let method = match asked.line.as_str() {
        "POST /broken" => return ("200 OK\ncontent-type: application/json", "{oops".into()),
        "POST /page" => return ("200 OK\ncontent-type: text/html", NOT_FOUND.into()),
        "POST /mcp" => member(&asked.body, "method"),
        _ => return ("404 Not Found\ncontent-type: text/html", NOT_FOUND.into()),
    };
    let result = match method.as_str() {
        "\"server/discover\"" => {
            r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"},"ttlMs":0,"cacheScope":"private""#
        }
        "\"tools/list\"" => {
            r#""tools":[{"name":"hello","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private""#
        }
        _ => r#""content":[{"type":"text","text":"hello"}]"#,
    };
    let id = member(&asked.body, "id");
    let answer =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{result}}}}}"#);
    (
        "200 OK\ncontent-type: application/json\nset-cookie: crumbs=s3cret",
        answer,
    )
}

const NOT_FOUND: &str = "<!doctype html>\n<title>Not \x1b[31mfound</title>\n";

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    let (mut fields, mut length) = (String::new(), 0);
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok()?;
        let field = field.trim().to_ascii_lowercase();
        if field.is_empty() {
            break;
        }
        if let Some(value) = field.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        fields += &format!("{field}\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Asked { line, fields, body })
}

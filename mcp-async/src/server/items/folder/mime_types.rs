//! MIME types by the extensions of names.

/// Returns the type of files with this extension, if it is known.
pub(super) fn mime_type(extension: &str) -> Option<&'static str> {
    Some(match &*extension.to_ascii_lowercase() {
        "txt" | "text" | "log" | "ini" | "cfg" | "conf" => "text/plain",
        "md" | "markdown" => "text/markdown",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "csv" => "text/csv",
        "tsv" => "text/tab-separated-values",
        "js" | "mjs" => "text/javascript",
        "py" => "text/x-python",
        "rs" => "text/x-rust",
        "c" | "h" => "text/x-c",
        "sh" => "application/x-sh",
        "sql" => "application/sql",
        "json" => "application/json",
        "jsonl" => "application/jsonl",
        "yaml" | "yml" => "application/yaml",
        "toml" => "application/toml",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "bmp" => "image/bmp",
        "ico" => "image/vnd.microsoft.icon",
        "tif" | "tiff" => "image/tiff",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "ogg" => "audio/ogg",
        "flac" => "audio/flac",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "tar" => "application/x-tar",
        "wasm" => "application/wasm",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => return None,
    })
}

/// Returns true if contents of this type can be text.
pub(super) fn is_text(mime_type: &str) -> bool {
    let bare = mime_type.split(';').next().unwrap_or_default().trim();
    bare.starts_with("text/")
        || bare.ends_with("+xml")
        || bare.ends_with("+json")
        || matches!(
            bare,
            "application/json"
                | "application/jsonl"
                | "application/xml"
                | "application/yaml"
                | "application/toml"
                | "application/sql"
                | "application/x-sh"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_text_and_of_bytes() {
        let check = |extension: &str, expected: Option<(&str, bool)>| {
            let found = mime_type(extension).map(|found| (found, is_text(found)));
            assert_eq!(found, expected, "{extension}");
        };
        check("md", Some(("text/markdown", true)));
        check("JSON", Some(("application/json", true)));
        check("svg", Some(("image/svg+xml", true)));
        check("png", Some(("image/png", false)));
        check("docx", mime_type("docx").map(|known| (known, false)));
        check("", None);
        check("unknown", None);
        assert!(is_text("text/x-own; charset=utf-8") && is_text("application/ld+json"));
        assert!(!is_text("application/octet-stream"));
    }
}

//! What a server says of itself, written without serde.
//!
//! Every server links this, firmware too; the derived code for the same types brings the whole
//! deserializer along, because it decodes a peer's lists on their way to another peer.

use core::convert::Infallible;

use crate::json::Writer;
use crate::model::{Icon, Implementation, ServerCapabilities, ServerTasksCapability, Settings};
use crate::revision::Revision;
use crate::revision::fields::{Member, Rules};
use crate::texts::{Declare, DeclaredExtensions};

impl Declare for ServerCapabilities<'_> {
    type Error = Infallible;

    fn write_info(
        info: &Implementation<'_>,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), Infallible> {
        write_implementation(info, revision, w);
        Ok(())
    }

    fn write(
        &self,
        revision: Revision,
        extensions: &impl DeclaredExtensions,
        w: &mut Writer<'_>,
    ) -> Result<(), Infallible> {
        write_capabilities(self, revision, extensions, w);
        Ok(())
    }
}

/// Writes who a server is, as far as the revision has a place for it. Icons that came from a
/// peer are passed on as they are.
fn write_implementation(info: &Implementation<'_>, revision: Revision, w: &mut Writer<'_>) {
    let Implementation {
        name,
        version,
        title,
        description,
        website_url,
        icons,
    } = *info;
    let texts = [
        ("name", Some(name)),
        ("version", Some(version)),
        ("title", title),
        ("description", description),
        ("websiteUrl", website_url),
    ];
    let mut members = Members::open(Rules::of("mcp:Implementation", Some(revision)), w);
    for (key, text) in texts {
        if let Some(text) = text
            && let Some(w) = members.value(key)
        {
            w.text(text);
        }
    }
    if let Some(icons) = icons
        && let Some(w) = members.value("icons")
    {
        icons.write(w, write_icon);
    }
    members.close();
}

fn write_icon(icon: &Icon<'_>, w: &mut Writer<'_>) {
    let Icon {
        src,
        mime_type,
        sizes,
        theme,
    } = *icon;
    let mut members = Members::everything(w);
    for (key, text) in [("src", Some(src)), ("mimeType", mime_type)] {
        if let Some(text) = text
            && let Some(w) = members.value(key)
        {
            w.text(text);
        }
    }
    if let Some(sizes) = sizes
        && let Some(w) = members.value("sizes")
    {
        sizes.write(w, |size, w| w.text(*size));
    }
    if let Some(theme) = theme
        && let Some(w) = members.value("theme")
    {
        w.text(theme.name());
    }
    members.close();
}

/// Writes what a server can do, as far as the revision knows it.
fn write_capabilities(
    capabilities: &ServerCapabilities<'_>,
    revision: Revision,
    declared: &impl DeclaredExtensions,
    w: &mut Writer<'_>,
) {
    let ServerCapabilities {
        experimental,
        logging,
        completions,
        prompts,
        resources,
        tools,
        tasks,
        extensions,
    } = capabilities;
    let mut members = Members::open(Rules::of("mcp:ServerCapabilities", Some(revision)), w);
    members.settings("experimental", experimental.as_ref());
    members.settings("logging", logging.as_ref());
    members.settings("completions", completions.as_ref());
    if let Some(prompts) = prompts {
        members.flags("prompts", false, prompts.list_changed);
    }
    if let Some(resources) = resources {
        members.flags("resources", resources.subscribe, resources.list_changed);
    }
    if let Some(tools) = tools {
        members.flags("tools", false, tools.list_changed);
    }
    if let Some(tasks) = tasks
        && let Some(w) = members.value("tasks")
    {
        write_tasks(tasks, w);
    }
    if let Some(extensions) = extensions {
        members.extensions(extensions, revision, declared);
    }
    members.close();
}

fn write_tasks(tasks: &ServerTasksCapability<'_>, w: &mut Writer<'_>) {
    let mut members = Members::everything(w);
    members.settings("list", tasks.list.as_ref());
    members.settings("cancel", tasks.cancel.as_ref());
    if let Some(requests) = &tasks.requests
        && let Some(w) = members.value("requests")
    {
        let mut members = Members::everything(w);
        if let Some(tools) = &requests.tools
            && let Some(w) = members.value("tools")
        {
            let mut members = Members::everything(w);
            members.settings("call", tools.call.as_ref());
            members.close();
        }
        members.close();
    }
    members.close();
}

/// The members of one object of the model.
struct Members<'w, 'o> {
    w: &'w mut Writer<'o>,
    rules: Rules,
    separator: &'static str,
}

impl<'w, 'o> Members<'w, 'o> {
    fn open(rules: Rules, w: &'w mut Writer<'o>) -> Self {
        w.literal("{");
        Self {
            w,
            rules,
            separator: "",
        }
    }

    /// An object that is the same in every revision that has it.
    fn everything(w: &'w mut Writer<'o>) -> Self {
        Self::open(Rules::of("", None), w)
    }

    /// Writes the key; behind it belongs the value. `None` if the revision has no such member.
    #[inline(never)]
    fn value(&mut self, key: &str) -> Option<&mut Writer<'o>> {
        if self.rules.member(key) != Member::Write {
            return None;
        }
        self.w.literal(self.separator);
        self.separator = ",";
        self.w.string(key);
        self.w.literal(":");
        Some(self.w)
    }

    /// Writes the extensions that are declared in the revision, as the last member.
    fn extensions(
        &mut self,
        extensions: &Settings<'_>,
        revision: Revision,
        declared: &impl DeclaredExtensions,
    ) {
        let before = self.w.len();
        self.w.literal(self.separator);
        declared.write(extensions, revision, before, self.w);
    }

    fn settings(&mut self, key: &str, settings: Option<&Settings<'_>>) {
        if let Some(settings) = settings
            && let Some(w) = self.value(key)
        {
            settings.write(w);
        }
    }

    fn flags(&mut self, key: &str, subscribe: bool, list_changed: bool) {
        if let Some(w) = self.value(key) {
            w.literal(match (subscribe, list_changed) {
                (false, false) => "{}",
                (true, false) => r#"{"subscribe":true}"#,
                (false, true) => r#"{"listChanged":true}"#,
                (true, true) => r#"{"subscribe":true,"listChanged":true}"#,
            });
        }
    }

    fn close(self) {
        self.w.literal("}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;
    use crate::model::{
        PromptsCapability, ResourcesCapability, ServerTaskRequests, Theme, ToolTasks,
        ToolsCapability,
    };
    use crate::texts::ExtensionRevisions;

    const DEFAULT: ExtensionRevisions<'static> = ExtensionRevisions(&[]);

    /// What serde's derive makes of the same value is the same, in every revision.
    #[track_caller]
    fn check<T: serde::Serialize>(value: &T, write: fn(&T, Revision, &mut Writer<'_>)) {
        for revision in Revision::ALL {
            let (mut expected, mut written) = ([0; 1024], [0; 1024]);
            let mut w = Writer::new(&mut expected);
            w.value(value, Some(revision)).unwrap();
            let len = w.finish().unwrap();
            let mut w = Writer::new(&mut written);
            write(value, revision, &mut w);
            assert_eq!(w.finish(), Ok(len));
            // What follows the text may be left of a member that was taken back.
            assert_eq!(written[..len], expected[..len], "{revision}");
        }
    }

    fn raw(json: &str) -> Raw<'_> {
        Raw::parse(json.as_bytes(), 8).unwrap()
    }

    #[test]
    fn implementations() {
        let plain = Implementation::new("a\"b", "1");
        check(&plain, |v, r, w| write_implementation(v, r, w));
        let sizes = ["48x48".into(), "any".into()];
        let icon = Icon {
            src: "https://example.com/a.png".into(),
            ..Icon::default()
        };
        let icons = [
            icon,
            Icon {
                mime_type: Some("image/png".into()),
                sizes: Some((&sizes).into()),
                theme: Some(Theme::Dark),
                ..icon
            },
        ];
        let whole = Implementation {
            title: raw(r#""a\u0062\ud83d""#).string(),
            description: Some("what".into()),
            website_url: Some("https://example.com".into()),
            icons: Some((&icons).into()),
            ..plain
        };
        check(&whole, |v, r, w| write_implementation(v, r, w));
        let theirs = raw(r#"[{"src":"x","sizes":["1x1"]}, 7]"#);
        let passed = Implementation {
            icons: theirs.array().map(Into::into),
            ..plain
        };
        check(&passed, |v, r, w| write_implementation(v, r, w));
    }

    #[test]
    fn capabilities() {
        let declared = ServerCapabilities::default();
        check(&declared, |v, r, w| write_capabilities(v, r, &DEFAULT, w));
        for (subscribe, list_changed) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let ours = [("a\"b", raw("{ }")), ("c", raw("[1,\n2]"))];
            let theirs = raw(r#"{"x" : {"y": 1}, "\ud83d": 2}"#).object();
            let declared = ServerCapabilities {
                experimental: Some((&ours).into()),
                logging: Some(Settings::EMPTY),
                completions: theirs.map(Into::into),
                prompts: Some(PromptsCapability { list_changed }),
                resources: Some(ResourcesCapability {
                    subscribe,
                    list_changed,
                }),
                tools: Some(ToolsCapability { list_changed }),
                tasks: Some(ServerTasksCapability {
                    list: Some(Settings::EMPTY),
                    cancel: None,
                    requests: Some(ServerTaskRequests {
                        tools: Some(ToolTasks {
                            call: Some(Settings::EMPTY),
                        }),
                    }),
                }),
                extensions: theirs.map(Into::into),
            };
            check(&declared, |v, r, w| write_capabilities(v, r, &DEFAULT, w));
        }
    }
}

//! Matching undoes expansion.

use mcp_async::uri_template::{UriTemplate, Value};
use proptest::collection::vec;
use proptest::prelude::*;

/// Texts that any operator takes back: not empty, no separators, no dot segments.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 _~%&=?#:;,+é€𝄞-]{1,12}"
}

proptest! {
    #[test]
    fn matching_undoes_expansion(
        a in text(),
        b in proptest::option::of(text()),
        c in proptest::option::of(text()),
        list in vec(text(), 0..4),
        map in proptest::collection::btree_map(text(), text(), 0..4),
    ) {
        let template = UriTemplate::parse("x://{a}/s{/list*}{;b}{?c,map*}{#a}").unwrap();
        let fragment = a.replace('%', "");
        prop_assume!(!fragment.is_empty() && !map.contains_key("c") && !map.keys().all(|key| key == "map"));
        let mut values = vec![("a", Value::from(fragment))];
        values.extend(b.map(|b| ("b", Value::from(b))));
        values.extend(c.map(|c| ("c", Value::from(c))));
        if !list.is_empty() {
            values.push(("list", Value::List(list)));
        }
        values.push(("map", Value::map(map)));
        let uri = template.expand(&values);
        let captures = template.matches(&uri);
        prop_assert!(captures.is_some(), "{}", uri);
        let captures = captures.unwrap();
        for (name, value) in &values {
            prop_assert_eq!(captures.value(name), Some(value), "{}", uri);
        }
        prop_assert_eq!(captures.iter().count(), values.len());
        prop_assert_eq!(template.expand(&captures), uri);
    }

    #[test]
    fn never_takes_what_it_would_not_write(template in "[a-c/]{0,2}([{][+#./;?&]?[a-c](:2|[*])?(,[a-c])?[}][/a-c]?){1,4}", uri in "([ac./;?&=,#%25F-]|%00){0,24}") {
        if let Some(captures) = UriTemplate::parse(&template).unwrap().matches(&uri) {
            let strict = !template.contains("{+") && !template.contains("{#");
            let query = template.contains("{?") || template.contains("{&");
            for (_, value) in captures.iter() {
                let texts = match value {
                    Value::String(text) => vec![text],
                    Value::List(items) => items.iter().collect(),
                    Value::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
                };
                for text in texts {
                    prop_assert!(!text.contains('\0'));
                    prop_assert!(!strict || query || !text.contains(['/', '\\']));
                    let climbs = text.split(['/', '\\']).any(|part| part == "." || part == "..");
                    prop_assert!(!strict || !climbs);
                }
            }
        }
    }

    #[test]
    fn every_template_takes_back_what_it_writes(expressions in vec(expression(), 1..6)) {
        let (mut template, mut values) = (String::new(), Vec::new());
        for (index, expression) in expressions.iter().enumerate() {
            // The value of a named variable ends only at what cannot be part of it.
            let named = index > 0 && matches!(expressions[index - 1].operator, ";" | "?" | "&");
            template.push_str(if named { "!" } else { "" });
            expression.write(index, &mut template, &mut values);
        }
        let parsed = UriTemplate::parse(&template).unwrap();
        let uri = parsed.expand(&values);
        let captures = parsed.matches(&uri);
        prop_assert!(captures.is_some(), "{} on {}", template, uri);
        prop_assert_eq!(parsed.expand(&captures.unwrap()), uri, "{}", template);
    }
}

/// A literal and an expression behind it.
#[derive(Clone, Debug)]
struct Expression {
    literal: String,
    operator: &'static str,
    /// The values, and whether the variable has a prefix; none for one that is undefined.
    variables: Vec<(Option<String>, bool)>,
    /// The elements of a last variable with `*`.
    list: Vec<String>,
}

fn expression() -> impl Strategy<Value = Expression> {
    let operator = proptest::sample::select(vec!["", "+", "#", ".", "/", ";", "?", "&"]);
    let value = || "[a-z0-9é€𝄞~_-]{1,6}";
    let literal = "[a-z]{0,3}";
    let variable = (proptest::option::of(value()), any::<bool>());
    (literal, operator, vec(variable, 0..3), vec(value(), 0..3)).prop_map(
        |(literal, operator, mut variables, list)| {
            // Names of members would be taken by the variables of the next expression.
            let all = variables.iter().all(|(value, _)| value.is_some());
            let list = if matches!(operator, "/" | ".") && all {
                list
            } else {
                Vec::new()
            };
            // Where nothing shows that a variable is empty, one has to be there.
            if matches!(operator, "" | "+") || (variables.is_empty() && list.is_empty()) {
                variables.insert(0, (Some("v".to_owned()), false));
            }
            // Without names it is the last ones that are missing.
            if !matches!(operator, ";" | "?" | "&") {
                variables.sort_by_key(|(value, _)| value.is_none());
            }
            Expression {
                literal,
                operator,
                variables,
                list,
            }
        },
    )
}

impl Expression {
    fn write(&self, index: usize, template: &mut String, values: &mut Vec<(String, Value)>) {
        template.push_str(&self.literal);
        template.push('{');
        template.push_str(self.operator);
        let mut names = Vec::new();
        for (place, (value, prefix)) in self.variables.iter().enumerate() {
            let name = format!("v{index}_{place}");
            // In a query anything is a value, if it stands encoded.
            let more = if matches!(self.operator, "?" | "&") {
                "/%&=?# "
            } else {
                ""
            };
            let value = value.as_ref().map(|value| format!("{value}{more}"));
            values.extend(value.map(|value| (name.clone(), value.into())));
            names.push(if *prefix { format!("{name}:4") } else { name });
        }
        if !self.list.is_empty() {
            let name = format!("l{index}");
            values.push((name.clone(), Value::list(self.list.iter().cloned())));
            names.push(format!("{name}*"));
        }
        template.push_str(&names.join(","));
        template.push('}');
    }
}

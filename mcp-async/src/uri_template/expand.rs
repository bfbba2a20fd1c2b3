use super::operator::Operator;
use super::parse::{Modifier, Part, Variable};
use super::percent;
use super::value::{Value, Variables};

/// Writes a template with its values (RFC 6570, section 3).
pub(super) fn expand(parts: &[Part], variables: &(impl Variables + ?Sized)) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) => out.push_str(literal),
            Part::Expression(operator, specs) => {
                let mut expression = Expression {
                    out: &mut out,
                    operator: *operator,
                    started: false,
                };
                for spec in specs {
                    if let Some(value) = variables.value(&spec.name) {
                        expression.variable(spec, &value);
                    }
                }
            }
        }
    }
    out
}

struct Expression<'o> {
    out: &'o mut String,
    operator: Operator,
    started: bool,
}

impl Expression<'_> {
    fn variable(&mut self, spec: &Variable, value: &Value) {
        match (value, spec.modifier) {
            (Value::String(text), Modifier::Prefix(count)) => {
                let text = percent::prefix(text, usize::from(count), self.operator.reserved());
                self.member(&spec.name, text);
            }
            (Value::String(text), _) => self.member(&spec.name, text),
            // A prefix has no meaning for several values (section 2.4.1): as if undefined.
            (_, Modifier::Prefix(_)) => {}
            (Value::List(items), Modifier::Explode) => {
                for item in items {
                    self.member(&spec.name, item);
                }
            }
            (Value::Map(pairs), Modifier::Explode) => {
                for (key, item) in pairs {
                    self.pair(key, item);
                }
            }
            (Value::List(items), Modifier::None) => {
                self.joined(&spec.name, items.iter().map(String::as_str));
            }
            (Value::Map(pairs), Modifier::None) => {
                self.joined(
                    &spec.name,
                    pairs
                        .iter()
                        .flat_map(|(key, item)| [key.as_str(), item.as_str()]),
                );
            }
        }
    }

    /// One text, after its name where the operator says so.
    fn member(&mut self, name: &str, text: &str) {
        self.separate();
        if self.operator.named() {
            self.out.push_str(name);
            self.equals(text.is_empty());
        }
        self.encode(text);
    }

    /// One member of an exploded map.
    fn pair(&mut self, key: &str, text: &str) {
        self.separate();
        self.encode(key);
        if self.operator.named() {
            self.equals(text.is_empty());
        } else {
            self.out.push('=');
        }
        self.encode(text);
    }

    /// Several texts as one value.
    fn joined<'i>(&mut self, name: &str, items: impl Iterator<Item = &'i str>) {
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(',');
            } else {
                self.separate();
                if self.operator.named() {
                    self.out.push_str(name);
                    self.out.push('=');
                }
            }
            self.encode(item);
        }
    }

    fn separate(&mut self) {
        let separator = if self.started {
            Some(self.operator.separator())
        } else {
            self.operator.first()
        };
        self.out.extend(separator.map(char::from));
        self.started = true;
    }

    fn equals(&mut self, empty: bool) {
        if !empty || self.operator.equals_when_empty() {
            self.out.push('=');
        }
    }

    fn encode(&mut self, text: &str) {
        percent::encode(self.out, text, self.operator.reserved());
    }
}

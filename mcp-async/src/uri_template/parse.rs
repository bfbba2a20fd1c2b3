use core::error::Error;
use core::fmt;

use super::operator::Operator;
use super::percent;

/// The longest template that [`UriTemplate::parse`](super::UriTemplate::parse) takes, in bytes.
pub const MAX_TEMPLATE_LENGTH: usize = 8192;

/// The most variables of one template, counting each mention.
pub const MAX_VARIABLES: usize = 256;

/// The error of a text that is no URI template, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The byte of the template at which the trouble starts.
    pub at: usize,
    /// The mistake.
    pub kind: ParseErrorKind,
}

/// The mistakes that a template may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// A `{` without its `}`; the position is the `{`.
    UnclosedExpression,
    /// A `}` that closes nothing.
    UnopenedBrace,
    /// `{}`.
    EmptyExpression,
    /// `=`, `,`, `!`, `@` or `|`, which RFC 6570 keeps for extensions (section 2.2).
    ReservedOperator(char),
    /// A character that may not stand outside of expressions (section 2.1).
    LiteralCharacter(char),
    /// A `%` without two hexadecimal digits.
    PercentEncoding,
    /// No variable name where one belongs.
    MissingName,
    /// A character that does not belong into an expression at this place.
    UnexpectedCharacter(char),
    /// A prefix that is not 1 to 9999 without leading zeros (section 2.4.1).
    PrefixLength,
    /// More than [`MAX_TEMPLATE_LENGTH`] bytes.
    TooLong,
    /// More than [`MAX_VARIABLES`] variables.
    TooManyVariables,
}

/// A template taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A text that is copied, with everything encoded that has to be.
    Literal(String),
    /// The operator and the variables between braces.
    Expression(Operator, Vec<Variable>),
}

/// A variable within an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) modifier: Modifier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modifier {
    None,
    /// `:n`, in characters.
    Prefix(u16),
    /// `*`
    Explode,
}

/// Takes a template apart (RFC 6570, section 2).
pub(super) fn parse(source: &str) -> Result<Vec<Part>, ParseError> {
    if source.len() > MAX_TEMPLATE_LENGTH {
        return Err(error(MAX_TEMPLATE_LENGTH, ParseErrorKind::TooLong));
    }
    let mut parser = Parser {
        source,
        at: 0,
        variables: 0,
    };
    let mut parts = Vec::new();
    while let Some(next) = parser.peek() {
        parts.push(if next == '{' {
            parser.expression()?
        } else {
            parser.literal()?
        });
    }
    Ok(parts)
}

struct Parser<'s> {
    source: &'s str,
    at: usize,
    variables: usize,
}

impl Parser<'_> {
    fn literal(&mut self) -> Result<Part, ParseError> {
        let start = self.at;
        while let Some(next) = self.peek() {
            match next {
                '{' => break,
                '}' => return Err(self.fault(ParseErrorKind::UnopenedBrace)),
                '%' => self.triplet()?,
                _ if is_literal(next) => self.bump(next),
                _ => return Err(self.fault(ParseErrorKind::LiteralCharacter(next))),
            }
        }
        let mut literal = String::new();
        percent::encode(
            &mut literal,
            self.source.get(start..self.at).unwrap_or_default(),
            true,
        );
        Ok(Part::Literal(literal))
    }

    fn expression(&mut self) -> Result<Part, ParseError> {
        let unclosed = error(self.at, ParseErrorKind::UnclosedExpression);
        self.bump('{');
        let first = self.peek().ok_or(unclosed)?;
        let operator = match (first, Operator::from_char(first)) {
            ('=' | ',' | '!' | '@' | '|', _) => {
                return Err(self.fault(ParseErrorKind::ReservedOperator(first)));
            }
            ('}', _) => return Err(self.fault(ParseErrorKind::EmptyExpression)),
            (_, Some(operator)) => {
                self.bump(first);
                operator
            }
            (_, None) => Operator::Simple,
        };
        let mut variables = Vec::new();
        loop {
            self.variables += 1;
            if self.variables > MAX_VARIABLES {
                return Err(self.fault(ParseErrorKind::TooManyVariables));
            }
            let name = self.name(unclosed)?;
            let modifier = self.modifier(unclosed)?;
            variables.push(Variable { name, modifier });
            match self.peek().ok_or(unclosed)? {
                ',' => self.bump(','),
                '}' => break self.bump('}'),
                other => return Err(self.fault(ParseErrorKind::UnexpectedCharacter(other))),
            }
        }
        Ok(Part::Expression(operator, variables))
    }

    fn name(&mut self, unclosed: ParseError) -> Result<String, ParseError> {
        let start = self.at;
        let mut dot = true;
        loop {
            if self.name_character()? {
                dot = false;
            } else if !dot && self.peek() == Some('.') {
                self.bump('.');
                dot = true;
            } else {
                break;
            }
        }
        if dot {
            return Err(match self.peek().ok_or(unclosed)? {
                ',' | '}' | ':' | '*' if self.at == start => {
                    self.fault(ParseErrorKind::MissingName)
                }
                other => self.fault(ParseErrorKind::UnexpectedCharacter(other)),
            });
        }
        Ok(self
            .source
            .get(start..self.at)
            .unwrap_or_default()
            .to_owned())
    }

    fn name_character(&mut self) -> Result<bool, ParseError> {
        match self.peek() {
            Some('%') => self.triplet()?,
            Some(next) if next.is_ascii_alphanumeric() || next == '_' => self.bump(next),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn modifier(&mut self, unclosed: ParseError) -> Result<Modifier, ParseError> {
        match self.peek() {
            Some('*') => {
                self.bump('*');
                Ok(Modifier::Explode)
            }
            Some(':') => {
                self.bump(':');
                self.prefix(unclosed)
            }
            _ => Ok(Modifier::None),
        }
    }

    fn prefix(&mut self, unclosed: ParseError) -> Result<Modifier, ParseError> {
        let mut length = 0_u16;
        loop {
            let next = self.peek().ok_or(unclosed)?;
            let digit = next
                .to_digit(10)
                .and_then(|digit| u16::try_from(digit).ok());
            match digit {
                Some(0) if length == 0 => return Err(self.fault(ParseErrorKind::PrefixLength)),
                Some(_) if length > 999 => return Err(self.fault(ParseErrorKind::PrefixLength)),
                Some(digit) => length = length * 10 + digit,
                None if length == 0 => return Err(self.fault(ParseErrorKind::PrefixLength)),
                None => return Ok(Modifier::Prefix(length)),
            }
            self.bump(next);
        }
    }

    fn triplet(&mut self) -> Result<(), ParseError> {
        let bytes = self.source.as_bytes().get(self.at..).unwrap_or_default();
        if percent::triplet(bytes).is_none() {
            return Err(self.fault(ParseErrorKind::PercentEncoding));
        }
        self.at += 3;
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.source.get(self.at..)?.chars().next()
    }

    fn bump(&mut self, next: char) {
        self.at += next.len_utf8();
    }

    fn fault(&self, kind: ParseErrorKind) -> ParseError {
        error(self.at, kind)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.at)
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnclosedExpression => f.write_str("expression is not closed"),
            Self::UnopenedBrace => f.write_str("`}` closes nothing"),
            Self::EmptyExpression => f.write_str("expression is empty"),
            Self::ReservedOperator(sign) => write!(f, "operator {sign:?} is reserved"),
            Self::LiteralCharacter(sign) => {
                write!(f, "{sign:?} is not allowed outside of expressions")
            }
            Self::PercentEncoding => f.write_str("`%` without two hexadecimal digits"),
            Self::MissingName => f.write_str("variable without a name"),
            Self::UnexpectedCharacter(sign) => write!(f, "unexpected {sign:?} in an expression"),
            Self::PrefixLength => f.write_str("prefix length is not 1 to 9999"),
            Self::TooLong => write!(f, "template is longer than {MAX_TEMPLATE_LENGTH} bytes"),
            Self::TooManyVariables => write!(f, "more than {MAX_VARIABLES} variables"),
        }
    }
}

impl Error for ParseError {}

const fn error(at: usize, kind: ParseErrorKind) -> ParseError {
    ParseError { at, kind }
}

/// Returns true if a character may be literal: section 2.1, and the apostrophe, which RFC 3986
/// allows in URIs.
fn is_literal(sign: char) -> bool {
    match u32::from(sign) {
        0..0x80 => u8::try_from(sign)
            .is_ok_and(|byte| percent::is_unreserved(byte) || percent::is_reserved(byte)),
        0x80..0xA0 | 0xFDD0..0xFDF0 | 0xFFF0..0x1_0000 | 0xE_0000..0xE_1000 => false,
        code => code & 0xFFFE != 0xFFFE,
    }
}

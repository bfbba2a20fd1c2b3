//! The parts of a form that a server asks a person to fill in, read from the schema of an elicitation.

pub use mcp_proto::model::{
    Choices, ElicitationSchema, EnumSchema, MultiEnumSchema, NumberType, PrimitiveSchema,
    StringFormat,
};

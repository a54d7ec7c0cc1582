//! What makes a call's arguments acceptable, checked by code before anything runs (K16, K17, K45).

mod aliases;
mod validate;

pub use aliases::apply_aliases;
pub use validate::{Fault, SchemaError, Validator, validate};

//! A struct as a row: each field is a column. What is nested in a field becomes JSON text.

use std::borrow::Cow;
use std::fmt::Display;

use serde::Serialize;
use serde::ser::{self, Impossible, SerializeMap, SerializeStruct, Serializer};

use crate::cell::Value;

/// The fields of a row, in order.
pub(crate) type Fields = Vec<(Cow<'static, str>, Value)>;

/// Why a row cannot be one.
#[derive(Debug)]
pub(crate) struct RowError(String);

impl Display for RowError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for RowError {}

impl ser::Error for RowError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The columns and values of one row: a struct, or a map with text as keys.
pub(crate) fn fields<T: Serialize + ?Sized>(row: &T) -> Result<Fields, RowError> {
    row.serialize(RowSerializer)
}

/// One field: a plain value, or the JSON of what is nested.
fn value<T: Serialize + ?Sized>(field: &T) -> Result<Value, RowError> {
    match field.serialize(CellSerializer) {
        Ok(value) => Ok(value),
        Err(CellError::Nested) => {
            serde_json::to_string(field).map(Value::Text).map_err(|error| RowError(error.to_string()))
        }
        Err(CellError::Failed(reason)) => Err(RowError(reason)),
    }
}

struct RowSerializer;

/// Gathers the fields of a struct or the entries of a map.
struct RowFields {
    fields: Fields,
    key: Option<String>,
}

impl RowFields {
    fn new(capacity: usize) -> Self {
        Self { fields: Vec::with_capacity(capacity), key: None }
    }
}

impl SerializeStruct for RowFields {
    type Ok = Fields;
    type Error = RowError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, field: &T) -> Result<(), RowError> {
        self.fields.push((Cow::Borrowed(key), value(field)?));
        Ok(())
    }

    fn end(self) -> Result<Fields, RowError> {
        Ok(self.fields)
    }
}

impl SerializeMap for RowFields {
    type Ok = Fields;
    type Error = RowError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), RowError> {
        match value(key)? {
            Value::Text(text) => self.key = Some(text),
            _ => return Err(RowError("a column's name must be text".to_owned())),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, field: &T) -> Result<(), RowError> {
        let key = self.key.take().ok_or_else(|| RowError("a value without a name".to_owned()))?;
        self.fields.push((Cow::Owned(key), value(field)?));
        Ok(())
    }

    fn end(self) -> Result<Fields, RowError> {
        Ok(self.fields)
    }
}

/// Methods of a serializer that cannot be what is wanted.
macro_rules! refuse {
    ($error:expr; $($method:ident($($type:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<$result, Self::Error> { Err($error) })*
    };
}

fn no_row() -> RowError {
    RowError("a row is a struct with named fields".to_owned())
}

impl Serializer for RowSerializer {
    type Ok = Fields;
    type Error = RowError;
    type SerializeSeq = Impossible<Fields, RowError>;
    type SerializeTuple = Impossible<Fields, RowError>;
    type SerializeTupleStruct = Impossible<Fields, RowError>;
    type SerializeTupleVariant = Impossible<Fields, RowError>;
    type SerializeMap = RowFields;
    type SerializeStruct = RowFields;
    type SerializeStructVariant = Impossible<Fields, RowError>;

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<RowFields, RowError> {
        Ok(RowFields::new(length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<RowFields, RowError> {
        Ok(RowFields::new(length.unwrap_or(8)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, row: &T) -> Result<Fields, RowError> {
        row.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, row: &T) -> Result<Fields, RowError> {
        row.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Fields, RowError> {
        Err(no_row())
    }

    refuse! { no_row();
        serialize_bool(bool) -> Fields;
        serialize_i8(i8) -> Fields;
        serialize_i16(i16) -> Fields;
        serialize_i32(i32) -> Fields;
        serialize_i64(i64) -> Fields;
        serialize_u8(u8) -> Fields;
        serialize_u16(u16) -> Fields;
        serialize_u32(u32) -> Fields;
        serialize_u64(u64) -> Fields;
        serialize_f32(f32) -> Fields;
        serialize_f64(f64) -> Fields;
        serialize_char(char) -> Fields;
        serialize_str(&str) -> Fields;
        serialize_bytes(&[u8]) -> Fields;
        serialize_none() -> Fields;
        serialize_unit() -> Fields;
        serialize_unit_struct(&'static str) -> Fields;
        serialize_unit_variant(&'static str, u32, &'static str) -> Fields;
        serialize_seq(Option<usize>) -> Impossible<Fields, RowError>;
        serialize_tuple(usize) -> Impossible<Fields, RowError>;
        serialize_tuple_struct(&'static str, usize) -> Impossible<Fields, RowError>;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<Fields, RowError>;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<Fields, RowError>;
    }
}

struct CellSerializer;

#[derive(Debug)]
enum CellError {
    /// The value has an inside.
    Nested,
    /// The value cannot be written at all.
    Failed(String),
}

impl Display for CellError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nested => formatter.write_str("nested"),
            Self::Failed(reason) => formatter.write_str(reason),
        }
    }
}

impl std::error::Error for CellError {}

impl ser::Error for CellError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Failed(message.to_string())
    }
}

/// Whole numbers that fit.
macro_rules! whole {
    ($($method:ident($type:ty);)*) => {
        $(fn $method(self, value: $type) -> Result<Value, CellError> { Ok(Value::Int(i64::from(value))) })*
    };
}

impl Serializer for CellSerializer {
    type Ok = Value;
    type Error = CellError;
    type SerializeSeq = Impossible<Value, CellError>;
    type SerializeTuple = Impossible<Value, CellError>;
    type SerializeTupleStruct = Impossible<Value, CellError>;
    type SerializeTupleVariant = Impossible<Value, CellError>;
    type SerializeMap = Impossible<Value, CellError>;
    type SerializeStruct = Impossible<Value, CellError>;
    type SerializeStructVariant = Impossible<Value, CellError>;

    fn serialize_bool(self, value: bool) -> Result<Value, CellError> {
        Ok(Value::Bool(value))
    }

    whole! {
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
    }

    fn serialize_u64(self, value: u64) -> Result<Value, CellError> {
        // What no column of whole numbers can hold keeps its digits as text.
        Ok(i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Int))
    }

    fn serialize_f32(self, value: f32) -> Result<Value, CellError> {
        // Through its decimal form: 0.3 and not 0.30000001192092896.
        Ok(Value::Float(value.to_string().parse().unwrap_or_else(|_| f64::from(value))))
    }

    fn serialize_f64(self, value: f64) -> Result<Value, CellError> {
        Ok(Value::Float(value))
    }

    fn serialize_char(self, value: char) -> Result<Value, CellError> {
        Ok(Value::Text(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Result<Value, CellError> {
        Ok(Value::Text(value.to_owned()))
    }

    fn serialize_none(self) -> Result<Value, CellError> {
        Ok(Value::Null)
    }

    fn serialize_unit(self) -> Result<Value, CellError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, CellError> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<Value, CellError> {
        Ok(Value::Text(name.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Value, CellError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Value, CellError> {
        Err(CellError::Nested)
    }

    refuse! { CellError::Nested;
        serialize_bytes(&[u8]) -> Value;
        serialize_unit_struct(&'static str) -> Value;
        serialize_seq(Option<usize>) -> Impossible<Value, CellError>;
        serialize_tuple(usize) -> Impossible<Value, CellError>;
        serialize_tuple_struct(&'static str, usize) -> Impossible<Value, CellError>;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Impossible<Value, CellError>;
        serialize_map(Option<usize>) -> Impossible<Value, CellError>;
        serialize_struct(&'static str, usize) -> Impossible<Value, CellError>;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Impossible<Value, CellError>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum State {
        HalfDone,
    }

    #[derive(Serialize)]
    struct Inner {
        deep: u8,
    }

    #[derive(Serialize)]
    struct Row<'a> {
        name: &'a str,
        right: Option<bool>,
        count: u64,
        huge: u64,
        rate: f64,
        short: f32,
        none: Option<i32>,
        state: State,
        list: Vec<u8>,
        #[serde(flatten)]
        inner: Inner,
    }

    #[test]
    fn a_struct_is_a_row_and_what_is_nested_is_json() {
        let row = Row {
            name: "é",
            right: Some(false),
            count: 7,
            huge: u64::MAX,
            rate: f64::NAN,
            short: 0.3,
            none: None,
            state: State::HalfDone,
            list: vec![1, 2],
            inner: Inner { deep: 3 },
        };
        let found = fields(&row).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["name", "right", "count", "huge", "rate", "short", "none", "state", "list", "deep"]);
        let value = |name: &str| &found.iter().find(|(field, _)| field == name).unwrap().1;
        assert_eq!(*value("right"), Value::Bool(false));
        assert_eq!(*value("count"), Value::Int(7));
        assert_eq!(*value("huge"), Value::Text("18446744073709551615".to_owned()));
        assert!(matches!(value("rate"), Value::Float(rate) if rate.is_nan()));
        assert_eq!(*value("short"), Value::Float(0.3));
        assert_eq!(*value("none"), Value::Null);
        assert_eq!(*value("state"), Value::Text("half_done".to_owned()));
        assert_eq!(*value("list"), Value::Text("[1,2]".to_owned()));
        assert_eq!(*value("deep"), Value::Int(3));
    }

    #[test]
    fn what_has_no_names_is_no_row() {
        assert!(fields(&7).is_err() && fields(&vec![1]).is_err() && fields("text").is_err());
        assert!(fields(&std::collections::BTreeMap::from([(1, 2)])).is_err());
        assert_eq!(fields(&std::collections::BTreeMap::from([("a", 2)])).unwrap().len(), 1);
    }
}

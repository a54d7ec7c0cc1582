//! Patterns in scenario files are stored as their text. One that matches everything checks nothing,
//! and is refused.

/// One pattern.
pub(super) mod one {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    use crate::cases::Pattern;

    pub(in crate::rounds) fn serialize<S: Serializer>(pattern: &Pattern, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(pattern.as_str())
    }

    pub(in crate::rounds) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pattern =
            Pattern::new(&text).map_err(|_| D::Error::custom(format!("{text:?} is no regular expression")))?;
        if pattern.matches_everything() {
            return Err(D::Error::custom(format!("the pattern {text:?} matches everything, so it checks nothing")));
        }
        Ok(pattern)
    }
}

/// A pattern or none.
pub(super) mod optional {
    use serde::{Deserializer, Serializer};

    use super::one;
    use crate::cases::Pattern;

    #[allow(clippy::ref_option)] // the signature serde asks for
    pub(in crate::rounds) fn serialize<S: Serializer>(
        value: &Option<Pattern>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => one::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::rounds) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Pattern>, D::Error> {
        one::deserialize(deserializer).map(Some)
    }
}

/// A list of patterns.
pub(super) mod several {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::one;
    use crate::cases::Pattern;

    #[derive(Deserialize)]
    struct Item(#[serde(with = "one")] Pattern);

    pub(in crate::rounds) fn serialize<S: Serializer>(list: &[Pattern], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(Pattern::as_str))
    }

    pub(in crate::rounds) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
        Ok(Vec::<Item>::deserialize(deserializer)?.into_iter().map(|item| item.0).collect())
    }
}

//! `k/n`: which part of the cases one of n machines takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The k-th of n parts, k counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    part: u32,
    of: u32,
}

/// A text that names no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a partition: `{0}`")]
pub struct PartitionError(pub String);

impl PartitionError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        "write k/n with 1 ≤ k ≤ n, for instance 2/8"
    }
}

impl Partition {
    /// The `part`-th of `of` parts.
    pub fn new(part: u32, of: u32) -> Result<Self, PartitionError> {
        if part == 0 || part > of {
            return Err(PartitionError(format!("{part}/{of}")));
        }
        Ok(Self { part, of })
    }

    /// k, counted from 1.
    pub fn part(self) -> u32 {
        self.part
    }

    /// n.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether the case at `position` (counted from 0, in the suite's order) belongs to this part.
    /// Neighbours go to different parts, so that no machine gets a whole family.
    pub fn contains(self, position: usize) -> bool {
        position % self.of as usize == self.part as usize - 1
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.part, self.of)
    }
}

impl FromStr for Partition {
    type Err = PartitionError;

    fn from_str(text: &str) -> Result<Self, PartitionError> {
        let bad = || PartitionError(text.to_owned());
        let (part, of) = text.split_once('/').ok_or_else(bad)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        Self::new(number(part)?, number(of)?).map_err(|_| bad())
    }
}

impl TryFrom<String> for Partition {
    type Error = PartitionError;

    fn try_from(text: String) -> Result<Self, PartitionError> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> Self {
        partition.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts() {
        let second: Partition = "2/8".parse().unwrap();
        assert_eq!((second.part(), second.of(), second.to_string().as_str()), (2, 8, "2/8"));
        for bad in ["", "2", "0/3", "4/3", "1/0", "a/b", "-1/2", "1/2/3", " 1/2"] {
            assert_eq!(bad.parse::<Partition>(), Err(PartitionError(bad.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn every_case_belongs_to_exactly_one_part(of in 1u32..20, position in 0usize..10_000) {
            let parts = (1..=of).filter(|part| Partition::new(*part, of).unwrap().contains(position));
            prop_assert_eq!(parts.count(), 1);
        }
    }
}

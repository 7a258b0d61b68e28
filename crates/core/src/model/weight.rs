//! How much a memory matters: one value, spelled as `importance` 0..1 or as significance `[sig:1-5]`.

use serde::{Deserialize, Serialize};

/// A weight outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// Not in 0..=1, or not a number.
    #[error("importance {0} is not between 0 and 1")]
    Importance(f64),
    /// Not in 1..=5.
    #[error("significance {0} is not between 1 and 5")]
    Significance(i64),
}

/// The exact weight that was given, 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schema(value_type = f64, minimum = 0, maximum = 1)]
pub struct Importance(f64);

impl Importance {
    /// Checks the range; `-0.0` becomes `0.0` so that equal weights have equal bytes.
    pub fn new(value: f64) -> Result<Self, WeightError> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value.abs())) } else { Err(WeightError::Importance(value)) }
    }

    /// The value, 0..=1.
    pub const fn value(self) -> f64 {
        self.0
    }

    /// The higher of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// `1 + round(4 × importance)`.
    pub fn significance(self) -> Significance {
        Significance(1 + (4.0 * self.0).round() as u8)
    }
}

impl Default for Importance {
    fn default() -> Self {
        Self(0.5)
    }
}

impl TryFrom<f64> for Importance {
    type Error = WeightError;
    fn try_from(value: f64) -> Result<Self, WeightError> {
        Self::new(value)
    }
}

impl From<Importance> for f64 {
    fn from(importance: Importance) -> Self {
        importance.0
    }
}

impl From<Significance> for Importance {
    fn from(significance: Significance) -> Self {
        Self(f64::from(significance.0 - 1) / 4.0)
    }
}

/// The weight in five steps; 4 and 5 are protected from pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(try_from = "i64", into = "i64")]
#[schema(value_type = i64, minimum = 1, maximum = 5)]
pub struct Significance(u8);

impl Significance {
    /// Checks the range 1..=5.
    pub fn new(value: i64) -> Result<Self, WeightError> {
        match u8::try_from(value) {
            Ok(step @ 1..=5) => Ok(Self(step)),
            _ => Err(WeightError::Significance(value)),
        }
    }

    /// The step, 1..=5.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The first step that is protected from pruning. In a project, this is a rule.
    pub const RULE: Self = Self(4);

    /// The lowest importance of this step.
    pub fn least(self) -> Importance {
        Importance(((f64::from(self.0) - 1.5) / 4.0).max(0.0))
    }
}

impl TryFrom<i64> for Significance {
    type Error = WeightError;
    fn try_from(value: i64) -> Result<Self, WeightError> {
        Self::new(value)
    }
}

impl From<Significance> for i64 {
    fn from(significance: Significance) -> Self {
        i64::from(significance.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_and_significance_are_one_value() {
        for (importance, step) in [(0.0, 1), (0.12, 1), (0.13, 2), (0.5, 3), (0.74, 4), (0.9, 5), (1.0, 5)] {
            assert_eq!(Importance::new(importance).unwrap().significance().value(), step, "{importance}");
        }
        for step in 1..=5 {
            let significance = Significance::new(step).unwrap();
            assert_eq!(Importance::from(significance).significance(), significance);
            assert_eq!(significance.least().significance(), significance);
        }
        assert_eq!(Importance::default().significance().value(), 3);
    }

    #[test]
    fn refuses_what_is_out_of_range() {
        for value in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(Importance::new(value).is_err());
        }
        for value in [0, 6, -1, i64::MAX] {
            assert!(Significance::new(value).is_err());
        }
    }
}

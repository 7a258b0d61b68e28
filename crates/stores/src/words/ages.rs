//! A bounded cache of two ages: an entry that was not asked for in one age goes with it.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Keeps values up to a total weight.
pub(super) struct Ages<K, V> {
    young: HashMap<K, V, RandomState>,
    old: HashMap<K, V, RandomState>,
    /// The weight of all young values.
    weight: usize,
    /// The greatest weight of one age.
    most: usize,
    weigh: fn(&V) -> usize,
}

impl<K: Hash + Eq, V: Clone> Ages<K, V> {
    /// Keeps values of the weight `most` at most, all together.
    pub(super) fn new(most: usize, weigh: fn(&V) -> usize) -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), weight: 0, most: most / 2, weigh }
    }

    /// A value; it is young again.
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.keep(key, value.clone());
        Some(value)
    }

    /// Keeps a value.
    pub(super) fn keep(&mut self, key: K, value: V) {
        self.weight += (self.weigh)(&value);
        if let Some(before) = self.young.insert(key, value) {
            self.weight -= (self.weigh)(&before);
        }
        if self.weight > self.most {
            self.age();
        }
    }

    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.young.is_empty() && self.old.is_empty()
    }

    /// Begins an age: what was not asked for in the last one is dropped.
    pub(super) fn age(&mut self) {
        self.old = std::mem::take(&mut self.young);
        self.weight = 0;
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.age();
        self.age();
    }

    /// Drops nothing and forgets everything: the process ends.
    pub(super) fn forget(&mut self) {
        std::mem::forget((std::mem::take(&mut self.young), std::mem::take(&mut self.old)));
        self.weight = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(most: usize) -> Ages<u32, String> {
        Ages::new(most, String::len)
    }

    #[test]
    fn values_never_weigh_more_than_allowed() {
        let mut ages = texts(100);
        for key in 0..1000 {
            ages.keep(key % 70, "0123456".to_owned());
            let weight = ages.young.values().chain(ages.old.values()).map(String::len).sum::<usize>();
            assert!(weight <= 100 + 7, "{weight}");
            assert!(ages.get(&(key % 70)).is_some());
        }
    }

    #[test]
    fn a_value_that_is_asked_for_in_each_age_stays_and_others_go() {
        let mut ages = texts(100);
        ages.keep(1, "asked for".to_owned());
        ages.keep(2, "not".to_owned());
        for _ in 0..3 {
            ages.age();
            assert_eq!(ages.get(&1).as_deref(), Some("asked for"));
        }
        assert!(ages.get(&2).is_none());
        ages.age();
        ages.age();
        assert!(ages.get(&1).is_none() && ages.is_empty());
    }

    #[test]
    fn a_value_that_is_replaced_weighs_once() {
        let mut ages = texts(20);
        for _ in 0..100 {
            ages.keep(1, "12345".to_owned());
        }
        assert_eq!((ages.weight, ages.old.len()), (5, 0));
    }
}

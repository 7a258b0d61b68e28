use std::cell::{Cell as Shared, RefCell};
use std::collections::HashMap;

use super::*;

type Tables = HashMap<&'static str, Vec<Row>>;

/// A memory of 1,200 exports.
struct Memory(Tables);

impl Memory {
    fn new() -> Self {
        let paths = (0..1200).map(|nth| vec![Cell::Text(format!("/exports/{nth:04}"))]).collect();
        Self(Tables::from([("exports", paths)]))
    }
}

impl Rows for Memory {
    fn count(&self, table: &Table) -> Result<u64, StoreError> {
        Ok(self.0.get(table.name).map_or(0, |rows| rows.len() as u64))
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.0.get(table.name).into_iter().flatten().cloned().try_for_each(row)
    }
}

impl Snapshot for Memory {
    fn mark(&self) -> Result<String, StoreError> {
        Ok("a memory".to_owned())
    }
}

impl Source for Memory {
    fn snapshot(&self, work: &mut dyn FnMut(&dyn Snapshot)) -> Result<(), StoreError> {
        work(self);
        Ok(())
    }
}

/// A target that fails after some batches, or writes something else than it was given.
#[derive(Default)]
struct Copy {
    mark: RefCell<Option<String>>,
    tables: RefCell<Tables>,
    batches: Shared<usize>,
    fails_at: Shared<Option<usize>>,
    loses_rows: Shared<bool>,
    is_finished: Shared<bool>,
}

impl Rows for Copy {
    fn count(&self, table: &Table) -> Result<u64, StoreError> {
        Ok(self.tables.borrow().get(table.name).map_or(0, |rows| rows.len() as u64))
    }

    fn each(&self, table: &Table, row: &mut dyn FnMut(Row) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.tables.borrow().get(table.name).into_iter().flatten().cloned().rev().try_for_each(row)
    }
}

impl Target for Copy {
    fn begin(&self, mark: &str) -> Result<Begun, StoreError> {
        let known = self.mark.replace(Some(mark.to_owned()));
        Ok(if known.is_some() { Begun::Resumed } else { Begun::New })
    }

    fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError> {
        self.batches.set(self.batches.get() + 1);
        if self.fails_at.get() == Some(self.batches.get()) {
            return Err(StoreError::Full);
        }
        let kept = rows.iter().skip(usize::from(self.loses_rows.get())).cloned();
        self.tables.borrow_mut().entry(table.name).or_default().extend(kept);
        Ok(())
    }

    fn finish(&self) -> Result<(), StoreError> {
        self.is_finished.set(true);
        Ok(())
    }
}

#[test]
fn copy_goes_on_where_it_stopped() {
    let (memory, target) = (Memory::new(), Copy::default());
    target.fails_at.set(Some(3));
    let stopped = copy(&memory, &target, &mut |_, _| {});
    assert!(matches!(stopped, Err(CopyError::Target(StoreError::Full))), "{stopped:?}");
    assert!(!target.is_finished.get());
    let mut told = Vec::new();
    let copied = copy(&memory, &target, &mut |done, of| told.push((done, of))).unwrap();
    assert_eq!((copied.rows, copied.resumed), (1200, 1000));
    assert_eq!(copied.tables, [("exports", 1200)]);
    assert_eq!(told.last(), Some(&(2400, 2400)));
    assert!(target.is_finished.get());
    let again = copy(&memory, &Copy::default(), &mut |_, _| {}).unwrap();
    assert_eq!(again.digest, copied.digest);
}

#[test]
fn lost_row_is_noticed() {
    let (memory, target) = (Memory::new(), Copy::default());
    target.loses_rows.set(true);
    let copied = copy(&memory, &target, &mut |_, _| {});
    assert!(matches!(copied, Err(CopyError::Differs { table: "exports" })), "{copied:?}");
    assert!(!target.is_finished.get());
}

#[test]
fn digest_tells_cells_apart() {
    let table = &TABLES[0];
    let text = |text: &str| Cell::Text(text.to_owned());
    let texts = |texts: &[&str]| Cell::Texts(texts.iter().map(|text| (*text).to_owned()).collect());
    let rows = [
        vec![],
        vec![Cell::Null],
        vec![Cell::Null, Cell::Null],
        vec![Cell::Int(0)],
        vec![Cell::Real(0.0)],
        vec![Cell::Flag(false)],
        vec![text("")],
        vec![text("ab"), text("c")],
        vec![text("a"), text("bc")],
        vec![texts(&[])],
        vec![texts(&["a", "b"])],
        vec![texts(&["ab"])],
        vec![Cell::Bytes(vec![])],
    ];
    let digest = |row: &Row| {
        let mut digest = TableDigest::new(table);
        digest.add(row);
        TableDigest::of_all(&[digest])
    };
    let digests: std::collections::HashSet<String> = rows.iter().map(digest).collect();
    assert_eq!(digests.len(), rows.len());
}

#[test]
fn every_key_is_part_of_its_table() {
    for table in TABLES {
        assert!((1..=table.columns.len()).contains(&table.key), "{}", table.name);
    }
}

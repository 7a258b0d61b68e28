//! The ledger.

use super::*;

#[test]
fn the_ledger_adds_up() {
    let store = make();
    let spent = |day: &str, purpose, calls, failures| Spent {
        day: day.to_owned(),
        provider: "ollama".to_owned(),
        model: "small".to_owned(),
        purpose,
        calls,
        failures,
        tokens_in: 10 * calls,
        tokens_out: calls,
    };
    assert_eq!(done(store.spending("")), []);
    for row in [
        spent("2026-03-01", Purpose::Summary, 1, 0),
        spent("2026-03-02", Purpose::Summary, 1, 0),
        spent("2026-03-02", Purpose::Summary, 2, 1),
        spent("2026-03-02", Purpose::Chat, 0, 1),
        Spent { model: "large".to_owned(), ..spent("2026-03-02", Purpose::Chat, 1, 0) },
    ] {
        done(store.spend(&row));
    }
    let today = [
        Spent { model: "large".to_owned(), ..spent("2026-03-02", Purpose::Chat, 1, 0) },
        spent("2026-03-02", Purpose::Chat, 0, 1),
        spent("2026-03-02", Purpose::Summary, 3, 1),
    ];
    assert_eq!(done(store.spending("2026-03-02")), today);
    let all = done(store.spending("2026-03-01"));
    assert_eq!(all[..3], today, "the newest first");
    assert_eq!(all[3..], [spent("2026-03-01", Purpose::Summary, 1, 0)]);
}

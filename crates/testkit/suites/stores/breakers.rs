//! Circuit-breaker state.

use super::*;

#[test]
fn how_a_provider_fares_is_kept() {
    let store = make();
    assert_eq!(done(store.breaker("ollama")), None);
    let resting = Breaker { failures: 5, open_until: Some(minute(3)) };
    done(store.keep_breaker("ollama", &resting));
    done(store.keep_breaker("openai", &Breaker::default()));
    assert_eq!(done(store.breaker("ollama")), Some(resting));
    assert_eq!(done(store.breaker("openai")), Some(Breaker::default()));
    done(store.keep_breaker("ollama", &Breaker::default()));
    assert_eq!(done(store.breaker("ollama")), Some(Breaker::default()));
}

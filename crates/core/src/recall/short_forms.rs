//! Words and their short forms, which are one word to a search: a question about `prod` is answered by what was said
//! about production.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::analysis;

/// Each line is one word in all of its forms. Only forms that mean nothing else: `min` may be minutes, `temp` a worker.
const FORMS: &[&str] = &[
    // Software.
    "production prod",
    "database db",
    "repository repo",
    "configuration config cfg",
    "environment env envs",
    "authentication auth",
    "documentation docs",
    "application app",
    "administrator admin",
    "dependencies deps",
    "directory dir",
    "library lib",
    "performance perf",
    "statistics stats",
    "specification spec",
    "kubernetes k8s",
    "postgresql postgres psql",
    "javascript js",
    "typescript ts",
    "python py",
    "certificate cert",
    "credentials creds",
    "parameters params",
    "arguments args",
    "variables vars",
    "message msg",
    "password pwd passwd",
    "requirements reqs",
    "internationalisation internationalization i18n",
    // Everyday life.
    "information info",
    "apartment apt",
    "appointment appt",
    "birthday bday",
    "bicycle bike",
    "examination exam",
    "father dad daddy",
    "favourite favorite fave",
    "grandfather grandpa",
    "grandmother grandma",
    "laboratory lab",
    "mother mom mum mommy",
    "photograph photo pic picture",
    "refrigerator fridge",
    "television tv telly",
    "university uni",
    "vegetables veggies",
    "veterinarian vet",
];

/// The term that stands for a term and all of its forms.
pub(super) fn standard(term: &str) -> &str {
    forms(term).and_then(|forms| forms.first()).map_or(term, String::as_str)
}

/// All forms of a term where it has several, as terms of the index.
pub(super) fn forms(term: &str) -> Option<&'static [String]> {
    static GROUPS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    static PLACES: OnceLock<HashMap<&str, usize>> = OnceLock::new();
    let groups = GROUPS.get_or_init(|| {
        let stem = |word: &str| analysis::stems(word).into_iter().next().map(|(stem, _)| stem);
        FORMS.iter().map(|line| line.split(' ').filter_map(stem).collect()).collect()
    });
    let places = PLACES.get_or_init(|| {
        let of_group = |(at, group): (usize, &'static Vec<String>)| group.iter().map(move |term| (term.as_str(), at));
        groups.iter().enumerate().flat_map(of_group).collect()
    });
    places.get(term).map(|at| groups[*at].as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_its_short_form_are_one() {
        for (short, long) in [("prod", "production"), ("DB", "databases"), ("mum", "mother"), ("repos", "repository")] {
            let term = |word: &str| analysis::stems(word)[0].0.clone();
            assert_eq!(standard(&term(short)), standard(&term(long)), "{short}");
        }
        assert_eq!(standard("migrat"), "migrat");
    }

    #[test]
    fn no_form_belongs_to_two_words() {
        let mut known: Vec<(String, &str)> = Vec::new();
        for line in FORMS {
            for word in line.split(' ') {
                let term = analysis::stems(word)[0].0.clone();
                assert!(known.iter().all(|(other, of)| *other != term || of == line), "{word}");
                known.push((term, line));
            }
        }
    }
}

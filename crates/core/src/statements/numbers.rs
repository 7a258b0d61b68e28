//! Numbers, days and months, in one spelling: `five`, `5 am`, `05:00`; `12,000`, `12k`; `Fridays`, `vendredi`.

const WORDS: [(&str, &str); 64] = [
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("eighteen", "18"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("noon", "12"),
    ("midnight", "0"),
    ("zwei", "2"),
    ("drei", "3"),
    ("vier", "4"),
    ("funf", "5"),
    ("sechs", "6"),
    ("sieben", "7"),
    ("acht", "8"),
    ("neun", "9"),
    ("zehn", "10"),
    ("zwolf", "12"),
    ("zwanzig", "20"),
    ("deux", "2"),
    ("trois", "3"),
    ("quatre", "4"),
    ("cinq", "5"),
    ("sept", "7"),
    ("huit", "8"),
    ("neuf", "9"),
    ("dix", "10"),
    ("onze", "11"),
    ("douze", "12"),
    ("quinze", "15"),
    ("vingt", "20"),
    ("midi", "12"),
    ("dos", "2"),
    ("tres", "3"),
    ("cuatro", "4"),
    ("cinco", "5"),
    ("seis", "6"),
    ("siete", "7"),
    ("ocho", "8"),
    ("nueve", "9"),
    ("diez", "10"),
    ("once", "11"),
    ("doce", "12"),
    ("quince", "15"),
    ("veinte", "20"),
    ("twice", "2"),
    ("thrice", "3"),
];

/// The days of the week, Monday first, in four languages; English also in short.
const DAYS: [&str; 7] = [
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miercoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag samedi sabado",
    "sunday sonntag dimanche domingo",
];

/// The months, in four languages. `may` and `march` are words of their own and need a number beside them.
const MONTHS: [&str; 12] = [
    "january jan januar janvier enero",
    "february feb februar fevrier febrero",
    "march marz mars marzo",
    "april apr avril abril",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug aout agosto",
    "september sept sep septembre septiembre",
    "october oct oktober octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember decembre diciembre",
];

/// The value of a word that is a number, a time or an amount; with what stands beside it.
pub(crate) fn number(word: &str) -> Option<String> {
    if let Some((_, digits)) = WORDS.iter().find(|(name, _)| *name == word) {
        return Some((*digits).to_owned());
    }
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits: String = word.chars().filter(|c| *c != ',').collect();
    let (head, tail) =
        digits.split_at(digits.find(|c: char| !c.is_ascii_digit() && !".:".contains(c)).unwrap_or(digits.len()));
    let head = head.trim_end_matches(['.', ':']);
    match tail {
        "" | "th" | "st" | "nd" | "rd" | "am" | "pm" | "h" | "er" | "e" => Some(clock(head)),
        "k" => head.parse::<f64>().ok().map(|value| (value * 1000.0).to_string()),
        "m" => head.parse::<f64>().ok().map(|value| (value * 1_000_000.0).to_string()),
        _ => None,
    }
}

/// `05:00` and `5` are one time.
fn clock(digits: &str) -> String {
    let hour = digits.split_once(':').filter(|(_, minutes)| *minutes == "00").map_or(digits, |(hour, _)| hour);
    let plain = hour.trim_start_matches('0');
    if plain.is_empty() || plain.starts_with([':', '.']) { hour.to_owned() } else { plain.to_owned() }
}

/// The day of the week that a word names, in the singular or the plural.
pub(super) fn day(word: &str) -> Option<String> {
    place(&DAYS, word).or_else(|| place(&DAYS, word.strip_suffix('s')?)).map(|nth| format!("day{nth}"))
}

/// The month that a word names.
pub(super) fn month(word: &str, has_number_beside: bool) -> Option<String> {
    if matches!(word, "may" | "march" | "mars" | "mai") && !has_number_beside {
        return None;
    }
    place(&MONTHS, word).map(|nth| format!("month{nth}"))
}

fn place(lists: &[&str], word: &str) -> Option<usize> {
    lists.iter().position(|list| list.split(' ').any(|name| name == word)).map(|nth| nth + 1)
}

/// Whether a word says how often.
pub(super) fn is_period(word: &str) -> bool {
    matches!(word, "every2" | "daily" | "nightly" | "weekly" | "monthly" | "yearly" | "mornings")
}

/// Whether a word is a day or a month in its one spelling.
pub(super) fn is_calendar(word: &str) -> bool {
    let digits = word.strip_prefix("day").or_else(|| word.strip_prefix("month"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

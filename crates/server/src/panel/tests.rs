use super::Assets;

/// What would turn text into markup or code, or fetch from elsewhere.
const NEVER: [&str; 9] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "DOMParser",
    "https://",
    "style=\"",
];

/// The name of drawings, which is no address that is fetched.
const SVG: &str = "http://www.w3.org/2000/svg";

fn files() -> Vec<(String, String)> {
    let text = |name: &str| String::from_utf8(Assets::get(name).unwrap().data.into_owned()).unwrap();
    Assets::iter().map(|name| (name.to_string(), text(&name))).collect()
}

/// The part of each line of a script between a mark and the next quote.
fn quoted<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    text.split(mark).skip(1).filter_map(|rest| rest.split_once('"').map(|(inside, _)| inside)).collect()
}

/// Where `path`, as written in the file `from`, leads.
fn resolve(from: &str, path: &str) -> String {
    if let Some(rooted) = path.strip_prefix("/assets/") {
        return rooted.to_owned();
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn no_file_of_the_panel_makes_markup_of_text_or_fetches_from_elsewhere() {
    for (name, text) in files() {
        for word in NEVER {
            assert!(!text.contains(word), "{name} has {word}");
        }
        assert!(!text.replace(SVG, "").contains("http://"), "{name} names a place elsewhere");
    }
}

#[test]
fn every_file_that_the_panel_names_is_there() {
    let mut seen = 0;
    for (name, text) in files() {
        let imported = ["from \"", "import(\""].into_iter().flat_map(|mark| quoted(&text, mark));
        let mut named: Vec<String> = imported.map(|path| resolve(&name, path)).collect();
        for mark in ["href=\"/", "src=\"/"] {
            named.extend(quoted(&text, mark).into_iter().map(|path| resolve(&name, &format!("/{path}"))));
        }
        seen += named.len();
        for path in named {
            assert!(Assets::get(&path).is_some(), "{name} names {path}, which is not there");
        }
    }
    assert!(seen > 50, "the files are looked at");
}

#[test]
fn the_files_of_the_panel_are_short() {
    for (name, text) in files() {
        assert!(text.lines().count() <= 400, "{name} is too long to read");
    }
}

//! The time zone of this machine.

use std::path::Path;

use jiff::tz::TimeZone;

use super::variable;

/// Where most systems say which zone is theirs: a link to the file of the zone.
const LOCAL: &str = "/etc/localtime";

/// The time zone of this machine. Asked for it, `jiff` reads the names of all zones that there are, which takes as long as a
/// search; the link says by itself which one it is.
pub(super) fn local() -> TimeZone {
    let is_told = variable("TZ").is_some();
    let linked = if is_told { None } else { linked(Path::new(LOCAL)) };
    linked.unwrap_or_else(TimeZone::system)
}

fn linked(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.split_once("/zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_what_the_link_says() {
        let Ok(data) = std::fs::read("/usr/share/zoneinfo/Europe/Lisbon") else { return };
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("zoneinfo/Europe");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("Lisbon"), data).unwrap();
        let link = place.path().join("localtime");
        std::os::unix::fs::symlink(directory.join("Lisbon"), &link).unwrap();
        let zone = linked(&link).unwrap();
        assert_eq!(zone.iana_name(), Some("Europe/Lisbon"));
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"] {
            let expected = TimeZone::get("Europe/Lisbon").unwrap().to_offset(at(time));
            assert_eq!(zone.to_offset(at(time)), expected);
        }
        assert!(linked(&place.path().join("nothing")).is_none());
    }
}

//! `throughline serve --print-service`: a file that has the daemon started by the system.

use std::path::Path;

use clap::ValueEnum;

use super::failure::Failure;
use super::style;

/// Who starts services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Service {
    /// A user unit
    Systemd,
    /// A launch agent
    Launchd,
}

impl Service {
    /// The one of this platform.
    pub(super) const HERE: &'static str = if cfg!(target_os = "macos") { "launchd" } else { "systemd" };

    /// The file's text; `home` is where the memory is, if not at its usual place.
    pub(super) fn text(self, program: &Path, home: Option<&Path>) -> Result<String, Failure> {
        // A line break would begin a setting of its own.
        let is_unfit = |path: &&Path| path.to_str().is_none_or(|text| text.contains(char::is_control));
        if let Some(path) = [Some(program), home].into_iter().flatten().find(is_unfit) {
            let what = format!(
                "a service cannot name {}: a control character, or not UTF-8",
                style::plain(&path.display().to_string())
            );
            return Err(Failure::new(what, "put it where the path is plain text"));
        }
        Ok(match self {
            Self::Systemd => systemd(program, home),
            Self::Launchd => launchd(program, home),
        })
    }
}

fn systemd(program: &Path, home: Option<&Path>) -> String {
    let quoted = |path: &Path| {
        let text = path.display().to_string();
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
    };
    // Only in the command line does a dollar sign stand for a variable.
    let program = quoted(program).replace('$', "$$");
    let home = home.map_or_else(String::new, |home| format!("Environment=\"THROUGHLINE_HOME={}\"\n", quoted(home)));
    format!(
        "# Save as ~/.config/systemd/user/throughline.service, then:\n\
         #   systemctl --user enable --now throughline\n\
         [Unit]\n\
         Description=Throughline, the memory of your AI assistants\n\n\
         [Service]\n\
         ExecStart=\"{program}\" serve --no-link\n\
         {home}Restart=on-failure\n\
         RestartSec=5\n\
         TimeoutStopSec=20\n\
         MemoryHigh=1G\n\
         MemoryMax=2G\n\
         TasksMax=512\n\
         NoNewPrivileges=yes\n\
         UMask=0077\n\n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

fn launchd(program: &Path, home: Option<&Path>) -> String {
    let escaped = |path: &Path| {
        let text = path.display().to_string();
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
    };
    let home = home.map_or_else(String::new, |home| {
        format!(
            "  <key>EnvironmentVariables</key>\n  <dict>\n    <key>THROUGHLINE_HOME</key>\n    \
             <string>{}</string>\n  </dict>\n",
            escaped(home)
        )
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- Save as ~/Library/LaunchAgents/throughline.plist, then:\n     \
         launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/throughline.plist -->\n\
         <plist version=\"1.0\">\n<dict>\n  \
         <key>Label</key>\n  <string>throughline</string>\n  \
         <key>ProgramArguments</key>\n  <array>\n    <string>{}</string>\n    <string>serve</string>\n    <string>--no-link</string>\n  </array>\n\
         {home}  \
         <key>RunAtLoad</key>\n  <true/>\n  \
         <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
         <key>HardResourceLimits</key>\n  <dict>\n    <key>ResidentSetSize</key>\n    <integer>2147483648</integer>\n  </dict>\n  \
         <key>ExitTimeOut</key>\n  <integer>20</integer>\n  \
         <key>Umask</key>\n  <integer>63</integer>\n\
         </dict>\n</plist>\n",
        escaped(program)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_systemd_unit_names_the_program_and_the_home_whatever_is_in_them() {
        let unit = systemd(Path::new("/opt/my $apps/100%/throughline"), Some(Path::new("/home/ada/\"m\"")));
        insta::assert_snapshot!("service_systemd", unit);
        assert!(!systemd(Path::new("/usr/bin/throughline"), None).contains("Environment"));
    }

    #[test]
    fn a_launch_agent_names_the_program_and_the_home_whatever_is_in_them() {
        let agent = launchd(Path::new("/Applications/A & B/throughline"), Some(Path::new("/Users/ada/<memory>")));
        insta::assert_snapshot!("service_launchd", agent);
        assert!(!launchd(Path::new("/usr/bin/throughline"), None).contains("Environment"));
    }

    #[test]
    fn a_path_that_would_begin_a_line_of_its_own_is_refused() {
        let (plain, broken) = (Path::new("/usr/bin/throughline"), Path::new("/home/ada\nExecStartPre=/bin/evil"));
        for service in [Service::Systemd, Service::Launchd] {
            assert!(service.text(plain, None).is_ok());
            assert!(service.text(plain, Some(broken)).is_err());
            assert!(service.text(broken, None).is_err());
        }
    }
}

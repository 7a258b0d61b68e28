//! Network namespaces: a server and two machines, each with a wire of its own to the server.
//!
//! A thread that [enters](Namespace::enter) one has its network, and so have the processes and threads that it starts. A
//! namespace is gone with the process that holds it, however this one ends.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Failure;
use crate::daemon::succeeded;

/// The addresses of all machines.
pub(super) const EVERY_MACHINE: &str = "10.77.0.0/16";

/// What is never the address of a network card here: what is sent to it is dropped.
const NOBODY: &str = "02:00:00:00:00:01";

/// What of a machine's traffic is dropped, without anybody being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// Everything.
    Everything,
    /// What the server answers: requests arrive and are done.
    Answers,
}

/// A network namespace.
pub(super) struct Namespace {
    /// Its input ends with this process.
    holder: Child,
}

impl Namespace {
    /// Makes one; gives why not, where this process may not.
    fn make() -> Result<Result<Self, String>, Failure> {
        let script = "ip link set lo up && echo ready && exec cat";
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut holder = match command.spawn() {
            Ok(holder) => holder,
            Err(error) => return Ok(Err(format!("unshare: {error}"))),
        };
        let mut said = String::new();
        BufReader::new(holder.stdout.take().ok_or("a process has no output")?).read_line(&mut said)?;
        if said.trim() == "ready" {
            return Ok(Ok(Self { holder }));
        }
        let output = holder.wait_with_output()?;
        Ok(Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }

    /// Takes this thread there, for as long as it lives.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        let namespace = File::open(format!("/proc/{}/ns/net", self.holder.id()))?;
        Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
    }

    /// Runs `ip` there.
    fn ip(&self, args: &str) -> Result<(), Failure> {
        let (namespace, words) = (format!("--net=/proc/{}/ns/net", self.holder.id()), args.split(' '));
        let output = Command::new("nsenter").arg(namespace).arg("ip").args(words).output()?;
        succeeded(&format!("ip {args}"), &output)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A server and two machines.
pub(super) struct Network {
    pub(super) server: Namespace,
    pub(super) machines: [Namespace; 2],
}

impl Network {
    /// Makes it; gives why not, where this process may not.
    pub(super) fn make() -> Result<Result<Self, String>, Failure> {
        let (server, first, second) = match (Namespace::make()?, Namespace::make()?, Namespace::make()?) {
            (Ok(server), Ok(first), Ok(second)) => (server, first, second),
            (Err(why), ..) | (_, Err(why), _) | (.., Err(why)) => return Ok(Err(why)),
        };
        let network = Self { server, machines: [first, second] };
        for (nth, machine) in network.machines.iter().enumerate() {
            let process = machine.holder.id();
            network.server.ip(&format!("link add wire{nth} type veth peer name wire netns {process}"))?;
            for (host, wire, address) in
                [(&network.server, format!("wire{nth}"), server_at(nth)), (machine, "wire".to_owned(), machine_at(nth))]
            {
                host.ip(&format!("address add {address}/24 dev {wire}"))?;
                host.ip(&format!("link set {wire} up"))?;
            }
        }
        Ok(Ok(network))
    }

    /// Drops what goes over a machine's wire.
    pub(super) fn cut(&self, nth: usize, loss: Loss) -> Result<(), Failure> {
        let forever = "nud permanent";
        self.server.ip(&format!("neighbour replace {} lladdr {NOBODY} dev wire{nth} {forever}", machine_at(nth)))?;
        if loss == Loss::Everything {
            let of_server = format!("neighbour replace {} lladdr {NOBODY} dev wire {forever}", server_at(nth));
            self.machines[nth].ip(&of_server)?;
        }
        Ok(())
    }

    /// The wire of a machine works again.
    pub(super) fn mend(&self, nth: usize, loss: Loss) -> Result<(), Failure> {
        self.server.ip(&format!("neighbour del {} dev wire{nth}", machine_at(nth)))?;
        if loss == Loss::Everything {
            self.machines[nth].ip(&format!("neighbour del {} dev wire", server_at(nth)))?;
        }
        Ok(())
    }
}

/// Where a machine reaches the server.
pub(super) fn server_at(nth: usize) -> String {
    format!("10.77.{nth}.1")
}

fn machine_at(nth: usize) -> String {
    format!("10.77.{nth}.2")
}

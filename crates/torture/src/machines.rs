//! Two machines of one person, with the memory on a PostgreSQL server: each a network namespace, with a wire to the server's.
//!
//! Goes in: the real program, how often and how long things go wrong, a seed. Comes out: for each fault, what was confirmed, and
//! what the memory then fails to keep. What waits on a machine for the server counts as confirmed, and has to arrive, once and in
//! order. Never happens: a check that asks the writers; all of them look at what is stored.

mod load;
mod network;

use std::fmt::{Display, Formatter};
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use throughline::synthetic::Dice;
use throughline_testkit::postgres::Server;

use crate::Failure;
use crate::crashes::promises::{Promise, broken};
use crate::crashes::writers::{CONFIG, Surface};
use crate::daemon::{Program, succeeded, until};

use load::{Load, Told, Worker};
use network::{EVERY_MACHINE, Loss, Network, server_at};

/// At most so many confirmed writes come before the server is stopped again.
const PACE: u64 = 20;

/// The server is away for so many milliseconds at most.
const AWAY: u64 = 1500;

/// How it is done.
#[derive(Debug, Clone)]
pub struct Machines {
    /// The program that runs on both machines.
    pub program: Program,
    /// Clients that are killed, at least.
    pub kills: usize,
    /// How often the server is stopped under load.
    pub restarts: usize,
    /// How long nothing gets through.
    pub cut: Duration,
    /// Where chance begins.
    pub seed: u64,
}

/// What came of one fault.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// What went wrong.
    pub fault: &'static str,
    /// How often; for a network that is cut, the writes that were tried meanwhile.
    pub cycles: usize,
    /// Writes that were confirmed.
    pub confirmed: usize,
    /// Writes that were refused.
    pub refused: usize,
    /// Observations that waited on the machines when the fault was over.
    pub waited: usize,
    /// The longest time that each kind of writer took.
    pub longest: String,
    /// Everything that is wrong.
    pub problems: Vec<String>,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { fault, cycles, confirmed, refused, waited, longest, problems } = self;
        write!(
            f,
            "{fault} · cycles {cycles} · confirmed {confirmed} · refused {refused} · waited for the server {waited} "
        )?;
        write!(f, "· problems {} · the longest: {longest}", problems.len())
    }
}

/// One machine: its network, its home, and the transcripts of its assistants.
struct Machine {
    network: Arc<Network>,
    nth: usize,
    home: PathBuf,
    transcripts: PathBuf,
    _place: TempDir,
}

impl Machine {
    fn new(network: &Arc<Network>, nth: usize) -> Result<Self, Failure> {
        let place = tempfile::Builder::new().prefix("throughline-").tempdir()?;
        let home = place.path().join("home");
        std::fs::create_dir(&home)?;
        let url = format!("postgres://throughline@{}/throughline?sslmode=disable", server_at(nth));
        std::fs::write(home.join("config.toml"), format!("{CONFIG}\n[store]\nurl = \"{url}\"\n"))?;
        let transcripts = place.path().to_owned();
        Ok(Self { network: Arc::clone(network), nth, home, transcripts, _place: place })
    }

    /// Takes this thread there.
    fn enter(&self) -> Result<(), Failure> {
        self.network.machines[self.nth].enter()
    }

    /// Does something there.
    fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
        within(|| self.enter(), work)
    }

    /// What a command prints there, which must succeed.
    fn run(&self, program: &Program, args: &[&str]) -> Result<String, Failure> {
        let output: Output = self.within(|| Ok(program.command(&self.home, args).output()?))?;
        succeeded(&format!("{args:?}"), &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Names of files in the spool.
    fn spool(&self) -> Vec<String> {
        let found = std::fs::read_dir(self.home.join("spool")).into_iter().flatten().flatten();
        let names = found.map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".json") || name.ends_with(".refused")).collect()
    }
}

/// Does something on a thread that first enters a namespace: the network of other threads stays what it is.
fn within<T: Send>(
    enter: impl FnOnce() -> Result<(), Failure> + Send,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            enter()?;
            work()
        });
        thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))
    })
}

impl Machines {
    /// Runs it, with a server of its own; gives why not, where this process may not make network namespaces.
    pub fn run(&self) -> Result<Result<Vec<Report>, String>, Failure> {
        let network = match Network::make()? {
            Ok(network) => Arc::new(network),
            Err(why) => return Ok(Err(why)),
        };
        let server = within(|| network.server.enter(), || Ok(Server::on_network(EVERY_MACHINE)))?;
        let machines = [Machine::new(&network, 0)?, Machine::new(&network, 1)?];
        let mut dice = Dice::new(self.seed);
        let both = machines.iter().enumerate();
        let kinds = both.flat_map(|(nth, machine)| Surface::ON_A_SERVER.map(|surface| (surface, nth, machine)));
        let workers = kinds.map(|(surface, nth, machine)| Worker::new(surface, nth, machine, dice.roll())).collect();
        let mut run = Run { plan: self, network, server, machines: &machines, workers, dice, confirmed: Vec::new() };
        let reports = [
            run.goes_on_elsewhere()?,
            run.clients_are_killed()?,
            run.server_is_restarted()?,
            run.network_is_cut("network cut", Loss::Everything)?,
            run.network_is_cut("answers lost", Loss::Answers)?,
        ];
        Ok(Ok(reports.to_vec()))
    }
}

/// What lives on from one fault to the next.
struct Run<'a> {
    plan: &'a Machines,
    network: Arc<Network>,
    server: Server,
    machines: &'a [Machine; 2],
    workers: Vec<Worker>,
    dice: Dice,
    /// Everything that was ever confirmed.
    confirmed: Vec<Promise>,
}

impl<'a> Run<'a> {
    /// What was said on one machine is known on the other, once; the conversation goes on there.
    fn goes_on_elsewhere(&mut self) -> Result<Report, Failure> {
        let ([here, there], program) = (self.machines, &self.plan.program);
        let turn = |text: &str| Promise::Turn { session: "cli:trip".to_owned(), text: text.to_owned() };
        let (said, more) = ("The ferry to Porto leaves at 7:40 from pier nine", "Then I take the bus at seven");
        let observe = |text| ["session", "observe", "--session", "cli:trip", "--role", "user", text];
        here.run(program, &observe(said))?;
        let given =
            there.run(program, &["context", "--session", "cli:other", "--message", "When does the ferry leave?"])?;
        there.run(program, &observe(more))?;
        let mut report = Report { fault: "goes on elsewhere", cycles: 1, confirmed: 2, ..Report::default() };
        if given.matches("7:40").count() != 1 {
            report.problems.push(format!("what was said elsewhere is not given once: {given}"));
        }
        self.confirmed.extend([turn(said), turn(more)]);
        self.settle(&mut report)?;
        Ok(report)
    }

    fn clients_are_killed(&mut self) -> Result<Report, Failure> {
        let load = self.load(self.plan.kills.div_ceil(self.workers.len()));
        load.under(&mut self.workers, || Ok(()))?;
        let told = load.into_told();
        let report = Report { fault: "clients killed", cycles: told.kills, ..Report::default() };
        self.judged(told, report)
    }

    fn server_is_restarted(&mut self) -> Result<Report, Failure> {
        let load = self.load(0);
        let Self { plan, network, server, workers, dice, .. } = self;
        load.under(workers, || {
            for _ in 0..plan.restarts {
                let wanted = load.confirmed() + 1 + dice.below(PACE) as usize;
                until("writes are confirmed", || load.confirmed() >= wanted)?;
                server.stop();
                std::thread::sleep(Duration::from_millis(dice.below(AWAY)));
                within(
                    || network.server.enter(),
                    || {
                        server.start_again();
                        Ok(())
                    },
                )?;
            }
            Ok(())
        })?;
        let report = Report { fault: "server restarted", cycles: self.plan.restarts, ..Report::default() };
        self.judged(load.into_told(), report)
    }

    /// Nothing is refused: packets are dropped, and nobody is told.
    fn network_is_cut(&mut self, fault: &'static str, loss: Loss) -> Result<Report, Failure> {
        let load = self.load(0);
        let Self { plan, network, machines, workers, .. } = self;
        let (mut cycles, mut waited) = (0, 0);
        load.under(workers, || {
            until("writes are confirmed", || load.confirmed() > 0)?;
            (0..machines.len()).try_for_each(|nth| network.cut(nth, loss))?;
            let before = load.attempts();
            std::thread::sleep(plan.cut);
            cycles = load.attempts() - before;
            waited = machines.iter().map(|machine| machine.spool().len()).sum();
            (0..machines.len()).try_for_each(|nth| network.mend(nth, loss))
        })?;
        self.judged(load.into_told(), Report { fault, cycles, waited, ..Report::default() })
    }

    fn load(&self, kills: usize) -> Load<'a> {
        Load::new(&self.plan.program, self.machines, kills)
    }

    /// Holds what the writers were told against what is stored.
    fn judged(&mut self, told: Told, mut report: Report) -> Result<Report, Failure> {
        let Told { refused, confirmed, problems, longest, .. } = told;
        (report.confirmed, report.refused, report.problems) = (confirmed.len(), refused, problems);
        let longest = longest.into_iter().map(|(name, took)| format!("{name} {:.1} s", took as f64 / 1000.0));
        report.longest = longest.collect::<Vec<_>>().join(", ");
        self.confirmed.extend(confirmed);
        self.settle(&mut report)?;
        Ok(report)
    }

    /// The next command delivers what waits; then everything is there, once.
    fn settle(&self, report: &mut Report) -> Result<(), Failure> {
        for machine in self.machines {
            machine.run(&self.plan.program, &["stats"])?;
            report.problems.extend(machine.spool().into_iter().map(|name| format!("it waits for ever: {name}")));
        }
        let ([here, _], confirmed) = (self.machines, &self.confirmed);
        report.problems.extend(here.within(|| broken(&here.home, confirmed, true))?);
        Ok(())
    }
}

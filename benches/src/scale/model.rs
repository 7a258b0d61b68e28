//! A closed system: some clients, each with one call at a time, share the processors of one machine with other processes; a call takes
//! processor time, and then waits for the disk, which keeps nobody else waiting.

use throughline::synthetic::Dice;

use crate::shared::Crowd;

/// Calls that are simulated for a rate.
const CALLS: usize = 20_000;

/// Shares of the measured times that stand for all of them.
const QUANTILES: usize = 50;

/// What is known of a machine and a verb, from one client alone.
pub(super) struct Machine {
    pub(super) processors: usize,
    /// Processor time of one call on both sides, in milliseconds.
    pub(super) cpu: f64,
    /// How long one call waits for the disk.
    pub(super) wait: f64,
    /// How calls differ: shares of the mean.
    spread: Vec<f64>,
}

impl Machine {
    /// From the times of one client, the same without syncs, and the processor time of one call.
    pub(super) fn of(one: &Crowd, unsynced: &Crowd, cpu: f64) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let wait = (one.times.mean() - unsynced.times.mean()).max(0.0);
        let spread: Vec<f64> =
            (0..QUANTILES).map(|nth| one.times.at((nth as f64 + 0.5) / QUANTILES as f64) / one.times.mean()).collect();
        // The quantiles leave the longest times out: together they are the mean all the same.
        let mean = spread.iter().sum::<f64>() / spread.len() as f64;
        Self { processors, cpu, wait, spread: spread.iter().map(|part| part / mean).collect() }
    }
}

/// The part of a processor that each of so many processes gets.
fn share(processors: usize, processes: f64) -> f64 {
    (processors as f64 / processes.max(1.0)).min(1.0)
}

/// What is predicted.
pub(super) struct Plan {
    pub(super) clients: usize,
    /// Other processes that always want to run.
    pub(super) others: f64,
    pub(super) seed: u64,
}

/// Where a client is: milliseconds of processor time that it still needs, or until when it waits.
#[derive(Clone, Copy)]
enum Phase {
    Working(f64),
    Waiting(f64),
}

impl Plan {
    /// Calls a second.
    pub(super) fn rate(&self, machine: &Machine) -> f64 {
        let (mut dice, mut now, mut done) = (Dice::new(self.seed), 0.0, 0);
        let mut work = || machine.cpu * machine.spread[dice.below(QUANTILES as u64) as usize];
        let mut clients: Vec<Phase> = (0..self.clients).map(|_| Phase::Working(work())).collect();
        while done < CALLS {
            let working = clients.iter().filter(|phase| matches!(phase, Phase::Working(_))).count();
            let share = share(machine.processors, working as f64 + self.others);
            let left = clients.iter().map(|phase| match phase {
                Phase::Working(need) => need / share,
                Phase::Waiting(until) => until - now,
            });
            let step = left.fold(f64::INFINITY, f64::min).max(1e-6);
            now += step;
            for phase in &mut clients {
                *phase = match *phase {
                    Phase::Working(need) if need > step * share + 1e-9 => Phase::Working(need - step * share),
                    Phase::Working(_) => Phase::Waiting(now + machine.wait),
                    Phase::Waiting(until) if until > now + 1e-9 => Phase::Waiting(until),
                    Phase::Waiting(_) => {
                        done += 1;
                        Phase::Working(work())
                    }
                };
            }
        }
        done as f64 * 1000.0 / now
    }
}

/// The load of the busiest node over the mean, where people go by a hash to nodes: most are quiet, and one in a hundred does twenty
/// times as much.
pub(super) fn imbalance(people: usize, nodes: usize, seed: u64) -> f64 {
    let (mut dice, mut loads) = (Dice::new(seed), vec![0.0_f64; nodes]);
    for _ in 0..people {
        let weight = if dice.below(100) == 0 { 20.0 } else { 1.0 };
        loads[dice.below(nodes as u64) as usize] += weight;
    }
    let mean = loads.iter().sum::<f64>() / nodes as f64;
    loads.into_iter().fold(0.0, f64::max) / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(processors: usize, wait: f64) -> Machine {
        Machine { processors, cpu: 10.0, wait, spread: vec![1.0; QUANTILES] }
    }

    #[track_caller]
    fn check(machine: &Machine, clients: usize, others: f64, expected: f64) {
        let rate = Plan { clients, others, seed: 1 }.rate(machine);
        assert!((rate - expected).abs() < expected * 0.01, "{rate} instead of {expected}");
    }

    #[test]
    fn rates_follow_the_processors_and_the_disk() {
        check(&machine(2, 0.0), 1, 0.0, 100.0);
        check(&machine(2, 0.0), 8, 0.0, 200.0);
        check(&machine(2, 0.0), 1, 3.0, 50.0);
        check(&machine(4, 10.0), 2, 0.0, 100.0);
        check(&machine(1, 90.0), 1, 0.0, 10.0);
    }

    #[test]
    fn many_people_spread_evenly() {
        let (few, many) = (imbalance(100_000, 10, 1), imbalance(100_000, 1000, 1));
        assert!(few > 1.0 && few < 1.1 && many > few, "{few} {many}");
    }
}

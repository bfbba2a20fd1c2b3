//! Processes that share sessions under faults of all kinds, in any order.

use core::time::Duration;

use proptest::prelude::*;

use crate::http_server::far::{Fault, Mutant};
use crate::http_server::nodes::{Process, at, pass, ping, processes_with, set_level};
use crate::http_server::wire::Break;
use crate::scripted::{HttpClient, Waiting, call, delete};
use crate::sim::{self, Mode, advance};

const PROCESSES: usize = 3;
const LEVELS: [&str; 4] = ["debug", "notice", "warning", "error"];

/// What happens. Numbers choose processes and sessions.
#[derive(Clone, Debug)]
enum Step {
    Run {
        at: usize,
        session: usize,
    },
    /// Its answer comes later, as an event.
    Work {
        at: usize,
        session: usize,
    },
    Level {
        at: usize,
        session: usize,
        level: usize,
    },
    Delete {
        at: usize,
        session: usize,
    },
    Pause {
        process: usize,
    },
    Resume {
        process: usize,
    },
    Kill {
        process: usize,
    },
    /// The process is asked to end.
    Shutdown {
        process: usize,
    },
    /// The process does not reach the store.
    Cut {
        process: usize,
    },
    /// The store has no room for what the process writes.
    Fill {
        process: usize,
    },
    Heal {
        process: usize,
    },
    /// The next calls of the store.
    Faults {
        process: usize,
        faults: Vec<Fault>,
    },
    /// The next forwarded request.
    Break(Break),
    /// Writes of the process arrive when others have its sessions.
    Late {
        process: usize,
    },
    Flush,
    Wait {
        tenths: u32,
    },
}

/// A request and what became of it, with the numbers of the steps.
struct Sent {
    at: usize,
    session: usize,
    kind: Kind,
    begun: Option<Waiting>,
    since: usize,
    /// When it was answered, and how.
    answer: Option<(usize, u16)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Run,
    Work,
    Level(usize),
    Delete,
}

struct World {
    processes: [Process; PROCESSES],
    sessions: Vec<HttpClient>,
    sent: Vec<Sent>,
    step: usize,
    is_flushed: bool,
    /// The processes that were asked to end.
    has_ended: [bool; PROCESSES],
}

impl World {
    fn new() -> Self {
        let processes = processes_with(|http| http.lease(Duration::from_secs(3)));
        let sessions = vec![processes[0].open(), processes[1].open()];
        Self {
            processes,
            sessions,
            sent: Vec::new(),
            step: 0,
            is_flushed: false,
            has_ended: [false; PROCESSES],
        }
    }

    fn send(&mut self, at_process: usize, session: usize, kind: Kind) {
        let session = session % self.sessions.len();
        let here = at(&self.processes[at_process], &self.sessions[session]);
        let begun = match kind {
            Kind::Run => here.begin(&call(1, "run")),
            Kind::Work => here.begin(&call(1, "work")),
            Kind::Level(level) => here.begin(&set_level(LEVELS[level])),
            Kind::Delete => here.begin_sending(delete()),
        };
        self.sent.push(Sent {
            at: at_process,
            session,
            kind,
            begun: Some(begun),
            since: self.step,
            answer: None,
        });
    }

    fn step(&mut self, step: &Step) {
        self.step += 1;
        let process = |process: &usize| &self.processes[*process];
        match step {
            Step::Run { at, session } => self.send(*at, *session, Kind::Run),
            Step::Work { at, session } => self.send(*at, *session, Kind::Work),
            Step::Level { at, session, level } => self.send(*at, *session, Kind::Level(*level)),
            Step::Delete { at, session } => self.send(*at, *session, Kind::Delete),
            Step::Pause { process: paused } if process(paused).sim.runs() => {
                process(paused).sim.set(Mode::Paused);
            }
            Step::Resume { process: paused } if process(paused).sim.mode() == Mode::Paused => {
                process(paused).sim.set(Mode::Runs);
            }
            // One is left.
            Step::Kill { process: dead } if *dead != 2 => process(dead).kill(),
            Step::Shutdown { process: ending } if *ending != 2 => {
                self.has_ended[*ending] = true;
                process(ending).service.shutdown();
            }
            Step::Cut { process: cut } if process(cut).sim.mode() != Mode::Dead => {
                process(cut).node.set(Fault::Fails);
            }
            Step::Fill { process: full } if process(full).sim.mode() != Mode::Dead => {
                process(full).node.set(Fault::Full);
            }
            Step::Heal { process: cut } if process(cut).sim.mode() != Mode::Dead => {
                process(cut).node.set(Fault::None);
            }
            Step::Faults {
                process: far,
                faults,
            } => process(far).node.script.lock().unwrap().extend(faults),
            Step::Break(next) => self.processes[0].wire.push(*next),
            Step::Late { process: late } => process(late).node.write_late(),
            Step::Flush => {
                self.is_flushed = true;
                self.processes[0].node.common.flush();
            }
            Step::Wait { tenths } => {
                for _ in 0..*tenths {
                    advance(Duration::from_millis(100));
                    self.look();
                }
            }
            _ => {}
        }
        self.look();
    }

    /// Lets the requests continue whose processes run, and looks at what must always hold.
    fn look(&mut self) {
        for index in 0..self.sent.len() {
            let sent = &mut self.sent[index];
            let process = &self.processes[sent.at].sim;
            let Some(begun) = sent.begun.as_mut().filter(|_| process.runs()) else {
                continue;
            };
            if let Some(status) = process.run(|| begun.status()) {
                sent.begun = None;
                sent.answer = Some((self.step, status));
                self.judge(index, status);
            }
        }
        let wrong = self.processes.each_ref().map(|process| process.ran.wrong());
        assert_eq!(
            wrong, [0; PROCESSES],
            "a request ran where another process owned its session"
        );
    }

    /// Whether an answer may have this status.
    fn judge(&self, index: usize, status: u16) {
        let sent = &self.sent[index];
        let others = self
            .sent
            .iter()
            .filter(|other| other.session == sent.session);
        let mut deletes = others.filter(|other| other.kind == Kind::Delete);
        let kind = sent.kind;
        match status {
            503 => {}
            404 => assert!(
                self.is_flushed || deletes.any(|delete| delete.since <= self.step),
                "{kind:?}: the session lives"
            ),
            200 | 204 => assert!(
                !deletes.any(|delete| {
                    let ended = delete.answer.filter(|(_, status)| *status == 204);
                    ended.is_some_and(|(ended, _)| ended < sent.since)
                }),
                "{kind:?}: the session has ended"
            ),
            _ => panic!("{kind:?}: {status}"),
        }
    }

    /// All faults end. What was promised is there, and every request has its answer.
    fn end(mut self) {
        self.processes[0].wire.clear();
        for process in &self.processes {
            process.node.script.lock().unwrap().clear();
            if process.sim.mode() != Mode::Dead {
                process.node.set(Fault::None);
                process.sim.set(Mode::Runs);
            }
        }
        for _ in 0..20 {
            pass(1);
            self.look();
        }
        for sent in &self.sent {
            let is_dead = self.processes[sent.at].sim.mode() == Mode::Dead;
            assert!(
                is_dead || sent.answer.is_some(),
                "{:?} has no answer",
                sent.kind
            );
        }
        if !self.is_flushed {
            (0..self.sessions.len()).for_each(|session| self.look_at(session));
        }
        sim::end();
    }

    fn look_at(&self, session: usize) {
        let about = || self.sent.iter().filter(|sent| sent.session == session);
        let record = self.processes[2]
            .node
            .common
            .record(&self.sessions[session].id);
        let mut deletes = about().filter(|sent| sent.kind == Kind::Delete);
        let is_deleted = deletes
            .clone()
            .any(|sent| sent.answer.is_some_and(|(_, status)| status == 204));
        if is_deleted {
            assert_eq!(record, None);
        }
        for (process, has_ended) in self.processes.iter().zip(self.has_ended) {
            if has_ended || process.sim.mode() == Mode::Dead {
                continue;
            }
            let there = at(process, &self.sessions[session]);
            let status = process.sim.run(|| there.begin(ping()).status());
            let expected = if record.is_some() { 200 } else { 404 };
            assert_eq!(status, Some(expected), "{}", process.url);
        }
        let Some(record) = record else {
            assert!(deletes.next().is_some(), "the session is lost");
            return;
        };
        // Some level that no later one has replaced.
        let acknowledged = || {
            about().filter(|sent| {
                let is_level = matches!(sent.kind, Kind::Level(_));
                is_level && sent.answer.is_some_and(|(_, status)| status == 200)
            })
        };
        let is_replaced = |end: Option<usize>| {
            acknowledged().any(|later| end.is_some_and(|end| end < later.since))
        };
        let may_be = about().any(|sent| match sent.kind {
            Kind::Level(level) => {
                let is_there = record.contains(&format!(r#""log_level":"{}""#, LEVELS[level]));
                is_there && !is_replaced(sent.answer.map(|(end, _)| end))
            }
            _ => false,
        });
        let has_none = !LEVELS.iter().any(|level| record.contains(level));
        assert!(
            may_be || (has_none && acknowledged().next().is_none()),
            "an acknowledged level is lost: {record}"
        );
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        2 => Just(Fault::Fails),
        2 => Just(Fault::Unanswered),
        2 => Just(Fault::Twice),
        2 => (50..1500_u64).prop_map(Fault::Late),
        2 => (50..1500_u64).prop_map(Fault::LateAnswer),
        1 => (50..1500_u64).prop_map(Fault::FailsLate),
        3 => Just(Fault::None),
    ]
}

/// The process in which a session began is away until another one has taken that, and comes back.
fn takeover() -> impl Strategy<Value = Vec<Step>> {
    let choice = (0..2_usize, 0..PROCESSES, 0..LEVELS.len(), 33..60_u32);
    let ways = (any::<bool>(), any::<bool>());
    (choice, ways).prop_map(|((first, second, level, tenths), (is_paused, ends))| {
        let (process, session) = (first, first);
        let run = |at| Step::Run { at, session };
        let set = |at, level| Step::Level { at, session, level };
        let (away, back) = match is_paused {
            true => (Step::Pause { process }, Step::Resume { process }),
            false => (Step::Cut { process }, Step::Heal { process }),
        };
        let mut steps = vec![
            Step::Work { at: first, session },
            set(first, level),
            away,
            Step::Wait { tenths },
            run(second),
            set(second, (level + 1) % LEVELS.len()),
            run(first),
            Step::Late { process },
        ];
        if ends {
            steps.extend([Step::Shutdown { process: second }, Step::Wait { tenths: 5 }]);
        }
        steps.extend([back, run(first)]);
        steps
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let process = || 0..PROCESSES;
    let session = || 0..2_usize;
    let broken = prop_oneof![
        Just(Break::Unsent),
        Just(Break::Head),
        Just(Break::Body),
        Just(Break::Foreign),
        Just(Break::Stale),
        Just(Break::Short),
        Just(Break::Long),
    ];
    let level = (process(), session(), 0..LEVELS.len());
    let step = prop_oneof![
        8 => (process(), session()).prop_map(|(at, session)| Step::Run { at, session }),
        4 => level.prop_map(|(at, session, level)| Step::Level { at, session, level }),
        1 => (process(), session()).prop_map(|(at, session)| Step::Delete { at, session }),
        3 => process().prop_map(|process| Step::Pause { process }),
        4 => process().prop_map(|process| Step::Resume { process }),
        1 => process().prop_map(|process| Step::Kill { process }),
        1 => process().prop_map(|process| Step::Shutdown { process }),
        3 => process().prop_map(|process| Step::Cut { process }),
        2 => process().prop_map(|process| Step::Fill { process }),
        3 => process().prop_map(|process| Step::Heal { process }),
        2 => (process(), prop::collection::vec(fault(), 1..12))
            .prop_map(|(process, faults)| Step::Faults { process, faults }),
        2 => broken.prop_map(Step::Break),
        2 => process().prop_map(|process| Step::Late { process }),
        1 => Just(Step::Flush),
        8 => (1..30_u32).prop_map(|tenths| Step::Wait { tenths }),
    ];
    let steps = prop_oneof![15 => step.prop_map(|step| vec![step]), 1 => takeover()];
    prop::collection::vec(steps, 1..40).prop_map(|steps| steps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    /// SH-61: a request runs only in the process that has taken its session last, what was acknowledged is
    /// kept, a session that lives is not denied and one that was ended does not come back, and every request
    /// has an answer.
    #[test]
    fn a_session_has_one_owner_whatever_fails(steps in steps()) {
        sim::end();
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        world.end();
    }
}

/// Takes these steps, in which nothing may fail unless processes do not keep a rule.
fn take(steps: &[Step], mutant: Option<Mutant>) {
    sim::end();
    let mut world = World::new();
    world.processes[0].node.common.set_mutant(mutant);
    steps.iter().for_each(|step| world.step(step));
    world.end();
}

/// The owner of session 0 is away until another process has that session.
fn away(away: Step) -> Vec<Step> {
    let (session, level) = (0, |at, level| Step::Level {
        at,
        session: 0,
        level,
    });
    vec![
        Step::Wait { tenths: 40 },
        level(0, 0),
        Step::Wait { tenths: 10 },
        away,
        Step::Wait { tenths: 40 },
        Step::Run { at: 1, session },
        level(1, 1),
        Step::Wait { tenths: 10 },
    ]
}

fn cut_off() -> Vec<Step> {
    let mut steps = away(Step::Cut { process: 0 });
    steps.push(Step::Run { at: 0, session: 0 });
    steps
}

fn paused() -> Vec<Step> {
    let mut steps = away(Step::Pause { process: 0 });
    steps.extend([
        Step::Resume { process: 0 },
        Step::Wait { tenths: 20 },
        Step::Run { at: 0, session: 0 },
    ]);
    steps
}

fn late() -> Vec<Step> {
    let mut steps = away(Step::Pause { process: 0 });
    steps.push(Step::Late { process: 0 });
    steps
}

#[test]
fn processes_that_keep_the_rules_take_these_steps() {
    [cut_off(), paused(), late()]
        .iter()
        .for_each(|steps| take(steps, None));
}

#[test]
#[should_panic(expected = "a request ran where another process owned its session")]
fn a_process_that_ignores_the_end_of_its_lease_fails() {
    take(&cut_off(), Some(Mutant::Lease));
}

#[test]
#[should_panic(expected = "a request ran where another process owned its session")]
fn a_process_that_ignores_the_number_of_its_lease_fails() {
    take(&paused(), Some(Mutant::Number));
}

#[test]
#[should_panic(expected = "a displaced process has saved")]
fn a_store_that_ignores_the_epoch_fails() {
    take(&late(), Some(Mutant::Epoch));
}

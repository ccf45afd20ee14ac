//! Exhaustive search of what workers on one piece of work can do: claim, publish, mark, take over; with clocks that differ, workers that
//! fall silent and wake up late, and workers that die.
//!
//! A tick is a quarter of a lease, the time between two renewals. The rules by which a claim may be taken are the code's own, [`silence`] and [`next_generation`], and the
//! order of steps is that of [`take`](crate::TileStore::take), of the work, of [`mark_done`](crate::TileStore::mark_done) and of letting go. Between any
//! two steps of one worker the others, and time, may do any number of theirs.

use std::collections::HashMap;

use super::{next_generation, silence};

/// Ticks of a lease.
const LEASE: i64 = 4;
/// The most ticks by which clocks differ here.
const LARGEST_SKEW: i64 = LEASE + 2;
/// Ages beyond this are alike: more than a lease on any clock.
const OLDEST: i64 = LARGEST_SKEW + LEASE + 1;

/// State of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// Before a look at the claims.
    Idle,
    /// It has seen that it may create this generation.
    Decided(u64),
    /// It has the claim, and has not looked at the mark yet.
    Claimed(u64),
    /// It evaluates, and has read before what was published.
    Working(u64),
    /// What it evaluated is published.
    Published(u64),
    /// The mark is there.
    Marked(u64),
    /// It has seen the mark.
    Finished,
    Dead,
}

impl Step {
    /// The generation of its claim.
    fn claim(self) -> Option<u64> {
        match self {
            Self::Claimed(generation)
            | Self::Working(generation)
            | Self::Published(generation)
            | Self::Marked(generation) => Some(generation),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Worker {
    step: Step,
    is_asleep: bool,
    /// Times that it may still fall asleep.
    naps: u8,
}

/// All that is in the store, and all that the workers know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    workers: Vec<Worker>,
    /// Generation, owner and true ticks since its renewal.
    claims: Vec<(u64, usize, i64)>,
    is_published: bool,
    is_done: bool,
    /// Times that the entries were asked for.
    asked: u8,
    /// Times that a worker with a claim died, or was silent for a lease less what the clocks differ by.
    lapses: u8,
    /// Workers that may still die: fewer than there are.
    deaths: u8,
}

struct Model {
    /// Ticks that each worker's clock is ahead of true time.
    clocks: Vec<i64>,
    naps: u8,
    deaths: u8,
}

impl Model {
    fn start(&self) -> State {
        let worker = Worker { step: Step::Idle, is_asleep: false, naps: self.naps };
        State {
            workers: vec![worker; self.clocks.len()],
            claims: Vec::new(),
            is_published: false,
            is_done: false,
            asked: 0,
            lapses: 0,
            deaths: self.deaths,
        }
    }

    /// Ticks of silence after which a claim may look dead to somebody: a lease less the difference of the furthest clocks.
    fn patience(&self) -> i64 {
        LEASE - (self.clocks.iter().max().unwrap() - self.clocks.iter().min().unwrap())
    }

    /// All that can happen next.
    fn next(&self, state: &State) -> Vec<State> {
        let mut all = vec![self.tick(state)];
        for (k, worker) in state.workers.iter().enumerate() {
            if matches!(worker.step, Step::Finished | Step::Dead) {
                continue;
            }
            let with = |change: &dyn Fn(&mut State)| {
                let mut next = state.clone();
                change(&mut next);
                next
            };
            if worker.is_asleep {
                all.push(with(&|next| next.workers[k] = Worker { is_asleep: false, ..*worker }));
                continue;
            }
            all.push(self.step(state, k));
            if worker.naps > 0 {
                all.push(with(&|next| {
                    next.workers[k] = Worker { is_asleep: true, naps: worker.naps - 1, ..*worker };
                }));
            }
            if state.deaths > 0 {
                all.push(with(&|next| {
                    next.workers[k].step = Step::Dead;
                    next.deaths -= 1;
                    next.lapses += u8::from(worker.step.claim().is_some());
                }));
            }
        }
        all
    }

    /// Time passes: claims age, and those who are awake renew theirs.
    fn tick(&self, state: &State) -> State {
        let mut next = state.clone();
        for (generation, owner, age) in &mut next.claims {
            let owner = &state.workers[*owner];
            let is_renewed = !owner.is_asleep && owner.step.claim() == Some(*generation);
            *age = if is_renewed { 0 } else { (*age + 1).min(OLDEST) };
            next.lapses += u8::from(!is_renewed && owner.step != Step::Dead && *age == self.patience());
        }
        next
    }

    /// The next step of a worker that is awake.
    fn step(&self, state: &State, k: usize) -> State {
        let mut next = state.clone();
        let step = &mut next.workers[k].step;
        match *step {
            Step::Idle if state.is_done => *step = Step::Finished,
            Step::Idle => {
                // a claim bears the time of its owner's clock
                let seen = |&(generation, owner, age): &(u64, usize, i64)| {
                    let on_the_clock_of = |owner: usize| (OLDEST + LARGEST_SKEW + self.clocks[owner]) as u64;
                    (generation, silence(on_the_clock_of(k), on_the_clock_of(owner) - age as u64))
                };
                if let Some(generation) = next_generation(state.claims.iter().map(seen), LEASE as u64) {
                    *step = Step::Decided(generation);
                }
            }
            Step::Decided(generation) => {
                let is_there = state.claims.iter().any(|claim| claim.0 == generation);
                *step = if is_there { Step::Idle } else { Step::Claimed(generation) };
                if !is_there {
                    next.claims.push((generation, k, 0));
                    next.claims.sort_unstable();
                }
            }
            Step::Claimed(generation) if state.is_done => *step = Step::Marked(generation),
            Step::Claimed(generation) => {
                *step = Step::Working(generation);
                next.asked += u8::from(!state.is_published);
            }
            Step::Working(generation) => {
                *step = Step::Published(generation);
                next.is_published = true;
            }
            Step::Published(generation) => {
                *step = Step::Marked(generation);
                next.is_done = true;
            }
            Step::Marked(generation) => {
                *step = Step::Idle;
                next.claims.retain(|claim| claim.0 != generation);
            }
            Step::Finished | Step::Dead => {}
        }
        next
    }

    /// What holds in every state.
    fn check(&self, state: &State) {
        assert!(!state.is_done || state.is_published, "marked before it was published: {state:#?}");
        let mut owners: Vec<(u64, usize)> = Vec::new();
        for (k, worker) in state.workers.iter().enumerate() {
            if let Some(generation) = worker.step.claim() {
                assert!(
                    state.claims.iter().any(|claim| (claim.0, claim.1) == (generation, k)),
                    "a claim is gone: {state:#?}"
                );
                assert!(owners.iter().all(|owner| owner.0 != generation), "one claim of two: {state:#?}");
                owners.push((generation, k));
            }
        }
        if self.patience() > 0 {
            assert!(state.asked <= 1 + state.lapses, "asked again although nobody was silent for a lease: {state:#?}");
        }
        // and whatever the clocks say, once a worker and once for each that may come after it
        assert!(usize::from(state.asked) <= state.workers.len(), "{state:#?}");
    }

    /// Goes through all states; answers how many there are.
    fn explore(&self) -> usize {
        let mut states = vec![self.start()];
        let mut known = HashMap::from([(self.start(), 0)]);
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let (mut ends, mut at) = (Vec::new(), 0);
        while at < states.len() {
            let state = states[at].clone();
            self.check(&state);
            if state.workers.iter().all(|worker| matches!(worker.step, Step::Finished | Step::Dead)) {
                ends.push(at);
            }
            for next in self.next(&state) {
                let index = *known.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    before.push(Vec::new());
                    states.len() - 1
                });
                before[index].push(at);
            }
            at += 1;
        }
        // from everywhere there is a way to an end, and at an end where somebody lives it is done
        let lives = |state: &State| state.workers.iter().any(|worker| worker.step != Step::Dead);
        assert!(ends.iter().all(|&end| states[end].is_done || !lives(&states[end])));
        let mut is_ending = vec![false; states.len()];
        let mut queue = ends;
        while let Some(state) = queue.pop() {
            if !std::mem::replace(&mut is_ending[state], true) {
                queue.extend(&before[state]);
            }
        }
        assert!(is_ending.iter().all(|&is_ending| is_ending), "from some states the work is never done");
        states.len()
    }
}

#[test]
fn two_workers_with_any_clocks_that_fall_silent_or_die_do_the_work_and_repeat_only_what_was_silent() {
    let mut states = 0;
    for skew in -LARGEST_SKEW..=LARGEST_SKEW {
        for (naps, deaths) in [(0, 1), (1, 1)] {
            states += Model { clocks: vec![0, skew], naps, deaths }.explore();
        }
    }
    states += Model { clocks: vec![0, LEASE - 1], naps: 2, deaths: 1 }.explore();
    println!("{states} states of two workers");
}

#[test]
fn one_of_three_workers_may_die() {
    let states = Model { clocks: vec![0, 1, 0], naps: 0, deaths: 1 }.explore();
    println!("{states} states of three workers");
}

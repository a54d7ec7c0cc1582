//! The four conditions.

use serde::{Deserialize, Serialize};
use tenpass_stats::{mcnemar_exact, poisson_at_most, tango_lower};

use super::evidence::Evidence;
use crate::shadow::Rule;

/// λ of the e-value.
const LAMBDA: f64 = 0.5;
const CONFIDENCE: f64 = 0.95;

/// The numbers of the conditions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Days with the microphone on.
    pub days: u32,
    /// Hours on the clock.
    pub clock_h: f64,
    /// Hours with speech.
    pub speech_h: f64,
    /// True wakes.
    pub wakes: u32,
    /// Days with a true wake.
    pub wake_days: u32,
    /// Upper bound of the share of new misses.
    pub new_misses: f64,
    /// Level of the sign test.
    pub level: f64,
    /// Upper bound of false wakes an hour that is good in itself.
    pub falses_per_h: f64,
    /// The e-value that promotes.
    pub e_value: f64,
    /// Median delay in milliseconds.
    pub delay_ms: f64,
    /// Time of the head for a frame of 80 ms, in microseconds.
    pub frame_us: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            days: 7,
            clock_h: 72.0,
            speech_h: 20.0,
            wakes: 60,
            wake_days: 5,
            new_misses: 0.05,
            level: 0.05,
            falses_per_h: 0.1,
            e_value: 20.0,
            delay_ms: 80.0,
            frame_us: 1000.0,
        }
    }
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It holds.
    Held,
    /// Too little was seen.
    NotYet,
    /// It does not hold.
    NotHeld,
}

impl State {
    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::NotYet => "not yet",
            Self::NotHeld => "not held",
        }
    }
}

/// A part of a condition, with its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clause {
    /// Whether it holds.
    pub state: State,
    /// With its numbers.
    pub text: String,
}

/// One of the four.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// From 1 to 4.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Whether it holds.
    pub state: State,
    /// Its parts.
    pub clauses: Vec<Clause>,
}

/// What the tool proposes. A person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// The worst state of the four.
    pub state: State,
}

fn clause(state: State, text: String) -> Clause {
    Clause { state, text }
}

fn reached(enough: bool) -> State {
    if enough { State::Held } else { State::NotYet }
}

fn holds(good: bool) -> State {
    if good { State::Held } else { State::NotHeld }
}

/// All clauses must hold.
fn all(number: u32, name: &str, clauses: Vec<Clause>) -> Condition {
    let state = clauses.iter().map(|clause| clause.state).max().unwrap_or(State::NotYet);
    Condition { number, name: name.to_owned(), state, clauses }
}

/// P(at most `worse` of all discordant events are the candidate's), if each head made them equally often.
pub fn one_sided_sign(worse: u32, better: u32) -> f64 {
    if worse < better {
        mcnemar_exact(worse, better) / 2.0
    } else {
        // 1 − P(at most `better` − 1) on the other side.
        better.checked_sub(1).map_or(1.0, |below| 1.0 - mcnemar_exact(below, worse + 1) / 2.0)
    }
}

/// ∏(1 + λ·s) over false wakes in the order of time.
pub fn e_value(signs: &[i8]) -> f64 {
    signs.iter().map(|sign| 1.0 + LAMBDA * f64::from(*sign)).product()
}

impl Proposal {
    /// Holds the evidence against the conditions.
    pub fn of(evidence: &Evidence, limits: &Limits) -> Self {
        let first = exposure(evidence, limits);
        let exposed = first.state == State::Held;
        let conditions =
            vec![first, misses(evidence, limits), falses(evidence, limits, exposed), slices(evidence, limits)];
        let state = conditions.iter().map(|condition| condition.state).max().unwrap_or(State::NotYet);
        Self { conditions, state }
    }
}

/// Whether enough was heard.
pub(super) fn exposed(evidence: &Evidence, limits: &Limits) -> bool {
    exposure(evidence, limits).state == State::Held
}

fn exposure(evidence: &Evidence, limits: &Limits) -> Condition {
    let days = match evidence.rule {
        Rule::FixedHorizon { days } => days.max(limits.days),
        Rule::EValue => limits.days,
    };
    let configurations = match evidence.configurations {
        0 | 1 => clause(State::Held, "one set-up from begin to end".to_owned()),
        many => clause(
            State::NotHeld,
            format!(
                "{many} set-ups: thresholds, rule or the head in service changed on the way; a new log begins when this \
                 one is moved away"
            ),
        ),
    };
    let wakes = evidence.wakes;
    let mut clauses = vec![
        clause(reached(evidence.days >= days), format!("{} of {days} days", evidence.days)),
        clause(
            reached(evidence.clock_h >= limits.clock_h),
            format!("{:.1} of {:.0} clock hours", evidence.clock_h, limits.clock_h),
        ),
        clause(
            reached(evidence.speech_h >= limits.speech_h),
            format!("{:.1} of {:.0} speech hours", evidence.speech_h, limits.speech_h),
        ),
        clause(
            reached(wakes.all() >= limits.wakes),
            format!(
                "{} of {} true wakes ({} by a person, {} by what followed)",
                wakes.all(),
                limits.wakes,
                wakes.human,
                wakes.weak
            ),
        ),
        clause(
            reached(evidence.wake_days >= limits.wake_days),
            format!("wakes on {} of {} days", evidence.wake_days, limits.wake_days),
        ),
        configurations,
    ];
    if let Some(day) = &evidence.judged_until {
        clauses.push(clause(State::Held, format!("complete on {day}: judged once, by what was heard until then")));
    }
    all(1, "exposure", clauses)
}

fn misses(evidence: &Evidence, limits: &Limits) -> Condition {
    let golden = match &evidence.golden {
        None => clause(State::NotYet, "the golden set was not heard: --golden DIR".to_owned()),
        Some(golden) => {
            let own = || golden.clips.iter().filter(|clip| clip.own_voice);
            let new: Vec<&str> =
                own().filter(|clip| clip.champion && !clip.candidate).map(|clip| clip.file.as_str()).collect();
            let text = match new.first() {
                None => format!("no new miss on {} golden clips", own().count()),
                Some(first) => {
                    format!("{} new misses on {} golden clips, such as {first}", new.len(), own().count())
                }
            };
            if own().count() == 0 { clause(State::NotYet, text) } else { clause(holds(new.is_empty()), text) }
        }
    };
    let (new, won) = (evidence.wakes_champion_only, evidence.wakes_candidate_only);
    let pairs = evidence.wakes_both + new + won;
    let upper = -tango_lower(new, won, pairs, CONFIDENCE);
    let text = format!(
        "live: {new} only the head in service, {won} only the candidate, of {pairs}; misses at most {:+.1} points",
        100.0 * upper
    );
    let state = match (upper <= limits.new_misses, pairs < limits.wakes) {
        (true, _) => State::Held,
        (false, true) => State::NotYet,
        (false, false) => State::NotHeld,
    };
    let mut clauses = vec![golden, clause(state, text)];
    if evidence.probes > 0 {
        clauses.push(clause(
            State::Held,
            format!(
                "prompted: the head in service heard {} of {}, the candidate {}, neither {}",
                evidence.probes_champion, evidence.probes, evidence.probes_candidate, evidence.probes_neither
            ),
        ));
    }
    all(2, "misses not worse", clauses)
}

fn falses(evidence: &Evidence, limits: &Limits, exposed: bool) -> Condition {
    let (worse, better) = evidence.discordant();
    let fewer = match evidence.rule {
        Rule::FixedHorizon { .. } => {
            let p = one_sided_sign(worse, better);
            clause(
                holds(p <= limits.level),
                format!("either fewer: candidate only : service only {worse}:{better}, sign test p = {p:.3}"),
            )
        }
        Rule::EValue => {
            let tried = evidence.candidates_this_month.max(1);
            let value = e_value(&evidence.false_signs);
            let divided = value / f64::from(tried);
            clause(
                if divided >= limits.e_value { State::Held } else { State::NotYet },
                format!(
                    "either fewer: candidate only : service only {worse}:{better}, e-value {value:.1} / {tried} candidates \
                     this month = {divided:.1} of {:.0}",
                    limits.e_value
                ),
            )
        }
    };
    let count = evidence.candidate_falses();
    let upper = poisson_at_most(count, evidence.clock_h, CONFIDENCE);
    let rare = clause(
        holds(upper <= limits.falses_per_h),
        format!(
            "or few: {count} of the candidate in {:.1} h, at most {upper:.2} an hour ({:.1} would do)",
            evidence.clock_h, limits.falses_per_h
        ),
    );
    let labels = clause(
        reached(evidence.unlabelled_discordant == 0),
        format!(
            "{} events on which they disagree have no label ({} agreed ones); false wakes by a person {}, by what \
             followed {}",
            evidence.unlabelled_discordant, evidence.unlabelled_concordant, evidence.falses.human, evidence.falses.weak
        ),
    );
    let either = fewer.state.min(rare.state);
    let state = match (either, labels.state, exposed) {
        (_, _, false) | (State::Held, State::NotYet, true) => State::NotYet,
        (State::Held, ..) => State::Held,
        (_, State::NotYet, _) => State::NotYet,
        (worst, ..) => worst,
    };
    Condition { number: 3, name: "false wakes fewer".to_owned(), state, clauses: vec![fewer, rare, labels] }
}

fn slices(evidence: &Evidence, limits: &Limits) -> Condition {
    let own = clause(
        holds(evidence.self_triggers == 0),
        format!("{} self-triggers in {:.1} h of speech output", evidence.self_triggers, evidence.playback_h),
    );
    let overlap = match &evidence.overlap {
        None => clause(State::NotYet, "the candidate does not say what it was trained on".to_owned()),
        Some(shared) => match shared.first() {
            None => clause(State::Held, "no file is both trained on and tested on".to_owned()),
            Some(first) => clause(
                State::NotHeld,
                format!("{} files are both trained on and tested on, such as {first}", shared.len()),
            ),
        },
    };
    all(4, "slices", vec![own, other_voices(evidence), delay(evidence, limits), cost(evidence, limits), overlap])
}

fn other_voices(evidence: &Evidence) -> Clause {
    let clips = || evidence.golden.iter().flat_map(|golden| &golden.clips).filter(|clip| !clip.own_voice);
    let of = evidence.other_voice + clips().count() as u32;
    let champion = evidence.other_voice_champion + clips().filter(|clip| clip.champion).count() as u32;
    let candidate = evidence.other_voice_candidate + clips().filter(|clip| clip.candidate).count() as u32;
    let text = format!(
        "other voices rejected: {} of {of} by the head in service, {} by the candidate",
        of - champion,
        of - candidate
    );
    clause(if of == 0 { State::NotYet } else { holds(candidate <= champion) }, text)
}

fn delay(evidence: &Evidence, limits: &Limits) -> Clause {
    match evidence.delay_ms {
        None => clause(State::NotYet, "no wake was heard by both".to_owned()),
        Some(ms) => clause(
            holds(ms <= limits.delay_ms + 1e-6),
            format!("median detection {ms:+.0} ms (at most +{:.0})", limits.delay_ms),
        ),
    }
}

fn cost(evidence: &Evidence, limits: &Limits) -> Clause {
    match evidence.frame_us {
        None => clause(State::NotYet, "no frame was scored".to_owned()),
        Some(us) => clause(
            holds(us <= limits.frame_us),
            format!("{us:.0} µs a frame of 80 ms (at most {:.0})", limits.frame_us),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promote::evidence::{Golden, GoldenClip, LabelCounts};

    fn clip(own_voice: bool, champion: bool, candidate: bool) -> GoldenClip {
        GoldenClip { file: "a.wav".into(), sha256: "00".into(), own_voice, champion, candidate }
    }

    /// A candidate that is ready in every respect.
    fn ready() -> Evidence {
        Evidence {
            candidates_this_month: 1,
            days: 7,
            clock_h: 80.0,
            speech_h: 21.0,
            playback_h: 4.0,
            wake_days: 6,
            wakes: LabelCounts { human: 20, weak: 45 },
            wakes_both: 65,
            falses: LabelCounts { human: 8, weak: 0 },
            false_signs: vec![1, 1, 1, 0, 1, 1, 0, 0],
            other_voice: 5,
            other_voice_champion: 2,
            other_voice_candidate: 2,
            delay_ms: Some(0.0),
            frame_us: Some(60.0),
            configurations: 1,
            golden: Some(Golden { clips: vec![clip(true, true, true), clip(false, true, false)] }),
            overlap: Some(Vec::new()),
            ..Evidence::default()
        }
    }

    fn states(change: impl FnOnce(&mut Evidence)) -> [State; 4] {
        let mut evidence = ready();
        change(&mut evidence);
        let proposal = Proposal::of(&evidence, &Limits::default());
        std::array::from_fn(|i| proposal.conditions[i].state)
    }

    const HELD: [State; 4] = [State::Held; 4];

    #[test]
    fn everything_holds() {
        assert_eq!(states(|_| {}), HELD);
        assert_eq!(Proposal::of(&ready(), &Limits::default()).state, State::Held);
        assert_eq!(Proposal::of(&Evidence::default(), &Limits::default()).state, State::NotYet);
    }

    #[test]
    fn each_part_of_the_exposure_alone() {
        for change in [
            (|e: &mut Evidence| e.days = 6) as fn(&mut Evidence),
            |e| e.clock_h = 71.9,
            |e| e.speech_h = 19.9,
            |e| e.wakes.weak = 39,
            |e| e.wake_days = 4,
            |e| e.rule = Rule::FixedHorizon { days: 14 },
        ] {
            // Without the exposure false wakes are not judged either.
            assert_eq!(states(change), [State::NotYet, State::Held, State::NotYet, State::Held]);
        }
        assert_eq!(states(|e| e.configurations = 2)[0], State::NotHeld);
    }

    #[test]
    fn each_part_of_the_misses_alone() {
        let second = |change: fn(&mut Evidence)| {
            let found = states(change);
            assert_eq!([found[0], found[2], found[3]], [State::Held; 3]);
            found[1]
        };
        assert_eq!(second(|e| e.golden.as_mut().unwrap().clips[0].candidate = false), State::NotHeld);
        assert_eq!(second(|e| (e.wakes_both, e.wakes_champion_only) = (64, 1)), State::NotHeld);
        // One new miss of 100 is within five points.
        assert_eq!(second(|e| (e.wakes_both, e.wakes_champion_only) = (199, 1)), State::Held);
        assert_eq!(second(|e| e.wakes_both = 30), State::NotYet);
        assert_eq!(states(|e| e.golden = None)[1], State::NotYet);
    }

    #[test]
    fn the_table_of_the_sign_test() {
        for (worse, needed) in [(0, 5), (1, 7), (2, 9), (3, 10)] {
            assert!(one_sided_sign(worse, needed) <= 0.05, "{worse}:{needed}");
            assert!(one_sided_sign(worse, needed - 1) > 0.05, "{worse}:{}", needed - 1);
        }
        assert!((one_sided_sign(0, 5) - 1.0 / 32.0).abs() < 1e-12);
        assert!((one_sided_sign(0, 0) - 1.0).abs() < 1e-12);
        // P(X ≤ 2) of 3 = 7/8; P(X ≤ 1) of 2 = 3/4.
        assert!((one_sided_sign(2, 1) - 0.875).abs() < 1e-12 && (one_sided_sign(1, 1) - 0.75).abs() < 1e-12);
        assert!((one_sided_sign(3, 0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn each_part_of_the_false_wakes_alone() {
        let third = |change: fn(&mut Evidence)| {
            let found = states(change);
            assert_eq!([found[0], found[1], found[3]], [State::Held; 3]);
            found[2]
        };
        assert_eq!(third(|e| e.false_signs = vec![1, 1, 1, 1, 0, 0, 0, 0]), State::NotHeld);
        // Few enough in themselves: 3 in 80 hours are at most 0.097 an hour.
        assert_eq!(third(|e| e.false_signs = vec![0, 0, 0]), State::Held);
        assert_eq!(third(|e| e.false_signs = vec![0, 0, 0, 0]), State::NotHeld);
        assert_eq!(third(|e| e.unlabelled_discordant = 1), State::NotYet);
    }

    #[test]
    fn the_e_value_is_divided_by_the_candidates_tried() {
        // 1.5^7 = 17.1, 1.5^8 = 25.6; each event of the candidate only halves it.
        assert!((e_value(&[1, 1, 0, -1]) - 1.125).abs() < 1e-12);
        let with = |wins: usize, tried| {
            states(|e| {
                e.rule = Rule::EValue;
                e.candidates_this_month = tried;
                e.false_signs = vec![1; wins];
                e.false_signs.extend([0; 9]);
            })[2]
        };
        assert_eq!(
            [with(7, 1), with(8, 1), with(8, 2), with(10, 2)].map(|state| state == State::Held),
            [false, true, false, true]
        );
        assert_eq!(with(7, 1), State::NotYet);
    }

    #[test]
    fn each_slice_alone() {
        let fourth = |change: fn(&mut Evidence)| {
            let found = states(change);
            assert_eq!([found[0], found[1], found[2]], [State::Held; 3]);
            found[3]
        };
        assert_eq!(fourth(|e| e.self_triggers = 1), State::NotHeld);
        assert_eq!(fourth(|e| e.other_voice_candidate = 4), State::NotHeld);
        assert_eq!(fourth(|e| e.delay_ms = Some(80.0)), State::Held);
        assert_eq!(fourth(|e| e.delay_ms = Some(160.0)), State::NotHeld);
        assert_eq!(fourth(|e| e.frame_us = Some(1500.0)), State::NotHeld);
        assert_eq!(fourth(|e| e.overlap = Some(vec!["b.wav".into()])), State::NotHeld);
        assert_eq!(fourth(|e| e.overlap = None), State::NotYet);
    }
}

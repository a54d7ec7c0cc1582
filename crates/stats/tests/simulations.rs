//! What the method promises, held against simulated benches: levels under the null hypothesis,
//! power, and the sizes of the illusions it warns of. Every run draws the same numbers.

use std::collections::BTreeMap;

use tenpass_stats::{
    Delta, Evidence, Gate, Guards, Pair, SMALLEST_EFFECT, SafeStratified, SafeTwoByTwo, Side, Tally, Verdict, boschloo,
    clopper_pearson, cmh, cmh_exact, delta, holm, mcnemar_exact, median_difference, permutation_clustered,
    sign_e_value, straight_passes_needed, tango, verdict,
};

/// A generator of its own, so that no flaw is shared with the crate's: xorshift64*.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn passes(&mut self, rate: f64, passes: u32) -> Tally {
        let passed = (0..passes).filter(|_| self.uniform() < rate).count() as u32;
        Tally::new(passed, passes - passed)
    }

    /// Cases whose true rates lie between 0.05 and 0.95, seen before and after.
    fn bench(&mut self, cases: usize, passes: u32, lift: f64) -> Vec<Pair> {
        (0..cases)
            .map(|i| {
                let middle = 0.05 + 0.9 * (i as f64 + 0.5) / cases as f64;
                let (before, after) = ((middle - lift / 2.0).max(0.0), (middle + lift / 2.0).min(1.0));
                Pair::new(self.passes(before, passes), self.passes(after, passes)).in_cluster(i)
            })
            .collect()
    }
}

/// How often something happens in `runs` runs.
fn share(runs: u32, mut happens: impl FnMut() -> bool) -> f64 {
    f64::from((0..runs).map(|_| u32::from(happens())).sum::<u32>()) / f64::from(runs)
}

fn judged(found: Delta) -> Verdict {
    verdict(&Evidence { delta: found, guards: Guards::default(), smallest_effect: SMALLEST_EFFECT })
}

#[test]
fn with_nothing_changed_question_one_alarms_in_one_run_of_twenty() {
    let mut random = Random(1);
    let (mut asymptotic, mut exact, mut verdicts) = (0, 0, 0);
    let runs = 5000;
    for _ in 0..runs {
        let pairs = random.bench(30, 10, 0.0);
        asymptotic += u32::from(cmh(&pairs).unwrap().p <= 0.05);
        exact += u32::from(cmh_exact(&pairs) <= 0.05);
        let word = judged(delta(&pairs).unwrap());
        verdicts += u32::from(word == Verdict::Real || word == Verdict::Regressed);
    }
    let share = |count: u32| f64::from(count) / f64::from(runs);
    assert!((0.04..=0.06).contains(&share(asymptotic)), "{}", share(asymptotic));
    assert!((0.035..=0.056).contains(&share(exact)), "{}", share(exact));
    assert!((0.03..=0.06).contains(&share(verdicts)), "{}", share(verdicts));
}

#[test]
fn with_many_cases_the_level_holds_as_well() {
    let mut random = Random(2);
    let level = share(1500, || cmh_exact(&random.bench(100, 10, 0.0)) <= 0.05);
    assert!((0.035..=0.062).contains(&level), "{level}");
}

#[test]
fn the_smallest_detectable_differences_are_those_of_the_method() {
    let mut random = Random(3);
    for (cases, low, high) in [(30, 0.08, 0.10), (60, 0.06, 0.07), (100, 0.05, 0.06)] {
        let mut power = |lift: f64| share(1200, || cmh(&random.bench(cases, 10, lift)).unwrap().p <= 0.05);
        // 80 % power is reached between the two ends.
        let (weak, strong) = (power(low), power(high));
        assert!(weak < 0.81, "{cases} cases, {low}: {weak}");
        assert!(strong > 0.79, "{cases} cases, {high}: {strong}");
        // And the difference that `compare` names lies there too.
        let named = delta(&random.bench(cases, 10, 0.0)).unwrap().smallest_detectable();
        assert!((low - 0.005..=high + 0.005).contains(&named), "{cases} cases: {named}");
    }
}

/// The level is computed, not drawn: the chance of every table at this common rate.
fn level_of_boschloo(passes: u32, rate: f64, alarms: &BTreeMap<(u32, u32), bool>) -> f64 {
    let chance: Vec<f64> = (0..=passes)
        .map(|k| {
            let ways: f64 = (0..k).map(|i| f64::from(passes - i) / f64::from(i + 1)).product();
            ways * rate.powi(k as i32) * (1.0 - rate).powi((passes - k) as i32)
        })
        .collect();
    alarms.iter().filter(|(_, alarm)| **alarm).map(|((a, b), _)| chance[*a as usize] * chance[*b as usize]).sum()
}

#[test]
fn boschloo_never_exceeds_its_level_and_comes_near_it() {
    for passes in [10, 30] {
        let tables = (0..=passes).flat_map(|a| (0..=passes).map(move |b| (a, b)));
        let alarms = tables
            .map(|(a, b)| ((a, b), boschloo(Tally::new(a, passes - a), Tally::new(b, passes - b)) <= 0.05))
            .collect();
        let levels: Vec<f64> = (1..200).map(|i| level_of_boschloo(passes, f64::from(i) / 200.0, &alarms)).collect();
        let largest = levels.iter().copied().fold(0.0, f64::max);
        assert!(largest <= 0.05 + 1e-9 && largest > 0.04, "{passes} passes: {largest}");
    }
}

#[test]
fn mcnemar_keeps_its_level() {
    let mut random = Random(4);
    // 300 commands, two prompts, each hears 85 % of them.
    let level = share(4000, || {
        let (mut b, mut c) = (0, 0);
        for _ in 0..300 {
            match (random.uniform() < 0.85, random.uniform() < 0.85) {
                (true, false) => b += 1,
                (false, true) => c += 1,
                _ => {}
            }
        }
        mcnemar_exact(b, c) <= 0.05
    });
    assert!((0.03..=0.057).contains(&level), "{level}");
}

#[test]
fn voices_of_one_command_are_not_independent_but_flipping_whole_commands_is_right() {
    let mut random = Random(5);
    let (mut naive, mut clustered) = (0, 0);
    let runs = 1500;
    for run in 0..runs {
        // 25 commands, eight voices; which prompt hears a command better is the command's own.
        let mut items = Vec::new();
        let (mut b, mut c) = (0, 0);
        for command in 0..25 {
            let lean = if random.uniform() < 0.5 { 0.35 } else { 0.05 };
            let (worse, better) = if random.uniform() < 0.5 { (lean, 0.05) } else { (0.05, lean) };
            for _ in 0..8 {
                let draw = random.uniform();
                let difference = if draw < worse { -1 } else { i32::from(draw < worse + better) };
                b += u32::from(difference < 0);
                c += u32::from(difference > 0);
                items.push((command, f64::from(difference)));
            }
        }
        naive += u32::from(mcnemar_exact(b, c) <= 0.05);
        clustered += u32::from(permutation_clustered(&items, run).p <= 0.05);
    }
    let share = |count: u32| f64::from(count) / runs as f64;
    assert!(share(naive) > 0.08, "{}", share(naive));
    assert!((0.03..=0.06).contains(&share(clustered)), "{}", share(clustered));
}

#[test]
fn looking_after_every_pass_keeps_the_level_of_the_e_values() {
    let mut random = Random(6);
    let (mut early, mut either) = (0, 0);
    let runs = 3000;
    for _ in 0..runs {
        let mut evidence = SafeStratified::new();
        let mut pairs = vec![Pair::default(); 20];
        let mut stopped = false;
        for _ in 0..10 {
            for (case, pair) in pairs.iter_mut().enumerate() {
                let rate = 0.05 + 0.9 * (case as f64 + 0.5) / 20.0;
                let (before, after) = (random.uniform() < rate, random.uniform() < rate);
                pair.before.record(before);
                pair.after.record(after);
                evidence.record(case, Side::Before, before);
                stopped |= evidence.record(case, Side::After, after) >= 100.0;
            }
        }
        assert_eq!(stopped, evidence.p_value() <= 0.01);
        early += u32::from(stopped);
        // The whole procedure: 1 % during the run, 4 % at its end.
        either += u32::from(stopped || cmh_exact(&pairs) <= 0.04);
    }
    let share = |count: u32| f64::from(count) / f64::from(runs);
    assert!(share(early) <= 0.01 + 0.005, "{}", share(early));
    assert!(share(either) <= 0.05 + 0.008 && share(either) > 0.02, "{}", share(either));
}

#[test]
fn one_table_and_votes_keep_their_level_at_any_time_too() {
    let mut random = Random(7);
    let table = share(1500, || {
        let (rate, mut evidence) = (random.uniform(), SafeTwoByTwo::new());
        (0..100).any(|_| evidence.update(random.passes(rate, 1), random.passes(rate, 1)) >= 20.0)
    });
    assert!(table <= 0.05 + 0.015, "{table}");
    let votes = share(2000, || {
        let (mut wins, mut losses) = (0, 0);
        (0..100).any(|_| {
            if random.uniform() < 0.5 {
                wins += 1;
            } else {
                losses += 1;
            }
            sign_e_value(wins, losses) >= 20.0
        })
    });
    assert!(votes <= 0.05 + 0.015, "{votes}");
}

#[test]
fn a_clear_change_stops_early_in_either_direction() {
    let mut random = Random(8);
    for lift in [0.2, -0.2] {
        let mut used = 0;
        let stopped = share(200, || {
            let (mut evidence, mut passes) = (SafeStratified::new(), 0);
            while passes < 10 && evidence.e_value() < 100.0 {
                passes += 1;
                for pair in random.bench(60, 1, lift) {
                    evidence.update(pair.before, pair.after);
                }
            }
            used += passes;
            evidence.e_value() >= 100.0
        });
        assert!(stopped > 0.95, "{lift}: {stopped}");
        let mean = f64::from(used) / 200.0;
        assert!((2.0..=5.0).contains(&mean), "{lift}: {mean} passes on average");
    }
}

#[test]
fn cases_picked_for_failing_rise_when_nothing_changed() {
    let mut random = Random(9);
    let mut rises = Vec::new();
    // True rates uniform, and with more and more good cases among them.
    for shape in [1.0, 2.0, 3.5] {
        let (mut picked, mut again, mut cases) = (0, 0, 0);
        while cases < 6000 {
            let rate = random.uniform().powf(1.0 / shape);
            let first = random.passes(rate, 10);
            if first.passed() <= 5 {
                cases += 1;
                picked += first.passed();
                again += random.passes(rate, 10).passed();
            }
        }
        rises.push(10.0 * (f64::from(again) - f64::from(picked)) / f64::from(cases));
    }
    assert!(rises.iter().all(|rise| (3.5..=13.5).contains(rise)), "{rises:?}");
    assert!(rises[0] < 6.0 && rises[2] > 10.0, "{rises:?}");
}

#[test]
fn the_best_of_eleven_equal_configurations_looks_two_to_four_points_too_good() {
    let mut random = Random(10);
    for cases in [30, 60, 100] {
        let rate = |case: usize| 0.3 + 0.69 * (case as f64 + 0.5) / cases as f64;
        let truth = (0..cases).map(rate).sum::<f64>() / cases as f64;
        let runs = 60;
        let excess: f64 = (0..runs)
            .map(|_| {
                let measured = |random: &mut Random| {
                    (0..cases).map(|case| f64::from(random.passes(rate(case), 10).passed())).sum::<f64>()
                        / (10.0 * cases as f64)
                };
                (0..11).map(|_| measured(&mut random)).fold(0.0, f64::max) - truth
            })
            .sum();
        let points = 100.0 * excess / f64::from(runs);
        assert!((1.6..=4.2).contains(&points), "{cases} cases: {points}");
    }
}

#[test]
fn showing_95_percent_takes_59_straight_passes() {
    assert_eq!(straight_passes_needed(0.95, 0.95), Some(59));
    // A case of exactly that rate must not get through more often than promised; one pass less would.
    let mut random = Random(11);
    let through = share(20_000, || random.passes(0.95, 59).failed() == 0);
    assert!((0.044..=0.053).contains(&through), "{through}");
    assert!(clopper_pearson(Tally::new(58, 0), 0.90).low < 0.95);
}

#[test]
fn a_curtailed_gate_gives_the_answer_of_all_ten_passes() {
    let (mut random, gate) = (Random(12), Gate { need: 8, of: 10 });
    let (mut used, runs) = (0, 5000);
    for _ in 0..runs {
        let rate = random.uniform();
        let all: Vec<bool> = (0..10).map(|_| random.uniform() < rate).collect();
        let (mut so_far, mut passes) = (Tally::default(), all.iter());
        while gate.decided(so_far).is_none() {
            so_far.record(*passes.next().unwrap());
        }
        used += so_far.total();
        assert_eq!(gate.decided(so_far), Some(all.iter().filter(|passed| **passed).count() >= 8));
    }
    let mean = f64::from(used) / f64::from(runs);
    assert!((5.0..=7.0).contains(&mean), "{mean} passes on average");
}

#[test]
fn holm_holds_the_family_of_ten_configurations_at_one_in_twenty() {
    let mut random = Random(13);
    let alarms = share(400, || {
        let p: Vec<f64> = (0..10).map(|_| cmh_exact(&random.bench(20, 10, 0.0))).collect();
        holm(&p).iter().any(|p| *p <= 0.05)
    });
    assert!(alarms <= 0.05 + 0.033, "{alarms}");
}

#[test]
fn tango_covers_the_true_difference() {
    let mut random = Random(14);
    for (only_before, only_after) in [(0.05, 0.05), (0.15, 0.05), (0.01, 0.03)] {
        let covered = share(1500, || {
            let (mut b, mut c) = (0, 0);
            for _ in 0..100 {
                let draw = random.uniform();
                b += u32::from(draw < only_before);
                c += u32::from(draw >= only_before && draw < only_before + only_after);
            }
            tango(b, c, 100, 0.95).contains(only_after - only_before)
        });
        assert!((0.93..=0.985).contains(&covered), "{only_before} {only_after}: {covered}");
    }
}

#[test]
fn the_interval_of_a_latency_difference_covers_it() {
    let mut random = Random(15);
    let covered = share(150, || {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for _ in 0..40 {
            // Every case has its own length, and its own slowdown around 50 ms.
            let (base, slower) = (300.0 + 400.0 * random.uniform(), 30.0 + 40.0 * random.uniform());
            let mut passes = |shift: f64| (0..10).map(|_| base + shift + 60.0 * random.uniform()).collect::<Vec<f64>>();
            before.push(passes(0.0));
            after.push(passes(slower));
        }
        median_difference(&before, &after, 0.95, 3).unwrap().1.contains(50.0)
    });
    assert!(covered >= 0.89, "{covered}");
}

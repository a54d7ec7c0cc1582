//! Every method against values from elsewhere: scipy, statsmodels, rational arithmetic, numerical
//! optimisation of the defining formula.
//!
//! The values are printed by `known_answers.py` beside this file; its first lines say how to run it.
#![allow(clippy::unreadable_literal, reason = "known answers stand as their source printed them")]

use tenpass_stats::special::{chi_square_quantile, chi_square_sf};
use tenpass_stats::{
    Gate, Interval, Pair, SafeStratified, SafeTwoByTwo, Tally, benjamini_hochberg, beta_binomial, boschloo,
    clopper_pearson, cmh, cmh_exact, exposure_needed, generalise, holm, laney, mcnemar_exact, mean_difference,
    median_difference, multinomial_exact, pass_at_k, pass_hat_k, permutation_clustered, poisson_rate, sign_e_value,
    sign_test, tango, tango_lower, votes, wilson,
};

fn close(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-6), "{found} is not {expected}");
}

fn ends(found: Interval, low: f64, high: f64, relative: f64) {
    close(found.low, low, relative);
    close(found.high, high, relative);
}

/// `passed` of `total`.
fn of(passed: u32, total: u32) -> Tally {
    Tally::new(passed, total - passed)
}

fn pairs(cells: &[(u32, u32, u32, u32)]) -> Vec<Pair> {
    cells.iter().map(|&(a, n, b, m)| Pair::new(of(a, n), of(b, m))).collect()
}

#[test]
fn wilson_is_that_of_statsmodels() {
    let known = [
        (7, 10, 0.95, 0.39677814746114537, 0.8922087325936989),
        (0, 10, 0.95, 0.0, 0.2775327998628892),
        (10, 10, 0.95, 0.7224672001371107, 0.9999999999999999),
        (26, 29, 0.95, 0.736149189092262, 0.9641851086493229),
        (11, 29, 0.9, 0.24749494914505155, 0.5317234701785318),
        (59, 59, 0.9, 0.9561539644147508, 1.0),
        (480, 500, 0.99, 0.9307556402490643, 0.9771960288643512),
    ];
    for (passed, total, confidence, low, high) in known {
        ends(wilson(of(passed, total), confidence), low, high, 1e-12);
    }
}

#[test]
fn clopper_pearson_is_that_of_statsmodels() {
    let known = [
        (7, 10, 0.95, 0.34754714994000274, 0.9332604888222655),
        (0, 10, 0.95, 0.0, 0.3084971078187607),
        (10, 10, 0.95, 0.6915028921812392, 1.0),
        (26, 29, 0.95, 0.7264848021075772, 0.9781362631701463),
        (11, 29, 0.9, 0.22934001024044837, 0.5487654286810684),
        (59, 59, 0.9, 0.950492390111773, 1.0),
        (480, 500, 0.99, 0.9316808693469877, 0.9791114939428138),
    ];
    for (passed, total, confidence, low, high) in known {
        ends(clopper_pearson(of(passed, total), confidence), low, high, 1e-11);
    }
}

#[test]
fn the_exact_poisson_interval_is_that_of_statsmodels() {
    let known = [
        (2, 30.0, 0.95, 0.00807364261813217, 0.24082292225746532),
        (0, 30.0, 0.9, 0.0, 0.09985774245179971),
        (0, 8.5, 0.95, 0.0, 0.4339858181310512),
        (1, 24.0, 0.95, 0.001054908666012079, 0.2321518079557874),
        (17, 12.25, 0.99, 0.673521325532424, 2.513517514888051),
        (400, 1000.0, 0.95, 0.36175629663114345, 0.4411866480966759),
    ];
    for (events, exposure, confidence, low, high) in known {
        ends(poisson_rate(events, exposure, confidence), low, high, 1e-11);
    }
    let needed =
        [(0, 0.1, 0.95, 29.957322735539893), (1, 0.1, 0.95, 47.43864518390577), (3, 0.5, 0.9, 13.36156613651173)];
    for (events, rate, confidence, exposure) in needed {
        close(exposure_needed(events, rate, confidence).unwrap(), exposure, 1e-12);
    }
}

#[test]
fn chi_square_is_that_of_scipy() {
    let quantiles = [
        (1.0, 0.95, 3.841458820694124),
        (2.0, 0.5, 1.386294361119891),
        (4.0, 0.025, 0.4844185570879299),
        (6.0, 0.975, 14.44937533544792),
        (0.5, 0.01, 1.349939585911692e-08),
        (100.0, 0.999, 149.44925277903886),
        (5000.0, 0.025, 4805.904730862248),
        (4000000.0, 0.975, 4005545.5093600205),
    ];
    for (df, p, x) in quantiles {
        close(chi_square_quantile(df, p), x, 1e-9);
    }
    let tails = [
        (1.0, 3.84, 0.05004352124870519),
        (3.0, 0.1, 0.9918374237318764),
        (10.0, 60.0, 3.6243009520614924e-09),
        (200.0, 150.0, 0.996647558501813),
    ];
    for (df, x, p) in tails {
        assert!((chi_square_sf(df, x) / p - 1.0).abs() < 1e-11, "{df} {x}");
    }
}

#[test]
fn boschloo_is_that_of_scipy_and_of_a_dense_grid() {
    let known = [
        (10, 10, 7, 10, 0.11577606201171892),
        (3, 10, 8, 10, 0.04138946533203129),
        (0, 10, 4, 10, 0.04219055175781256),
        (26, 29, 11, 29, 3.222434092367495e-05),
        (11, 29, 15, 29, 0.3337640751240609),
        (40, 60, 52, 60, 0.010669336311462116),
        (93, 100, 80, 100, 0.008722617411795853),
        (150, 150, 146, 150, 0.09955761511240803),
        // scipy's optimiser takes minutes here: a grid of 4,001 rates
        (190, 200, 180, 200, 0.07252551772129784),
        (30, 50, 90, 120, 0.05627496272941192),
        (298, 300, 290, 300, 0.030491817473810714),
        (240, 500, 275, 500, 0.028333717189825653),
        (499, 500, 492, 500, 0.03406149930673576),
    ];
    for (a, n, b, m, p) in known {
        close(boschloo(of(a, n), of(b, m)), p, 2e-6);
    }
}

#[test]
fn mcnemar_and_the_sign_test_are_those_of_statsmodels_and_scipy() {
    let known = [
        (5, 1, 0.21875),
        (0, 4, 0.125),
        (9, 1, 0.021484375),
        (12, 12, 1.0),
        (30, 11, 0.00432400493446039),
        (250, 190, 0.004856216684599655),
    ];
    for (b, c, p) in known {
        close(mcnemar_exact(b, c), p, 1e-11);
        close(sign_test(c, b), p, 1e-11);
    }
}

#[test]
fn cmh_is_that_of_statsmodels_and_its_exact_form_that_of_fractions() {
    let known = [
        (vec![(3, 10, 8, 10), (5, 10, 9, 10)], 8.40983606557377, 0.0037319631075737325, 0.007920210989348047),
        (
            vec![(3, 10, 8, 10), (10, 10, 10, 10), (5, 9, 9, 10), (2, 10, 2, 8)],
            6.143394276029683,
            0.01319038819424645,
            0.02065896404479157,
        ),
        (
            (0..40).map(|i| (i * 5 % 11, 10, (i * 5 % 11 + i % 2).min(10), 10)).collect(),
            2.5714285714285716,
            0.108809430040546,
            0.12947191911833086,
        ),
    ];
    for (cells, square, p, exact) in known {
        let pairs = pairs(&cells);
        let found = cmh(&pairs).unwrap();
        close(found.z * found.z, square, 1e-11);
        close(found.p, p, 1e-11);
        close(cmh_exact(&pairs), exact, 1e-11);
    }
}

#[test]
fn the_clustered_standard_error_is_that_of_statsmodels() {
    // Differences 0.4, 0, 0.1, 0.2, −0.1, 0.5, 0, 0.3, 0.1.
    let cells = [(3, 7), (5, 5), (6, 7), (2, 4), (9, 8), (1, 6), (10, 10), (4, 7), (8, 9)];
    let mut pairs: Vec<Pair> = cells.iter().map(|&(a, b)| Pair::new(of(a, 10), of(b, 10))).collect();
    let check = |pairs: &[Pair], error: f64, low: f64, high: f64| {
        let found = generalise(pairs).unwrap();
        close(found.standard_error, error, 1e-11);
        ends(found.interval_95, low, high, 1e-9);
    };
    for (i, pair) in pairs.iter_mut().enumerate() {
        pair.cluster = i;
    }
    check(&pairs, 0.06666666666666667, 0.01293305765305558, 0.3204002756802777);
    for (pair, family) in pairs.iter_mut().zip([0, 0, 1, 1, 2, 2, 2, 3, 4]) {
        pair.cluster = family;
    }
    check(&pairs, 0.02414519409334314, 0.09962886071215339, 0.23370447262117988);
}

#[test]
fn corrections_are_those_of_statsmodels() {
    let p = [0.01, 0.04, 0.03, 0.2, 0.0005];
    let expected = [
        (holm(&p), [0.04, 0.09, 0.09, 0.2, 0.0025]),
        (benjamini_hochberg(&p), [0.024999999999999998, 0.049999999999999996, 0.049999999999999996, 0.2, 0.0025]),
    ];
    for (found, expected) in expected {
        for (found, expected) in found.iter().zip(expected) {
            close(*found, expected, 1e-12);
        }
    }
}

#[test]
fn reliability_is_that_of_fractions() {
    let tallies = [of(10, 10), of(7, 10), of(3, 10), of(5, 6), of(0, 10)];
    let known = [(1, 0.5666666666666667, 0.5666666666666667), (3, 0.36, 0.74), (5, 0.25, 0.7833333333333333)];
    for (k, hat, at) in known {
        close(pass_hat_k(&tallies, k).unwrap(), hat, 1e-11);
        close(pass_at_k(&tallies, k).unwrap(), at, 1e-11);
    }
}

#[test]
fn the_beta_binomial_fit_is_that_of_numpy_and_near_the_most_likely_one() {
    let counts =
        [(10, 10), (9, 10), (10, 10), (4, 10), (7, 10), (1, 10), (8, 10), (10, 10), (15, 20), (2, 5), (6, 10), (3, 10)];
    let tallies: Vec<Tally> = counts.iter().map(|&(passed, total)| of(passed, total)).collect();
    let fit = beta_binomial(&tallies).unwrap();
    close(fit.mean, 0.68, 1e-12);
    close(fit.precision, 1.9941741322890403, 1e-11);
    // scipy's maximum of the likelihood
    close(fit.mean, 0.6733420690169644, 0.02);
    close(fit.precision, 2.172771481513199, 0.1);
    // (4 + 0.68·1.994…)/(10 + 1.994…)
    close(fit.shrunken(of(4, 10)), (4.0 + 0.68 * 1.9941741322890403) / (10.0 + 1.9941741322890403), 1e-11);
}

#[test]
fn tango_is_the_score_interval_of_its_definition() {
    // The likelihood under each difference was maximised numerically, to about 1e-8.
    let two_sided = [
        (2, 2, 100, -0.05285374233890163, 0.052853743098230516),
        (0, 0, 30, -0.11351339944235762, 0.1135133931740886),
        (5, 1, 40, -0.24227388183693913, 0.026242048769877936),
        (1, 9, 60, 0.03731006816053831, 0.24825646793648354),
        (0, 7, 20, 0.13248103750752754, 0.5671457233148156),
        (12, 3, 15, -0.859049000544927, -0.09629103293211118),
    ];
    for (b, c, n, low, high) in two_sided {
        ends(tango(b, c, n, 0.95), low, high, 2e-6);
    }
    let one_sided = [
        (2, 2, 100, -0.0414715588688206),
        (0, 0, 30, -0.08272431213374463),
        (5, 1, 40, -0.2158772336718812),
        (1, 9, 60, 0.0548732822731445),
        (0, 7, 20, 0.1891369179719056),
        (12, 3, 15, -0.8342033898141912),
        (0, 0, 60, -0.04314679989762929),
        (0, 0, 100, -0.026342721626928103),
    ];
    for (b, c, n, low) in one_sided {
        close(tango_lower(b, c, n, 0.95), low, 2e-6);
    }
}

#[test]
fn the_sign_e_value_is_the_integral_of_its_bets() {
    let known = [
        (9, 1, 18.509090909090908),
        (0, 0, 1.0),
        (1, 0, 1.5),
        (5, 5, 0.3694083694083694),
        (14, 6, 2.4755417956656345),
        (2, 10, 0.10722610722610726),
        (60, 30, 40.38851783278544),
    ];
    for (wins, losses, e) in known {
        close(sign_e_value(wins, losses), e, 1e-10);
    }
}

#[test]
fn safe_tests_bet_as_scipys_distributions_say() {
    // Passed and failed before, passed and failed after, block by block.
    let blocks = [
        (1, 0, 1, 0),
        (0, 1, 1, 0),
        (0, 1, 1, 0),
        (1, 1, 2, 0),
        (0, 1, 0, 1),
        (0, 2, 3, 0),
        (1, 0, 0, 1),
        (0, 3, 2, 1),
    ];
    let one_table = [
        1.0,
        1.0,
        2.251750700280113,
        4.7913904093747615,
        0.9717233100645293,
        6.6081719221786965,
        0.8850129061928276,
        2.917975253962301,
    ];
    let stratified = [
        1.0,
        1.0,
        1.1985204307325068,
        1.5955612921975206,
        1.5955612921975206,
        5.026963713092887,
        2.0117487748009766,
        4.754839346358606,
    ];
    let (mut table, mut strata) = (SafeTwoByTwo::new(), SafeStratified::new());
    for (i, (a, x, b, y)) in blocks.into_iter().enumerate() {
        close(table.update(Tally::new(a, x), Tally::new(b, y)), one_table[i], 1e-11);
        close(strata.update(Tally::new(a, x), Tally::new(b, y)), stratified[i], 1e-10);
    }
    close(table.p_value(), 1.0 / 6.6081719221786965, 1e-11);
    close(strata.p_value(), 1.0 / 5.026963713092887, 1e-10);
}

#[test]
fn votes_are_judged_as_fractions_and_scipy_say() {
    let known = [
        ([9, 2, 1], None, 0.01715524394993988),
        ([12, 5, 3], None, 0.04796630240517128),
        ([17, 8, 5], None, 0.027142515192349267),
        ([4, 4, 4], None, 1.0),
        ([3, 1, 6], Some([0.5, 0.25, 0.25]), 0.05524444580078125),
    ];
    for (counts, probabilities, p) in known {
        close(multinomial_exact(&counts, probabilities.as_ref().map(<[f64; 3]>::as_slice)).unwrap(), p, 1e-11);
    }
    let leaders = [
        ([9, 2, 1], 0.011566664973157883),
        ([8, 2, 2], 0.05627529678741384),
        ([12, 4, 4], 0.038919890475900984),
        ([11, 5, 4], 0.11290971328399035),
        ([17, 7, 6], 0.021668523913347074),
        ([16, 7, 7], 0.056385003680499576),
    ];
    for (counts, p) in leaders {
        close(votes(&counts).unwrap().p_leader, p, 1e-11);
    }
}

#[test]
fn the_nightly_chart_is_that_of_numpy() {
    let nights = [(560, 600), (548, 600), (571, 600), (555, 590), (550, 600), (566, 600), (480, 600), (559, 600)];
    let nights: Vec<Tally> = nights.iter().map(|&(passed, total)| of(passed, total)).collect();
    let chart = laney(&nights).unwrap();
    close(chart.centre, 0.9162839248434238, 1e-12);
    close(chart.sigma_z, 4.422829097953216, 1e-11);
    close(chart.nights[0].limits.low, 0.7662583667489212, 1e-11);
    // The upper limit would be 1.066.
    close(chart.nights[0].limits.high, 1.0, 1e-15);
}

#[test]
fn the_clustered_permutation_test_is_a_count_of_all_flips() {
    let known = [
        (vec![2.0, 1.0, 3.0, -1.0, 2.0, 1.0, 1.0], 0.078125),
        (vec![0.5, -0.25, 1.5, 0.75, 0.3, 1.1], 0.0625),
        ([[1.0; 12].as_slice(), &[-1.0; 3]].concat(), 0.03515625),
    ];
    for (sums, p) in known {
        let items: Vec<(usize, f64)> = sums.into_iter().enumerate().collect();
        close(permutation_clustered(&items, 1).p, p, 1e-12);
    }
}

#[test]
fn the_gate_is_a_negative_binomial() {
    let gate = Gate { need: 8, of: 10 };
    let known = [
        (0.2, 7.792640000000005e-05, 3.749875712000001),
        (0.5, 0.0546875, 5.84375),
        (0.8, 0.6777995264000002, 8.591103488),
        (0.95, 0.988496442620703, 8.385890445710938),
    ];
    for (rate, chance, passes) in known {
        close(gate.chance_to_hold(rate), chance, 1e-11);
        close(gate.passes_expected(rate), passes, 1e-11);
    }
}

#[test]
fn differences_of_latencies_are_those_of_numpy() {
    let before = [
        vec![310.0, 295.5, 330.25, 301.0],
        vec![150.0, 148.0, 171.5],
        vec![802.0, 790.0, 815.5, 777.0, 840.0],
        vec![95.0],
    ];
    let after = [
        vec![335.0, 320.0, 341.5, 329.0],
        vec![161.0, 158.5, 180.0],
        vec![850.0, 811.0, 870.0, 799.5, 866.0],
        vec![99.0],
    ];
    close(median_difference(&before, &after, 0.95, 1).unwrap().0, 16.5, 1e-12);
    close(mean_difference(&before, &after, 0.95, 1).unwrap().0, 17.646874999999966, 1e-12);
}

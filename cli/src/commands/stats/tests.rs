use clap::Parser;
use serde_json::Value;

use super::{answer, run};
use crate::args::stats::Stats;
use crate::failure::Failure;
use crate::printer::{ColorChoice, Printer};

#[derive(Debug, Parser)]
struct Typed {
    #[command(subcommand)]
    stats: Stats,
}

fn parsed(line: &str) -> Result<Stats, clap::Error> {
    Typed::try_parse_from(std::iter::once("stats").chain(line.split_whitespace())).map(|typed| typed.stats)
}

fn answered(line: &str) -> Result<super::Answer, Failure> {
    answer(&parsed(line).unwrap_or_else(|error| panic!("{line}: {error}")))
}

fn value(line: &str) -> Value {
    answered(line).unwrap_or_else(|failure| panic!("{line}: {}", failure.message)).value()
}

fn text(line: &str) -> String {
    answered(line).unwrap_or_else(|failure| panic!("{line}: {}", failure.message)).text()
}

fn close(line: &str, field: &str, expected: f64) {
    let value = value(line);
    let found = value[field].as_f64().unwrap_or_else(|| panic!("{line}: no {field} in {value}"));
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1e-3), "{line}: {field} is {found}");
}

/// Values of scipy and statsmodels.
#[test]
fn the_examples_of_the_method_are_answered() {
    close("wilson 7 10", "value", 0.7);
    close("wilson 7 10", "low", 0.396_778_147);
    close("wilson 7 10", "high", 0.892_208_733);
    close("wilson 7 10 --confidence 0.9", "low", 0.441_699_796);
    close("clopper 3 29", "low", 0.021_863_737);
    close("clopper 3 29", "high", 0.273_515_198);
    close("poisson 2 30", "value", 2.0 / 30.0);
    close("poisson 2 30", "low", 0.008_073_642_6);
    close("poisson 2 30", "high", 0.240_822_922);
    close("poisson 0 12.5", "high", 0.295_110_356);
    close("boschloo 10 10 7 10", "p", 0.115_776_062);
    close("boschloo 10 10 7 10", "value", -0.3);
    close("boschloo 10 10 7 10", "low", -0.603_221_853);
    close("mcnemar 5 1", "p", 0.218_75);
    close("cmh 3 10 8 10 5 10 9 10", "p", 0.007_920_210_99);
    close("cmh 3 10 8 10 5 10 9 10", "value", 0.45);
    close("cmh 3/10 8/10 5/10 9/10", "p_asymptotic", 0.003_731_963_11);
    close("passk 7 10 3", "value", 35.0 / 120.0);
    close("passk 7 10 3", "pass_at_k", 119.0 / 120.0);
    close("tango 2 2 100", "low", -0.052_853_743);
    close("tango 2 2 100", "high", 0.052_853_743);
    close("tango 0 0 30", "lower_bound", -0.082_724_312);
    // After minus before: c = 9 only after.
    close("tango 1 9 60", "value", 8.0 / 60.0);
    close("evalue 9 1", "value", 18.509_090_9);
    close("evalue 9 1", "p", 1.0 / 18.509_090_9);
    close("signtest 9 1", "p", 0.021_484_375);
    close("signtest 9 1", "value", 0.9);
    close("votes 9 2 1", "p", 0.017_155_244);
    close("votes 9 2 1", "p_leader", 0.011_566_665);
    close("votes 3 1 6 --chances 0.5,0.25,0.25", "p", 0.055_244_446);
    close("gate 8 10", "value", 0.677_799_526);
    close("passes --show 0.95", "value", 59.0);
    close("laney 560/600 548/600 571/600 555/590 550/600 566/600 480/600 559/600", "sigma_z", 4.422_829_1);
    close("shrink 10/10 7/10 3/10 1/2", "value", 21.0 / 32.0);
}

#[test]
fn corrections_keep_the_order_typed() {
    let numbers =
        |line: &str| -> Vec<f64> { value(line)["p"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect() };
    let near = |found: Vec<f64>, expected: [f64; 3]| {
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
    };
    near(numbers("holm 0.01 0.04 0.03"), [0.03, 0.06, 0.06]);
    near(numbers("bh 0.01 0.04 0.03"), [0.03, 0.04, 0.04]);
    assert_eq!(value("holm 0.01 0.04 0.03")["stands"], serde_json::json!([true, false, false]));
    assert_eq!(value("bh 0.01 0.04 0.03 --level 0.03")["stands"], serde_json::json!([true, false, false]));
}

#[test]
fn the_sentence_says_what_is_and_what_is_not_proven() {
    let says = |line: &str, part: &str| assert!(text(line).contains(part), "{line}: {}", text(line));
    says("wilson 7 10", "7 of 10 is 70 %; with 95 % confidence the true rate lies within 39.7 % to 89.2 %.");
    says("wilson 10 10", "takes 59 passes without a failure");
    says("boschloo 10 10 7 10", "p = 0.116: nothing is proven");
    says("boschloo 3 29 18 29", "chance alone rarely does this; the rate after is higher");
    says("boschloo 10 10 10 10", "There is no difference to be seen.");
    says("poisson 2 30", "To show at most 0.1 an hour takes 30 hours without an event.");
    says("clopper 3 29", "at most 24.6 %");
    says("tango 2 2 100", "after is at most 4.1 points worse");
    says("mcnemar 0 30", "p < 0.0001");
    says("evalue 9 1", "1 more win in a row would do.");
    says("evalue 20 1", "20 rejects at 5 %");
    says("gate 8 10", "settled at 8 successes or 3 failures");
    says("cmh 3 10 8 10 5 10 9 10", "On these 2 cases: 40 % before, 85 % after, +45 points");
    says("cmh 3 10 8 10", "On cases not written yet these data say nothing.");
    says("cmh 3 10 8 10", "p = 0.070; with a smallest effect of 5 points the verdict is INCONCLUSIVE.");
    says("evalue 2 1", "2 wins and 1 loss are");
    says("evalue 2 30", "no evidence");
    says("passes --cases 30 --delta 0.05", "34 passes a case");
    says("laney 93/100 92/100 93/100 94/100 93/100 92/100 93/100 92/100 70/100", "night 9");
    assert_eq!(text("wilson 7 10").lines().count(), 2);
}

#[test]
fn what_makes_no_sense_is_a_mistake_in_one_line() {
    let mistaken = |line: &str, part: &str| {
        let failure = answered(line).expect_err(line);
        assert_eq!(failure.exit as u8, 2, "{line}");
        assert!(failure.message.contains(part) && !failure.message.contains('\n'), "{line}: {}", failure.message);
        assert!(failure.hint.is_some() || failure.message.contains("is not"), "{line}");
    };
    mistaken("wilson 7 5", "7 successes of 5 trials");
    mistaken("clopper 0 0", "0 trials say nothing");
    mistaken("boschloo 1 2 3 2", "after: 3 successes of 2 trials");
    mistaken("boschloo 1 2000000 1 2", "2000000 trials");
    mistaken("cmh 3 10 8", "3 numbers are not four a case");
    mistaken("cmh 3 10 8 7", "case 1, after: 8 successes of 7 trials");
    mistaken("cmh 3 10 8 -7", "\"-7\" is not a whole number");
    mistaken("cmh nowhere.csv", "nowhere.csv");
    mistaken("passk 7 10 11", "k = 11");
    mistaken("passk 7 10 0", "k = 0");
    mistaken("tango 2 2 3", "2 and 2 items of 3 pairs");
    mistaken("tango 0 0 0", "of 0 pairs");
    mistaken("signtest 0 0", "0 wins and 0 losses");
    mistaken("votes 0 0 0", "0 votes");
    mistaken("votes 1 2 3 --chances 0.5,0.5", "--chances");
    mistaken("votes 1 2 --chances 0.5,0.4", "--chances");
    mistaken("gate 11 10", "11 of 10");
    mistaken("laney 9/10", "1 night cannot be a chart");
    mistaken("shrink 1/1 0/1", "cannot be told from chance");
    mistaken("shrink 1/1 0", "3 numbers are not two each");
    mistaken("passes --cases 0 --delta 0.05", "0 cases");
    mistaken("passes --cases 30 --delta 0", "a difference of 0");
    mistaken("passes --show 1", "no number of passes");
    mistaken("passes", "passes for what?");
}

#[test]
fn what_is_no_such_number_is_not_taken() {
    for (line, part) in [
        ("wilson -1 10", "not a whole number"),
        ("wilson 2.5 10", "not a whole number"),
        ("wilson NaN 10", "not a whole number"),
        ("wilson 1e3 10", "not a whole number"),
        ("wilson 7 99999999999", "more than"),
        ("poisson 2.5 30", "not a whole number"),
        ("poisson 2 0", "not above 0"),
        ("poisson 2 -3", "not above 0"),
        ("poisson 2 inf", "not a number"),
        ("holm 0.01 1.5", "not between 0 and 1"),
        ("bh NaN", "not a number"),
        ("wilson 7 10 --confidence 95", "such as 0.95"),
        ("wilson 7 10 --confidence 1", "such as 0.95"),
        ("wilson 7", "required"),
        ("holm", "required"),
        ("passes --cases 30", "required"),
    ] {
        let error = parsed(line).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(error.to_string().contains(part), "{line}: {error}");
    }
}

#[test]
fn cases_come_from_a_file_with_or_without_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let typed = value("cmh 3 10 8 10 5 10 9 10 6 10 6 10");
    let named = file("named.csv", "before,of,after,of\n3,10,8,10\n\n# a comment\n5,10,9,10\r\n6,10,6,10\n");
    let found = value(&format!("cmh {named}"));
    assert_eq!((&found["p"], &found["other_cases"]), (&typed["p"], &typed["other_cases"]));
    // A fifth column names the family.
    let families = file("families.csv", "3;10;8;10;mail\n5;10;9;10;mail\n6;10;6;10;clock\n");
    assert_eq!(value(&format!("cmh {families}"))["other_cases"]["families"], 2);
    let nights = file("nights.csv", "560,600\n548,600\n571,600\n");
    close(&format!("laney {nights}"), "value", 1679.0 / 1800.0);
    let differences = file("differences.csv", "command,difference\nlights,1\nlights,1\nmusic,1\ntimer,1\n");
    let found = value(&format!("permutation {differences}"));
    assert_eq!((&found["p"], &found["clusters"], &found["exact"]), (&0.25.into(), &3.into(), &true.into()));

    let mistaken = |file: String, command: &str, part: &str| {
        let failure = answered(&format!("{command} {file}")).expect_err(part);
        assert!(failure.message.contains(part), "{}", failure.message);
    };
    mistaken(file("short.csv", "3,10,8,10\n5,10,9\n"), "cmh", "line 2: 3 of 4 fields");
    mistaken(file("word.csv", "3,10,8,10\n5,10,nine,10\n"), "cmh", "line 2, column 3: \"nine\" is not a whole number");
    mistaken(file("first.csv", "3,10,8,x\n"), "cmh", "line 1, column 4: \"x\"");
    mistaken(file("many.csv", "3,10,8,10\n5,10,11,10\n"), "cmh", "line 2, after: 11 successes of 10 trials");
    mistaken(file("empty.csv", "before,of,after,of\n"), "cmh", "no line with numbers");
    mistaken(file("nan.csv", "a,1\nb,NaN\n"), "permutation", "line 2, column 2");
    mistaken(folder.path().display().to_string(), "cmh", "directory");
}

#[test]
fn both_formats_are_printed_and_say_yes() {
    let printer = Printer::new(ColorChoice::Never);
    for line in ["wilson 7 10", "wilson 7 10 --format json", "holm 0.01 0.2", "gate 8 10 --format json"] {
        assert_eq!(run(&parsed(line).unwrap(), printer).unwrap() as u8, 0, "{line}");
    }
}

#[test]
fn json_names_method_and_inputs() {
    for line in [
        "wilson 7 10",
        "clopper 3 29",
        "poisson 2 30",
        "boschloo 10 10 7 10",
        "mcnemar 5 1",
        "cmh 3 10 8 10",
        "holm 0.1",
        "bh 0.1",
        "passk 7 10 3",
        "tango 2 2 100",
        "evalue 9 1",
        "signtest 9 1",
        "votes 9 2 1",
        "gate 8 10",
        "passes --show 0.9",
        "passes --cases 30 --delta 0.1",
        "laney 9/10 8/10",
        "shrink 9/10 8/10",
    ] {
        let value = value(line);
        assert!(value["method"].is_string() && value["inputs"].is_object(), "{line}: {value}");
        assert!(!value["text"].as_str().unwrap().is_empty(), "{line}");
        assert!(value.get("p").or(value.get("value")).is_some_and(|found| !found.is_null()), "{line}: {value}");
    }
}

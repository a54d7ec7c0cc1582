//! The night's sections of the HTML page.

use tenpass_report::ReportExtra;
use tenpass_report::plot::{ChartPoint, p_chart};
use tenpass_stats::Tally;

use super::change::{Broken, first_broken};
use super::chart::{chart, rates};
use super::night::Night;
use super::summary::one_line;

/// Nights on a chart: the last ones.
const NIGHTS: usize = 60;

/// What stands above the numbers of the runs: one section for every bench and model.
pub fn extras(night: &Night, nights: &[Night]) -> Vec<ReportExtra> {
    night
        .steps
        .iter()
        .map(|step| {
            let model = step.model.as_deref();
            let broken = first_broken(nights, &step.bench, model);
            let mut paragraphs = vec![one_line(step)];
            if let Some(first) = broken.first() {
                paragraphs.push(format!("First to break: {}, on the night of {}.", first.case, first.since));
            }
            let rates = rates(nights, &step.bench, model);
            let rates = &rates[rates.len().saturating_sub(NIGHTS)..];
            ReportExtra {
                title: step.name(),
                paragraphs,
                plots: plot(rates).into_iter().collect(),
                table: if broken.is_empty() { (Vec::new(), Vec::new()) } else { table(&broken) },
            }
        })
        .collect()
}

fn plot(rates: &[(String, Tally)]) -> Option<String> {
    let chart = chart(rates)?;
    let points: Vec<ChartPoint> = rates
        .iter()
        .zip(&chart.nights)
        .filter_map(|((night, _), point)| Some(ChartPoint { label: night.clone(), rate: point.rate? }))
        .collect();
    let limits: Vec<(f64, f64)> = chart.nights.iter().map(|point| (point.limits.low, point.limits.high)).collect();
    Some(p_chart(&points, chart.centre, &limits))
}

fn table(broken: &[Broken]) -> (Vec<String>, Vec<Vec<String>>) {
    let of = |tally: Tally| format!("{} of {}", tally.passed(), tally.total());
    let heads = ["case", "kind", "broke on", "before", "since", "p"];
    let rows = broken.iter().map(|broken| {
        vec![
            broken.case.clone(),
            broken.kind.clone(),
            broken.since.clone(),
            of(broken.before),
            of(broken.after),
            if broken.p < 0.001 { "< 0.001".to_owned() } else { format!("{:.3}", broken.p) },
        ]
    });
    (heads.iter().map(|head| (*head).to_owned()).collect(), rows.collect())
}

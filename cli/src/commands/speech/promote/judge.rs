//! From a shadow log and a golden corpus to a proposal.

use std::path::{Path, PathBuf};

use tenpass_corpus::Corpus;
use tenpass_train::promote::{Evidence, Limits, Proposal, candidates_in_month, hear_golden, trained_on};
use tenpass_train::shadow::with_thresholds;
use tenpass_wake::{Detector, DetectorConfig, EmbeddingModel, Head};

use super::super::assets::asset;
use super::super::shadow::{Places, ShadowPlace, thresholds};
use crate::args::speech::promote::Judged;
use crate::context::Context;
use crate::failure::Failure;

/// What is known about a candidate.
pub(super) struct Judgement {
    /// Its file's name.
    pub(super) name: String,
    /// Its file.
    pub(super) head: PathBuf,
    /// What was measured.
    pub(super) evidence: Evidence,
    /// What is proposed.
    pub(super) proposal: Proposal,
}

impl Judgement {
    /// A candidate that has never listened.
    pub(super) fn unheard(head: &Path) -> Self {
        let evidence = Evidence::default();
        let proposal = Proposal::of(&evidence, &Limits::default());
        let name = head.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Self { name, head: head.to_owned(), evidence, proposal }
    }
}

/// Judges the candidate that is meant.
pub(super) fn judge(context: &Context, places: &Places, typed: &Judged) -> Result<Judgement, Failure> {
    let place = places.shadow(&typed.which)?;
    let session = place.session()?;
    let limits = Limits::default();
    let mut evidence = Evidence::judged(&place.lines, &limits);
    evidence.candidates_this_month = candidates_in_month(&places.shadows(), session.at.date())?.max(1);
    if let Some(golden) = &typed.golden {
        hear(context, &place, golden, &typed.own, &mut evidence)?;
    }
    let proposal = Proposal::of(&evidence, &limits);
    let head = typed.which.candidate.clone().unwrap_or_else(|| place.candidate());
    Ok(Judgement { name: session.candidate.name.clone(), head, evidence, proposal })
}

/// Lets both heads hear the golden set.
fn hear(
    context: &Context,
    place: &ShadowPlace,
    golden: &Path,
    own: &[String],
    evidence: &mut Evidence,
) -> Result<(), Failure> {
    let corpus = Corpus::open(golden).map_err(Failure::mistake)?;
    let (champion, candidate) = (place.champion(), place.candidate());
    let model = EmbeddingModel::load(&asset(context, "speech-embedding")?)?;
    let heads = vec![Head::load(&champion)?, Head::load(&candidate)?];
    let detector = Detector::new(&model, heads, DetectorConfig::default())?;
    let mut detector = with_thresholds(detector, thresholds([&champion, &candidate]))?;
    evidence.golden = Some(hear_golden(&corpus, &mut detector, own, &mut |_, _| ())?);
    evidence.overlap = trained_on(&corpus, &candidate)?;
    Ok(())
}
